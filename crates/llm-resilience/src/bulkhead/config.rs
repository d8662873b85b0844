//! How many calls may run at once.

use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// How many calls may run at once, and how many may wait. Deserialises; `max_concurrent` is needed, the wait is
/// whole milliseconds there.
///
/// ```
/// use llm_resilience::{BulkheadPolicy, BulkheadScope};
/// use std::time::Duration;
///
/// let policy: BulkheadPolicy = serde_json::from_str(r#"{"max_concurrent": 8, "scope": "model"}"#)?;
/// assert_eq!((policy.max_concurrent, policy.scope), (8, BulkheadScope::Model));
/// assert_eq!((policy.max_queue, policy.max_wait), (64, Some(Duration::from_secs(30))));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BulkheadPolicy {
    /// How many calls run at once, from 1. No default: only who knows the vendor can say.
    #[serde(deserialize_with = "at_least_one")]
    pub max_concurrent: u32,
    /// How many more may wait for their turn. Default 64; 0 refuses at once what cannot run at once.
    #[serde(default = "default_queue")]
    pub max_queue: u32,
    /// How long a call waits at most where its context does not say; `max_wait_ms` in configuration. Default
    /// 30 s; `None`: as long as its deadline allows.
    #[serde(
        rename = "max_wait_ms",
        default = "default_wait",
        deserialize_with = "crate::millis::optional"
    )]
    pub max_wait: Option<Duration>,
    /// What is counted together. Default: all that the layer wraps.
    #[serde(default)]
    pub scope: BulkheadScope,
}

/// What a bulkhead counts together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BulkheadScope {
    /// All drivers that the layer value wraps.
    #[default]
    Layer,
    /// Each driver by itself: its id and where it sends to.
    Driver,
    /// Each model of a driver by itself, whatever name a request has for it.
    Model,
}

impl BulkheadPolicy {
    /// So many calls at once (1 where 0 is given), 64 more in the queue for 30 s at most.
    pub fn new(max_concurrent: u32) -> Self {
        BulkheadPolicy {
            max_concurrent: max_concurrent.max(1),
            max_queue: default_queue(),
            max_wait: default_wait(),
            scope: BulkheadScope::default(),
        }
    }

    /// Another length of the queue than 64.
    #[must_use]
    pub fn with_max_queue(mut self, calls: u32) -> Self {
        self.max_queue = calls;
        self
    }

    /// Another longest wait than 30 s; `None`: as long as a call's deadline allows.
    #[must_use]
    pub fn with_max_wait(mut self, wait: impl Into<Option<Duration>>) -> Self {
        self.max_wait = wait.into();
        self
    }

    /// What is counted together.
    #[must_use]
    pub fn with_scope(mut self, scope: BulkheadScope) -> Self {
        self.scope = scope;
        self
    }
}

fn default_queue() -> u32 {
    64
}

// The type of the field, as serde asks for it.
#[expect(clippy::unnecessary_wraps, reason = "a default of an optional field")]
fn default_wait() -> Option<Duration> {
    Some(Duration::from_secs(30))
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        0 => Err(serde::de::Error::custom(
            "a bulkhead that lets in 0 calls at once would refuse every call; write 1 or more",
        )),
        calls => Ok(calls),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read_and_no_other() {
        let text = r#"{"max_concurrent": 2, "max_queue": 0, "max_wait_ms": null, "scope": "driver"}"#;
        let expected = BulkheadPolicy::new(2)
            .with_max_queue(0)
            .with_max_wait(None)
            .with_scope(BulkheadScope::Driver);
        assert_eq!(serde_json::from_str::<BulkheadPolicy>(text).unwrap(), expected);
        let short: BulkheadPolicy = serde_json::from_str(r#"{"max_concurrent": 2}"#).unwrap();
        assert_eq!(short, BulkheadPolicy::new(2));
        for (wrong, told) in [
            (r#"{"max_concurrent": 2, "queue": 1}"#, "unknown field"),
            (r#"{"max_concurrent": 0}"#, "1 or more"),
            (r#"{"max_queue": 3}"#, "max_concurrent"),
        ] {
            let error = serde_json::from_str::<BulkheadPolicy>(wrong).unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
