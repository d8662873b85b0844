//! When a second attempt is begun, and how many of them.

use crate::BudgetPolicy;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// When a second attempt is begun, and how many of them there may be. Deserialises; durations are whole milliseconds
/// there.
///
/// ```
/// use llm_resilience::HedgePolicy;
/// use std::time::Duration;
///
/// let policy: HedgePolicy = serde_json::from_str(r#"{"percentile": 90}"#)?;
/// assert_eq!((policy.percentile, policy.min_samples), (90, 20));
/// assert_eq!((policy.floor, policy.extra_percent), (Duration::from_millis(500), 5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HedgePolicy {
    /// A call that takes longer than this percentile of the recent calls to the same target gets a second attempt.
    /// Default 95; from 1 to 99.
    #[serde(deserialize_with = "percentile")]
    pub percentile: u8,
    /// How many recent calls must be known before the percentile says anything; until then there are no second
    /// attempts. Default 20; more than 128 count as 128, since no more are remembered.
    pub min_samples: u32,
    /// The least time before a second attempt, whatever the percentile says; `floor_ms` in configuration. Default
    /// 500 ms.
    #[serde(rename = "floor_ms", deserialize_with = "crate::millis::plain")]
    pub floor: Duration,
    /// Second attempts for each hundred calls in any 10 s. Default 5.
    pub extra_percent: u32,
    /// Second attempts that are there in any 10 s whatever was called. Default 1. With both at zero the layer is off.
    pub extra_reserve: u32,
}

impl Default for HedgePolicy {
    fn default() -> Self {
        HedgePolicy {
            percentile: 95,
            min_samples: 20,
            floor: Duration::from_millis(500),
            extra_percent: 5,
            extra_reserve: 1,
        }
    }
}

impl HedgePolicy {
    /// No second attempts: every call passes as if the layer were not there.
    pub fn off() -> Self {
        HedgePolicy::default().with_extra(0, 0)
    }

    /// Another percentile than 95 (cut to 1 to 99), known from so many calls on.
    #[must_use]
    pub fn with_percentile(mut self, percentile: u8, min_samples: u32) -> Self {
        self.percentile = percentile.clamp(1, 99);
        self.min_samples = min_samples;
        self
    }

    /// Another least time than 500 ms.
    #[must_use]
    pub fn with_floor(mut self, floor: Duration) -> Self {
        self.floor = floor;
        self
    }

    /// Another share of second attempts than 5 percent, and so many on top, in any 10 s.
    #[must_use]
    pub fn with_extra(mut self, percent: u32, reserve: u32) -> Self {
        self.extra_percent = percent;
        self.extra_reserve = reserve;
        self
    }

    pub(super) fn is_off(&self) -> bool {
        self.extra_percent == 0 && self.extra_reserve == 0
    }

    pub(super) fn budget(&self) -> BudgetPolicy {
        BudgetPolicy::new(self.extra_percent, self.extra_reserve)
    }
}

fn percentile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        percentile @ 1..=99 => Ok(percentile),
        _ => Err(serde::de::Error::custom("a percentile is from 1 to 99")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read_and_no_other() {
        let empty: HedgePolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(empty, HedgePolicy::default());
        let text =
            r#"{"percentile": 80, "min_samples": 3, "floor_ms": 7, "extra_percent": 1, "extra_reserve": 2}"#;
        let expected = HedgePolicy::default()
            .with_percentile(80, 3)
            .with_floor(Duration::from_millis(7))
            .with_extra(1, 2);
        assert_eq!(serde_json::from_str::<HedgePolicy>(text).unwrap(), expected);
        for (wrong, told) in [
            (r#"{"floor": 3}"#, "unknown field"),
            (r#"{"percentile": 100}"#, "from 1 to 99"),
        ] {
            let error = serde_json::from_str::<HedgePolicy>(wrong).unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
