//! What a call pays for passing a bulkhead with room in it: beside the same call without one, and where models are
//! counted apart.

use divan::Bencher;
use llm_core::{CallContext, ChatRequest, Stack};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{BulkheadLayer, BulkheadPolicy, BulkheadScope};

fn main() {
    divan::main();
}

/// A vendor that answers at once.
fn bare() -> Stack {
    Stack::new(ScriptedDriver::always("alpha", Reply::text("hello")))
}

fn within(scope: BulkheadScope) -> Stack {
    bare().layer(BulkheadLayer::new(BulkheadPolicy::new(8).with_scope(scope)))
}

/// A fresh stack now and then: the scripted driver remembers every call.
fn chat(bencher: Bencher<'_, '_>, stack: impl Fn() -> Stack) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
    else {
        return;
    };
    let (cx, request): (CallContext, _) = (TestClock::context(), ChatRequest::user("hi"));
    let _entered = runtime.enter();
    bencher
        .with_inputs(stack)
        .bench_local_refs(|stack| runtime.block_on(stack.chat(&cx, &request)));
}

#[divan::bench]
fn without(bencher: Bencher<'_, '_>) {
    chat(bencher, bare);
}

#[divan::bench]
fn one_room(bencher: Bencher<'_, '_>) {
    chat(bencher, || within(BulkheadScope::Layer));
}

#[divan::bench]
fn a_room_for_each_model(bencher: Bencher<'_, '_>) {
    chat(bencher, || within(BulkheadScope::Model));
}
