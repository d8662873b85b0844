//! Many short lives of a bulkhead: calls that come, wait, give up, are read and are dropped at random.

use futures_util::StreamExt;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ChatStream, DriverInfo,
    HealthStatus, ModelId, ResolvedModel, Result, Stack, async_trait,
};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{BulkheadLayer, BulkheadPolicy};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::task::JoinSet;

/// How many lives.
const LIVES: u64 = 10_000;

/// Counts the calls that run in it.
#[derive(Debug)]
struct Counting {
    inner: ScriptedDriver,
    running: Arc<AtomicUsize>,
    most: AtomicUsize,
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Counting {
    fn begin(&self) -> Running {
        let running = self.running.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(running, SeqCst);
        Running(Arc::clone(&self.running))
    }
}

#[async_trait]
impl ChatDriver for Counting {
    fn info(&self) -> &DriverInfo {
        self.inner.info()
    }
    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.inner.resolve(model)
    }
    fn availability(&self, model: &ModelId) -> Availability {
        self.inner.availability(model)
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.inner.health(cx).await
    }
    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let _running = self.begin();
        self.inner.chat(cx, request).await
    }
    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let mut running = Some(self.begin());
        let stream = self.inner.chat_stream(cx, request).await?;
        let meta = stream.meta().clone();
        let events = stream.inspect(move |event| {
            // A call that has ended no longer runs, even while its reader keeps the stream.
            if matches!(event, Ok(ChatEvent::Finish { .. }) | Err(_)) {
                drop(running.take());
            }
        });
        Ok(ChatStream::new(meta, events))
    }
}

/// One caller: comes late, has little patience, reads some of a stream and may drop it.
async fn caller(stack: Stack, mut random: fastrand::Rng) {
    let mut millis = |most| Duration::from_millis(random.u64(0..=most));
    tokio::time::sleep(millis(20)).await;
    let (patience, queue, deadline, hold) = (millis(40), millis(20), millis(60), millis(10));
    let mut cx = TestClock::context();
    if random.bool() {
        cx = cx.with_max_queue_wait(queue);
    }
    if random.bool() {
        cx = cx.with_timeout(deadline);
    }
    let (streams, events) = (random.bool(), random.usize(0..8));
    let call = async {
        let request = ChatRequest::user("hi");
        if !streams {
            let _ = stack.chat(&cx, &request).await;
        } else if let Ok(mut stream) = stack.chat_stream(&cx, &request).await {
            for _ in 0..events {
                if stream.next_event().await.is_none() {
                    break;
                }
            }
            tokio::time::sleep(hold).await;
        }
    };
    let _ = tokio::time::timeout(patience, call).await;
}

#[tokio::test(start_paused = true)]
async fn no_place_is_lost_and_none_is_given_twice() {
    for life in 0..LIVES {
        let mut random = fastrand::Rng::with_seed(life);
        let (limit, queue) = (random.u32(1..4), random.u32(0..4));
        let pause = Duration::from_millis(random.u64(0..10));
        let reply = Reply::text("hello")
            .with_pause(pause)
            .with_event_pause(Duration::from_millis(random.u64(0..3)));
        let driver = Arc::new(Counting {
            inner: ScriptedDriver::always("alpha", reply),
            running: Arc::default(),
            most: AtomicUsize::new(0),
        });
        let policy = BulkheadPolicy::new(limit)
            .with_max_queue(queue)
            .with_max_wait(None);
        let stack = Stack::from_arc(driver.clone()).layer(BulkheadLayer::new(policy));
        let mut callers = JoinSet::new();
        for _ in 0..random.usize(1..10) {
            callers.spawn(caller(stack.clone(), random.fork()));
        }
        while !callers.is_empty() {
            if random.u8(0..4) == 0 {
                // Whoever is left is cut off wherever it stands.
                callers.shutdown().await;
            } else {
                callers.join_next().await.unwrap().unwrap();
            }
        }
        assert_eq!(driver.running.load(SeqCst), 0, "life {life}");
        assert!(
            driver.most.load(SeqCst) <= limit as usize,
            "life {life}: {driver:?}"
        );

        // All places are there again: as many calls run at once, as many more wait, the next one is refused.
        let mut kept = JoinSet::new();
        for _ in 0..limit + queue {
            let stack = stack.clone();
            kept.spawn(async move {
                let stream = stack
                    .chat_stream(&TestClock::context(), &ChatRequest::user("hi"))
                    .await;
                std::future::pending::<()>().await;
                drop(stream);
            });
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(driver.running.load(SeqCst), limit as usize, "life {life}");
        let refused = stack.chat(&TestClock::context(), &ChatRequest::user("hi")).await;
        assert!(refused.is_err(), "life {life}");
    }
}
