//! The Mistral driver: the conformance suite, and what is this driver's own.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod encode;
#[cfg(test)]
mod setup;

use llm_core::ChatDriver;
use llm_core::chat::RequestOption;
use llm_driver_mistral::{MistralConfig, MistralDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, as it is before the vendor: with its catalogue.
fn harness() -> Harness {
    Harness::new("mistral", "mistral-small-latest", |endpoint: &Endpoint| {
        let config = MistralConfig::new(endpoint.api_key.clone())
            .with_base_url(format!("{}/v1", endpoint.base_url))
            .with_shipped_catalog(true);
        let driver = match &endpoint.transport {
            Some(transport) => MistralDriver::with_transport(config, transport.clone()),
            None => MistralDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    // One that hears, and one that does next to nothing, so that every ability is claimed and disclaimed.
    .with_models(["voxtral-small-2507", "codestral-mamba-latest"])
    .with_inherent(
        RequestOption::ReasoningInclude,
        "the thoughts come in any case, and are shown when they are asked for",
    )
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/v1/chat/completions")
    .with_stream_body(serde_json::json!({ "stream": true }))
}
