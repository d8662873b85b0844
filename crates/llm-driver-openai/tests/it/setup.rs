//! What the tests of this driver share.

use llm_core::{ChatRequest, ModelId};
use llm_driver_openai::{OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Answer, ScriptedTransport};
use std::sync::Arc;

/// A driver over a transport that gives these answers, and the transport.
pub(crate) fn scripted(
    config: OpenAiConfig,
    answers: impl IntoIterator<Item = Answer>,
) -> (OpenAiDriver, Arc<ScriptedTransport>) {
    let transport = Arc::new(ScriptedTransport::new(answers));
    let driver = OpenAiDriver::with_transport(config, transport.clone()).unwrap();
    (driver, transport)
}

/// A plain question to this model.
pub(crate) fn question(model: &str) -> ChatRequest {
    ChatRequest::user("Why is the sky blue?").with_model(ModelId::new(model).unwrap())
}

/// A small answer of the vendor's, with these fields changed.
pub(crate) fn answer(changes: serde_json::Value) -> String {
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
