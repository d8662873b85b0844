mod checks;
mod endings;
mod figures;
mod shares;
mod streams;

use super::*;
use crate::candidate::Candidate;
use crate::engine::RoutingEngine;
use crate::needs::CallMode;
use crate::policy::RoutingPolicy;
use crate::test_driver::{Outcome, TestClock, TestDriver, context, model};
use llm_core::{
    BlockKind, ChatEvent, Delta, ErrorKind, FinishKind, FinishReason, Scope, UnavailableReason, Usage,
};
use std::sync::Mutex;

/// Drivers `a`, `b`, … as candidates of these ids, in this order.
struct Fleet {
    clock: Arc<TestClock>,
    drivers: Vec<Arc<TestDriver>>,
    plan: RoutingDecision,
}

impl Fleet {
    fn new(drivers: Vec<TestDriver>) -> Self {
        let clock = TestClock::new();
        let drivers: Vec<_> = drivers.into_iter().map(TestDriver::shared).collect();
        let candidates: Vec<_> = drivers
            .iter()
            .zip(["a", "b", "c", "d"])
            .map(|(driver, id)| Candidate::new(id, driver.clone()))
            .collect();
        let engine = RoutingEngine::new(RoutingPolicy::empty("test"));
        let request = ChatRequest::user("hi");
        let plan = engine
            .decide(&context(&clock), &request, &candidates, CallMode::Plain)
            .unwrap();
        Fleet { clock, drivers, plan }
    }

    fn cx(&self) -> CallContext {
        context(&self.clock)
    }

    async fn chat(&self, executor: &PlanExecutor) -> Result<ChatResponse> {
        executor
            .chat(&self.cx(), &self.plan, &ChatRequest::user("hi"))
            .await
    }

    async fn stream(&self, executor: &PlanExecutor) -> Result<ChatStream> {
        executor
            .chat_stream(&self.cx(), &self.plan, &ChatRequest::user("hi"))
            .await
    }

    fn called(&self) -> Vec<usize> {
        self.drivers.iter().map(|driver| driver.calls().len()).collect()
    }
}

fn driver() -> TestDriver {
    TestDriver::new("test").serving("m")
}

fn start() -> Result<ChatEvent> {
    Ok(ChatEvent::Start(Box::default()))
}

fn block() -> Result<ChatEvent> {
    Ok(ChatEvent::BlockStart {
        index: 0,
        kind: BlockKind::Text,
    })
}

fn text(piece: &str) -> Result<ChatEvent> {
    Ok(ChatEvent::BlockDelta {
        index: 0,
        delta: Delta::Text(piece.to_owned()),
    })
}

fn finish() -> Result<ChatEvent> {
    finish_with(Usage::default())
}

fn finish_with(usage: Usage) -> Result<ChatEvent> {
    Ok(ChatEvent::Finish {
        reason: FinishReason::new(FinishKind::Stop, None),
        usage,
    })
}

fn log(attempts: &[Attempt]) -> Vec<String> {
    let one = |attempt: &Attempt| match &attempt.failure {
        Some(failure) => format!("{} {}", attempt.candidate, failure.kind),
        None => format!("{} served", attempt.candidate),
    };
    attempts.iter().map(one).collect()
}

#[derive(Debug, Default)]
struct Told {
    told: Mutex<Vec<String>>,
    panics: bool,
}

impl Told {
    fn add(&self, what: String) {
        self.told.lock().unwrap().push(what);
        assert!(!self.panics, "an observer's own business");
    }
}

impl PlanObserver for Told {
    fn on_asked(&self, _: &CallContext, candidate: &PlannedCandidate) {
        self.add(format!("{} asked", candidate.id()));
    }
    fn on_skipped(&self, _: &CallContext, candidate: &PlannedCandidate, skip: &Skip) {
        self.add(format!("{} skipped {}", candidate.id(), skip.reason.as_str()));
    }
    fn on_failed(&self, _: &CallContext, candidate: &PlannedCandidate, error: &Error, _: Duration) {
        self.add(format!("{} failed {}", candidate.id(), error.kind()));
    }
    fn on_served(&self, _: &CallContext, candidate: &PlannedCandidate, _: Duration) {
        self.add(format!("{} served", candidate.id()));
    }
    fn on_interrupted(&self, _: &CallContext, candidate: &PlannedCandidate, error: &Error) {
        self.add(format!("{} interrupted {}", candidate.id(), error.kind()));
    }
}

#[tokio::test]
async fn the_first_that_serves_ends_the_walk() {
    let fleet = Fleet::new(vec![driver().fails(ErrorKind::Server), driver(), driver()]);
    let response = fleet.chat(&PlanExecutor::new()).await.unwrap();
    assert_eq!(response.text(), "hello");
    assert_eq!(log(&response.attempts), ["a server", "b served"]);
    assert_eq!(fleet.called(), [1, 1, 0]);
}

#[tokio::test]
async fn without_failover_the_first_that_is_available_is_asked_alone_and_may_queue() {
    let fleet = Fleet::new(vec![driver().fails(ErrorKind::Server), driver()]);
    let cx = fleet.cx().with_max_queue_wait(Duration::from_secs(9));
    let executor = PlanExecutor::new().without_failover();
    let request = ChatRequest::user("hi");
    let error = executor.chat(&cx, &fleet.plan, &request).await.unwrap_err();
    assert_eq!((error.kind(), fleet.called()), (ErrorKind::Server, vec![1, 0]));
    assert_eq!(
        fleet.drivers[0].calls()[0].max_queue_wait,
        Some(Duration::from_secs(9))
    );
}

#[tokio::test]
async fn attempts_are_numbered_and_only_the_last_may_queue() {
    let fleet = Fleet::new(vec![
        driver().fails(ErrorKind::Server),
        driver().fails(ErrorKind::Server),
        driver(),
    ]);
    let cx = fleet
        .cx()
        .with_attempt(3)
        .with_max_queue_wait(Duration::from_secs(9));
    PlanExecutor::new()
        .chat(&cx, &fleet.plan, &ChatRequest::user("hi"))
        .await
        .unwrap();
    let calls: Vec<_> = fleet
        .drivers
        .iter()
        .map(|driver| driver.calls()[0].clone())
        .collect();
    assert_eq!(
        calls.iter().map(|call| call.attempt).collect::<Vec<_>>(),
        [3, 4, 5]
    );
    let waits: Vec<_> = calls.iter().map(|call| call.max_queue_wait.unwrap()).collect();
    assert_eq!(waits, [Duration::ZERO, Duration::ZERO, Duration::from_secs(9)]);
}

#[tokio::test]
async fn who_remains_but_cannot_be_asked_does_not_keep_the_last_from_queueing() {
    let closed = Availability::unavailable(UnavailableReason::Disabled, None);
    let fleet = Fleet::new(vec![driver(), driver().being(closed)]);
    fleet.chat(&PlanExecutor::new()).await.unwrap();
    assert_eq!(fleet.drivers[0].calls()[0].max_queue_wait, None);
}

#[tokio::test]
async fn a_failure_of_the_request_stops_at_once_and_carries_what_was_tried() {
    let fleet = Fleet::new(vec![
        driver().then(Outcome::Fails(
            Error::new(ErrorKind::Server, "x").with_phase(Phase::Sent),
        )),
        driver().fails(ErrorKind::InvalidRequest),
        driver(),
    ]);
    let error = fleet.chat(&PlanExecutor::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(error.message(), "scripted");
    assert_eq!(log(error.attempts()), ["a server", "b invalid_request"]);
    assert_eq!(
        error.phase(),
        Phase::Sent,
        "the first attempt may have been billed"
    );
    assert!(!error.is_exhausted());
    assert_eq!(fleet.called(), [1, 1, 0]);
}

#[tokio::test]
async fn a_refusal_moves_on_only_from_a_router() {
    for kind in [
        ErrorKind::Unsupported,
        ErrorKind::UnknownModel,
        ErrorKind::NoEligibleCandidate,
    ] {
        let plain = Fleet::new(vec![driver().fails(kind), driver()]);
        assert_eq!(plain.chat(&PlanExecutor::new()).await.unwrap_err().kind(), kind);
        let router = Fleet::new(vec![driver().a_router().fails(kind), driver()]);
        assert_eq!(
            log(&router.chat(&PlanExecutor::new()).await.unwrap().attempts)[1],
            "b served"
        );
    }
}

#[tokio::test]
async fn filtered_content_moves_on_only_where_the_policy_allows() {
    let fleet = || Fleet::new(vec![driver().fails(ErrorKind::ContentFilter), driver()]);
    let error = fleet().chat(&PlanExecutor::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContentFilter);
    let lenient = PlanExecutor::new().with_content_filter_failover(true);
    assert!(fleet().chat(&lenient).await.is_ok());
}

#[tokio::test]
async fn a_predicate_narrows_and_cannot_widen() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let never = PlanExecutor::new().with_failover_if(move |error, planned| {
        seen.lock()
            .unwrap()
            .push(format!("{} {}", planned.id(), error.kind()));
        false
    });
    let fleet = Fleet::new(vec![driver().fails(ErrorKind::Auth), driver()]);
    assert_eq!(fleet.chat(&never).await.unwrap_err().kind(), ErrorKind::Auth);
    let always = PlanExecutor::new().with_failover_if(|_, _| true);
    let fleet = Fleet::new(vec![driver().fails(ErrorKind::InvalidRequest), driver()]);
    assert_eq!(
        fleet.chat(&always).await.unwrap_err().kind(),
        ErrorKind::InvalidRequest
    );
    assert_eq!(*asked.lock().unwrap(), ["a auth"]);
}

#[tokio::test]
async fn an_input_too_long_goes_only_to_a_window_that_may_be_larger() {
    let of = |window| TestDriver::new("test").serving_window("m", window);
    let too_long = |window| of(window).fails(ErrorKind::ContextLength);
    let fleet = Fleet::new(vec![too_long(Some(8)), of(Some(4)), of(Some(8)), of(Some(16))]);
    let response = fleet.chat(&PlanExecutor::new()).await.unwrap();
    assert_eq!(log(&response.attempts), ["a context_length", "d served"]);
    assert_eq!(fleet.drivers[0].calls()[0].max_queue_wait, Some(Duration::ZERO));
    // unknown windows may be larger
    let fleet = Fleet::new(vec![too_long(Some(8)), too_long(None), of(Some(8)), of(Some(9))]);
    let response = fleet.chat(&PlanExecutor::new()).await.unwrap();
    assert_eq!(
        log(&response.attempts),
        ["a context_length", "b context_length", "d served"]
    );
    // a router does not say which of its candidates has failed
    let fleet = Fleet::new(vec![too_long(Some(200)).a_router(), of(Some(100))]);
    let response = fleet.chat(&PlanExecutor::new()).await.unwrap();
    assert_eq!(log(&response.attempts), ["a context_length", "b served"]);
    // a cap on input counts as a window does
    let capped = |most| {
        let limits = llm_core::ModelLimits::new(Some(200), Some(most), None);
        let capped = llm_core::ResolvedModel::unknown(model("m")).with_limits(limits);
        TestDriver::new("test").serving_model(capped)
    };
    let fleet = Fleet::new(vec![
        capped(100).fails(ErrorKind::ContextLength),
        capped(100),
        capped(190),
    ]);
    let response = fleet.chat(&PlanExecutor::new()).await.unwrap();
    assert_eq!(log(&response.attempts), ["a context_length", "c served"]);
    // nobody larger is left
    let fleet = Fleet::new(vec![too_long(Some(8)), of(Some(8))]);
    let error = fleet.chat(&PlanExecutor::new()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.is_exhausted()),
        (ErrorKind::ContextLength, true)
    );
    assert_eq!(fleet.called(), [1, 0]);
}

#[tokio::test]
async fn observers_hear_everything_once_and_cannot_spoil_an_answer() {
    let closed = Availability::unavailable(UnavailableReason::Quota, None);
    for panics in [false, true] {
        let fleet = Fleet::new(vec![
            driver().being(closed),
            driver().fails(ErrorKind::Server),
            driver(),
        ]);
        let told = Arc::new(Told {
            panics,
            ..Told::default()
        });
        let executor = PlanExecutor::new().with_observer(told.clone());
        assert_eq!(fleet.chat(&executor).await.unwrap().text(), "hello");
        assert_eq!(
            *told.told.lock().unwrap(),
            [
                "a skipped quota",
                "b asked",
                "b failed server",
                "c asked",
                "c served"
            ]
        );
    }
}

#[tokio::test]
async fn any_kind_of_attempt_runs_by_the_same_rules() {
    let fleet = Fleet::new(vec![driver(), driver()]);
    let executor = PlanExecutor::new();
    let served = executor
        .run(
            &fleet.cx(),
            &fleet.plan,
            |_cx, planned| async move {
                match planned.id() {
                    "a" => Err(Error::new(ErrorKind::RateLimit, "full")),
                    id => Ok(id.len()),
                }
            },
            |length| (Usage::new(*length as u64, 6), None),
        )
        .await
        .unwrap();
    assert_eq!((served.value, served.candidate.id()), (1, "b"));
    assert_eq!(log(&served.attempts), ["a rate_limit", "b served"]);
}

#[tokio::test]
async fn each_is_asked_for_its_own_model() {
    let drivers = ["m", "n"].map(|name| {
        TestDriver::new("test")
            .serving(name)
            .fails(ErrorKind::Server)
            .shared()
    });
    let last = TestDriver::new("any").taking_unknown().shared();
    let candidates = [
        Candidate::new("a", drivers[0].clone()).with_model(model("m")),
        Candidate::new("b", drivers[1].clone()).with_model(model("n")),
        Candidate::new("c", last.clone()),
    ];
    let cx = context(&TestClock::new());
    let request = ChatRequest::user("hi").with_model(model("caller"));
    let engine = RoutingEngine::new(RoutingPolicy::empty("test"));
    let plan = engine
        .decide(&cx, &request, &candidates, CallMode::Plain)
        .unwrap();
    PlanExecutor::new().chat(&cx, &plan, &request).await.unwrap();
    let asked = |driver: &TestDriver| driver.calls()[0].model.clone().unwrap();
    assert_eq!(
        [asked(&drivers[0]), asked(&drivers[1]), asked(&last)],
        ["m", "n", "caller"].map(model)
    );
    assert!(!last.calls()[0].streamed);
}
