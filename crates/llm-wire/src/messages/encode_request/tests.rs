mod media;
mod messages;
mod options;
mod schema;
mod thinking;

use super::*;
use llm_core::model::{Knob, ModelLimits};
use llm_core::{
    CachePoint, CacheTtl, Capabilities, Capability, DocumentPart, ImageDetail, ImagePart, MediaSource,
    Message, ModelId, OpaquePart, Origin, OutputFormat, Reasoning, ReasoningEffort as Effort, ReasoningPart,
    RefusalPart, Replay, Role, Sampling, TextPart, ToolCall, ToolChoice, ToolResult, ToolSpec, VendorId,
};
use serde_json::json;

const ANTHROPIC: VendorId = VendorId::from_static("anthropic");
const OTHER: VendorId = VendorId::from_static("gemini");

fn model(name: &str) -> ResolvedModel {
    ResolvedModel::unknown(ModelId::new(name).unwrap())
}

/// The body, and each warning as `field: message`.
fn encoded_by(dialect: &Dialect, model: &ResolvedModel, request: &ChatRequest) -> (Value, Vec<String>) {
    let encoded = encode_request(dialect, model, request, false).unwrap();
    let warnings = encoded.warnings.iter();
    let warnings = warnings.map(|w| format!("{}: {}", w.field, w.message)).collect();
    (serde_json::from_slice(&encoded.body).unwrap(), warnings)
}

fn encoded(name: &str, request: &ChatRequest) -> (Value, Vec<String>) {
    encoded_by(&Dialect::anthropic(), &model(name), request)
}

/// The body for a model of which only the name is known; nothing may be warned about.
fn clean(name: &str, request: &ChatRequest) -> Value {
    let (body, warnings) = encoded(name, request);
    assert_eq!(warnings, [""; 0]);
    body
}

/// One field of a body, and the fields that were warned about.
fn field(name: &str, request: &ChatRequest, field: &str) -> (Value, Vec<String>) {
    let (mut body, warnings) = encoded(name, request);
    let warned = warnings
        .iter()
        .map(|warning| warning.split(':').next().unwrap().to_owned());
    (body[field].take(), warned.collect())
}

/// The messages of a request to a model that takes everything, and the fields that were warned about.
fn sent(messages: impl IntoIterator<Item = Message>) -> (Value, Vec<String>) {
    field("demo", &ChatRequest::new(messages), "messages")
}

/// The field that a request is refused for, with the kind.
fn refused(name: &str, request: &ChatRequest) -> (ErrorKind, String) {
    refused_by(&Dialect::anthropic(), &model(name), request)
}

fn refused_by(dialect: &Dialect, model: &ResolvedModel, request: &ChatRequest) -> (ErrorKind, String) {
    let error = encode_request(dialect, model, request, false).unwrap_err();
    (error.kind(), error.vendor().param.clone().unwrap_or_default())
}

fn hi() -> ChatRequest {
    ChatRequest::user("hi")
}

fn with_tool(request: ChatRequest) -> ChatRequest {
    request.with_tools([ToolSpec::new("f"), ToolSpec::new("g")])
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn assistant(parts: impl IntoIterator<Item = ContentPart>) -> Message {
    Message::new(Role::Assistant, parts.into_iter().collect())
}

fn user(parts: impl IntoIterator<Item = ContentPart>) -> Message {
    Message::new(Role::User, parts.into_iter().collect())
}

fn call(id: &str, arguments: &str) -> ContentPart {
    ContentPart::ToolCall(ToolCall::new(id, "f", arguments))
}

fn result(id: &str, text: &str) -> ContentPart {
    ContentPart::ToolResult(ToolResult::new(id, text))
}

fn point(ttl: CacheTtl) -> ContentPart {
    ContentPart::CachePoint(CachePoint::new(ttl))
}

fn replay(vendor: VendorId, data: Value) -> Replay {
    Replay::new(Origin::new(vendor), data)
}

fn thought(vendor: VendorId) -> ContentPart {
    let block = json!({"type": "thinking", "thinking": "hm", "signature": "SIG"});
    ContentPart::Reasoning(ReasoningPart::new("shown").with_replay(replay(vendor, block)))
}

fn piece(vendor: VendorId, block: Value) -> ContentPart {
    let kind = block["type"].as_str().unwrap_or("none").to_owned();
    ContentPart::Opaque(OpaquePart::new(kind, replay(vendor, block)))
}
