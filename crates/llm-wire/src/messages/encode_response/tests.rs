use super::*;
use crate::messages::{DecodeOptions, Dialect, decode_response};
use llm_core::{
    IncompleteToolCall, ModelId, OpaquePart, Origin, ReasoningPart, RefusalPart, TextPart, ToolCall, VendorId,
};
use serde_json::json;

fn replay(vendor: &'static str, data: Value) -> Replay {
    Replay::new(Origin::new(VendorId::from_static(vendor)), data)
}

fn encoded(response: &ChatResponse) -> Value {
    let body = encode_response(&EncodeOptions::new("msg_0", "demo"), response);
    serde_json::from_slice(&body).unwrap()
}

fn answer(blocks: impl IntoIterator<Item = Block>) -> ChatResponse {
    let mut response = ChatResponse::default();
    response.blocks = blocks.into_iter().collect();
    response.usage = Usage::new(3, 2);
    response
}

#[test]
fn a_whole_answer() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "SIG"});
    let redacted = json!({"type": "redacted_thinking", "data": "ENC"});
    let mut response = answer([
        Block::Reasoning(ReasoningPart::new("hm").with_replay(replay("anthropic", thought.clone()))),
        Block::Opaque(OpaquePart::new(
            "redacted_thinking",
            replay("anthropic", redacted.clone()),
        )),
        Block::Text(TextPart::new("so").with_replay(replay("anthropic", json!({"citations": [1]})))),
        Block::ToolCall(ToolCall::new("t", "f", "{\"a\": 1.10}")),
    ]);
    response.meta.requested_model = Some(ModelId::new("asked").unwrap());
    response.finish = FinishReason::new(FinishKind::ToolCalls, "end_turn".to_owned());
    let body = encode_response(&EncodeOptions::new("msg_0", "demo"), &response);
    assert_eq!(
        serde_json::from_slice::<Value>(&body).unwrap(),
        json!({
            "id": "msg_0", "type": "message", "role": "assistant", "model": "asked",
            "content": [
                thought,
                redacted,
                {"type": "text", "text": "so", "citations": [1]},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1.1}},
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 3, "output_tokens": 2},
        })
    );
    assert!(
        String::from_utf8(body).unwrap().contains("{\"a\": 1.10}"),
        "byte for byte"
    );
}

#[test]
fn what_it_cannot_say_is_left_out_or_said_as_text() {
    let signed = json!({"type": "thinking", "thinking": "hm", "signature": "SIG"});
    let mut response = answer([
        Block::Reasoning(ReasoningPart::new("hm").with_replay(replay("gemini", signed.clone()))),
        Block::Reasoning(ReasoningPart::default().with_replay(replay("gemini", signed))),
        Block::Opaque(OpaquePart::new("x", replay("gemini", json!({"type": "x"})))),
        Block::Opaque(OpaquePart::new("x", replay("anthropic", json!("x")))),
        Block::Text(TextPart::new("")),
        Block::Refusal(RefusalPart::new("no")),
        Block::ToolCall(ToolCall::new("t", "f", "")),
    ]);
    response
        .incomplete_tool_calls
        .push(IncompleteToolCall::new("c", "g", "{\"a"));
    response.finish = FinishReason::new(FinishKind::Refusal, None);
    let body = encoded(&response);
    assert_eq!(
        body["content"],
        json!([
            {"type": "thinking", "thinking": "hm", "signature": ""},
            {"type": "text", "text": "no"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        ])
    );
    assert_eq!(body["stop_reason"], "refusal");
}

#[test]
fn ends_have_the_formats_words() {
    for (kind, raw, word) in [
        (FinishKind::Stop, None, "end_turn"),
        (FinishKind::Stop, Some("stop_sequence"), "stop_sequence"),
        (FinishKind::Stop, Some("stop"), "end_turn"),
        (
            FinishKind::Length,
            Some("model_context_window_exceeded"),
            "model_context_window_exceeded",
        ),
        (FinishKind::Length, Some("length"), "max_tokens"),
        // no call is shown
        (FinishKind::ToolCalls, Some("tool_use"), "end_turn"),
        (FinishKind::ContentFilter, Some("content_filter"), "refusal"),
        (FinishKind::Pause, Some("compaction"), "compaction"),
        (FinishKind::Other, Some("of_the_future"), "end_turn"),
        (FinishKind::ModelFault, None, "end_turn"),
    ] {
        let mut response = answer([]);
        response.finish = FinishReason::new(kind, raw.map(str::to_owned));
        assert_eq!(encoded(&response)["stop_reason"], word, "{kind:?} {raw:?}");
    }
}

#[test]
fn counts_and_own_reports_are_in_the_vendors_form() {
    let mut response = answer([]);
    response.usage = Usage::new(249, 70);
    response.usage.cached_input_tokens = Some(200);
    response.usage.cache_write_input_tokens = Some(46);
    response.usage.cache_write_long_input_tokens = Some(40);
    response.usage.reasoning_tokens = Some(60);
    response.meta.service_tier = Some("standard".into());
    for (name, value) in [
        ("stop_sequence", json!("END")),
        ("container", json!({"id": "c"})),
        ("speed", json!("fast")),
    ] {
        response.metadata.set(ANTHROPIC, name, value);
    }
    let body = encoded(&response);
    assert_eq!(
        body["usage"],
        json!({"input_tokens": 3, "cache_creation_input_tokens": 46, "cache_read_input_tokens": 200,
            "cache_creation": {"ephemeral_5m_input_tokens": 6, "ephemeral_1h_input_tokens": 40},
            "output_tokens": 70, "output_tokens_details": {"thinking_tokens": 60},
            "service_tier": "standard", "speed": "fast"})
    );
    assert_eq!(
        (&body["stop_sequence"], &body["container"]),
        (&json!("END"), &json!({"id": "c"}))
    );
    let decoded = decode_response(
        &Dialect::anthropic(),
        DecodeOptions::default(),
        body.to_string().as_bytes(),
    )
    .unwrap();
    assert_eq!(decoded.usage, response.usage);
    assert_eq!(decoded.metadata, response.metadata);
    response.usage = Usage::default();
    assert_eq!(encoded(&response)["usage"]["input_tokens"], 0);
}

#[test]
fn calls_that_cannot_be_shown_are_none_to_wait_for() {
    let data = json!({"id": "c0", "type": "custom", "custom": {"name": "sql", "input": "x"}});
    let piece = Block::Opaque(OpaquePart::new("custom_tool_call", replay("openai", data)));
    let mut response = answer([piece.clone()]);
    response.finish = FinishReason::new(FinishKind::ToolCalls, "tool_calls".to_owned());
    let body = encoded(&response);
    assert_eq!(
        (&body["content"], &body["stop_reason"]),
        (&json!([]), &json!("end_turn"))
    );
    // beside one that can
    response
        .blocks
        .push(Block::ToolCall(ToolCall::new("t", "f", "{}")));
    assert_eq!(encoded(&response)["stop_reason"], "tool_use");
}
