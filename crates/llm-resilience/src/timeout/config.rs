//! How long an attempt may take.

use serde::Deserialize;
use std::time::Duration;

/// How long an attempt may take, part by part. Deserialises; limits are whole milliseconds there, and `null` is
/// none.
///
/// ```
/// use llm_resilience::TimeoutPolicy;
/// use std::time::Duration;
///
/// let policy: TimeoutPolicy = serde_json::from_str(r#"{"first_event_ms": 300000, "idle_ms": null}"#)?;
/// assert_eq!(policy.first_event, Some(Duration::from_secs(300)));
/// assert_eq!((policy.idle, policy.whole), (None, Some(Duration::from_secs(180))));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TimeoutPolicy {
    /// From the call to the first event of its stream; `first_event_ms` in configuration. Default 60 s. A local
    /// server that loads its model first needs more: 300 s for Ollama.
    #[serde(rename = "first_event_ms", deserialize_with = "crate::millis::limit")]
    pub first_event: Option<Duration>,
    /// From the call to the first content of its stream, keep-alives or not; `first_content_ms` in
    /// configuration. Default none, because it cuts a model that thinks for long.
    #[serde(rename = "first_content_ms", deserialize_with = "crate::millis::limit")]
    pub first_content: Option<Duration>,
    /// From one event of a stream to the next, keep-alives included; `idle_ms` in configuration. Default 60 s.
    #[serde(rename = "idle_ms", deserialize_with = "crate::millis::limit")]
    pub idle: Option<Duration>,
    /// A plain call, from beginning to end; `whole_ms` in configuration. Default 180 s.
    #[serde(rename = "whole_ms", deserialize_with = "crate::millis::limit")]
    pub whole: Option<Duration>,
}

impl Default for TimeoutPolicy {
    fn default() -> Self {
        TimeoutPolicy {
            first_event: Some(Duration::from_secs(60)),
            first_content: None,
            idle: Some(Duration::from_secs(60)),
            whole: Some(Duration::from_secs(180)),
        }
    }
}

impl TimeoutPolicy {
    /// No limit but the caller's deadline.
    pub fn off() -> Self {
        TimeoutPolicy {
            first_event: None,
            first_content: None,
            idle: None,
            whole: None,
        }
    }

    /// Another limit on the first event than 60 s; `None` for none.
    #[must_use]
    pub fn with_first_event(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.first_event = limit.into();
        self
    }

    /// A limit on the first content.
    #[must_use]
    pub fn with_first_content(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.first_content = limit.into();
        self
    }

    /// Another limit on gaps than 60 s; `None` for none.
    #[must_use]
    pub fn with_idle(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.idle = limit.into();
        self
    }

    /// Another limit on plain calls than 180 s; `None` for none.
    #[must_use]
    pub fn with_whole(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.whole = limit.into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_configuration_is_the_default() {
        let policy: TimeoutPolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(policy, TimeoutPolicy::default());
    }

    #[test]
    fn every_key_is_read_and_no_other() {
        let text = r#"{"first_event_ms": 1, "first_content_ms": 2, "idle_ms": 3, "whole_ms": 4}"#;
        let policy: TimeoutPolicy = serde_json::from_str(text).unwrap();
        let ms = Duration::from_millis;
        let expected = TimeoutPolicy::off()
            .with_first_event(ms(1))
            .with_first_content(ms(2))
            .with_idle(ms(3))
            .with_whole(ms(4));
        assert_eq!(policy, expected);
        let error = serde_json::from_str::<TimeoutPolicy>(r#"{"idle": 3}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}
