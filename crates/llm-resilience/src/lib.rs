#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod breaker;
pub mod bulkhead;
mod clock;
mod idempotency;
mod millis;
mod policy;
pub mod retry;
pub mod store;
pub mod timeout;

pub use breaker::{BreakerLayer, BreakerPolicy, BreakerState};
pub use bulkhead::{BulkheadLayer, BulkheadPolicy, BulkheadScope};
pub use retry::{BudgetPolicy, Decision, Facts, GiveUpReason, Jitter, RetryLayer, RetryPolicy, decide};
pub use timeout::{TimeoutLayer, TimeoutPolicy};
