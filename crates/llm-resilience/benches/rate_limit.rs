//! What a call pays for passing a rate limit with room in it (reserve and settle): beside the same call without one,
//! alone and in 64 tasks at once; and the store's decision by itself.

use divan::Bencher;
use llm_core::{CallContext, ChatRequest, Stack};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::rate_limit::{Amount, Limits};
use llm_resilience::{MemoryQuotaStore, QuotaStore, RateLimitLayer, RateLimitPolicy};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

fn main() {
    divan::main();
}

/// A vendor that answers at once.
fn bare() -> Stack {
    Stack::new(ScriptedDriver::always("alpha", Reply::text("hello")))
}

fn limited() -> Stack {
    let policy = RateLimitPolicy::default()
        .with_requests_per_minute(1_000_000_000)
        .with_tokens_per_minute(1_000_000_000_000);
    bare().layer(RateLimitLayer::new(policy))
}

fn runtime() -> Option<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .ok()
}

/// A fresh stack now and then: the scripted driver remembers every call.
fn chat(bencher: Bencher<'_, '_>, stack: impl Fn() -> Stack) {
    let Some(runtime) = runtime() else { return };
    let (cx, request): (CallContext, _) = (TestClock::context(), ChatRequest::user("hi"));
    let _entered = runtime.enter();
    bencher
        .with_inputs(stack)
        .bench_local_refs(|stack| runtime.block_on(stack.chat(&cx, &request)));
}

/// So many calls at once, each in a task of its own.
fn chat_in_tasks(bencher: Bencher<'_, '_>, stack: impl Fn() -> Stack) {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
    else {
        return;
    };
    let _entered = runtime.enter();
    bencher
        .counter(64_u32)
        .with_inputs(stack)
        .bench_local_refs(|stack| {
            runtime.block_on(async {
                let mut running = JoinSet::new();
                for _ in 0..64 {
                    let stack = stack.clone();
                    running.spawn(async move {
                        let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
                        stack.chat(&cx, &request).await
                    });
                }
                running.join_all().await
            })
        });
}

#[divan::bench]
fn without(bencher: Bencher<'_, '_>) {
    chat(bencher, bare);
}

#[divan::bench]
fn off(bencher: Bencher<'_, '_>) {
    chat(bencher, || {
        bare().layer(RateLimitLayer::new(RateLimitPolicy::default()))
    });
}

#[divan::bench]
fn with_room(bencher: Bencher<'_, '_>) {
    chat(bencher, limited);
}

#[divan::bench]
fn without_64_tasks(bencher: Bencher<'_, '_>) {
    chat_in_tasks(bencher, bare);
}

#[divan::bench]
fn with_room_64_tasks(bencher: Bencher<'_, '_>) {
    chat_in_tasks(bencher, limited);
}

#[divan::bench]
fn decision_of_a_store_in_memory(bencher: Bencher<'_, '_>) {
    let Some(runtime) = runtime() else { return };
    let _entered = runtime.enter();
    let store = MemoryQuotaStore::new(TestClock::shared());
    let limits = Limits::per_minute(Some(1_000_000_000), None);
    bencher.bench_local(|| runtime.block_on(store.reserve("b", &limits, Amount::new(1, 0), None)));
}
