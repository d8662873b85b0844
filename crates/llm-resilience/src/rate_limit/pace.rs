//! Smoothing of bursts, on `governor`: requests that the window would admit all at once are spread over it.

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many requests may go out at once before they are spread evenly.
///
/// ```
/// use llm_resilience::{BurstPolicy, RateLimitPolicy};
/// // One request a second in the long run, three at once after a pause.
/// let policy = RateLimitPolicy::default().with_requests_per_minute(60).with_smooth(BurstPolicy::new(3));
/// # let _ = policy;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BurstPolicy {
    /// So many at once, from 1.
    #[serde(deserialize_with = "at_least_one")]
    pub burst: u32,
}

impl BurstPolicy {
    /// So many at once (1 where 0 is given).
    pub fn new(burst: u32) -> Self {
        BurstPolicy { burst: burst.max(1) }
    }
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        0 => Err(serde::de::Error::custom(
            "a burst of 0 would refuse every call; write 1 or more",
        )),
        burst => Ok(burst),
    }
}

/// Lets requests through in an even rhythm.
pub(super) struct Pace {
    limiter: RateLimiter<NotKeyed, InMemoryState, Told, NoOpMiddleware<Nanos>>,
    time: Told,
    interval: Duration,
}

impl Pace {
    /// So many requests in a window, evenly; `None` where the rhythm would be too fast to be one.
    pub(super) fn new(policy: BurstPolicy, requests: u64, window: Duration) -> Option<Self> {
        let interval = Duration::from_nanos(u64::try_from(window.as_nanos()).ok()?.checked_div(requests)?);
        let quota = Quota::with_period(interval)?.allow_burst(NonZeroU32::new(policy.burst)?);
        let time = Told::default();
        Some(Pace {
            limiter: RateLimiter::direct_with_clock(quota, time.clone()),
            time,
            interval,
        })
    }

    /// Takes a turn, or says how long there is none. Calls are made under the lock of the budget: the clock is
    /// told the time first.
    pub(super) fn take(&self, now: u64) -> Result<(), Duration> {
        self.time.0.store(now.saturating_mul(1000), Ordering::Relaxed);
        self.limiter
            .check()
            .map_err(|not_until| not_until.wait_time_from(self.time.now()))
    }

    /// The time from one turn to the next.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pace")
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

/// A clock that is told the time, in nanoseconds.
#[derive(Debug, Clone, Default)]
struct Told(Arc<AtomicU64>);

impl GovernorClock for Told {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::from(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_out_at_once_and_the_rest_evenly() {
        let pace = Pace::new(BurstPolicy::new(3), 60, Duration::from_secs(60)).unwrap();
        let start = 5_000_000;
        for _ in 0..3 {
            pace.take(start).unwrap();
        }
        let wait = pace.take(start).unwrap_err();
        assert_eq!(wait, Duration::from_secs(1));
        assert!(pace.take(start + 999_999).is_err());
        pace.take(start + 1_000_000).unwrap();
        assert!(pace.take(start + 1_000_000).is_err());
        for _ in 0..3 {
            pace.take(start + 60_000_000).unwrap();
        }
    }

    #[test]
    fn a_rhythm_without_pauses_is_none() {
        let minute = Duration::from_secs(60);
        assert!(Pace::new(BurstPolicy::new(1), 0, minute).is_none());
        assert!(Pace::new(BurstPolicy::new(1), 1 << 40, minute).is_none());
    }
}
