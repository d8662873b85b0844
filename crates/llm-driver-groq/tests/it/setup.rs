//! What the tests of this driver share.

use llm_driver_groq::{GroqConfig, GroqDriver};
use llm_driver_testkit::{Answer, ScriptedTransport};
use std::sync::Arc;

/// A small answer of the vendor's.
pub(crate) const ANSWER: &str = r#"{"id":"a1","choices":[{"index":0,"finish_reason":"stop",
    "message":{"role":"assistant","content":"Seven."}}],"usage":{"prompt_tokens":1000,"completion_tokens":100}}"#;

/// A driver of the vendor's own API over a transport that gives these answers, and the transport.
pub(crate) fn driver(answers: impl IntoIterator<Item = Answer>) -> (GroqDriver, Arc<ScriptedTransport>) {
    driver_of(GroqConfig::new("an invented key"), answers)
}

/// The same for this configuration.
pub(crate) fn driver_of(
    config: GroqConfig,
    answers: impl IntoIterator<Item = Answer>,
) -> (GroqDriver, Arc<ScriptedTransport>) {
    let transport = Arc::new(ScriptedTransport::new(answers));
    let driver = GroqDriver::with_transport(config, transport.clone()).unwrap();
    (driver, transport)
}
