//! The JSON form of a decision, and the table: both are promises, so both are pinned.

use crate::fleet::Time;
use crate::readme;
use llm_core::{CallContext, CallContext as Cx, ChatRequest, ModelId};
use llm_routing::{
    CallMode, Candidate, DecisionRecord, Facts, Pairing, PriorityRanker, Ranker, RoutingDecision,
    RoutingEngine, RoutingPolicy, Score,
};

fn decide(policy: RoutingPolicy, request: &ChatRequest) -> RoutingDecision {
    let time = Time::new();
    let mut candidates = readme::candidates(&time);
    let spare = candidates[1].stack().clone();
    candidates.push(
        Candidate::new("spare", spare)
            .with_name("the old machine")
            .with_group(1),
    );
    let cx: Cx = CallContext::new(time);
    RoutingEngine::new(policy)
        .with_seed(7)
        .decide(&cx, request, &candidates, CallMode::Plain)
        .unwrap()
}

/// Knows only what a model's name is long.
#[derive(Debug)]
struct Short;

impl Ranker for Short {
    fn name(&self) -> &str {
        "short"
    }
    fn score(&self, pairing: &Pairing<'_>) -> llm_core::Result<Option<Score>> {
        let own = pairing.candidate.model();
        Ok(own.map(|own| {
            let length = own.as_str().len() as u64;
            Score::new(1.0 / length as f64).with_facts(Facts::default().with("length", length))
        }))
    }
}

#[test]
fn json_of_a_decision_is_pinned_and_comes_back() {
    let decision = decide(readme::policy(), &readme::request());
    let json = serde_json::to_string_pretty(&decision).unwrap();
    insta::assert_snapshot!("decision", json);
    let record: DecisionRecord = serde_json::from_str(&json).unwrap();
    assert_eq!(record, *decision.record());
    assert_eq!(record.explain(), decision.explain());
}

#[test]
fn table_of_several_rankers_and_a_binding_model_is_pinned() {
    let priority = PriorityRanker::new([("local", 5.0)]).unwrap();
    let policy = RoutingPolicy::default()
        .with_name("two rankers")
        .with_ranker(priority)
        .with_ranker(Short);
    insta::assert_snapshot!(
        "composite",
        decide(policy.clone(), &ChatRequest::user("hi")).explain()
    );
    let named = ChatRequest::user("hi").with_model(ModelId::new("demo-small").unwrap());
    insta::assert_snapshot!("named", decide(policy, &named).explain());
}

#[test]
fn the_same_input_gives_the_same_decision() {
    let of = || serde_json::to_string(&decide(readme::policy(), &readme::request())).unwrap();
    assert_eq!(of(), of());
}
