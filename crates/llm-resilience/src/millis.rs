//! Durations in configuration and in logs: whole milliseconds.

use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// A length in whole milliseconds, for logs.
pub(crate) fn of(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A duration.
pub(crate) fn plain<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// A limit that `null` switches off. Zero is refused: it would allow nothing, and who writes it means no limit.
pub(crate) fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    match Option::<u64>::deserialize(deserializer)? {
        Some(0) => Err(serde::de::Error::custom(
            "a limit of 0 ms allows nothing; give at least 1, or null for no limit",
        )),
        limit => Ok(limit.map(Duration::from_millis)),
    }
}

/// A duration that may be zero, or `null` for none.
pub(crate) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Option::<u64>::deserialize(deserializer).map(|millis| millis.map(Duration::from_millis))
}
