//! What the tests of this driver share.

use llm_core::{ChatRequest, ModelId};
use llm_driver_claude::{ClaudeConfig, ClaudeDriver};
use llm_driver_testkit::{Answer, ScriptedTransport};
use std::sync::Arc;

/// A driver over a transport that gives these answers, and the transport.
pub(crate) fn scripted(
    config: ClaudeConfig,
    answers: impl IntoIterator<Item = Answer>,
) -> (ClaudeDriver, Arc<ScriptedTransport>) {
    let transport = Arc::new(ScriptedTransport::new(answers));
    let driver = ClaudeDriver::with_transport(config, transport.clone()).unwrap();
    (driver, transport)
}

/// A plain question to this model.
pub(crate) fn question(model: &str) -> ChatRequest {
    ChatRequest::user("Why is the sky blue?").with_model(ModelId::new(model).unwrap())
}

/// A small answer of the vendor's.
pub(crate) fn answer() -> Answer {
    let answer = serde_json::json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-5-5",
        "content": [{ "type": "text", "text": "Seven." }], "stop_reason": "end_turn",
        "usage": { "input_tokens": 1000, "output_tokens": 100, "service_tier": "standard" },
    });
    Answer::json(200, answer.to_string())
}
