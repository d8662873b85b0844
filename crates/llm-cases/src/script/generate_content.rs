//! Scripted answers in the form of Google's generateContent.

use super::Good;
use serde_json::{Value, json};

/// What ends a stream: nothing but the end of the body.
pub(super) const END_MARK: &str = "";

/// A payload as an event. A text is sent as it is.
pub(super) fn event(payload: &Value) -> String {
    match payload {
        Value::String(text) => format!("data: {text}\n\n"),
        other => format!("data: {other}\n\n"),
    }
}

/// The body of a plain answer, which is also the only payload of a stream.
pub(super) fn body(good: &Good) -> Value {
    let mut body = json!({
        "candidates": [{
            "content": {"role": "model", "parts": [{"text": good.text}]},
            "finishReason": finish_reason(&good.finish_reason),
        }],
        "modelVersion": "demo-1",
        "responseId": "resp_s1",
    });
    if let Some(usage) = &good.usage {
        body["usageMetadata"] = usage.clone();
    }
    body
}

/// The scripts write finish reasons in the words of Chat Completions; any other word is the vendor's own.
fn finish_reason(word: &str) -> &str {
    match word {
        "stop" | "tool_calls" => "STOP",
        "length" => "MAX_TOKENS",
        "content_filter" => "SAFETY",
        other => other,
    }
}
