//! What a breaker costs a call that it lets pass. A bare driver, which answers at once, stands beside each figure: the
//! difference is being let in, telling of the end, and one more boxed future.

#[path = "still/driver.rs"]
mod driver;

use divan::Bencher;
use divan::counter::ItemsCount;
use driver::bare;
use llm_core::{CallContext, ChatRequest, Result, Stack};
use llm_http::SystemClock;
use llm_resilience::{BreakerLayer, BreakerPolicy};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// Calls of each task in one round.
const CALLS: usize = 100;
const TASKS: usize = 64;

fn main() {
    divan::main();
}

fn within_breaker() -> Result<Stack> {
    Ok(bare()?.layer(BreakerLayer::new(BreakerPolicy::default())))
}

fn context() -> CallContext {
    CallContext::new(Arc::new(SystemClock))
}

/// The bench of a stack, or the reason why there is none.
fn measure(bencher: Bencher<'_, '_>, stack: Result<Stack>, runtime: std::io::Result<Runtime>, round: Round) {
    let (Ok(stack), Ok(runtime)) = (stack, runtime) else {
        unreachable!("names are valid, and a runtime needs a thread or two");
    };
    let request = ChatRequest::user("hi");
    match round {
        Round::Plain => bencher.bench(|| {
            let cx = context();
            runtime.block_on(stack.chat(&cx, &request))
        }),
        Round::Stream => bencher.bench(|| {
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
        }),
        Round::Tasks => bencher.counter(ItemsCount::new(TASKS * CALLS)).bench(|| {
            runtime.block_on(async {
                let mut tasks = JoinSet::new();
                for _ in 0..TASKS {
                    let (stack, request) = (stack.clone(), request.clone());
                    tasks.spawn(async move {
                        let cx = context();
                        for _ in 0..CALLS {
                            divan::black_box_drop(stack.chat(&cx, &request).await);
                        }
                    });
                }
                tasks.join_all().await
            })
        }),
    }
}

enum Round {
    Plain,
    Stream,
    /// 64 tasks on as many threads as there are cores, all to one vendor and model.
    Tasks,
}

fn one_thread() -> std::io::Result<Runtime> {
    Builder::new_current_thread().build()
}

fn many_threads() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().build()
}

#[divan::bench]
fn plain_bare(bencher: Bencher<'_, '_>) {
    measure(bencher, bare(), one_thread(), Round::Plain);
}

#[divan::bench]
fn plain_within_breaker(bencher: Bencher<'_, '_>) {
    measure(bencher, within_breaker(), one_thread(), Round::Plain);
}

#[divan::bench]
fn stream_bare(bencher: Bencher<'_, '_>) {
    measure(bencher, bare(), one_thread(), Round::Stream);
}

#[divan::bench]
fn stream_within_breaker(bencher: Bencher<'_, '_>) {
    measure(bencher, within_breaker(), one_thread(), Round::Stream);
}

#[divan::bench]
fn tasks_64_bare(bencher: Bencher<'_, '_>) {
    measure(bencher, bare(), many_threads(), Round::Tasks);
}

#[divan::bench]
fn tasks_64_within_breaker(bencher: Bencher<'_, '_>) {
    measure(bencher, within_breaker(), many_threads(), Round::Tasks);
}
