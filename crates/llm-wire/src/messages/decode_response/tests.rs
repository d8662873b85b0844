use super::*;
use llm_core::{Block, FinishKind, Usage};
use serde_json::{Value, json};

fn read(body: &Value) -> Result<ChatResponse> {
    let options = DecodeOptions {
        include_reasoning: true,
        ..DecodeOptions::default()
    };
    decode_response(&Dialect::anthropic(), options, body.to_string().as_bytes())
}

fn kind(body: Value) -> ErrorKind {
    read(&body).unwrap_err().kind()
}

#[test]
fn a_whole_message() {
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
        "content": [
            {"type": "thinking", "thinking": "Add.", "signature": "EqQ"},
            {"type": "redacted_thinking", "data": "ENC"},
            {"type": "text", "text": "Seven.", "citations": null},
            {"type": "tool_use", "id": "t1", "name": "area", "input": {"r": 2}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null, "stop_details": null,
        "usage": {"input_tokens": 18, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 2,
            "output_tokens": 25, "output_tokens_details": {"thinking_tokens": 14}, "service_tier": "standard"},
    });
    let response = read(&body).unwrap();
    assert_eq!(response.meta.id.as_deref(), Some("msg_1"));
    assert_eq!(response.meta.service_tier.as_deref(), Some("standard"));
    assert_eq!(
        (response.text(), response.reasoning()),
        ("Seven.".into(), "Add.".into())
    );
    assert_eq!(response.tool_calls().next().unwrap().arguments, "{\"r\":2}");
    let Block::Opaque(redacted) = &response.blocks[1] else {
        panic!("{:?}", response.blocks);
    };
    assert_eq!(
        redacted.replay.data,
        json!({"type": "redacted_thinking", "data": "ENC"})
    );
    assert_eq!(response.finish.kind, FinishKind::ToolCalls);
    let mut usage = Usage::new(20, 25);
    usage.cached_input_tokens = Some(2);
    usage.cache_write_input_tokens = Some(0);
    usage.reasoning_tokens = Some(14);
    assert_eq!(response.usage, usage);
    assert!(response.metadata.is_empty() && response.warnings.is_empty());
}

#[test]
fn an_answer_may_say_little() {
    assert_eq!(read(&json!({"content": "Hi"})).unwrap().text(), "Hi");
    assert_eq!(read(&json!({"type": "message"})).unwrap().blocks, []);
    let odd = read(&json!({"content": [{"text": "Hi"}, 7, {"x": 1}, {"type": "text"}], "id": 7})).unwrap();
    assert_eq!(odd.text(), "Hi");
    assert_eq!(odd.warnings.len(), 3, "{:?}", odd.warnings);
    let text = json!({"content": [{"type": "tool_use", "id": "a", "name": "f", "input": "{\"half"}]});
    assert_eq!(read(&text).unwrap().incomplete_tool_calls[0].arguments, "{\"half");
}

#[test]
fn failures_inside_a_200_are_failures() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(kind(overloaded), ErrorKind::Overloaded);
    assert_eq!(
        kind(json!({"error": "rate limit exceeded"})),
        ErrorKind::RateLimit
    );
    assert_eq!(
        kind(json!({"message": "Too many requests"})),
        ErrorKind::RateLimit
    );
    assert_eq!(kind(json!({"id": "x"})), ErrorKind::Protocol);
    assert_eq!(kind(json!([])), ErrorKind::Protocol);
    let html = decode_response(&Dialect::anthropic(), DecodeOptions::default(), b"<html>").unwrap_err();
    assert_eq!((html.kind(), html.phase()), (ErrorKind::Protocol, Phase::Sent));
}
