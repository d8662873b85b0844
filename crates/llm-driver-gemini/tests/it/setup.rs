//! What the tests of this driver share.

use llm_core::{ChatRequest, ModelId};
use llm_driver_gemini::{GeminiConfig, GeminiDriver};
use llm_driver_testkit::{Answer, ScriptedTransport};
use std::sync::Arc;

/// A driver over a transport that gives these answers, and the transport.
pub(crate) fn scripted(
    config: GeminiConfig,
    answers: impl IntoIterator<Item = Answer>,
) -> (GeminiDriver, Arc<ScriptedTransport>) {
    let transport = Arc::new(ScriptedTransport::new(answers));
    let driver = GeminiDriver::with_transport(config, transport.clone()).unwrap();
    (driver, transport)
}

/// A plain question to this model.
pub(crate) fn question(model: &str) -> ChatRequest {
    ChatRequest::user("Why is the sky blue?").with_model(ModelId::new(model).unwrap())
}

/// A small answer of the vendor's.
pub(crate) fn answer() -> Answer {
    let answer = serde_json::json!({
        "candidates": [{ "index": 0, "finishReason": "STOP",
            "content": { "role": "model", "parts": [{ "text": "Seven." }] } }],
        "usageMetadata": { "promptTokenCount": 1000, "candidatesTokenCount": 100, "totalTokenCount": 1100 },
        "modelVersion": "gemini-3.5-flash-lite", "responseId": "r-1",
    });
    Answer::json(200, answer.to_string())
}
