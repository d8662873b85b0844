//! What a request holds that a vendor could repeat.

use llm_core::{ChatRequest, ContentPart, MediaSource, OutputFormat};
use serde_json::Value;

/// Keywords of a schema whose values somebody wrote.
pub(super) const WRITTEN_IN_SCHEMAS: [&str; 8] = [
    "description",
    "title",
    "enum",
    "const",
    "default",
    "examples",
    "pattern",
    "$comment",
];

/// Options of one vendor only that are shorter are words of that vendor.
const SHORTEST_OPTION: usize = 8;

/// A single word of a schema that is shorter is none that a vendor would repeat from it.
const SHORTEST_WORD_OF_SCHEMA: usize = 24;

/// Every text of a request that a vendor could quote: what was said, thought, called with and answered, the addresses,
/// bytes and names of media, what describes tools and forms of the answer, stop sequences and who asks. For
/// [`scrub_content`](super::scrub_content).
///
/// ```
/// let request = llm_core::ChatRequest::user("Why is the sky blue?");
/// let texts: Vec<_> = llm_http::redact::request_texts(&request).collect();
/// assert_eq!(texts, ["Why is the sky blue?"]);
/// ```
pub fn request_texts(request: &ChatRequest) -> impl Iterator<Item = &str> {
    let mut texts = Vec::new();
    for message in &request.messages {
        part_texts(&message.content, &mut texts);
        texts.extend(message.name.as_deref());
    }
    for tool in &request.tools {
        texts.extend(tool.description.as_deref());
        if let Some(schema) = &tool.parameters {
            schema_texts(schema, &mut texts);
        }
    }
    if let OutputFormat::JsonSchema {
        description, schema, ..
    } = &request.output
    {
        texts.extend(description.as_deref());
        schema_texts(schema, &mut texts);
    }
    texts.extend(request.stop.iter().map(String::as_str));
    texts.extend(request.user.as_deref());
    let mut own = Vec::new();
    for (_, options) in request.vendor.iter() {
        options.values().for_each(|option| strings(option, &mut own));
    }
    texts.extend(own.into_iter().filter(|text| text.len() >= SHORTEST_OPTION));
    texts.into_iter()
}

/// Does a string of a schema say something? What is short and one word sets something up: a vendor's own word, too.
pub(super) fn says_in_schema(text: &str) -> bool {
    text.contains(char::is_whitespace) || text.chars().nth(SHORTEST_WORD_OF_SCHEMA - 1).is_some()
}

/// The strings of a schema that somebody wrote.
fn schema_texts<'r>(schema: &'r Value, texts: &mut Vec<&'r str>) {
    let mut own = Vec::new();
    written_texts(schema, false, &mut own);
    texts.extend(own.into_iter().filter(|text| says_in_schema(text)));
}

/// The strings that somebody wrote; `written`: all below.
fn written_texts<'r>(schema: &'r Value, written: bool, texts: &mut Vec<&'r str>) {
    match schema {
        Value::String(text) if written => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| written_texts(item, written, texts)),
        Value::Object(fields) => {
            for (name, field) in fields {
                // a property may have such a name
                let keyword = WRITTEN_IN_SCHEMAS.contains(&name.as_str()) && !is_schema(field);
                written_texts(field, written || keyword, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_schema(value: &Value) -> bool {
    ["type", "anyOf", "$ref", "enum", "properties"]
        .iter()
        .any(|name| value.get(name).is_some())
}

fn strings<'r>(value: &'r Value, texts: &mut Vec<&'r str>) {
    written_texts(value, true, texts);
}

fn part_texts<'r>(parts: &'r [ContentPart], texts: &mut Vec<&'r str>) {
    for part in parts {
        match part {
            ContentPart::Text(part) => texts.push(&part.text),
            ContentPart::Reasoning(part) => {
                texts.push(&part.text);
                part.replay.iter().for_each(|replay| strings(&replay.data, texts));
            }
            ContentPart::Refusal(part) => texts.push(&part.text),
            ContentPart::ToolCall(call) => texts.push(&call.arguments),
            ContentPart::ToolResult(result) => part_texts(&result.content, texts),
            ContentPart::Image(part) => texts.extend(media_text(&part.source)),
            ContentPart::Audio(part) => texts.extend(media_text(&part.source)),
            ContentPart::Document(part) => {
                texts.extend(media_text(&part.source));
                texts.extend(part.name.as_deref());
            }
            ContentPart::Opaque(part) => strings(&part.replay.data, texts),
            _ => {}
        }
    }
}

fn media_text(source: &MediaSource) -> Option<&str> {
    match source {
        MediaSource::Url { url } => Some(url),
        MediaSource::Base64 { data, .. } => Some(data),
        _ => None,
    }
}
