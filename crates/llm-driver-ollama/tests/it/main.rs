//! The Ollama driver: the conformance suite, and what is this driver's own.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod scripted_upstream;

use llm_core::capability::Capability;
use llm_core::chat::RequestOption;
use llm_core::{ChatDriver, ModelEntry, ModelId, Result};
use llm_driver_ollama::{OllamaConfig, OllamaDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, with a key as Ollama's cloud wants one.
fn harness() -> Harness {
    Harness::new("ollama", "qwen4:8b", |endpoint: &Endpoint| {
        let config = OllamaConfig::new(endpoint.api_key.clone()).with_base_url(endpoint.base_url.clone());
        let config = described(config)?;
        let driver = match &endpoint.transport {
            Some(transport) => OllamaDriver::with_transport(config, transport.clone()),
            None => OllamaDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    .with_models([SEEING])
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

/// One that sees, and does nothing else.
const SEEING: &str = "gemma4:4b";

/// What a server would say of its models when it is asked (`/api/show`).
fn described(config: OllamaConfig) -> Result<OllamaConfig> {
    use Capability::{AudioInput, Documents, JsonSchema, ParallelTools, Reasoning, Streaming, Tools, Vision};
    let entry = |able: &[Capability]| {
        let all = [
            Tools,
            ParallelTools,
            Vision,
            Documents,
            AudioInput,
            JsonSchema,
            Reasoning,
            Streaming,
        ];
        all.into_iter().fold(ModelEntry::default(), |entry, capability| {
            entry.with_capability(capability, able.contains(&capability))
        })
    };
    let talking = [Tools, ParallelTools, JsonSchema, Reasoning, Streaming];
    Ok(config
        .with_model(ModelId::new("qwen4:8b")?, entry(&talking))
        .with_model(ModelId::new(SEEING)?, entry(&[Vision, JsonSchema, Streaming])))
}
