//! Bytes under a key, on Redis: what a cache needs.

use super::RedisLink;
use crate::store::{KeyValueStore, StoreError, StoreErrorKind};
use bytes::Bytes;
use deadpool_redis::redis::{self, Value};
use llm_core::async_trait;
use std::time::Duration;

/// The largest value by default: 1 MiB.
const LARGEST: usize = 1 << 20;

/// A [`KeyValueStore`] on Redis: one command for each operation, expiry by the server's clock.
///
/// A key that holds something of another type, and a value that is larger than this store would have written,
/// count as absent.
#[derive(Debug, Clone)]
pub struct RedisKeyValueStore {
    link: RedisLink,
    space: String,
    largest: usize,
}

impl RedisKeyValueStore {
    /// A store in a space of its own (`cache`, …): its keys are `llm_router:cache:{key}`.
    pub fn new(link: RedisLink, space: impl Into<String>) -> Self {
        RedisKeyValueStore {
            link,
            space: space.into(),
            largest: LARGEST,
        }
    }

    /// Another limit on one value than 1 MiB, in bytes.
    #[must_use]
    pub fn with_largest_value(mut self, bytes: usize) -> Self {
        self.largest = bytes;
        self
    }
}

#[async_trait]
impl KeyValueStore for RedisKeyValueStore {
    async fn get(&self, key: &str, time_left: Option<Duration>) -> Result<Option<Bytes>, StoreError> {
        let mut command = redis::cmd("GETRANGE");
        // One byte more than there can be, so that a value which is too large is not fetched whole.
        command
            .arg(self.link.key(&self.space, key))
            .arg(0)
            .arg(self.largest);
        let absent = |why: &str| {
            tracing::warn!(space = %self.space, "a value in the store {why}; it counts as absent");
            Ok(None)
        };
        match self.link.send(command, time_left).await {
            Ok(Value::Nil) => Ok(None),
            Ok(Value::BulkString(bytes)) if bytes.is_empty() => Ok(None),
            Ok(Value::BulkString(bytes)) if bytes.len() > self.largest => absent("is too large"),
            Ok(Value::BulkString(bytes)) => Ok(Some(bytes.into())),
            Ok(_) => absent("is no string"),
            Err(error) if error.kind() == StoreErrorKind::WrongType => absent("is of another type"),
            Err(error) => Err(error),
        }
    }

    async fn set(
        &self,
        key: &str,
        value: Bytes,
        ttl: Duration,
        time_left: Option<Duration>,
    ) -> Result<(), StoreError> {
        if value.len() > self.largest {
            let message = format!("{} bytes, and at most {} are kept", value.len(), self.largest);
            return Err(StoreError::new(StoreErrorKind::TooLarge, message));
        }
        // An empty value cannot be told from none, and a ttl of nothing keeps nothing.
        let milliseconds = u64::try_from(ttl.as_millis())
            .unwrap_or(u64::MAX)
            .min(LONGEST_TTL);
        if milliseconds == 0 || value.is_empty() {
            return self.delete(key, time_left).await;
        }
        let mut command = redis::cmd("SET");
        command.arg(self.link.key(&self.space, key)).arg(value.as_ref());
        command.arg("PX").arg(milliseconds);
        self.link.send(command, time_left).await.map(drop)
    }

    async fn delete(&self, key: &str, time_left: Option<Duration>) -> Result<(), StoreError> {
        let mut command = redis::cmd("DEL");
        command.arg(self.link.key(&self.space, key));
        self.link.send(command, time_left).await.map(drop)
    }
}

/// What Redis still takes as an expiry: a hundred years.
const LONGEST_TTL: u64 = 100 * 365 * 24 * 3600 * 1000;
