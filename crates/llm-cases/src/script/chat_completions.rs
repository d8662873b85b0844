//! Scripted answers in the form of Chat Completions.

use super::Good;
use serde_json::{Value, json};

/// What ends a stream.
pub(super) const END_MARK: &str = "data: [DONE]\n\n";

/// A payload as an event. A text is sent as it is.
pub(super) fn event(payload: &Value) -> String {
    match payload {
        Value::String(text) => format!("data: {text}\n\n"),
        payload => format!("data: {payload}\n\n"),
    }
}

/// The body of a plain answer.
pub(super) fn body(good: &Good) -> Value {
    let choice = json!({
        "index": 0,
        "message": {"role": "assistant", "content": good.text},
        "finish_reason": good.finish_reason,
    });
    let mut body = envelope("chat.completion", json!([choice]));
    if let Some(usage) = &good.usage {
        body["usage"] = usage.clone();
    }
    body
}

/// The payloads of a stream.
pub(super) fn chunks(good: &Good) -> Vec<Value> {
    let chunk = |delta: Value, finish_reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        envelope("chat.completion.chunk", json!([choice]))
    };
    let mut chunks = vec![
        chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        chunk(json!({"content": good.text}), Value::Null),
        chunk(json!({}), json!(good.finish_reason)),
    ];
    if let Some(usage) = &good.usage {
        let mut last = envelope("chat.completion.chunk", json!([]));
        last["usage"] = usage.clone();
        chunks.push(last);
    }
    chunks
}

fn envelope(object: &str, choices: Value) -> Value {
    json!({
        "id": "chatcmpl-s1",
        "object": object,
        "created": 1_700_000_000,
        "model": "demo-1",
        "choices": choices,
    })
}
