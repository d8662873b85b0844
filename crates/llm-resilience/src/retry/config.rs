//! How often and how patiently a call is tried again.

use super::{BudgetPolicy, Jitter};
use serde::Deserialize;
use std::time::Duration;

/// How often and how patiently a call is tried again. Deserialises; durations are whole milliseconds there.
///
/// ```
/// use llm_resilience::{Jitter, RetryPolicy};
/// use std::time::Duration;
///
/// let policy: RetryPolicy = serde_json::from_str(r#"{"max_attempts": 5, "base_ms": 250, "jitter": "half"}"#)?;
/// assert_eq!((policy.max_attempts, policy.base), (5, Duration::from_millis(250)));
/// assert_eq!((policy.jitter, policy.cap), (Jitter::Half, Duration::from_secs(8)));
/// assert!(serde_json::from_str::<RetryPolicy>(r#"{"attempts": 5}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// How many attempts there are in all, the first included. Default 3; 1 and 0 switch retrying off.
    pub max_attempts: u32,
    /// The backoff after the first attempt, doubled after each further one; `base_ms` in configuration.
    /// Default 0.5 s.
    #[serde(rename = "base_ms", deserialize_with = "crate::millis::plain")]
    pub base: Duration,
    /// The longest backoff; `cap_ms` in configuration. Default 8 s.
    #[serde(rename = "cap_ms", deserialize_with = "crate::millis::plain")]
    pub cap: Duration,
    /// How much of a backoff is left to chance. Default [`Jitter::Full`].
    pub jitter: Jitter,
    /// The longest single pause; a longer hint of the vendor's ends the call at once, with the hint on its
    /// error. `max_wait_ms` in configuration, `null` for any length. Default 30 s.
    ///
    /// 30 s, not the cap of 8 s: limits by the minute are the usual ones, their hints are often between 8 and
    /// 30 s, and waiting them out is what a caller without another vendor wants. It also leaves chance its room
    /// on top of every hint up to 22 s. Who has other candidates sets less, and who is in a hurry sets a
    /// deadline.
    #[serde(rename = "max_wait_ms", deserialize_with = "crate::millis::limit")]
    pub max_wait: Option<Duration>,
    /// How long a call may have taken in all, waits included, for another attempt to begin. `max_elapsed_ms` in
    /// configuration. Default none: the caller's deadline is the usual bound.
    #[serde(rename = "max_elapsed_ms", deserialize_with = "crate::millis::limit")]
    pub max_elapsed: Option<Duration>,
    /// How many retries all calls of the layer may make together; `null` for any number. Default: a fifth of the
    /// calls and ten more in each 10 s.
    pub budget: Option<BudgetPolicy>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            max_attempts: 3,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(8),
            jitter: Jitter::Full,
            max_wait: Some(Duration::from_secs(30)),
            max_elapsed: None,
            budget: Some(BudgetPolicy::default()),
        }
    }
}

impl RetryPolicy {
    /// The defaults with this many attempts in all, the first included.
    pub fn new(max_attempts: u32) -> Self {
        RetryPolicy {
            max_attempts,
            ..RetryPolicy::default()
        }
    }

    /// One attempt: the layer passes everything through as it is.
    pub fn off() -> Self {
        RetryPolicy::new(1)
    }

    /// Another first backoff than 0.5 s, and another longest one than 8 s.
    #[must_use]
    pub fn with_backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }

    /// Another share of chance than the full one.
    #[must_use]
    pub fn with_jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Another longest pause than 30 s; `None` for any length.
    #[must_use]
    pub fn with_max_wait(mut self, max_wait: impl Into<Option<Duration>>) -> Self {
        self.max_wait = max_wait.into();
        self
    }

    /// A bound on all attempts and waits together.
    #[must_use]
    pub fn with_max_elapsed(mut self, max_elapsed: impl Into<Option<Duration>>) -> Self {
        self.max_elapsed = max_elapsed.into();
        self
    }

    /// Another budget; `None` for any number of retries.
    #[must_use]
    pub fn with_budget(mut self, budget: impl Into<Option<BudgetPolicy>>) -> Self {
        self.budget = budget.into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_configuration_is_the_default() {
        let policy: RetryPolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(policy, RetryPolicy::default());
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"{
            "max_attempts": 4, "base_ms": 100, "cap_ms": 900, "jitter": "half", "max_wait_ms": 5000,
            "max_elapsed_ms": 20000, "budget": {"percent": 50, "reserve": 3, "window_ms": 2000}
        }"#;
        let policy: RetryPolicy = serde_json::from_str(text).unwrap();
        let expected = RetryPolicy::new(4)
            .with_backoff(Duration::from_millis(100), Duration::from_millis(900))
            .with_jitter(Jitter::Half)
            .with_max_wait(Duration::from_secs(5))
            .with_max_elapsed(Duration::from_secs(20))
            .with_budget(BudgetPolicy::new(50, 3).with_window(Duration::from_secs(2)));
        assert_eq!(policy, expected);
    }

    #[test]
    fn null_switches_limits_off_and_zero_is_refused() {
        let policy: RetryPolicy = serde_json::from_str(r#"{"max_wait_ms": null, "budget": null}"#).unwrap();
        assert_eq!((policy.max_wait, policy.budget), (None, None));
        let error = serde_json::from_str::<RetryPolicy>(r#"{"max_wait_ms": 0}"#).unwrap_err();
        assert!(error.to_string().contains("null for no limit"), "{error}");
    }

    #[test]
    fn unknown_keys_are_refused() {
        for text in [r#"{"max_atempts": 2}"#, r#"{"budget": {"share": 2}}"#] {
            let error = serde_json::from_str::<RetryPolicy>(text).unwrap_err();
            assert!(error.to_string().contains("unknown field"), "{error}");
        }
    }
}
