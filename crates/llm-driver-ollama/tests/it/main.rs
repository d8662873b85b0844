//! The Ollama driver: the conformance suite, and what is this driver's own.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod scripted_upstream;

use llm_core::ChatDriver;
use llm_core::chat::RequestOption;
use llm_driver_ollama::{OllamaConfig, OllamaDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, with a key as Ollama's cloud wants one.
fn harness() -> Harness {
    Harness::new("ollama", "qwen4:8b", |endpoint: &Endpoint| {
        let config = OllamaConfig::new(endpoint.api_key.clone()).with_base_url(endpoint.base_url.clone());
        let driver = match &endpoint.transport {
            Some(transport) => OllamaDriver::with_transport(config, transport.clone()),
            None => OllamaDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    .with_inherent(
        RequestOption::ReasoningInclude,
        "the thoughts come in any case, and are shown when they are asked for",
    )
    .with_inherent(
        RequestOption::OutputStrict,
        "the server writes nothing that does not fit",
    )
    .with_inherent(
        RequestOption::ParallelToolCalls,
        "the model may always make several",
    )
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/api/chat")
    .with_stream_body(serde_json::json!({ "stream": true }))
}
