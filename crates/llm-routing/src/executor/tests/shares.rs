//! What part of the deadline each attempt gets. Time is tokio's here, and paused.

use super::*;
use llm_core::{Clock, DriverInfo, HealthStatus, ModelId, ResolvedModel, async_trait};
use std::time::SystemTime;

#[derive(Debug)]
struct TokioClock;

impl Clock for TokioClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "tokio's paused time is the time of these tests"
    )]
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// Answers after so many seconds.
#[derive(Debug)]
struct Slow(Arc<TestDriver>, u64);

#[async_trait]
impl llm_core::ChatDriver for Slow {
    fn info(&self) -> &DriverInfo {
        self.0.info()
    }
    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.0.resolve(model)
    }
    fn availability(&self, model: &ModelId) -> Availability {
        self.0.availability(model)
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.0.health(cx).await
    }
    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        tokio::time::sleep(Duration::from_secs(self.1)).await;
        self.0.chat(cx, request).await
    }
    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        tokio::time::sleep(Duration::from_secs(self.1)).await;
        self.0.chat_stream(cx, request).await
    }
}

async fn ask(seconds: &[u64], deadline: Option<u64>, streamed: bool) -> (Vec<String>, u64) {
    let candidates: Vec<_> = seconds
        .iter()
        .zip(["a", "b", "c"])
        .map(|(seconds, id)| Candidate::new(id, Arc::new(Slow(driver().shared(), *seconds))))
        .collect();
    let mut cx = CallContext::new(Arc::new(TokioClock));
    if let Some(deadline) = deadline {
        cx = cx.with_timeout(Duration::from_secs(deadline));
    }
    let start = cx.clock().now();
    let request = ChatRequest::user("hi");
    let engine = RoutingEngine::new(RoutingPolicy::empty("test"));
    let plan = engine
        .decide(&cx, &request, &candidates, CallMode::Plain)
        .unwrap();
    let executor = PlanExecutor::new();
    let attempts = if streamed {
        executor
            .chat_stream(&cx, &plan, &request)
            .await
            .map(|stream| stream.attempts().to_vec())
    } else {
        executor
            .chat(&cx, &plan, &request)
            .await
            .map(|response| response.attempts)
    };
    let attempts = attempts.unwrap_or_else(|error| error.attempts().to_vec());
    (log(&attempts), (cx.clock().now() - start).as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_slow_candidate_leaves_time_for_the_others() {
    for streamed in [false, true] {
        let (log, took) = ask(&[100, 100, 3], Some(60), streamed).await;
        assert_eq!(log, ["a timeout", "b timeout", "c served"]);
        assert_eq!(took, 20 + 20 + 3, "60 / 3, then 40 / 2, then as long as it takes");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_gets_all_that_is_left_and_nobody_less_than_five_seconds() {
    let (log, took) = ask(&[100, 50], Some(60), false).await;
    assert_eq!(
        (log, took),
        (vec!["a timeout".into(), "b served".into()], 80),
        "drivers keep the deadline themselves"
    );
    let (log, took) = ask(&[4, 1], Some(6), false).await;
    assert_eq!(
        (log, took),
        (vec!["a served".to_owned()], 4),
        "6 / 2 is less than 5"
    );
    let (log, took) = ask(&[4, 1], Some(3), false).await;
    assert_eq!(
        (log, took),
        (vec!["a served".to_owned()], 4),
        "no share of so little: what ends it is the deadline, which drivers keep themselves"
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_everybody_may_take_as_long_as_it_takes() {
    let (log, took) = ask(&[1_000, 1], None, true).await;
    assert_eq!((log, took), (vec!["a served".to_owned()], 1_000));
}
