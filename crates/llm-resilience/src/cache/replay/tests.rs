//! A hit, whole and as a stream.

use super::*;
use llm_core::stream::events_of;
use llm_core::{Block, Collector, Grammar, OpaquePart, Origin, ReasoningPart, RefusalPart};
use llm_core::{
    FinishKind, FinishReason, Replay, ResponseMeta, TextPart, ToolCall, Usage, VendorId, Warning,
};
use serde_json::json;
use std::time::Duration;

fn answer() -> ChatResponse {
    let replay = Replay::new(
        Origin::new(VendorId::from_static("alpha")),
        json!({"signature": "s"}),
    );
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.meta.id = Some("c-1".to_owned());
    response.meta.rate_limits = Some(Box::default());
    response.blocks = vec![
        Block::Reasoning(ReasoningPart::new("hm").with_replay(replay.clone())),
        Block::Text(TextPart::new("Hi")),
        Block::Refusal(RefusalPart::new("but no")),
        Block::ToolCall(ToolCall::new("c", "f", "{\"a\":1}").with_replay(replay.clone())),
        Block::Opaque(OpaquePart::new("search", replay)),
    ];
    response.finish = FinishReason::new(FinishKind::ToolCalls, Some("tool_use".to_owned()));
    response.usage = Usage::new(3, 2);
    response.usage.cost = Some(Cost::new(7, CostSource::Reported));
    response.warnings = vec![Warning::option("top_k", "not sent")];
    response
        .metadata
        .set(VendorId::from_static("alpha"), "fingerprint", json!("f"));
    response.attempts = vec![llm_core::Attempt::served("alpha", None, Duration::from_secs(1))];
    response
}

#[test]
fn a_hit_is_marked_and_free_and_tells_what_it_saved() {
    let hit = as_hit(answer());
    assert!(hit.meta.from_cache);
    assert_eq!(hit.meta.saved_cost, Some(Cost::new(7, CostSource::Reported)));
    assert_eq!(hit.usage.cost.map(|cost| cost.pico_usd), Some(0));
    assert_eq!(
        (hit.usage.input_tokens, hit.usage.output_tokens),
        (Some(3), Some(2))
    );
    assert!(hit.attempts.is_empty() && hit.meta.rate_limits.is_none());
    assert_eq!(format!("{:?}", hit.blocks), format!("{:?}", answer().blocks));

    let mut unpriced = answer();
    unpriced.usage.cost = None;
    let hit = as_hit(unpriced);
    assert_eq!(hit.meta.saved_cost, None, "unknown is not zero");
    assert_eq!(hit.usage.cost.map(|cost| cost.pico_usd), Some(0));
}

#[test]
fn replayed_it_is_a_legal_stream_that_folds_to_the_same() {
    let hit = as_hit(answer());
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in events_of(hit.clone()) {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    grammar.end().unwrap();
    assert_eq!(format!("{:?}", collector.finish().unwrap()), format!("{hit:?}"));
}
