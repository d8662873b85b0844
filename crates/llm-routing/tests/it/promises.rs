//! What holds for every fleet, every request and every strategy.

use crate::fleet::{Asked, Closed, Ending, Point, Script, Time, cast};
use llm_core::capability::{Capability, Support};
use llm_core::error::ErrorKind;
use llm_core::{
    CallContext, Capabilities, ChatDriver, ChatRequest, ContentPart, ImagePart, MediaSource, Message,
    ModelId, OutputFormat, Phase, Role, Scope, ToolSpec, UnavailableReason,
};
use llm_routing::{CallMode, Candidate, Router, RoutingPolicy, Strategy as Named};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

fn capabilities() -> impl Strategy<Value = Capabilities> {
    let support = || select(vec![Support::Yes, Support::No, Support::Unknown]);
    (support(), support(), support(), support()).prop_map(|(tools, vision, schema, streaming)| {
        Capabilities::unknown()
            .with(Capability::Tools, tools)
            .with(Capability::Vision, vision)
            .with(Capability::JsonSchema, schema)
            .with(Capability::Streaming, streaming)
    })
}

fn request() -> impl Strategy<Value = ChatRequest> {
    let length = select(vec![1_usize, 3_000, 30_000]);
    let model = prop::option::weighted(0.2, select(vec!["m", "n"]));
    let output = prop::option::of(select(vec![100_u32, 9_000]));
    (any::<(bool, bool, bool)>(), length, model, output).prop_map(
        |((tools, picture, schema), words, model, output)| {
            let mut request = ChatRequest::user("word ".repeat(words));
            request.model = model.map(|name| ModelId::new(name).unwrap());
            request.max_output_tokens = output;
            if tools {
                request = request.with_tools([ToolSpec::new("t")]);
            }
            if picture {
                let picture = ImagePart::new(MediaSource::url("https://example.com/a.png"));
                request = request.with_message(Message::new(Role::User, vec![ContentPart::Image(picture)]));
            }
            if schema {
                request = request.with_output(OutputFormat::json_schema("o", json!({ "type": "object" })));
            }
            request
        },
    )
}

fn script() -> impl Strategy<Value = Script> {
    let window = select(vec![None, Some(2_000), Some(16_000), Some(200_000)]);
    let model = prop::option::weighted(0.5, select(vec!["m", "n"]));
    let kind = select(ErrorKind::ALL.to_vec());
    let ending = prop_oneof![
        1 => Just(Ending::Serves),
        2 => kind.prop_map(|kind| Ending::Fails { kind, scope: Scope::Vendor, hint_ms: None, phase: Phase::Sent }),
    ];
    let closed = prop::option::weighted(
        0.2,
        Just(Closed {
            reason: UnavailableReason::BreakerOpen,
            from: 0,
            until: None,
        }),
    );
    (capabilities(), window, model, ending, closed).prop_map(
        |(capabilities, window, model, ending, closed)| Script {
            model: model.map(|name| ModelId::new(name).unwrap()),
            window,
            capabilities,
            closed,
            ending,
            at: Point::AtOnce,
            ..Script::serving(None)
        },
    )
}

fn policy(name: Named, ids: usize) -> RoutingPolicy {
    let weights: BTreeMap<String, u32> = (0..ids).map(|id| (format!("c{id}"), id as u32 % 3)).collect();
    let options = match name {
        // whoever has weight 0 is never asked; one at least has some
        Named::Weighted | Named::RoundRobin if ids > 1 => json!({ "weights": weights }),
        _ => json!({}),
    };
    name.policy(&options).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whoever is planned can do what is needed, as far as anybody knows; the plan is walked in its order, each with
    /// its own model, and everybody ends in exactly one place.
    #[test]
    fn a_plan_holds_only_who_can_and_is_walked_to_the_letter(
        scripts in prop::collection::vec((script(), 0..3u32), 1..8),
        request in request(),
        streamed in any::<bool>(),
        strategy in select(Named::ALL.to_vec()),
    ) {
        let (time, asked) = (Time::new(), Arc::new(Mutex::new(Vec::<Asked>::new())));
        let (scripts, groups): (Vec<_>, Vec<_>) = scripts.into_iter().unzip();
        let candidates: Vec<Candidate> = cast(&scripts, &time, &asked)
            .into_iter()
            .zip(&groups)
            .map(|(candidate, group)| candidate.with_group(*group))
            .collect();
        let router = Router::new("p", candidates.clone(), policy(strategy, scripts.len())).unwrap();
        let cx = CallContext::new(time);
        let mode = if streamed { CallMode::Stream } else { CallMode::Plain };
        let Ok(decision) = router.decide(&cx, &request, mode) else { return Ok(()) };

        let plan: Vec<_> = decision.plan().iter().map(|planned| planned.id().to_owned()).collect();
        let unique: BTreeSet<_> = plan.iter().collect();
        prop_assert_eq!(unique.len(), plan.len(), "nobody twice");
        let mut last = 0;
        for planned in decision.plan() {
            let resolved = planned.resolved().unwrap();
            for need in decision.needs().capabilities() {
                prop_assert_ne!(resolved.capabilities.support(*need), Support::No, "{} needs {}", planned.id(), need);
            }
            if let Some(window) = resolved.limits.context_window {
                let wanted = decision.needs().input_tokens() + decision.needs().output_tokens().unwrap_or(0);
                prop_assert!(wanted <= window, "{wanted} in {window}");
            }
            if let Some(named) = &request.model {
                prop_assert_eq!(planned.model(), Some(named));
            }
            prop_assert!(planned.candidate().group() >= last, "a lower group after a higher one");
            last = planned.candidate().group();
        }

        // the executor runs it
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let executor = router.executor();
        let (attempts, skipped, served) = runtime.block_on(async {
            if streamed {
                match executor.chat_stream(&cx, &decision, &request).await {
                    Ok(stream) => (stream.attempts().to_vec(), vec![], true),
                    Err(error) => (error.attempts().to_vec(), error.skipped().to_vec(), false),
                }
            } else {
                match executor.chat(&cx, &decision, &request).await {
                    Ok(response) => (response.attempts, vec![], true),
                    Err(error) => (error.attempts().to_vec(), error.skipped().to_vec(), false),
                }
            }
        });
        let asked = asked.lock().unwrap();
        let order: Vec<_> = asked.iter().map(|asked| format!("c{}", asked.index)).collect();
        let in_plan: Vec<_> = plan.iter().filter(|id| order.contains(id)).cloned().collect();
        prop_assert_eq!(&order, &in_plan, "asked in the order of the plan, and nobody else");
        for asked in asked.iter() {
            let own = scripts[asked.index].model.as_ref().or(request.model.as_ref());
            prop_assert_eq!(asked.model.as_ref(), own, "nobody's model is swapped");
        }
        let logged: Vec<_> = attempts.iter().map(|attempt| attempt.candidate.to_string()).collect();
        prop_assert_eq!(&logged, &order);
        let failed = attempts.iter().filter(|attempt| attempt.failure.is_some()).count();
        prop_assert_eq!(failed + usize::from(served), attempts.len(), "one serves at most, and last");
        for skip in &skipped {
            prop_assert!(plan.contains(&skip.candidate.to_string()) && !logged.contains(&skip.candidate.to_string()));
        }
    }
}

/// By chance or in turn: over many calls, shares are what the weights say.
#[tokio::test]
async fn shares_converge_to_the_weights() {
    let weights = json!({ "c0": 5, "c1": 3, "c2": 0, "c3": 2 });
    for strategy in [Named::Weighted, Named::RoundRobin] {
        let (time, asked) = (Time::new(), Arc::new(Mutex::new(Vec::<Asked>::new())));
        let scripts = vec![Script::serving(None); 4];
        let policy = strategy.policy(&json!({ "weights": weights })).unwrap();
        let router = Router::new("p", cast(&scripts, &time, &asked), policy)
            .unwrap()
            .with_seed(11);
        let cx = CallContext::new(time);
        for _ in 0..4_000 {
            router.chat(&cx, &ChatRequest::user("hi")).await.unwrap();
        }
        let mut counts = [0_usize; 4];
        for asked in asked.lock().unwrap().iter() {
            counts[asked.index] += 1;
        }
        let slack = if strategy == Named::RoundRobin { 0 } else { 120 };
        for (count, expected) in counts.iter().zip([2_000, 1_200, 0, 800]) {
            assert!(count.abs_diff(expected) <= slack, "{strategy}: {counts:?}");
        }
    }
}
