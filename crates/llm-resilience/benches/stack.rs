//! What each layer costs a call that it has nothing to do for, and what all of them cost together. A bare driver, which
//! answers at once, stands beside each figure.

#[path = "still/driver.rs"]
mod driver;

use divan::Bencher;
use driver::bare;
use llm_core::{CallContext, ChatLayer, ChatRequest, Result, Stack};
use llm_http::SystemClock;
use llm_resilience::cache::MemoryStore;
use llm_resilience::{
    BreakerLayer, BulkheadLayer, BulkheadPolicy, CacheLayer, CacheMode, CachePolicy, HedgeLayer,
    KeyPoolLayer, RateLimitLayer, RateLimitPolicy, RetryLayer, StackConfig, StackLayers, StackStores,
    TimeoutLayer, TraceLayer,
};
use std::sync::Arc;
use tokio::runtime::Builder;

fn main() {
    divan::main();
}

/// None of them, each of them, all of them.
const LAYERS: [&str; 11] = [
    "bare",
    "trace",
    "cache",
    "retry",
    "hedge",
    "breaker",
    "rate_limit",
    "bulkhead",
    "key_pool",
    "timeout",
    "all",
];

/// Room for whatever a bench asks.
fn wide() -> RateLimitPolicy {
    RateLimitPolicy::default()
        .with_requests_per_minute(u64::from(u32::MAX))
        .with_tokens_per_minute(u64::from(u32::MAX) * 1000)
}

fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(1 << 20, Arc::new(SystemClock)))
}

fn stack(layers: &str) -> Result<Stack> {
    let one: Box<dyn ChatLayer> = match layers {
        "trace" => Box::new(TraceLayer::default()),
        "cache" => Box::new(CacheLayer::new(CachePolicy::default(), store())),
        "retry" => Box::new(RetryLayer::default()),
        "hedge" => Box::new(HedgeLayer::default()),
        "breaker" => Box::new(BreakerLayer::default()),
        "rate_limit" => Box::new(RateLimitLayer::new(wide())),
        "bulkhead" => Box::new(BulkheadLayer::new(BulkheadPolicy::new(64))),
        "key_pool" => Box::new(KeyPoolLayer::default()),
        "timeout" => Box::new(TimeoutLayer::default()),
        "all" => return all(),
        _ => return bare(),
    };
    Ok(bare()?.layer(one))
}

fn all() -> Result<Stack> {
    let config = StackConfig::recommended()
        .with_cache(CachePolicy::default())
        .with_hedge(llm_resilience::HedgePolicy::default())
        .with_rate_limit(wide())
        .with_bulkhead(BulkheadPolicy::new(64))
        .with_key_pool(llm_resilience::KeyPoolPolicy::default());
    let layers = StackLayers::build(config, StackStores::default().with_cache(store()))?;
    Ok(layers.stack(bare()?.into_arc()))
}

/// Calls that pass by the cache, which is what a call that is not cached pays; nobody listens to the spans.
fn context() -> CallContext {
    CallContext::new(Arc::new(SystemClock)).with_extension(CacheMode::Bypass)
}

fn measure(bencher: Bencher<'_, '_>, layers: &str, streamed: bool) {
    let (Ok(stack), Ok(runtime)) = (stack(layers), Builder::new_current_thread().enable_time().build())
    else {
        unreachable!("names are valid, and a runtime needs one thread");
    };
    let request = ChatRequest::user("hi");
    if streamed {
        bencher.bench(|| {
            let cx = context();
            runtime.block_on(async {
                let mut stream = stack.chat_stream(&cx, &request).await?;
                let mut events = 0;
                while let Some(event) = stream.next_event().await {
                    event?;
                    events += 1;
                }
                Ok::<_, llm_core::Error>(events)
            })
        });
    } else {
        bencher.bench(|| {
            let cx = context();
            runtime.block_on(stack.chat(&cx, &request))
        });
    }
}

#[divan::bench(args = LAYERS)]
fn plain(bencher: Bencher<'_, '_>, layers: &str) {
    measure(bencher, layers, false);
}

#[divan::bench(args = LAYERS)]
fn stream(bencher: Bencher<'_, '_>, layers: &str) {
    measure(bencher, layers, true);
}
