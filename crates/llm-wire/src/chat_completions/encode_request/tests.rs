mod deepseek;
mod every_option;
mod groq;
mod json;
mod kimi;
mod messages;
mod mistral;
mod names;
mod options;
mod thoughts;

use super::*;
use crate::chat_completions::dialect::{MaxTokensField, ServiceTiers};
use llm_core::chat::AudioPart;
use llm_core::model::{Knob, ModelLimits};
use llm_core::{
    CachePoint, CacheTtl, Capabilities, Capability, ContentPart, DocumentPart, ImageDetail, ImagePart,
    Message, ModelId, OpaquePart, Origin, OutputFormat, Reasoning, ReasoningEffort as Effort, ReasoningPart,
    RefusalPart, Replay, Role, Sampling, ToolCall, ToolChoice, ToolResult, ToolSpec, VendorId,
};
use serde_json::{Value, json};

const OPENAI: VendorId = VendorId::from_static("openai");

fn model(name: &str) -> ResolvedModel {
    ResolvedModel::unknown(ModelId::new(name).unwrap())
}

/// The body, and each warning as `field: message`.
fn encoded(dialect: &Dialect, model: &ResolvedModel, request: &ChatRequest) -> (Value, Vec<String>) {
    let encoded = encode_request(dialect, model, request, false).unwrap();
    let warnings = encoded
        .warnings
        .iter()
        .map(|w| format!("{}: {}", w.field, w.message))
        .collect();
    (serde_json::from_slice(&encoded.body).unwrap(), warnings)
}

/// Encodes for a model of which only the name is known; the body must be this one and nothing be warned about.
fn check(name: &str, request: &ChatRequest, expected: Value) {
    let (body, warnings) = encoded(&Dialect::openai(), &model(name), request);
    let mut expected = expected;
    expected["model"] = name.into();
    assert_eq!(body, expected);
    assert_eq!(warnings, [""; 0]);
}

/// The messages of a request, and the fields that were warned about.
fn messages(request: &ChatRequest) -> (Value, Vec<String>) {
    messages_to(&Dialect::openai(), "demo", request)
}

fn messages_to(dialect: &Dialect, name: &str, request: &ChatRequest) -> (Value, Vec<String>) {
    let (mut body, warnings) = encoded(dialect, &model(name), request);
    (body["messages"].take(), fields(&warnings))
}

/// The fields that were warned about.
fn fields(warnings: &[String]) -> Vec<String> {
    let fields = warnings.iter().map(|warning| warning.split(':').next().unwrap());
    fields.map(str::to_owned).collect()
}

/// The field that a request is refused for, with the kind.
fn refused(name: &str, request: &ChatRequest) -> (ErrorKind, String) {
    refused_by(&Dialect::openai(), &model(name), request)
}

fn refused_by(dialect: &Dialect, model: &ResolvedModel, request: &ChatRequest) -> (ErrorKind, String) {
    let error = encode_request(dialect, model, request, false).unwrap_err();
    (error.kind(), error.vendor().param.clone().unwrap())
}

fn hi() -> ChatRequest {
    ChatRequest::user("hi")
}

fn with_tool(request: ChatRequest) -> ChatRequest {
    request.with_tools([ToolSpec::new("f")])
}

/// A model that is known to think, or known not to.
fn thinking(name: &str, reasons: bool) -> ResolvedModel {
    model(name).with_capabilities(Capabilities::unknown().with(Capability::Reasoning, reasons))
}

fn effort(level: Effort) -> ChatRequest {
    hi().with_reasoning(Reasoning::effort(level))
}

/// A turn of a thought (what its vendor wants back), a call and its result.
fn turn_with_call(replay: Option<(&'static str, Value)>) -> [Message; 2] {
    let thought = replay.map(|(vendor, data)| {
        let replay = Replay::new(Origin::new(VendorId::from_static(vendor)), data);
        ContentPart::Reasoning(ReasoningPart::new("shown").with_replay(replay))
    });
    let call = ContentPart::ToolCall(ToolCall::new("find:0", "find", r#"{"q":"x"}"#));
    [
        Message::new(Role::Assistant, thought.into_iter().chain([call]).collect()),
        Message::tool_results([ToolResult::new("find:0", "found").with_name("find")]),
    ]
}

fn image(source: llm_core::MediaSource) -> ContentPart {
    ContentPart::Image(ImagePart::new(source))
}

fn png() -> llm_core::MediaSource {
    llm_core::MediaSource::base64("image/png", "aGk=")
}

fn user(parts: impl IntoIterator<Item = ContentPart>) -> ChatRequest {
    ChatRequest::new([Message::new(Role::User, parts.into_iter().collect())])
}
