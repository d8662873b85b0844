//! Scripted answers in the form of Ollama's own chat.

use super::Good;
use serde_json::{Map, Value, json};

/// What ends a stream is a field of its last line; a stream of given lines brings its own.
pub(super) const END_MARK: &str = "";

/// A payload as a line. A text is sent as it is.
pub(super) fn line(payload: &Value) -> String {
    match payload {
        Value::String(text) => format!("{text}\n"),
        other => format!("{other}\n"),
    }
}

/// The body of a plain answer.
pub(super) fn body(good: &Good) -> Value {
    let mut body = json!({
        "model": "demo-1",
        "created_at": "2026-11-29T12:00:00Z",
        "message": {"role": "assistant", "content": good.text},
        "done": true,
        // the words are those of Chat Completions
        "done_reason": good.finish_reason,
    });
    // counts stand beside everything else
    if let (Some(Value::Object(counts)), Some(fields)) = (&good.usage, body.as_object_mut()) {
        fields.extend(Map::clone(counts));
    }
    body
}

/// The lines of a stream.
pub(super) fn lines(good: &Good) -> Vec<Value> {
    let mut last = body(good);
    last["message"]["content"] = json!("");
    let mut first = body(good);
    for key in ["done_reason", "prompt_eval_count", "eval_count"] {
        if let Some(fields) = first.as_object_mut() {
            fields.shift_remove(key);
        }
    }
    first["done"] = json!(false);
    vec![first, last]
}
