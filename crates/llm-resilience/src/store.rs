//! Where state lives that several processes share, and what happens when it cannot be reached.
//!
//! There are two grades, and a store says with its traits which of them it is:
//!
//! * **cache-grade** ([`KeyValueStore`]): may lose what it was given, at any time. Who uses it goes on without it
//!   when it is down (*fails open*) and says so at warning level.
//! * **quota-grade** ([`QuotaStore`](crate::rate_limit::QuotaStore)): takes a whole decision in one atomic step, and
//!   never forgets one that it has confirmed. Who uses it refuses when it is down (*fails closed*), or counts a share
//!   by itself. On Redis, that step is one script (`redis::RedisLink::run`), which also sees that the server was
//!   started anew or replaced by its replica.
//!
//! A breaker's records ([`BreakerStore`](crate::breaker::BreakerStore)) are of the first grade, and yet decided on in
//! one step, so that no two processes send a probe at a time.
//!
//! Values are JSON or integers. What cannot be read back, whoever wrote it, counts as absent.

mod error;
#[cfg(feature = "redis")]
pub mod redis;

use bytes::Bytes;
use llm_core::async_trait;
use std::fmt::Debug;
use std::time::Duration;

pub use error::{StoreError, StoreErrorKind};

/// A cache-grade store: bytes under a key, for a while.
///
/// Every method ends by itself after a time that the store is configured with, and not later than `time_left`
/// where that is given (`CallContext::remaining` of the call it is for).
///
/// # Errors
/// Any [`StoreErrorKind`]; callers take every one of them for "not there" or "not kept" and go on.
#[async_trait]
pub trait KeyValueStore: Debug + Send + Sync + 'static {
    /// What was last set under the key and has not run out. What is there but cannot have been set by this store
    /// is absent.
    async fn get(&self, key: &str, time_left: Option<Duration>) -> Result<Option<Bytes>, StoreError>;

    /// Keeps the value for `ttl`, in the place of what was there. A `ttl` of zero keeps nothing.
    async fn set(
        &self,
        key: &str,
        value: Bytes,
        ttl: Duration,
        time_left: Option<Duration>,
    ) -> Result<(), StoreError>;

    /// Forgets the key.
    async fn delete(&self, key: &str, time_left: Option<Duration>) -> Result<(), StoreError>;
}
