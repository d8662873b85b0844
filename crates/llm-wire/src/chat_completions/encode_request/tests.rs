mod messages;
mod options;

use super::*;
use crate::chat_completions::dialect::MaxTokensField;
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
    let (mut body, warnings) = encoded(&Dialect::openai(), &model("demo"), request);
    let fields = warnings
        .iter()
        .map(|warning| warning.split(':').next().unwrap().to_owned());
    (body["messages"].take(), fields.collect())
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
