//! The OpenAI driver: the conformance suite, and what is this driver's own.

mod answers;
mod catalog;
mod encode;
mod real_server;
mod requests;

use llm_core::{ChatDriver, ChatRequest, ModelId};
use llm_driver_openai::{DialectChoice, OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Answer, Endpoint, Harness, ScriptedTransport, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, as it is before OpenAI: with its catalogue and its dialect.
fn harness() -> Harness {
    Harness::new("openai", "gpt-6-luna", |endpoint: &Endpoint| {
        let config = OpenAiConfig::new(endpoint.api_key.clone())
            .with_base_url(format!("{}/v1", endpoint.base_url))
            .with_dialect(DialectChoice::OpenAi)
            .with_shipped_catalog(true);
        let driver = match &endpoint.transport {
            Some(transport) => OpenAiDriver::with_transport(config, transport.clone()),
            None => OpenAiDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    // One that hears and one that cannot call tools here, so that every ability is claimed and disclaimed.
    .with_models(["gpt-audio-1.5", "gpt-6-astra"])
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/v1/chat/completions")
    .with_stream_body(serde_json::json!({
        "stream": true,
        "stream_options": { "include_usage": true },
    }))
}

/// A driver over a transport that gives these answers, and the transport.
fn scripted(
    config: OpenAiConfig,
    answers: impl IntoIterator<Item = Answer>,
) -> (OpenAiDriver, Arc<ScriptedTransport>) {
    let transport = Arc::new(ScriptedTransport::new(answers));
    let driver = OpenAiDriver::with_transport(config, transport.clone()).unwrap();
    (driver, transport)
}

/// A plain question to this model.
fn question(model: &str) -> ChatRequest {
    ChatRequest::user("Why is the sky blue?").with_model(ModelId::new(model).unwrap())
}

/// A small answer of the vendor's, with these fields changed.
fn answer(changes: serde_json::Value) -> String {
    let mut answer = serde_json::json!({
        "id": "c1",
        "model": "gpt-6-luna",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": "Seven." } }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 100 },
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        answer[name] = value.clone();
    }
    answer.to_string()
}
