//! Which Redis, and how long to wait for it.

use llm_core::{Error, ErrorKind, Result, Secret};
use serde::Deserialize;
use std::time::Duration;

/// Which Redis server or cluster, and how long to wait for it. Deserialises; durations are whole milliseconds
/// there, and only `urls` must be given.
///
/// ```
/// use llm_resilience::store::redis::RedisConfig;
/// use std::time::Duration;
///
/// let config: RedisConfig = serde_json::from_str(
///     r#"{"urls": ["redis://:secret@10.0.0.7:6379/2"], "command_timeout_ms": 200}"#,
/// )?;
/// assert_eq!(config.command_timeout, Duration::from_millis(200));
/// assert!(!format!("{config:?}").contains("secret"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RedisConfig {
    /// `redis://[user:password@]host[:port][/database]`. One for a single node. For a cluster, any of its nodes:
    /// the others are learnt from them.
    pub urls: Vec<Secret<String>>,
    /// Is it a cluster? Default no.
    #[serde(default)]
    pub cluster: bool,
    /// What every key begins with. Default `llm_router:`.
    #[serde(default = "default_prefix")]
    pub prefix: String,
    /// How long one call waits for a connection, a free one or a new one; `connect_timeout_ms` in configuration.
    /// Default 1 s.
    #[serde(
        rename = "connect_timeout_ms",
        default = "default_connect_timeout",
        deserialize_with = "crate::millis::plain"
    )]
    pub connect_timeout: Duration,
    /// How long one call waits for its answer once it has a connection; `command_timeout_ms` in configuration.
    /// Default 500 ms.
    #[serde(
        rename = "command_timeout_ms",
        default = "default_command_timeout",
        deserialize_with = "crate::millis::plain"
    )]
    pub command_timeout: Duration,
    /// How many connections are kept at most (to a cluster: to each of its nodes). Default 8.
    #[serde(default = "default_pool_size")]
    pub pool_size: usize,
}

/// The longest timeout that makes sense.
const LONGEST: Duration = Duration::from_secs(3600);

fn default_prefix() -> String {
    "llm_router:".to_owned()
}

fn default_connect_timeout() -> Duration {
    Duration::from_secs(1)
}

fn default_command_timeout() -> Duration {
    Duration::from_millis(500)
}

fn default_pool_size() -> usize {
    8
}

impl RedisConfig {
    /// A single node.
    pub fn single(url: impl Into<String>) -> Self {
        RedisConfig {
            urls: vec![Secret::new(url.into())],
            cluster: false,
            prefix: default_prefix(),
            connect_timeout: default_connect_timeout(),
            command_timeout: default_command_timeout(),
            pool_size: default_pool_size(),
        }
    }

    /// A cluster, by some of its nodes.
    pub fn cluster<U: Into<String>>(urls: impl IntoIterator<Item = U>) -> Self {
        RedisConfig {
            urls: urls.into_iter().map(|url| Secret::new(url.into())).collect(),
            cluster: true,
            ..RedisConfig::single("")
        }
    }

    /// Another beginning of every key than `llm_router:`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Another limit on getting a connection than 1 s.
    #[must_use]
    pub fn with_connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Another limit on an answer than 500 ms.
    #[must_use]
    pub fn with_command_timeout(mut self, limit: Duration) -> Self {
        self.command_timeout = limit;
        self
    }

    /// Another number of connections than 8.
    #[must_use]
    pub fn with_pool_size(mut self, connections: usize) -> Self {
        self.pool_size = connections;
        self
    }

    /// What can be seen to be wrong without asking the server.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |message: &str| Err(Error::new(ErrorKind::Config, message));
        if self.urls.is_empty() {
            return wrong("redis: no url; give at least one");
        }
        if !self.cluster && self.urls.len() > 1 {
            return wrong("redis: several urls but no cluster; give one, or set `cluster`");
        }
        if self.pool_size == 0 {
            return wrong("redis: a pool of no connections; set `pool_size` to 1 or more");
        }
        if self.connect_timeout.is_zero() || self.command_timeout.is_zero() {
            return wrong("redis: a timeout of 0 ms fails every call; give more");
        }
        if self.connect_timeout > LONGEST || self.command_timeout > LONGEST {
            return wrong("redis: a timeout of more than an hour is none; give less");
        }
        if self.prefix.contains(['{', '}']) {
            return wrong("redis: braces in `prefix` would put every key into one slot; leave them out");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_must_be_given_and_unknown_keys_are_errors() {
        let config: RedisConfig = serde_json::from_str(r#"{"urls": ["redis://h"]}"#).unwrap();
        assert_eq!(config, RedisConfig::single("redis://h"));
        assert!(serde_json::from_str::<RedisConfig>(r#"{"urls": [], "timeout": 1}"#).is_err());
        assert!(serde_json::from_str::<RedisConfig>("{}").is_err());
    }

    #[test]
    fn what_cannot_work_is_said_before_anything_is_sent() {
        let single = || RedisConfig::single("redis://h");
        let mut two = RedisConfig::cluster(["redis://a", "redis://b"]);
        two.check().unwrap();
        two.cluster = false;
        for (config, says) in [
            (two, "several urls"),
            (RedisConfig::cluster([""; 0]), "no url"),
            (single().with_pool_size(0), "pool_size"),
            (single().with_command_timeout(Duration::ZERO), "timeout"),
            (single().with_prefix("{x}"), "prefix"),
        ] {
            let error = config.check().unwrap_err();
            assert!(error.message().contains(says), "{error}");
        }
    }
}
