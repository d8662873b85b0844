//! Scripted answers in the form of Anthropic Messages.

use super::Good;
use serde_json::{Value, json};

/// What ends a stream.
pub(super) const END_MARK: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// A payload as an event, under the name that it has itself. A text is sent as it is.
pub(super) fn event(payload: &Value) -> String {
    if let Value::String(text) = payload {
        return format!("data: {text}\n\n");
    }
    match payload["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {payload}\n\n"),
        None => format!("data: {payload}\n\n"),
    }
}

/// The body of a plain answer.
pub(super) fn body(good: &Good) -> Value {
    let mut message = message(json!([{"type": "text", "text": good.text}]));
    message["stop_reason"] = json!(stop_reason(&good.finish_reason));
    if let Some(usage) = &good.usage {
        message["usage"] = usage.clone();
    }
    message
}

/// The payloads of a stream.
pub(super) fn events(good: &Good) -> Vec<Value> {
    let mut message_delta = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(&good.finish_reason), "stop_sequence": null},
    });
    if let Some(usage) = &good.usage {
        message_delta["usage"] = usage.clone();
    }
    vec![
        json!({"type": "message_start", "message": message(json!([]))}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": good.text},
        }),
        json!({"type": "content_block_stop", "index": 0}),
        message_delta,
    ]
}

fn message(content: Value) -> Value {
    json!({
        "id": "msg_s1",
        "type": "message",
        "role": "assistant",
        "model": "demo-1",
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
    })
}

/// The scripts write finish reasons in the words of Chat Completions; any other word is the vendor's own.
fn stop_reason(word: &str) -> &str {
    match word {
        "stop" => "end_turn",
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        other => other,
    }
}
