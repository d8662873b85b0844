use super::*;
use crate::observer::PlanObserver;
use crate::test_driver::{TestClock, TestDriver, context, model};
use llm_core::{Capabilities, Capability, HealthState, ModelLimits, Price, Support, ToolSpec};
use std::sync::Mutex;
use std::time::Duration;

fn router(name: &str, candidates: Vec<Candidate>) -> Router {
    Router::new(name, candidates, RoutingPolicy::default()).unwrap()
}

fn known(name: &str, window: u64, abilities: &[Capability]) -> ResolvedModel {
    ResolvedModel::unknown(model(name))
        .with_limits(ModelLimits::new(Some(window), None, None))
        .with_capabilities(Capabilities::only(abilities.iter().copied()))
        .with_price(Price::default())
}

fn small_and_large() -> (Arc<TestDriver>, Arc<TestDriver>, Router) {
    let small = TestDriver::new("small")
        .serving_model(known("s", 8, &[]))
        .shared();
    let large = TestDriver::new("large")
        .serving_model(known("l", 64, &[Capability::Tools]))
        .shared();
    let candidates = vec![
        Candidate::new("a", small.clone()),
        Candidate::new("b", large.clone()),
    ];
    (small, large, router("r", candidates))
}

#[test]
fn a_router_is_a_driver_that_can_what_any_of_its_candidates_can() {
    let (_, _, router) = small_and_large();
    assert!(router.info().is_router);
    assert_eq!(router.info().to_string(), "router:r");
    let any = router.resolve(None).unwrap();
    assert_eq!(any.id, model("router:r"));
    assert_eq!(any.limits.context_window, Some(64));
    assert_eq!(any.capabilities.support(Capability::Tools), Support::Yes);
    assert_eq!(any.capabilities.support(Capability::Vision), Support::No);
    assert_eq!(
        (any.price.clone(), any.known, any.requested.clone()),
        (None, true, None)
    );
    // its own id as a model means any
    let by_id = router.resolve(Some(&model("router:r"))).unwrap();
    assert_eq!(by_id.id, any.id);
}

#[test]
fn a_name_is_needed() {
    for wrong in ["", "With Spaces", &"long".repeat(15)] {
        let candidates = vec![Candidate::new("a", TestDriver::new("test").serving("m").shared())];
        let error = Router::new(wrong, candidates, RoutingPolicy::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{wrong}");
    }
}

#[test]
fn a_named_model_is_that_of_the_candidates_that_serve_it() {
    let (_, _, router) = small_and_large();
    let one = router.resolve(Some(&model("small/s"))).unwrap();
    assert_eq!(
        (one.id.clone(), one.requested.clone()),
        (model("s"), Some(model("small/s")))
    );
    assert_eq!((one.limits.context_window, one.price.is_some()), (Some(8), true));
    let error = router.resolve(Some(&model("x"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownModel);
    assert!(error.message().ends_with("it knows l, s"), "{error}");
}

#[test]
fn names_and_candidates_are_checked_when_it_is_built() {
    let driver = TestDriver::new("test").serving("m").shared();
    let candidates = vec![
        Candidate::new("a", driver.clone()),
        Candidate::new("a", driver.clone()),
    ];
    for (name, candidates) in [
        ("r", candidates),
        ("r", vec![]),
        ("Not One", vec![Candidate::new("a", driver)]),
    ] {
        let error = Router::new(name, candidates, RoutingPolicy::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
    }
}

#[test]
fn it_is_available_when_any_candidate_is_else_when_the_first_is_back() {
    let cx = context(&TestClock::new());
    let at = |seconds| Some(cx.clock().now() + Duration::from_secs(seconds));
    let closed = |reason, until| Availability::unavailable(reason, until);
    let (limit, open) = (UnavailableReason::RateLimit, UnavailableReason::BreakerOpen);
    let fleet = |availabilities: &[Availability]| {
        let candidate = |(place, availability): (usize, &Availability)| {
            let driver = TestDriver::new("test").serving("m").being(*availability).shared();
            Candidate::new(format!("c{place}"), driver)
        };
        router("r", availabilities.iter().enumerate().map(candidate).collect())
    };
    let any = model("router:r");
    assert!(
        fleet(&[closed(limit, None), Availability::Available])
            .availability(&any)
            .is_available()
    );
    let both = fleet(&[closed(limit, at(9)), closed(open, at(3)), closed(limit, None)]);
    assert_eq!(both.availability(&any), closed(open, at(3)));
    assert_eq!(both.availability(&model("m")), closed(open, at(3)));
    assert_eq!(
        both.availability(&model("x")),
        closed(UnavailableReason::Model, None)
    );
    assert_eq!(
        fleet(&[closed(open, None)]).availability(&any),
        closed(open, None)
    );
}

#[tokio::test]
async fn it_decides_and_runs_the_plan() {
    let (small, large, router) = small_and_large();
    let cx = context(&TestClock::new());
    let with_tools = ChatRequest::user("hi").with_tools([ToolSpec::new("t")]);
    let response = router.chat(&cx, &with_tools).await.unwrap();
    assert_eq!(response.attempts[0].candidate, "b");
    let stream = router
        .chat_stream(&cx, &ChatRequest::user("hi").with_model(model("l")))
        .await
        .unwrap_err();
    assert_eq!(
        stream.kind(),
        ErrorKind::NoEligibleCandidate,
        "neither can stream"
    );
    assert_eq!((small.calls().len(), large.calls().len()), (0, 1));
}

#[tokio::test]
async fn its_own_id_as_a_model_is_not_handed_on() {
    let (small, _, router) = small_and_large();
    let request = ChatRequest::user("hi").with_model(model("router:r"));
    router.chat(&context(&TestClock::new()), &request).await.unwrap();
    assert_eq!(small.calls()[0].model, None);
}

#[tokio::test]
async fn routers_nest_and_the_log_says_where() {
    let cx = context(&TestClock::new());
    let broken = TestDriver::new("x")
        .serving("m")
        .fails(ErrorKind::Server)
        .shared();
    let stubborn = TestDriver::new("y")
        .serving("m")
        .fails(ErrorKind::Overloaded)
        .shared();
    let inner = router(
        "inner",
        vec![Candidate::new("x", broken), Candidate::new("y", stubborn)],
    );
    let good = TestDriver::new("z").serving("m").shared();
    let outer = router(
        "outer",
        vec![Candidate::new("in", Arc::new(inner)), Candidate::new("z", good)],
    );
    for named in [None, Some(model("m"))] {
        let response = outer
            .chat(&cx, &ChatRequest::user("hi").with_model(named.clone()))
            .await
            .unwrap();
        let log: Vec<_> = response
            .attempts
            .iter()
            .map(|attempt| attempt.candidate.as_str())
            .collect();
        match named {
            None => assert_eq!(log, ["in/x", "in/y", "z"]),
            // the inner drivers have failed all they were told to
            Some(_) => assert_eq!(log, ["in/x"]),
        }
    }
}

#[tokio::test]
async fn a_refusal_of_an_inner_router_lets_the_outer_go_on() {
    let blind = TestDriver::new("x").serving_model(known("m", 8, &[])).shared();
    let inner = router("inner", vec![Candidate::new("x", blind)]);
    let good = TestDriver::new("z").serving("m").shared();
    let outer = Router::new(
        "outer",
        vec![Candidate::new("in", Arc::new(inner)), Candidate::new("z", good)],
        RoutingPolicy::empty("no constraints"),
    )
    .unwrap();
    let request = ChatRequest::user("hi").with_tools([ToolSpec::new("t")]);
    let response = outer.chat(&context(&TestClock::new()), &request).await.unwrap();
    let kinds: Vec<_> = response
        .attempts
        .iter()
        .map(|a| a.failure.as_ref().map(|f| f.kind))
        .collect();
    assert_eq!(kinds, [Some(ErrorKind::NoEligibleCandidate), None]);
}

#[derive(Debug, Default)]
struct Decisions(Mutex<Vec<String>>);

impl PlanObserver for Decisions {
    fn on_decision(&self, cx: &CallContext, decision: &RoutingDecision) {
        let call = cx.request_id().unwrap_or_default();
        self.0
            .lock()
            .unwrap()
            .push(format!("{call}: {}", decision.selected().id()));
    }
}

#[tokio::test]
async fn decisions_can_be_watched_and_asked_for() {
    let (small, _, router) = small_and_large();
    let decisions = Arc::new(Decisions::default());
    let router = router.with_executor(PlanExecutor::new().with_observer(decisions.clone()));
    let cx = context(&TestClock::new()).with_request_id("call-7");
    let request = ChatRequest::user("hi");
    let decision = router.decide(&cx, &request, CallMode::Plain).unwrap();
    assert!(decisions.0.lock().unwrap().is_empty(), "asking is not calling");
    router.executor().chat(&cx, &decision, &request).await.unwrap();
    router.chat(&cx, &request).await.unwrap();
    assert_eq!(*decisions.0.lock().unwrap(), ["call-7: a"]);
    assert_eq!(small.calls().len(), 2);
}

#[tokio::test]
async fn the_routers_own_name_reaches_no_candidate() {
    let (small, _, router) = small_and_large();
    let cx = context(&TestClock::new());
    let request = ChatRequest::user("hi").with_model(model("router:r"));
    let decision = router.decide(&cx, &request, CallMode::Plain).unwrap();
    router.executor().chat(&cx, &decision, &request).await.unwrap();
    router.chat(&cx, &request).await.unwrap();
    let models: Vec<_> = small.calls().into_iter().map(|call| call.model).collect();
    assert_eq!(models, [None, None]);
}

#[tokio::test]
async fn observers_hear_that_nobody_can_serve() {
    #[derive(Debug, Default)]
    struct Nobody(Mutex<Vec<usize>>);
    impl PlanObserver for Nobody {
        fn on_no_candidate(&self, _: &CallContext, error: &Error) {
            let evaluations = crate::Evaluations::of(error).unwrap().all().len();
            self.0.lock().unwrap().push(evaluations);
        }
    }
    let (_, _, router) = small_and_large();
    let nobody = Arc::new(Nobody::default());
    let router = router.with_executor(PlanExecutor::new().with_observer(nobody.clone()));
    let cx = context(&TestClock::new());
    let request = ChatRequest::user("word ".repeat(1_000));
    router.chat(&cx, &request).await.unwrap_err();
    assert_eq!(*nobody.0.lock().unwrap(), [2]);
}

#[tokio::test]
async fn health_is_that_of_the_best_candidate() {
    let cx = context(&TestClock::new());
    let wall = cx.clock().wall();
    let well = HealthStatus::healthy(wall, Duration::from_millis(3));
    let ill = HealthStatus::unhealthy(wall, "refused");
    let unknown = HealthStatus::unknown(wall, "no probe");
    let fleet = |all: &[&HealthStatus]| {
        let candidate = |(place, health): (usize, &&HealthStatus)| {
            let driver = TestDriver::new("test")
                .serving("m")
                .feeling((*health).clone())
                .shared();
            Candidate::new(format!("c{place}"), driver)
        };
        router("r", all.iter().enumerate().map(candidate).collect())
    };
    let mut many = vec![&ill; 20];
    many.push(&well);
    let best = fleet(&many).health(&cx).await;
    assert_eq!(
        (best.state, best.message.as_deref()),
        (HealthState::Healthy, Some("c20 is well"))
    );
    assert_eq!(best.latency, Some(Duration::from_millis(3)));
    assert_eq!(
        fleet(&[&ill, &unknown]).health(&cx).await.state,
        HealthState::Unknown
    );
    let all_ill = fleet(&[&ill, &ill]).health(&cx).await;
    assert_eq!(all_ill.state, HealthState::Unhealthy);
    assert!(all_ill.message.unwrap().contains("c0: refused; c1: refused"));
}
