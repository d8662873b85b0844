//! How many requests and tokens a minute.

use super::pace::BurstPolicy;
use super::store::Limits;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// How many requests and tokens a minute, and how long a call may wait for them. Deserialises; the wait is whole
/// milliseconds there.
///
/// ```
/// use llm_resilience::{RateLimitPolicy, RateLimitScope};
/// use std::time::Duration;
///
/// let policy: RateLimitPolicy =
///     serde_json::from_str(r#"{"requests_per_minute": 500, "tokens_per_minute": 200000, "scope": "model"}"#)?;
/// assert_eq!((policy.requests_per_minute, policy.scope), (Some(500), RateLimitScope::Model));
/// assert_eq!((policy.max_queue, policy.max_wait), (1024, Some(Duration::from_secs(30))));
/// assert!(serde_json::from_str::<RateLimitPolicy>(r#"{"requests_per_minute": 0}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RateLimitPolicy {
    /// Requests in any 60 s. Default none: any number.
    #[serde(deserialize_with = "at_least_one")]
    pub requests_per_minute: Option<u64>,
    /// Tokens in any 60 s, in and out together. Default none: any number.
    #[serde(deserialize_with = "at_least_one")]
    pub tokens_per_minute: Option<u64>,
    /// How long a call waits at most where its context does not say; `max_wait_ms` in configuration. Default 30 s;
    /// 0 refuses at once what has no room at once; `None`: as long as its deadline allows.
    #[serde(rename = "max_wait_ms", deserialize_with = "crate::millis::optional")]
    pub max_wait: Option<Duration>,
    /// How many calls may wait in this process. Default 1024.
    pub max_queue: u32,
    /// What shares the limits. Default: all that the layer wraps.
    pub scope: RateLimitScope,
    /// The name of what is limited, a vendor account for example: layers with one store and one name share their
    /// limits. Default `default`.
    pub budget: String,
    /// The tokens reserved for an answer when neither the request nor earlier answers say how long it gets.
    /// Default 500.
    pub assumed_output_tokens: u32,
    /// Spreads requests over the minute instead of sending all as soon as there is room. Default none.
    pub smooth: Option<BurstPolicy>,
    /// What happens when a shared store is down. Default: refuse.
    pub when_store_fails: StoreFailurePolicy,
}

impl Default for RateLimitPolicy {
    fn default() -> Self {
        RateLimitPolicy {
            requests_per_minute: None,
            tokens_per_minute: None,
            max_wait: Some(Duration::from_secs(30)),
            max_queue: 1024,
            scope: RateLimitScope::default(),
            budget: "default".to_owned(),
            assumed_output_tokens: 500,
            smooth: None,
            when_store_fails: StoreFailurePolicy::default(),
        }
    }
}

impl RateLimitPolicy {
    /// So many requests in any 60 s (1 where 0 is given); `None` for any number.
    #[must_use]
    pub fn with_requests_per_minute(mut self, requests: impl Into<Option<u64>>) -> Self {
        self.requests_per_minute = requests.into().map(|requests| requests.max(1));
        self
    }

    /// So many tokens in any 60 s (1 where 0 is given); `None` for any number.
    #[must_use]
    pub fn with_tokens_per_minute(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.tokens_per_minute = tokens.into().map(|tokens| tokens.max(1));
        self
    }

    /// Another longest wait than 30 s; `None`: as long as a call's deadline allows.
    #[must_use]
    pub fn with_max_wait(mut self, wait: impl Into<Option<Duration>>) -> Self {
        self.max_wait = wait.into();
        self
    }

    /// Another length of the queue than 1024.
    #[must_use]
    pub fn with_max_queue(mut self, calls: u32) -> Self {
        self.max_queue = calls;
        self
    }

    /// What shares the limits.
    #[must_use]
    pub fn with_scope(mut self, scope: RateLimitScope) -> Self {
        self.scope = scope;
        self
    }

    /// The name of what is limited.
    #[must_use]
    pub fn with_budget(mut self, name: impl Into<String>) -> Self {
        self.budget = name.into();
        self
    }

    /// Another guess of an answer than 500 tokens.
    #[must_use]
    pub fn with_assumed_output_tokens(mut self, tokens: u32) -> Self {
        self.assumed_output_tokens = tokens;
        self
    }

    /// Requests spread over the minute.
    #[must_use]
    pub fn with_smooth(mut self, burst: impl Into<Option<BurstPolicy>>) -> Self {
        self.smooth = burst.into();
        self
    }

    /// What happens when a shared store is down.
    #[must_use]
    pub fn with_when_store_fails(mut self, policy: StoreFailurePolicy) -> Self {
        self.when_store_fails = policy;
        self
    }

    /// As the window counts them.
    pub(super) fn limits(&self) -> Limits {
        Limits::per_minute(self.requests_per_minute, self.tokens_per_minute)
    }
}

/// What shares the limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RateLimitScope {
    /// All drivers that the layer value wraps.
    #[default]
    Layer,
    /// Each driver by itself: its id and where it sends to.
    Driver,
    /// Each model of a driver by itself, whatever name a request has for it.
    Model,
}

/// What a limiter does when its shared store is down, or may have lost what was admitted lately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoreFailurePolicy {
    /// Refuses: the limit holds, calls do not.
    #[default]
    Closed,
    /// Counts by itself, up to one of so many equal shares of the limits (at least 1): with the number of
    /// processes, all of them together keep the limit, as long as they all fail over alike.
    LocalShare(u32),
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Option::<u64>::deserialize(deserializer)? {
        Some(0) => Err(serde::de::Error::custom(
            "a limit of 0 a minute would refuse every call; write null for no limit",
        )),
        limit => Ok(limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_configuration_is_the_default() {
        let policy: RateLimitPolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(policy, RateLimitPolicy::default());
    }

    #[test]
    fn every_key_is_read_and_no_other() {
        let text = r#"{"requests_per_minute": 1, "tokens_per_minute": 2, "max_wait_ms": null, "max_queue": 3,
            "scope": "driver", "budget": "blue", "assumed_output_tokens": 4, "smooth": {"burst": 5},
            "when_store_fails": {"local_share": 6}}"#;
        let expected = RateLimitPolicy::default()
            .with_requests_per_minute(1)
            .with_tokens_per_minute(2)
            .with_max_wait(None)
            .with_max_queue(3)
            .with_scope(RateLimitScope::Driver)
            .with_budget("blue")
            .with_assumed_output_tokens(4)
            .with_smooth(BurstPolicy::new(5))
            .with_when_store_fails(StoreFailurePolicy::LocalShare(6));
        assert_eq!(serde_json::from_str::<RateLimitPolicy>(text).unwrap(), expected);
        let closed: RateLimitPolicy = serde_json::from_str(r#"{"when_store_fails": "closed"}"#).unwrap();
        assert_eq!(closed, RateLimitPolicy::default());
        for (wrong, told) in [
            (r#"{"rpm": 1}"#, "unknown field"),
            (r#"{"tokens_per_minute": 0}"#, "null for no limit"),
            (r#"{"smooth": {"burst": 0}}"#, "1 or more"),
            (r#"{"when_store_fails": "open"}"#, "unknown variant"),
        ] {
            let error = serde_json::from_str::<RateLimitPolicy>(wrong).unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
