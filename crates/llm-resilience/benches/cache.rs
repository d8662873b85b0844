//! What a cache costs: passing by it, a hit from memory, and a miss that is kept, by the length of the conversation.
//! A hit is the key, the look-up and the reading of the record; passing by is what every call pays that is not
//! cached.

use divan::Bencher;
use llm_core::{CallContext, ChatRequest, Message, Stack};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::cache::MemoryStore;
use llm_resilience::{CacheLayer, CacheMode, CachePolicy};
use std::sync::Arc;

fn main() {
    divan::main();
}

/// Conversations of so many messages, of 200 characters each.
const MESSAGES: [usize; 3] = [1, 20, 200];

fn request(messages: usize) -> ChatRequest {
    ChatRequest::new((0..messages).map(|number| Message::user(format!("{number:0>200}"))))
}

/// A vendor that answers 1000 characters at once.
fn bare() -> Stack {
    Stack::new(ScriptedDriver::always("alpha", Reply::text("x".repeat(1000))))
}

fn cached() -> Stack {
    let store = MemoryStore::new(64 << 20, TestClock::shared());
    bare().layer(CacheLayer::new(CachePolicy::default(), Arc::new(store)))
}

/// Calls on fresh stacks, since the scripted driver remembers every call; warm ones have the answer already.
fn chat(
    bencher: Bencher<'_, '_>,
    messages: usize,
    cx: &CallContext,
    stack: impl Fn() -> Stack,
    is_warm: bool,
) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
    else {
        return;
    };
    let request = request(messages);
    bencher
        .with_inputs(|| {
            let stack = stack();
            if is_warm {
                drop(runtime.block_on(stack.chat(cx, &request)));
            }
            stack
        })
        .bench_local_refs(|stack| runtime.block_on(stack.chat(cx, &request)));
}

#[divan::bench(args = MESSAGES)]
fn without(bencher: Bencher<'_, '_>, messages: usize) {
    chat(bencher, messages, &TestClock::context(), bare, false);
}

#[divan::bench(args = MESSAGES)]
fn passing_by(bencher: Bencher<'_, '_>, messages: usize) {
    let cx = TestClock::context().with_extension(CacheMode::Bypass);
    chat(bencher, messages, &cx, cached, false);
}

#[divan::bench(args = MESSAGES)]
fn hit(bencher: Bencher<'_, '_>, messages: usize) {
    chat(bencher, messages, &TestClock::context(), cached, true);
}

#[divan::bench(args = MESSAGES)]
fn miss_that_is_kept(bencher: Bencher<'_, '_>, messages: usize) {
    chat(bencher, messages, &TestClock::context(), cached, false);
}
