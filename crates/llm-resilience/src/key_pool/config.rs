//! How a pool chooses and rests its keys.

use serde::Deserialize;
use std::time::Duration;

/// How a pool chooses its keys, and how long it rests them. Deserialises; durations are whole milliseconds there.
///
/// ```
/// use llm_resilience::KeyPoolPolicy;
/// use std::time::Duration;
///
/// let policy: KeyPoolPolicy = serde_json::from_str(r#"{"sticky": true}"#)?;
/// assert_eq!((policy.sticky, policy.quota_rest), (true, Duration::from_secs(600)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct KeyPoolPolicy {
    /// Does a caller keep its key while it is usable? A caller is who the request names as its user, else the
    /// [`CacheNamespace`](crate::CacheNamespace) of the context; calls of nobody take turns. Helps where a vendor caches
    /// prompts for each account. Default no.
    pub sticky: bool,
    /// How long a key is passed over after a rate limit without a hint, while others are fresh; `rest_ms` in
    /// configuration. Default 5 s.
    #[serde(rename = "rest_ms", deserialize_with = "crate::millis::plain")]
    pub rest: Duration,
    /// How long a key whose quota is used up is not used when the vendor gives no hint, doubled each time until the key
    /// serves again; `quota_rest_ms` in configuration. Default 10 minutes.
    #[serde(rename = "quota_rest_ms", deserialize_with = "crate::millis::plain")]
    pub quota_rest: Duration,
    /// The longest that a key rests, whatever the vendor's hint; `longest_rest_ms` in configuration. Default a day. With
    /// zero, keys take turns and nothing else: none rests, and one that was refused is used on.
    #[serde(rename = "longest_rest_ms", deserialize_with = "crate::millis::plain")]
    pub longest_rest: Duration,
}

impl Default for KeyPoolPolicy {
    fn default() -> Self {
        KeyPoolPolicy {
            sticky: false,
            rest: Duration::from_secs(5),
            quota_rest: Duration::from_secs(600),
            longest_rest: Duration::from_secs(24 * 3600),
        }
    }
}

impl KeyPoolPolicy {
    /// Keys only take turns; none rests, whatever happens.
    pub fn turns_only() -> Self {
        KeyPoolPolicy::default().with_longest_rest(Duration::ZERO)
    }

    /// Does a caller keep its key?
    #[must_use]
    pub fn with_sticky(mut self, sticky: bool) -> Self {
        self.sticky = sticky;
        self
    }

    /// Another rest after a rate limit without a hint than 5 s.
    #[must_use]
    pub fn with_rest(mut self, rest: Duration) -> Self {
        self.rest = rest;
        self
    }

    /// Another first rest after a used-up quota without a hint than 10 minutes.
    #[must_use]
    pub fn with_quota_rest(mut self, rest: Duration) -> Self {
        self.quota_rest = rest;
        self
    }

    /// Another longest rest than a day.
    #[must_use]
    pub fn with_longest_rest(mut self, rest: Duration) -> Self {
        self.longest_rest = rest;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read_and_no_other() {
        let empty: KeyPoolPolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(empty, KeyPoolPolicy::default());
        let text = r#"{"sticky": true, "rest_ms": 1, "quota_rest_ms": 2, "longest_rest_ms": 3}"#;
        let ms = Duration::from_millis;
        let expected = KeyPoolPolicy::default()
            .with_sticky(true)
            .with_rest(ms(1))
            .with_quota_rest(ms(2))
            .with_longest_rest(ms(3));
        assert_eq!(serde_json::from_str::<KeyPoolPolicy>(text).unwrap(), expected);
        let error = serde_json::from_str::<KeyPoolPolicy>(r#"{"keys": []}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}
