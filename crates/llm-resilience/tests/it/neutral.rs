//! Layers that have nothing to do are not noticed, and a stack names its layers.

use bytes::Bytes;
use llm_core::Stack;
use llm_driver_testkit::{ScriptedDriver, layer_suite};
use llm_resilience::store::{KeyValueStore, StoreError};
use llm_resilience::{
    BreakerLayer, BreakerPolicy, BulkheadLayer, BulkheadPolicy, CacheLayer, CachePolicy, HedgeLayer,
    HedgePolicy, KeyPoolLayer, KeyPoolPolicy, MemoryQuotaStore, RateLimitLayer, RateLimitPolicy, RetryLayer,
    RetryPolicy, TimeoutLayer, TimeoutPolicy, TraceLayer,
};
use std::time::Duration;

mod breaker_off {
    use super::*;
    layer_suite!(BreakerLayer::new(BreakerPolicy::off()));
}

mod bulkhead_with_room {
    use super::*;
    layer_suite!(BulkheadLayer::new(BulkheadPolicy::new(3)));
}

mod rate_limit_off {
    use super::*;
    layer_suite!(RateLimitLayer::new(RateLimitPolicy::default()));
}

mod rate_limit_with_room {
    use super::*;
    layer_suite!(RateLimitLayer::new(wide()));
}

mod rate_limit_with_room_in_a_store {
    use super::*;
    use llm_driver_testkit::TestClock;
    use std::sync::Arc;
    layer_suite!(RateLimitLayer::with_store(
        wide(),
        Arc::new(MemoryQuotaStore::new(TestClock::shared()))
    ));
}

/// Limits that no scenario reaches.
fn wide() -> RateLimitPolicy {
    RateLimitPolicy::default()
        .with_requests_per_minute(1000)
        .with_tokens_per_minute(10_000_000)
}

mod cache_off {
    use super::*;
    layer_suite!(CacheLayer::new(CachePolicy::off(), std::sync::Arc::new(NoStore)));

    /// Nobody asks it.
    #[derive(Debug)]
    struct NoStore;

    #[llm_core::async_trait]
    impl KeyValueStore for NoStore {
        async fn get(&self, _: &str, _: Option<Duration>) -> Result<Option<Bytes>, StoreError> {
            panic!("asked")
        }
        async fn set(&self, _: &str, _: Bytes, _: Duration, _: Option<Duration>) -> Result<(), StoreError> {
            panic!("asked")
        }
        async fn delete(&self, _: &str, _: Option<Duration>) -> Result<(), StoreError> {
            panic!("asked")
        }
    }
}

mod retry_off {
    use super::*;
    layer_suite!(RetryLayer::new(RetryPolicy::off()));
}

mod timeout_off {
    use super::*;
    layer_suite!(TimeoutLayer::attempt(TimeoutPolicy::off()));
}

/// No scenario reaches a limit of the default policy.
mod timeout_default {
    use super::*;
    layer_suite!(TimeoutLayer::default());
}

mod hedge_off {
    use super::*;
    layer_suite!(HedgeLayer::new(HedgePolicy::off()));
}

mod key_pool_of_one {
    use super::*;
    layer_suite!(KeyPoolLayer::new(KeyPoolPolicy::turns_only()));
}

mod trace {
    use super::*;
    layer_suite!(TraceLayer::default());
}

#[test]
fn a_stack_names_its_layers() {
    let stack = Stack::new(ScriptedDriver::new("alpha", []))
        .layer(TimeoutLayer::default())
        .layer(RetryLayer::default());
    assert_eq!(stack.info().to_string(), "retry > timeout > alpha");
}
