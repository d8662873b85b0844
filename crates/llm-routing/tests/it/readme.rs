//! The README shows what is really printed.

use crate::fleet::{Closed, Script, Time, cast};
use llm_core::{
    CallContext, Capabilities, Capability, ChatDriver, ChatRequest, ModelId, Support, ToolSpec,
    UnavailableReason,
};
use llm_routing::{CallMode, Candidate, PriorityRanker, Router, RoutingPolicy};

pub(crate) fn candidates(time: &std::sync::Arc<Time>) -> Vec<Candidate> {
    let script = |model: &str, tools: Support| Script {
        model: Some(ModelId::new(model).unwrap()),
        capabilities: Capabilities::unknown().with(Capability::Tools, tools),
        ..Script::serving(None)
    };
    let mut scripts = [
        script("demo-tiny", Support::No),
        script("demo-small", Support::Unknown),
        script("demo-large", Support::Yes),
    ];
    scripts[2].closed = Some(Closed {
        reason: UnavailableReason::RateLimit,
        from: 0,
        until: Some(20_000),
    });
    let cast = cast(&scripts, time, &Default::default());
    let renamed = |(candidate, id): (&Candidate, &str)| {
        Candidate::new(id.to_owned(), candidate.stack().clone()).with_model(candidate.model().cloned())
    };
    cast.iter().zip(["tiny", "local", "cloud"]).map(renamed).collect()
}

pub(crate) fn policy() -> RoutingPolicy {
    let ranker = PriorityRanker::new([("cloud", 10.0), ("local", 5.0)]).unwrap();
    RoutingPolicy::default().with_ranker(ranker)
}

pub(crate) fn request() -> ChatRequest {
    ChatRequest::user("What is the weather in Oslo?").with_tools([ToolSpec::new("weather")])
}

#[test]
fn the_table_of_the_readme_is_what_explain_prints() {
    let time = Time::new();
    let router = Router::new("demo", candidates(&time), policy()).unwrap();
    let decision = router
        .decide(&CallContext::new(time), &request(), CallMode::Plain)
        .unwrap();
    let printed = decision.explain();
    assert!(
        include_str!("../../README.md").contains(&format!("```text\n{printed}```")),
        "{printed}"
    );
}

#[tokio::test]
async fn the_answer_of_the_readme_comes_from_local() {
    let time = Time::new();
    let router = Router::new("demo", candidates(&time), policy()).unwrap();
    let response = router.chat(&CallContext::new(time), &request()).await.unwrap();
    let tried: Vec<_> = response
        .attempts
        .iter()
        .map(|attempt| attempt.candidate.as_str())
        .collect();
    assert_eq!(tried, ["local"]);
}

#[test]
fn a_router_records_what_it_decided_by() {
    let time = Time::new();
    for recorded in [false, true] {
        let router = Router::new("demo", candidates(&time), policy())
            .unwrap()
            .with_recorded_inputs(recorded);
        let cx = CallContext::new(time.clone());
        let decision = router.decide(&cx, &request(), CallMode::Plain).unwrap();
        assert_eq!(decision.record().inputs.is_some(), recorded);
    }
}
