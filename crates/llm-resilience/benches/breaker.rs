//! What a breaker costs a call that it lets pass. A bare driver, which answers at once, stands beside each figure: the
//! difference is being let in, telling of the end, and one more boxed future.

use divan::Bencher;
use divan::counter::ItemsCount;
use llm_core::stream::events_of;
use llm_core::{
    Availability, Block, CallContext, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ChatStream, DriverId,
    DriverInfo, HealthStatus, ModelId, ResolvedModel, ResponseMeta, Result, Stack, TextPart, VendorId,
    async_trait,
};
use llm_http::SystemClock;
use llm_resilience::{BreakerLayer, BreakerPolicy};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// Calls of each task in one round.
const CALLS: usize = 100;
const TASKS: usize = 64;

fn main() {
    divan::main();
}

/// Answers at once, with what it always answers.
#[derive(Debug)]
struct Still {
    info: DriverInfo,
    model: Arc<ResolvedModel>,
    response: ChatResponse,
    events: Vec<ChatEvent>,
}

/// Events that are there.
struct There(std::vec::IntoIter<ChatEvent>);

impl futures_core::Stream for There {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

#[async_trait]
impl ChatDriver for Still {
    fn info(&self) -> &DriverInfo {
        &self.info
    }
    fn resolve(&self, _: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        Ok(Arc::clone(&self.model))
    }
    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        HealthStatus::unknown(cx.clock().wall(), "never asked")
    }
    async fn chat(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatResponse> {
        Ok(self.response.clone())
    }
    async fn chat_stream(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatStream> {
        let events = There(self.events.clone().into_iter());
        Ok(ChatStream::new(ResponseMeta::default(), events))
    }
}

fn bare() -> Result<Stack> {
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.blocks = vec![Block::Text(TextPart::new("hello"))];
    let id = DriverId::from_static("alpha");
    let info = DriverInfo::new(id, VendorId::from_static("alpha"), "alpha");
    Ok(Stack::new(Still {
        info: info.with_base_url("https://api.vendor.example/v1"),
        model: Arc::new(ResolvedModel::unknown(ModelId::new("m1")?)),
        events: events_of(response.clone()),
        response,
    }))
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
