//! Which layers a stack has, and how each behaves.

use crate::{
    BreakerPolicy, BulkheadPolicy, CachePolicy, HedgePolicy, KeyPoolPolicy, RateLimitPolicy, RetryPolicy,
    TimeoutPolicy, TracePolicy,
};
use serde::Deserialize;

/// Which layers a stack has, and how each behaves, listed as a request meets them: outermost first. Deserialises; a
/// layer that is not named is not there, `{}` is one with its defaults, and unknown keys are errors.
///
/// ```
/// use llm_resilience::stack::StackConfig;
///
/// let config: StackConfig = serde_json::from_str(r#"{"retry": {"max_attempts": 2}, "timeout": {}}"#)?;
/// assert_eq!(config.retry.map(|policy| policy.max_attempts), Some(2));
/// assert!(config.breaker.is_none());
/// assert!(serde_json::from_str::<StackConfig>(r#"{"retries": {}}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// The order of the keys in a file says nothing: the order of the layers is always the one of [`StackConfig::ORDER`].
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct StackConfig {
    /// Spans. Default: not there.
    pub trace: Option<TracePolicy>,
    /// Answers that were given before. Default: not there; needs a store.
    pub cache: Option<CachePolicy>,
    /// Tries again. Default: not there.
    pub retry: Option<RetryPolicy>,
    /// Second attempts for slow calls. Default: not there.
    pub hedge: Option<HedgePolicy>,
    /// Stays away from what fails. Default: not there. With a key pool, it leaves credentials to that.
    pub breaker: Option<BreakerPolicy>,
    /// Requests and tokens a minute. Default: not there.
    pub rate_limit: Option<RateLimitPolicy>,
    /// Calls at once. Default: not there; its `max_concurrent` has no default.
    pub bulkhead: Option<BulkheadPolicy>,
    /// Several credentials. Default: not there.
    pub key_pool: Option<KeyPoolPolicy>,
    /// Time limits on each attempt. Default: not there.
    pub timeout: Option<TimeoutPolicy>,
}

impl StackConfig {
    /// The layers, outermost first, by their names in configuration and in `DriverInfo::layers`.
    pub const ORDER: [&str; 9] = [
        "trace",
        "cache",
        "retry",
        "hedge",
        "breaker",
        "rate_limit",
        "bulkhead",
        "key_pool",
        "timeout",
    ];

    /// What every call to a vendor should have: spans, retries, a breaker and time limits, with their defaults.
    pub fn recommended() -> Self {
        StackConfig::default()
            .with_trace(TracePolicy::default())
            .with_retry(RetryPolicy::default())
            .with_breaker(BreakerPolicy::default())
            .with_timeout(TimeoutPolicy::default())
    }

    /// With spans, or without.
    #[must_use]
    pub fn with_trace(mut self, policy: impl Into<Option<TracePolicy>>) -> Self {
        self.trace = policy.into();
        self
    }

    /// With a cache, or without.
    #[must_use]
    pub fn with_cache(mut self, policy: impl Into<Option<CachePolicy>>) -> Self {
        self.cache = policy.into();
        self
    }

    /// With retries, or without.
    #[must_use]
    pub fn with_retry(mut self, policy: impl Into<Option<RetryPolicy>>) -> Self {
        self.retry = policy.into();
        self
    }

    /// With second attempts for slow calls, or without.
    #[must_use]
    pub fn with_hedge(mut self, policy: impl Into<Option<HedgePolicy>>) -> Self {
        self.hedge = policy.into();
        self
    }

    /// With a breaker, or without.
    #[must_use]
    pub fn with_breaker(mut self, policy: impl Into<Option<BreakerPolicy>>) -> Self {
        self.breaker = policy.into();
        self
    }

    /// With limits a minute, or without.
    #[must_use]
    pub fn with_rate_limit(mut self, policy: impl Into<Option<RateLimitPolicy>>) -> Self {
        self.rate_limit = policy.into();
        self
    }

    /// With a cap on calls at once, or without.
    #[must_use]
    pub fn with_bulkhead(mut self, policy: impl Into<Option<BulkheadPolicy>>) -> Self {
        self.bulkhead = policy.into();
        self
    }

    /// With a key pool, or without.
    #[must_use]
    pub fn with_key_pool(mut self, policy: impl Into<Option<KeyPoolPolicy>>) -> Self {
        self.key_pool = policy.into();
        self
    }

    /// With time limits on each attempt, or without.
    #[must_use]
    pub fn with_timeout(mut self, policy: impl Into<Option<TimeoutPolicy>>) -> Self {
        self.timeout = policy.into();
        self
    }

    /// With what layers have to know of each other: one refused key must not shut the others out.
    pub(super) fn into_used(mut self) -> Self {
        if self.key_pool.is_some() {
            self.breaker = self.breaker.map(BreakerPolicy::without_credentials);
        }
        self
    }
}
