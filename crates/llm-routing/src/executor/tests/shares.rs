//! What part of the deadline each attempt gets. Time is tokio's here, and paused.

use super::*;
use crate::router::Router;
use llm_core::{ChatDriver, Clock, DriverInfo, HealthStatus, ModelId, ResolvedModel, async_trait};
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
impl ChatDriver for Slow {
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
        (vec!["a timeout".into(), "b timeout".into()], 60),
        "the deadline ends it"
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
        (vec!["a timeout".to_owned()], 3),
        "no share of so little: what ends it is the deadline"
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_everybody_may_take_as_long_as_it_takes() {
    let (log, took) = ask(&[1_000, 1], None, true).await;
    assert_eq!((log, took), (vec!["a served".to_owned()], 1_000));
}

fn slow(id: &str, seconds: u64) -> Candidate {
    Candidate::new(id, Arc::new(Slow(driver().shared(), seconds)))
}

#[tokio::test(start_paused = true)]
async fn a_router_below_shares_what_the_one_above_gives_it() {
    let metrics = Metrics::new();
    let inner = Router::new(
        "in",
        vec![slow("h", 1_000), slow("g", 2)],
        RoutingPolicy::empty("in"),
    )
    .unwrap()
    .with_metrics(metrics.clone());
    let candidates = vec![
        Candidate::new("in", Arc::new(inner)),
        slow("x", 1_000),
        slow("o", 1),
    ];
    let outer = Router::new("out", candidates, RoutingPolicy::empty("out")).unwrap();
    let cx = CallContext::new(Arc::new(TokioClock)).with_timeout(Duration::from_secs(30));
    let start = cx.clock().now();
    let response = outer.chat(&cx, &ChatRequest::user("hi")).await.unwrap();
    assert_eq!(log(&response.attempts), ["in/h timeout", "in/g served"]);
    assert_eq!(
        (cx.clock().now() - start).as_secs(),
        5 + 2,
        "half of 10, a third of 30"
    );
    assert_eq!(metrics.of("h", cx.clock().now()).failures, 1);
}

#[tokio::test(start_paused = true)]
async fn who_is_dropped_at_a_limit_from_above_has_failed() {
    let metrics = Metrics::new();
    let only = Router::new("in", vec![slow("h", 1_000)], RoutingPolicy::empty("in"))
        .unwrap()
        .with_metrics(metrics.clone());
    let start = TokioClock.now();
    let cx = CallContext::new(Arc::new(TokioClock)).with_attempt_limit(start + Duration::from_secs(7));
    let request = ChatRequest::user("hi");
    let dropped = tokio::time::timeout(Duration::from_secs(7), only.chat(&cx, &request)).await;
    assert!(dropped.is_err() || dropped.unwrap().is_err());
    let h = metrics.of("h", TokioClock.now());
    assert_eq!((h.failures, h.in_flight, h.total_ms), (1, 0, Some(7_000.0)));
}

#[tokio::test(start_paused = true)]
async fn who_hangs_is_known_to_be_slow() {
    let policy = RoutingPolicy::empty("latency").with_ranker(crate::LatencyRanker::new());
    let router = Router::new("r", vec![slow("a", 1_000), slow("b", 1)], policy).unwrap();
    let mut firsts = Vec::new();
    for _ in 0..3 {
        let cx = CallContext::new(Arc::new(TokioClock)).with_timeout(Duration::from_secs(20));
        let response = router.chat(&cx, &ChatRequest::user("hi")).await.unwrap();
        firsts.push(response.attempts[0].candidate.clone());
    }
    assert_eq!(firsts, ["a", "b", "b"]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_stream_that_has_not_begun_and_a_paid_answer_is_kept() {
    for streamed in [false, true] {
        let (log, took) = ask(&[100], Some(10), streamed).await;
        assert_eq!((log, took), (vec!["a timeout".to_owned()], 10));
    }
    let empty = driver().then(Outcome::Text("")).shared();
    let candidates = vec![Candidate::new("a", empty), slow("b", 1_000)];
    let router = Router::new("r", candidates, RoutingPolicy::empty("test"))
        .unwrap()
        .with_executor(PlanExecutor::new().with_response_check(ResponseCheck::new().empty()));
    let cx = CallContext::new(Arc::new(TokioClock)).with_timeout(Duration::from_secs(10));
    let response = router.chat(&cx, &ChatRequest::user("hi")).await.unwrap();
    assert_eq!(log(&response.attempts), ["a served", "b timeout"]);
    assert_eq!(response.warnings.len(), 1);
}

#[test]
fn a_deadline_needs_a_runtime() {
    let router = Router::new("r", vec![slow("a", 0)], RoutingPolicy::empty("test")).unwrap();
    let cx = CallContext::new(Arc::new(TokioClock)).with_timeout(Duration::from_secs(10));
    let request = ChatRequest::user("hi");
    let call = router.chat(&cx, &request);
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = std::pin::pin!(call).poll(&mut task) else {
        panic!("it waits for a timer that is not there");
    };
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[tokio::test(start_paused = true)]
async fn who_is_given_less_than_a_share_is_not_charged_and_nobody_is_asked_too_late() {
    let metrics = Metrics::new();
    let fleet = vec![slow("a", 1_000), slow("b", 1_000), slow("c", 1_000)];
    let inner = Router::new("in", fleet, RoutingPolicy::empty("in"))
        .unwrap()
        .with_metrics(metrics.clone());
    for (seconds, asked, failures) in [(12, [1, 1, 1], [1, 1, 0]), (8, [1, 1, 0], [1, 0, 0])] {
        for id in ["a", "b", "c"] {
            metrics.forget(id);
        }
        let limit = TokioClock.now() + Duration::from_secs(seconds);
        let cx = CallContext::new(Arc::new(TokioClock)).with_attempt_limit(limit);
        let error = inner.chat(&cx, &ChatRequest::user("hi")).await.unwrap_err();
        assert_eq!((error.kind(), error.scope()), (ErrorKind::Timeout, Scope::Vendor));
        let all = ["a", "b", "c"].map(|id| metrics.of(id, TokioClock.now()));
        assert_eq!(all.map(|one| one.requests), asked, "{seconds}");
        assert_eq!(all.map(|one| one.failures), failures, "{seconds}");
    }
    let passed = CallContext::new(Arc::new(TokioClock)).with_attempt_limit(TokioClock.now());
    let error = inner.chat(&passed, &ChatRequest::user("hi")).await.unwrap_err();
    assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Timeout, 0));
}

#[tokio::test(start_paused = true)]
async fn a_cut_makes_nobody_quicker() {
    let (metrics, start) = (Metrics::new(), TokioClock.now());
    let secs = Duration::from_secs;
    let usage = Usage::default();
    metrics
        .begin("a", start)
        .succeeded(None, start + secs(20), &usage, None);
    let late = Error::new(ErrorKind::Timeout, "cut").with_scope(Scope::Vendor);
    metrics
        .begin("a", start + secs(20))
        .failed(&late, start + secs(25));
    let a = metrics.of("a", start + secs(25));
    assert_eq!((a.failures, a.total_ms, a.commit_ms), (1, Some(20_000.0), None));
    let call = metrics.begin("b", start).with_stream();
    call.succeeded(start + secs(1), start + secs(30), &usage, None);
    metrics
        .begin("b", start)
        .with_stream()
        .failed(&late, start + secs(6));
    let b = metrics.of("b", start + secs(6));
    assert_eq!(
        (b.commit_ms, b.total_ms),
        (Some(2_000.0), Some(30_000.0)),
        "not a moment less"
    );
}
