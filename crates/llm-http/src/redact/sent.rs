//! What the caller wrote, read back from the body that was sent.

use super::texts::{WRITTEN_IN_SCHEMAS, says_in_schema};
use serde_json::Value;

/// The fields of the chat formats under which a conversation stands.
const CONVERSATIONS: [&str; 7] = [
    "messages",
    "contents",
    "input",
    "instructions",
    "system",
    "systemInstruction",
    "prompt",
];

/// The fields inside a conversation whose text somebody wrote.
const CONTENT: [&str; 17] = [
    "content",
    "text",
    "arguments",
    "url",
    "image_url",
    "file_url",
    "fileUri",
    "data",
    "file_data",
    "images",
    "refusal",
    "reasoning",
    "reasoning_content",
    "thinking",
    "output",
    "summary",
    "system",
];

/// Fields elsewhere in a body whose text the caller wrote: who asks, where the answer ends, and what is kept with it.
const SAID_OF_THE_CALL: [&str; 11] = [
    "stop",
    "stop_sequences",
    "stopSequences",
    "user",
    "user_id",
    "safety_identifier",
    "prompt_cache_key",
    "metadata",
    "labels",
    "documents",
    "prediction",
];

/// Fields inside a conversation that name what somebody gave.
const NAMES: [&str; 4] = ["filename", "document_name", "title", "name"];

/// The fields that hold what a tool was called with or gave back, whatever its own fields are called.
const WRITTEN_THROUGHOUT: [&str; 4] = ["arguments", "args", "input", "response"];

/// Every text of a request that a vendor could quote, from the JSON body in which it was sent: an answer outlives
/// the request it belongs to. For [`scrub_content`](super::scrub_content). Nothing, where the body is no JSON.
///
/// ```
/// let body = br#"{"model":"m","messages":[{"role":"user","content":"Why is the sky blue?"}]}"#;
/// assert_eq!(llm_http::redact::sent_texts(body), ["Why is the sky blue?"]);
/// ```
pub fn sent_texts(body: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    if let Ok(mut document) = serde_json::from_slice::<Value>(body) {
        for field in CONVERSATIONS {
            match document.get_mut(field) {
                Some(Value::String(text)) => texts.push(std::mem::take(text)),
                Some(conversation) => walk(conversation, Written::No, &mut texts),
                None => {}
            }
        }
        said_of_the_call(&document, Place::Elsewhere, &mut texts);
    }
    texts
}

/// What the caller wrote outside of the conversation; of tools and forms of the answer, what describes them.
fn said_of_the_call(value: &Value, place: Place, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if place.counts(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| said_of_the_call(item, place, texts)),
        Value::Object(fields) => {
            for (name, field) in fields {
                let name = name.as_str();
                let is_property = field.get("type").is_some();
                let below = match place {
                    Place::Elsewhere if is_property => place,
                    Place::Elsewhere if SAID_OF_THE_CALL.contains(&name) => Place::Said,
                    Place::Elsewhere if WRITTEN_IN_SCHEMAS.contains(&name) => Place::Schema,
                    _ => place,
                };
                // what stands in a conversation is taken already
                if !CONVERSATIONS.contains(&name) {
                    said_of_the_call(field, below, texts);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Where a string stands outside of the conversation.
#[derive(Clone, Copy)]
enum Place {
    Elsewhere,
    Said,
    Schema,
}

impl Place {
    fn counts(self, text: &str) -> bool {
        match self {
            Place::Elsewhere => false,
            Place::Said => !text.is_empty(),
            Place::Schema => says_in_schema(text),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    No,
    /// This text, or each of this list.
    Here,
    /// Everything below.
    Throughout,
}

fn walk(value: &mut Value, written: Written, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if written != Written::No => texts.push(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, written, texts)),
        Value::Object(fields) => {
            // a call or a result has the name of its tool
            let names_speaker = fields.get("role").is_some_and(|role| role != "tool");
            for (name, field) in fields {
                let name = name.as_str();
                let names = NAMES.contains(&name) && (name != "name" || names_speaker);
                let written = if written == Written::Throughout
                    || (field.is_object() && WRITTEN_THROUGHOUT.contains(&name))
                {
                    Written::Throughout
                } else if names || CONTENT.contains(&name) {
                    Written::Here
                } else {
                    Written::No
                };
                walk(field, written, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(body: &Value) -> Vec<String> {
        sent_texts(body.to_string().as_bytes())
    }

    #[test]
    fn what_the_caller_wrote_is_found_in_the_sent_body_and_nothing_else_is() {
        let body = json!({
            "model": "the-model",
            "messages": [
                { "role": "developer", "content": "be brief" },
                { "role": "user", "content": [
                    { "type": "text", "text": "look" },
                    { "type": "image_url", "image_url": { "url": "https://host.example/a.png" } },
                ] },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "call_1", "type": "function", "function": { "name": "area", "arguments": "{\"r\":2}" } },
                ] },
                { "role": "tool", "tool_call_id": "call_1", "content": "12.6" },
            ],
            "user": "somebody",
            "stop": ["END"],
            "tools": [{ "type": "function", "function": { "name": "area", "description": "an area", "parameters": {
                "type": "object", "properties": { "title": { "type": "string", "enum": ["disc"] } } } } }],
        });
        let found = [
            "be brief",
            "look",
            "https://host.example/a.png",
            "{\"r\":2}",
            "12.6",
            "somebody",
            "END",
            "an area",
        ];
        assert_eq!(texts(&body), found);
        assert!(sent_texts(b"no JSON").is_empty());
    }

    #[test]
    fn every_chat_format_is_read() {
        let messages = json!({
            "system": [{ "type": "text", "text": "be brief" }],
            "messages": [
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "signature": "s" },
                    { "type": "tool_use", "id": "t", "name": "area", "input": { "shape": { "kind": "disc" } } },
                ] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "12.6" }] },
            ],
            "tools": [{ "name": "area", "description": "an area" }],
        });
        assert_eq!(texts(&messages), ["hm", "disc", "12.6", "be brief", "an area"]);
        let gemini = json!({
            "systemInstruction": { "parts": [{ "text": "be brief" }] },
            "contents": [{ "role": "user", "parts": [
                { "text": "look" },
                { "inlineData": { "mimeType": "image/png", "data": "iVBO" } },
                { "functionCall": { "name": "area", "args": { "r": "two" } } },
                { "functionResponse": { "name": "area", "response": { "result": "12.6" } } },
            ] }],
        });
        assert_eq!(texts(&gemini), ["look", "iVBO", "two", "12.6", "be brief"]);
        let responses = json!({
            "instructions": "be brief",
            "input": [
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "look" }] },
                { "type": "function_call", "call_id": "c", "name": "area", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "c", "output": "12.6" },
            ],
        });
        assert_eq!(texts(&responses), ["look", "{}", "12.6", "be brief"]);
        assert_eq!(texts(&json!({ "input": "look" })), ["look"]);
        let ollama = json!({ "messages": [{ "role": "user", "content": "look", "images": ["iVBO"] }] });
        assert_eq!(texts(&ollama), ["look", "iVBO"]);
    }
}
