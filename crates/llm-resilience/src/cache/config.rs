//! What is cached, and for how long; and what a call can say about it.

use serde::{Deserialize, Deserializer};
use std::sync::Arc;
use std::time::Duration;

/// What is cached, and for how long. Deserialises; every key is optional, durations are whole milliseconds there.
///
/// ```
/// use llm_resilience::{CachePolicy, CachedStreams};
/// use std::time::Duration;
///
/// let policy: CachePolicy = serde_json::from_str(r#"{"ttl_ms": 60000, "streams": "replay"}"#)?;
/// assert_eq!((policy.ttl, policy.streams), (Duration::from_secs(60), CachedStreams::Replay));
/// assert_eq!((policy.tool_calls, policy.max_temperature), (false, Some(0.3)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CachePolicy {
    /// How long an answer is kept; `ttl_ms` in configuration. Default 300 s; zero switches the cache off.
    #[serde(rename = "ttl_ms", deserialize_with = "crate::millis::plain")]
    pub ttl: Duration,
    /// What happens with streams. Default: they pass by the cache.
    pub streams: CachedStreams,
    /// Are answers kept that call tools? Default no: what a call does, it would do again.
    pub tool_calls: bool,
    /// Up to which temperature answers are kept. Default 0.3; `None`: at any. A request that names no temperature
    /// counts as kept.
    #[serde(deserialize_with = "temperature")]
    pub max_temperature: Option<f64>,
    /// Answers that take more room than this many bytes are not kept. Default 1 MiB.
    pub max_entry_bytes: usize,
    /// How long the store may take for one step before the call goes on without it; `store_wait_ms` in
    /// configuration. Default 250 ms.
    #[serde(rename = "store_wait_ms", deserialize_with = "crate::millis::plain")]
    pub store_wait: Duration,
    /// Keeps this layer's answers apart from those of others in the same store. Default: not apart.
    pub namespace: String,
}

/// What a cache does with calls whose answer is wanted as a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CachedStreams {
    /// They pass by the cache: nothing is looked up, nothing is kept.
    #[default]
    Bypass,
    /// An answer that is there is replayed as a stream; a stream that ended well is kept.
    Replay,
}

impl Default for CachePolicy {
    fn default() -> Self {
        CachePolicy {
            ttl: Duration::from_secs(300),
            streams: CachedStreams::default(),
            tool_calls: false,
            max_temperature: Some(0.3),
            max_entry_bytes: 1 << 20,
            store_wait: Duration::from_millis(250),
            namespace: String::new(),
        }
    }
}

impl CachePolicy {
    /// Keeps nothing: every call passes as if there were no cache.
    pub fn off() -> Self {
        CachePolicy::default().with_ttl(Duration::ZERO)
    }

    /// Another time than 300 s.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// What happens with streams.
    #[must_use]
    pub fn with_streams(mut self, streams: CachedStreams) -> Self {
        self.streams = streams;
        self
    }

    /// Are answers kept that call tools?
    #[must_use]
    pub fn with_tool_calls(mut self, tool_calls: bool) -> Self {
        self.tool_calls = tool_calls;
        self
    }

    /// Up to which temperature answers are kept; `None`: at any.
    #[must_use]
    pub fn with_max_temperature(mut self, temperature: impl Into<Option<f64>>) -> Self {
        self.max_temperature = temperature.into();
        self
    }

    /// Another largest answer than 1 MiB.
    #[must_use]
    pub fn with_max_entry_bytes(mut self, bytes: usize) -> Self {
        self.max_entry_bytes = bytes;
        self
    }

    /// Another longest wait for the store than 250 ms.
    #[must_use]
    pub fn with_store_wait(mut self, wait: Duration) -> Self {
        self.store_wait = wait;
        self
    }

    /// Keeps this layer's answers apart.
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    pub(super) fn is_off(&self) -> bool {
        self.ttl.is_zero()
    }
}

/// What one call wants of the caches on its way, put into its context:
/// `cx.with_extension(CacheMode::Refresh)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheMode {
    /// A kept answer where there is one.
    #[default]
    Use,
    /// A new answer, which takes the place of a kept one.
    Refresh,
    /// A new answer; nothing is kept, and what is there stays.
    Bypass,
}

/// For whom a call is made, put into its context: `cx.with_extension(CacheNamespace::new("tenant-7"))`. No caller
/// gets an answer that was made in another namespace.
///
/// Set it wherever equal requests of two callers may have different answers: tenants with data of their own behind
/// a tool, callers with credentials of their own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheNamespace(Arc<str>);

impl CacheNamespace {
    /// A namespace of this name; any text will do.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        CacheNamespace(name.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        Some(value) if value < 0.0 => Err(serde::de::Error::custom(
            "a temperature below 0 is none; write null for any temperature",
        )),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read_and_no_other() {
        let empty: CachePolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(empty, CachePolicy::default());
        let text = r#"{"ttl_ms": 1, "streams": "replay", "tool_calls": true, "max_temperature": null,
            "max_entry_bytes": 2, "store_wait_ms": 3, "namespace": "n"}"#;
        let expected = CachePolicy::default()
            .with_ttl(Duration::from_millis(1))
            .with_streams(CachedStreams::Replay)
            .with_tool_calls(true)
            .with_max_temperature(None)
            .with_max_entry_bytes(2)
            .with_store_wait(Duration::from_millis(3))
            .with_namespace("n");
        assert_eq!(serde_json::from_str::<CachePolicy>(text).unwrap(), expected);
        for (wrong, told) in [
            (r#"{"ttl": 3}"#, "unknown field"),
            (r#"{"max_temperature": -1}"#, "below 0"),
        ] {
            let error = serde_json::from_str::<CachePolicy>(wrong).unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
