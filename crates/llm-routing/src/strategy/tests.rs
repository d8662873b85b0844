use super::*;
use crate::candidate::Candidate;
use crate::engine::RoutingEngine;
use crate::needs::CallMode;
use crate::test_driver::{TestClock, TestDriver};
use llm_core::{CallContext, Capabilities, Capability, ChatRequest, ToolSpec};
use serde_json::json;

#[test]
fn every_name_and_alias_is_understood() {
    for strategy in Strategy::ALL {
        let names = strategy
            .aliases()
            .iter()
            .chain([&strategy.as_str()])
            .copied()
            .collect::<Vec<_>>();
        for name in names {
            for spelt in [name.to_owned(), name.to_uppercase(), name.replace('-', "_")] {
                assert_eq!(Strategy::parse(&spelt).unwrap(), strategy, "{spelt}");
            }
        }
    }
    // the names of the reference
    for name in [
        "leastbusy",
        "least_busy",
        "usage_based",
        "context_window",
        "capacity",
        "capabilities",
        "roundrobin",
    ] {
        Strategy::parse(name).unwrap();
    }
    let error = Strategy::parse("cheapest").unwrap_err();
    assert!(
        error.message().contains("priority, weighted, random, least-busy"),
        "{error}"
    );
}

/// A value that each option takes.
fn sample(option: &StrategyOption) -> Value {
    match option.form {
        "true or false" => json!(false),
        "`tokens` or `requests`" => json!("requests"),
        form if form.contains(" by ") || form.starts_with("as ") => json!({ "a": 2 }),
        _ => json!(3),
    }
}

#[test]
fn every_listed_option_is_taken_and_every_other_is_refused() {
    for strategy in Strategy::ALL {
        let _ = strategy.policy(&json!({})).unwrap();
        for option in strategy.options() {
            let _ = strategy.policy(&json!({ option.name: sample(option) })).unwrap();
            let wrong = strategy.policy(&json!({ option.name: "nonsense" })).unwrap_err();
            assert_eq!(wrong.kind(), ErrorKind::Config);
            assert!(wrong.message().contains(strategy.as_str()), "{wrong}");
        }
        let unknown = strategy.policy(&json!({ "colour": 1 })).unwrap_err();
        for option in strategy.options() {
            assert!(unknown.message().contains(option.name), "{unknown}");
        }
        assert!(strategy.policy(&json!([])).is_err());
    }
}

#[test]
fn numbers_that_say_nothing_are_refused() {
    let refused = [
        (Strategy::Weighted, json!({ "weights": { "a": -1 } })),
        (Strategy::Weighted, json!({ "weights": { "a": 0, "b": 0 } })),
        (Strategy::RoundRobin, json!({ "weights": { "a": -1 } })),
        (Strategy::RoundRobin, json!({ "weights": { "a": 1.5 } })),
        (Strategy::RoundRobin, json!({ "weights": { "a": 0 } })),
        (Strategy::Latency, json!({ "default_latency_ms": -1 })),
        (Strategy::ContextWindow, json!({ "max_context_tokens": 0 })),
        (Strategy::ContextWindow, json!({ "windows": { "a": 0 } })),
        (Strategy::Cost, json!({ "strict": false, "penalty": 0 })),
        (Strategy::Cost, json!({ "penalty": -1 })),
        (Strategy::Cost, json!({ "strict": "yes" })),
    ];
    for (strategy, options) in refused {
        let error = strategy.policy(&options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{options}");
    }
}

#[test]
fn a_wrong_value_is_named_by_option_and_candidate() {
    for (strategy, options, named) in [
        (
            Strategy::Weighted,
            json!({ "weights": { "a": 1, "b": "3" } }),
            "weights.b: ",
        ),
        (
            Strategy::RoundRobin,
            json!({ "weights": { "a": 1.5 } }),
            "weights.a: ",
        ),
        (
            Strategy::ContextWindow,
            json!({ "max_context_tokens": "8k" }),
            "max_context_tokens: ",
        ),
        (Strategy::Cost, json!({ "strict": "yes" }), "strict: "),
    ] {
        let error = strategy.policy(&options).unwrap_err();
        assert!(error.message().contains(named), "{error}");
    }
}

#[test]
fn needs_are_binding_or_cost_something() {
    let unable = TestDriver::new("a")
        .serving_with("m", Capabilities::only([]))
        .shared();
    let able = TestDriver::new("b")
        .serving_with("m", Capabilities::only([Capability::Tools]))
        .shared();
    let candidates = [Candidate::new("unable", unable), Candidate::new("able", able)];
    let request = ChatRequest::user("hi").with_tools([ToolSpec::new("t")]);
    let cx = CallContext::new(TestClock::new());
    for strategy in Strategy::ALL {
        let plan = |options: Value| {
            let engine = RoutingEngine::new(strategy.policy(&options).unwrap());
            let decision = engine
                .decide(&cx, &request, &candidates, CallMode::Plain)
                .unwrap();
            decision
                .plan()
                .iter()
                .map(|planned| planned.id().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(plan(json!({})), ["able"], "{strategy}");
        assert_eq!(plan(json!({ "strict": false })), ["able", "unable"], "{strategy}");
    }
}

#[test]
fn a_configuration_reads_as_the_code_writes() {
    let config: StrategyConfig =
        serde_json::from_value(json!({ "strategy": "Priority", "priorities": { "b": 1 } })).unwrap();
    assert_eq!(
        (config.strategy(), config.policy().name()),
        (Strategy::Priority, "priority")
    );
    for wrong in [
        json!({}),
        json!({ "strategy": 7 }),
        json!({ "strategy": "cost", "weights": {} }),
    ] {
        let error = serde_json::from_value::<StrategyConfig>(wrong).unwrap_err();
        assert!(
            error.to_string().contains("cost") || error.to_string().contains("must name"),
            "{error}"
        );
    }
}
