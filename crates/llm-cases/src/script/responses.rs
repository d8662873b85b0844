//! Scripted answers in the form of OpenAI Responses.

use super::Good;
use serde_json::{Value, json};

/// What ends a stream.
pub(super) const END_MARK: &str = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n";

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

/// The body of a plain answer. The scripts write finish reasons in the words of Chat Completions.
pub(super) fn body(good: &Good) -> Value {
    let (status, reason) = match good.finish_reason.as_str() {
        "stop" | "tool_calls" => ("completed", Value::Null),
        "length" => ("incomplete", json!("max_output_tokens")),
        other => ("incomplete", json!(other)),
    };
    json!({
        "id": "resp_s1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "demo-1",
        "status": status,
        "incomplete_details": {"reason": reason},
        "output": [message(&good.text)],
        "usage": good.usage,
    })
}

/// The payloads of a stream. The last one ends it.
pub(super) fn events(good: &Good) -> Vec<Value> {
    let whole = body(good);
    let ending = match whole["status"].as_str() {
        Some("completed") => "response.completed",
        _ => "response.incomplete",
    };
    vec![
        json!({"type": "response.created", "response": {"id": "resp_s1", "model": "demo-1", "status": "in_progress"}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": good.text}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message(&good.text)}),
        json!({"type": ending, "response": whole}),
    ]
}

fn message(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "id": "msg_s1", "role": "assistant", "status": "completed", "content": content})
}
