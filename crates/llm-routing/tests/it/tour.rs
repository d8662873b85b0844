//! The page that teaches the engine shows what is really printed, and lists what is really there.

use crate::fleet::{Closed, Script, Time, cast};
use llm_core::price::Rates;
use llm_core::{
    CallContext, Capabilities, Capability, ChatRequest, Clock, ModelId, Price, ToolSpec, UnavailableReason,
    Usage,
};
use llm_routing::{
    CallMode, Candidate, CapabilityConstraint, ContextWindowConstraint, CostRanker, Evaluations,
    LatencyRanker, Metrics, Ranker, RoutingEngine, RoutingPolicy, Strategy,
};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

const PAGE: &str = include_str!("../../../../docs/concepts/routing.md");

/// Three stacks: a small one at home, a quick one, a large one.
fn candidates(time: &Arc<Time>) -> Vec<Candidate> {
    let stack = |model: &str, window, tools: bool| Script {
        model: Some(ModelId::new(model).unwrap()),
        capabilities: Capabilities::unknown().with(Capability::Tools, tools),
        ..Script::serving(Some(window))
    };
    let mut scripts = [
        stack("demo-small", 8_000, false),
        stack("demo-quick", 32_000, true),
        stack("demo-large", 200_000, true),
    ];
    scripts[1].closed = Some(Closed {
        reason: UnavailableReason::RateLimit,
        from: 30_000,
        until: Some(45_000),
    });
    // dollars for a million tokens in and out
    let prices = [(0, 0), (1, 3), (4, 20)];
    let cast = cast(&scripts, time, &Arc::default());
    let named = cast.into_iter().zip(["home", "quick", "large"]).zip(prices);
    named
        .map(|((candidate, id), (input, output))| {
            Candidate::new(id, candidate.stack().clone())
                .with_model(candidate.model().cloned())
                .with_price(Price::new(Rates::usd(
                    input * 1_000_000_000,
                    output * 1_000_000_000,
                )))
        })
        .collect()
}

/// What was seen of them so far.
fn metrics(time: &Arc<Time>) -> Metrics {
    let metrics = Metrics::new();
    for (id, millis) in [("home", 4_000), ("quick", 700), ("large", 1_900)] {
        let start = time.now();
        let end = start + Duration::from_millis(millis);
        metrics
            .begin(id, start)
            .succeeded(end, end, &Usage::default(), None);
    }
    metrics
}

fn cost_and_latency() -> [(Arc<dyn Ranker>, f64); 2] {
    [
        (Arc::new(CostRanker::new()), 0.7),
        (Arc::new(LatencyRanker::new()), 0.3),
    ]
}

/// Each block of the page, by its name.
fn blocks() -> Vec<(&'static str, String)> {
    let time = Time::new();
    let candidates = candidates(&time);
    let cx = CallContext::new(time.clone());
    let decide = |policy: RoutingPolicy, request: &ChatRequest| {
        let engine = RoutingEngine::new(policy)
            .with_metrics(metrics(&time))
            .with_seed(1)
            .with_recorded_inputs(true);
        engine.decide(&cx, request, &candidates, CallMode::Plain)
    };
    let hello = ChatRequest::user("Why is the sky blue?");
    let tools = ChatRequest::user("What is the weather in Oslo?").with_tools([ToolSpec::new("weather")]);
    let long = ChatRequest::user("word ".repeat(40_000)).with_max_output_tokens(2_000);
    let weighed = RoutingPolicy::default()
        .with_name("cost and latency")
        .with_weighted_rankers(cost_and_latency())
        .unwrap();
    let lenient = RoutingPolicy::empty("lenient")
        .with_constraint(CapabilityConstraint::new())
        .with_soft_constraint(ContextWindowConstraint::new(), 1.0)
        .unwrap()
        .with_weighted_rankers(cost_and_latency())
        .unwrap();
    let recorded = decide(weighed.clone(), &hello).unwrap();
    let clock: Arc<dyn Clock> = time.clone();
    let inputs = recorded.record().inputs.as_deref().unwrap();
    let latency = Strategy::Latency.policy(&serde_json::json!({})).unwrap();
    let again = inputs.decide_by(latency, &clock, recorded.record().seed).unwrap();
    let nobody = {
        let request = ChatRequest::user("word ".repeat(400_000));
        let error = decide(RoutingPolicy::default(), &request).unwrap_err();
        format!(
            "{}\n\n{}",
            error.message(),
            Evaluations::of(&error).unwrap().record().explain()
        )
    };
    vec![
        (
            "plain",
            decide(RoutingPolicy::default(), &hello).unwrap().explain(),
        ),
        (
            "tools",
            decide(RoutingPolicy::default(), &tools).unwrap().explain(),
        ),
        ("weighed", recorded.explain()),
        ("lenient", decide(lenient, &long).unwrap().explain()),
        ("nobody", nobody),
        ("again", again.explain()),
    ]
}

/// The table of strategies and their options.
fn strategies() -> String {
    let mut table = String::from("| strategy | asks first | other names |\n|---|---|---|\n");
    for strategy in Strategy::ALL {
        let aliases: Vec<_> = strategy
            .aliases()
            .iter()
            .map(|alias| format!("`{alias}`"))
            .collect();
        let _ = writeln!(
            table,
            "| `{strategy}` | {} | {} |",
            strategy.summary(),
            aliases.join(", ")
        );
    }
    table.push_str("\n| strategy | option | holds | without it | does |\n|---|---|---|---|---|\n");
    let mut row = |strategy: &str, option: &llm_routing::StrategyOption| {
        let _ = writeln!(
            table,
            "| {strategy} | `{}` | {} | {} | {} |",
            option.name, option.form, option.default, option.meaning
        );
    };
    for strategy in Strategy::ALL {
        for option in strategy
            .options()
            .filter(|option| !["strict", "penalty"].contains(&option.name))
        {
            row(&format!("`{strategy}`"), option);
        }
    }
    for option in Strategy::Random.options() {
        row("every one", option);
    }
    table
}

#[test]
fn the_page_shows_what_is_printed_and_lists_what_is_there() {
    let printed = blocks()
        .into_iter()
        .map(|(name, text)| format!("<!-- {name} -->\n```text\n{text}```\n"));
    let listed = format!("<!-- strategies -->\n{}", strategies());
    let lacks: String = printed
        .chain([listed])
        .filter(|block| !PAGE.contains(block))
        .collect();
    assert!(lacks.is_empty(), "docs/concepts/routing.md lacks:\n{lacks}");
}
