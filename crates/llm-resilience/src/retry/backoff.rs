//! How long to wait before a retry. Pure: the randomness is an argument.

use serde::Deserialize;
use std::time::Duration;

/// How much of a pause is left to chance, so that callers that failed together do not come back together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Jitter {
    /// Anything from nothing to the whole backoff. The default: it spreads callers best, and a pause that comes
    /// out short costs nothing more than an attempt that would have been made anyway.
    #[default]
    Full,
    /// Between half of the backoff and the whole of it: for hosts that need every caller to stay away a while.
    Half,
}

/// The backoff after the attempt of this number (from 1): `base`, doubled each time, `cap` at most.
pub(super) fn backoff(base: Duration, cap: Duration, attempt: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
    base.saturating_mul(doubled).min(cap)
}

impl Jitter {
    /// The share of a backoff that is waited; `random` is from 0 to 1, and anything else counts as the nearer end.
    pub(super) fn apply(self, backoff: Duration, random: f64) -> Duration {
        // `clamp` keeps what is not a number, and no wait can be made of that.
        let random = if random.is_nan() {
            1.0
        } else {
            random.clamp(0.0, 1.0)
        };
        let share = match self {
            Jitter::Full => random,
            Jitter::Half => 0.5 + random / 2.0,
        };
        // Fails only for lengths beyond what a duration holds, and those are cut to the backoff in any case.
        Duration::try_from_secs_f64(backoff.as_secs_f64() * share)
            .unwrap_or(backoff)
            .min(backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_millis(500);
    const CAP: Duration = Duration::from_secs(8);

    #[test]
    fn it_doubles_up_to_the_cap() {
        let waits: Vec<u64> = (1..=7)
            .map(|attempt| backoff(BASE, CAP, attempt).as_millis() as u64)
            .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
        assert_eq!(backoff(BASE, CAP, u32::MAX), CAP);
        assert_eq!(backoff(Duration::MAX, Duration::MAX, u32::MAX), Duration::MAX);
        assert_eq!(backoff(CAP, BASE, 1), BASE, "a cap below the base still holds");
    }

    #[test]
    fn full_jitter_starts_at_nothing_and_half_at_half() {
        assert_eq!(Jitter::Full.apply(CAP, 0.0), Duration::ZERO);
        assert_eq!(Jitter::Full.apply(CAP, 0.25), Duration::from_secs(2));
        assert_eq!(Jitter::Half.apply(CAP, 0.0), Duration::from_secs(4));
        assert_eq!(Jitter::Half.apply(CAP, 0.5), Duration::from_secs(6));
        for jitter in [Jitter::Full, Jitter::Half] {
            assert_eq!(jitter.apply(CAP, 1.0), CAP);
        }
    }

    #[test]
    fn odd_numbers_never_panic_and_never_wait_longer_than_the_backoff() {
        for random in [f64::NAN, f64::INFINITY, -1.0, 2.0, f64::NEG_INFINITY] {
            for backoff in [Duration::ZERO, BASE, Duration::MAX] {
                assert!(Jitter::Full.apply(backoff, random) <= backoff);
                assert!(Jitter::Half.apply(backoff, random) <= backoff);
            }
        }
    }
}
