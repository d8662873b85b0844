mod history;
mod media;
mod options;

use super::*;
use llm_core::{ErrorKind, ModelId, WarningKind};
use serde_json::{Value, json};

/// What a request becomes for a model, and the fields that are warned about.
fn sent_to(name: &str, request: &ChatRequest) -> Result<(Value, Vec<String>)> {
    let model = ResolvedModel::unknown(ModelId::new(name)?);
    sent(&Dialect::gemini(), &model, request)
}

fn sent(dialect: &Dialect, model: &ResolvedModel, request: &ChatRequest) -> Result<(Value, Vec<String>)> {
    let encoded = encode_request(dialect, model, request)?;
    let warned = encoded
        .warnings
        .into_iter()
        .map(|warning| warning.field)
        .collect();
    Ok((serde_json::from_slice(&encoded.body).unwrap(), warned))
}

/// The body alone, for the newest models, without warnings.
fn body(request: &ChatRequest) -> Value {
    let (body, warned) = sent_to("gemini-4-argon", request).unwrap();
    assert_eq!(warned, [""; 0], "of {body}");
    body
}

/// A request for the newest models is refused: how, and at which field.
fn refusal(request: &ChatRequest) -> (ErrorKind, String) {
    refusal_of("gemini-4-argon", request)
}

fn refusal_of(name: &str, request: &ChatRequest) -> (ErrorKind, String) {
    let error = sent_to(name, request).unwrap_err();
    (error.kind(), error.vendor().param.clone().unwrap())
}

fn unsupported(field: &str) -> (ErrorKind, String) {
    (ErrorKind::Unsupported, field.to_owned())
}

fn invalid(field: &str) -> (ErrorKind, String) {
    (ErrorKind::InvalidRequest, field.to_owned())
}

fn user(parts: Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

#[test]
fn what_is_not_set_is_not_sent() {
    assert_eq!(
        body(&ChatRequest::user("hi")),
        json!({"contents": [user(json!([{"text": "hi"}]))]})
    );
}

#[test]
fn warnings_say_what_sort_they_are() {
    let request = ChatRequest::user("hi").with_user("u1");
    let resolved = ResolvedModel::unknown(ModelId::new("demo").unwrap());
    let warnings = encode_request(&Dialect::gemini(), &resolved, &request)
        .unwrap()
        .warnings;
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        (warnings[0].kind, warnings[0].field.as_str()),
        (WarningKind::Option, "user")
    );
}
