#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod breaker;
pub mod bulkhead;
pub mod cache;
mod clock;
pub mod hedge;
mod idempotency;
pub mod key_pool;
mod millis;
mod policy;
pub mod rate_limit;
pub mod retry;
pub mod stack;
pub mod store;
pub mod timeout;
pub mod trace;

/// How the project's own commands start a redis-server; these tests start theirs alike.
#[cfg(all(test, feature = "redis"))]
#[expect(dead_code, reason = "shared with tests that also pause, kill and restart it")]
#[path = "../../../xtask/src/services/redis/node.rs"]
mod test_node;

pub use breaker::{BreakerLayer, BreakerPolicy, BreakerState};
pub use bulkhead::{BulkheadLayer, BulkheadPolicy, BulkheadScope};
pub use cache::{CacheLayer, CacheMode, CacheNamespace, CachePolicy, CachedStreams};
pub use hedge::{HedgeLayer, HedgePolicy};
pub use key_pool::{KeyPoolLayer, KeyPoolPolicy, PoolKey};
#[cfg(feature = "redis")]
pub use rate_limit::RedisQuotaStore;
pub use rate_limit::{
    BurstPolicy, LimitReason, MemoryQuotaStore, QuotaStore, RateLimitLayer, RateLimitPolicy, RateLimitScope,
    Refusal, StoreFailurePolicy, StoreFault, TokenEstimate,
};
pub use retry::{BudgetPolicy, Decision, Facts, GiveUpReason, Jitter, RetryLayer, RetryPolicy, decide};
pub use stack::{StackConfig, StackLayers, StackStores};
pub use timeout::{TimeoutLayer, TimeoutPolicy};
pub use trace::{TraceLayer, TracePolicy};
