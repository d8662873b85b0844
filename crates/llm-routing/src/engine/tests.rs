use super::*;
use crate::constraint::Constraint;
use crate::decision::PlannedCandidate;
use crate::ranker::PriorityRanker;
use crate::selector::Selector;
use crate::test_driver::{TestClock, TestDriver, context, model};
use llm_core::{Availability, Capabilities, Capability, ToolSpec, UnavailableReason};
use std::time::Duration;

fn candidate(id: &str, driver: TestDriver) -> Candidate {
    Candidate::new(id.to_owned(), driver.shared())
}

fn plain(id: &str) -> Candidate {
    candidate(id, TestDriver::new("test").serving("m"))
}

fn decide(policy: RoutingPolicy, request: &ChatRequest, candidates: &[Candidate]) -> Result<RoutingDecision> {
    RoutingEngine::new(policy).decide(&context(&TestClock::new()), request, candidates, CallMode::Plain)
}

fn ids(decision: &RoutingDecision) -> Vec<&str> {
    decision.plan().iter().map(PlannedCandidate::id).collect()
}

#[test]
fn without_rankers_the_given_order_is_the_plan() {
    let candidates = [plain("b"), plain("a"), plain("c")];
    let decision = decide(RoutingPolicy::default(), &ChatRequest::user("hi"), &candidates).unwrap();
    assert_eq!(ids(&decision), ["b", "a", "c"]);
    assert_eq!(decision.selected().id(), "b");
    assert_eq!(decision.fallbacks().len(), 2);
    assert_eq!(decision.policy(), "default");
}

#[test]
fn group_comes_before_score_and_ties_keep_their_order() {
    let policy =
        RoutingPolicy::default().with_ranker(PriorityRanker::new([("late", 100.0), ("good", 2.0)]).unwrap());
    let candidates = [plain("late").with_group(1), plain("x"), plain("good"), plain("y")];
    let decision = decide(policy, &ChatRequest::user("hi"), &candidates).unwrap();
    assert_eq!(ids(&decision), ["good", "x", "y", "late"]);
}

#[test]
fn every_rejection_is_kept_and_nobody_left_is_an_error_that_carries_them() {
    let blind = Capabilities::only([]);
    let candidates = [
        candidate("a", TestDriver::new("test").serving_with("m", blind)).with_model(model("m")),
        plain("b").with_model(model("gone")),
    ];
    let request = ChatRequest::user("hi")
        .with_model(model("n"))
        .with_tools([ToolSpec::new("t")]);
    let error = decide(RoutingPolicy::default(), &request, &candidates).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoEligibleCandidate);
    assert_eq!(
        error.message(),
        "no candidate can serve the request: a (model_mismatch, missing_tools), \
         b (model_mismatch, candidate_model_unsupported)"
    );
    let evaluations = Evaluations::of(&error).unwrap();
    assert_eq!(evaluations.all().len(), 2);
    assert_eq!(evaluations.all()[0].rejections.len(), 2);
    assert_eq!(evaluations.record().selected, None);
    assert!(Evaluations::of(&Error::new(ErrorKind::Server, "another")).is_none());
}

#[test]
fn a_long_list_of_the_rejected_is_cut_in_the_message_only() {
    let candidates: Vec<_> = (0..12)
        .map(|n| plain(&format!("c{n}")).with_model(model("gone")))
        .collect();
    let error = decide(RoutingPolicy::default(), &ChatRequest::user("hi"), &candidates).unwrap_err();
    assert!(
        error
            .message()
            .ends_with("c9 (candidate_model_unsupported), and 2 more"),
        "{error}"
    );
    assert_eq!(Evaluations::of(&error).unwrap().all().len(), 12);
}

#[test]
fn who_is_not_available_keeps_its_place_and_is_marked() {
    let clock = TestClock::new();
    let cx = context(&clock);
    let until = cx.clock().now() + Duration::from_secs(12);
    let closed = Availability::unavailable(UnavailableReason::BreakerOpen, until);
    let candidates = [
        candidate("a", TestDriver::new("test").serving("m").being(closed)),
        plain("b"),
    ];
    let engine = RoutingEngine::default();
    let decision = engine
        .decide(&cx, &ChatRequest::user("hi"), &candidates, CallMode::Plain)
        .unwrap();
    assert_eq!(ids(&decision), ["a", "b"]);
    let [a, b] = [0, 1].map(|place| decision.evaluations()[place].availability.unwrap());
    assert_eq!(
        (a.available, a.reason),
        (false, Some(UnavailableReason::BreakerOpen))
    );
    assert_eq!(a.available_in_ms, Some(12_000));
    assert_eq!((b.available, b.reason, b.available_in_ms), (true, None, None));
    assert!(
        decision
            .explain()
            .contains("not available now: breaker_open for 12.0 s")
    );
}

#[test]
fn each_is_planned_with_its_own_model_and_the_rest_with_the_named_one() {
    let two = || TestDriver::new("test").serving("m").serving("n");
    let candidates = [
        candidate("own", two()).with_model(model("n")),
        candidate("none", two()),
    ];
    let named = ChatRequest::user("hi").with_model(model("n"));
    let decision = decide(RoutingPolicy::default(), &named, &candidates).unwrap();
    assert!(
        decision
            .plan()
            .iter()
            .all(|planned| planned.model() == Some(&model("n")))
    );
    let free = decide(RoutingPolicy::default(), &ChatRequest::user("hi"), &candidates).unwrap();
    let models: Vec<_> = free
        .plan()
        .iter()
        .map(|planned| planned.model().cloned())
        .collect();
    assert_eq!(models, [Some(model("n")), None]);
    assert_eq!(
        free.fallbacks()[0].resolved().unwrap().id,
        model("m"),
        "the stack's default"
    );
}

#[test]
fn streaming_is_a_need_of_the_verb() {
    let whole = Capabilities::unknown().with(Capability::Streaming, false);
    let candidates = [candidate("a", TestDriver::new("test").serving_with("m", whole))];
    let (cx, request) = (context(&TestClock::new()), ChatRequest::user("hi"));
    let engine = RoutingEngine::default();
    assert!(engine.decide(&cx, &request, &candidates, CallMode::Plain).is_ok());
    let error = engine
        .decide(&cx, &request, &candidates, CallMode::Stream)
        .unwrap_err();
    assert!(error.message().contains("a (missing_streaming)"), "{error}");
}

#[test]
fn an_empty_policy_rejects_nobody() {
    let candidates = [plain("a").with_model(model("gone"))];
    let decision = decide(RoutingPolicy::empty("all"), &ChatRequest::user("hi"), &candidates).unwrap();
    assert_eq!(ids(&decision), ["a"]);
    assert!(decision.selected().resolved().is_none());
    assert!(decision.evaluations()[0].availability.is_none());
}

/// Scores by the last letter of the id; errs on `e`, knows nothing of `u`, returns no number for `n`.
#[derive(Debug)]
struct Odd(&'static str);

impl Ranker for Odd {
    fn name(&self) -> &str {
        self.0
    }
    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        match pairing.candidate.id() {
            "e" => Err(Error::new(ErrorKind::Internal, "broken")),
            "n" => Ok(Some(Score::new(f64::NAN))),
            "u" => Ok(None),
            id => Ok(Some(Score::new(id.len() as f64))),
        }
    }
}

#[test]
fn a_ranker_that_errs_rejects_that_candidate_only() {
    let candidates = ["e", "a", "n", "bbb", "u"].map(plain);
    for rankers in 1..=2 {
        let mut policy = RoutingPolicy::default();
        for name in ["first", "second"].into_iter().take(rankers) {
            policy = policy.with_ranker(Odd(name));
        }
        let decision = decide(policy, &ChatRequest::user("hi"), &candidates).unwrap();
        assert_eq!(ids(&decision), ["bbb", "u", "a"], "unknown stands at the median");
        for rejected in [0, 2].map(|place| &decision.evaluations()[place]) {
            assert!(!rejected.eligible && rejected.score.is_none());
            assert_eq!(
                (&*rejected.rejections[0].constraint, &*rejected.rejections[0].code),
                ("first", "ranker_error")
            );
        }
        assert!(!decision.explain().contains("NaN") || decision.explain().contains("no number"));
    }
}

#[test]
fn quality_is_handed_to_the_rankers() {
    let ranker = PriorityRanker::new([("a", 1.0)])
        .unwrap()
        .with_quality([("b", 1.0)])
        .unwrap();
    let engine = RoutingEngine::new(RoutingPolicy::default().with_ranker(ranker));
    let candidates = [plain("a"), plain("b")];
    for (prefers, first) in [(false, "a"), (true, "b")] {
        let cx = context(&TestClock::new()).with_prefer_quality(prefers);
        let decision = engine
            .decide(&cx, &ChatRequest::user("hi"), &candidates, CallMode::Plain)
            .unwrap();
        assert_eq!(decision.selected().id(), first);
    }
}

#[derive(Debug)]
struct Fixed(&'static [usize]);

impl Selector for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }
    fn order(&self, _: &Selection<'_>) -> Vec<usize> {
        self.0.to_vec()
    }
}

#[test]
fn a_selector_may_leave_out_but_neither_repeat_nor_invent() {
    let candidates = [plain("a"), plain("b")];
    let decide = |order| {
        let policy = RoutingPolicy::default().with_selector(Fixed(order));
        decide(policy, &ChatRequest::user("hi"), &candidates)
    };
    let decision = decide(&[1]).unwrap();
    assert_eq!(ids(&decision), ["b"]);
    let left_out = &decision.evaluations()[0];
    assert!(left_out.eligible && left_out.notes[0].code == "left_out");
    assert_eq!(decide(&[0, 0]).unwrap_err().kind(), ErrorKind::Internal);
    assert_eq!(decide(&[2]).unwrap_err().kind(), ErrorKind::Internal);
    let nobody = decide(&[]).unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::NoEligibleCandidate);
    assert!(
        nobody.message().contains("a (left out), b (left out)"),
        "{nobody}"
    );
}

#[derive(Debug)]
struct Tagged;

impl Constraint for Tagged {
    fn name(&self) -> &str {
        "tagged"
    }
    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
        if !pairing.candidate.has_tag("eu") {
            findings.reject("outside_eu", "it is not tagged eu", Facts::default());
        }
    }
}

#[test]
fn constraints_of_others_count_like_ours() {
    let policy = RoutingPolicy::default().with_constraint(Arc::new(Tagged));
    let candidates = [plain("a"), plain("b").with_tag("eu")];
    let decision = decide(policy, &ChatRequest::user("hi"), &candidates).unwrap();
    assert_eq!(ids(&decision), ["b"]);
    assert_eq!(decision.evaluations()[0].rejections[0].code, "outside_eu");
}

#[test]
fn a_soft_constraint_says_by_what_figures() {
    let policy = RoutingPolicy::empty("lenient")
        .with_soft_constraint(crate::constraint::ContextWindowConstraint::new(), 0.5)
        .unwrap();
    let small = [plain("a").with_context_window(100)];
    let request = ChatRequest::user("word ".repeat(200));
    let decision = decide(policy, &request, &small).unwrap();
    let note = &decision.evaluations()[0].notes[0];
    assert_eq!(
        (&*note.source, &*note.code),
        ("context_window", "insufficient_context_window")
    );
    assert_eq!(note.facts.find("window"), Some(&100_u64.into()));
}

#[test]
fn a_plan_knows_by_which_window_a_candidate_was_judged() {
    let window = crate::constraint::ContextWindowConstraint::new();
    let policy = RoutingPolicy::empty("test").with_constraint(window.with_windows([("a", 200_000)]).unwrap());
    let small = [
        plain("a").with_context_window(100),
        plain("b").with_context_window(1_000),
    ];
    let decision = decide(policy, &ChatRequest::user("hi"), &small).unwrap();
    let limits: Vec<_> = decision
        .plan()
        .iter()
        .map(PlannedCandidate::input_limit)
        .collect();
    assert_eq!(limits, [Some(200_000), Some(1_000)]);
}

#[test]
fn nothing_to_decide_over_is_a_fault_of_the_set_up() {
    let error = decide(RoutingPolicy::default(), &ChatRequest::user("hi"), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}
