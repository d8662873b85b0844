//! The Gemini driver: the conformance suite, and what is this driver's own.

#[cfg(test)]
mod requests;
#[cfg(test)]
mod scripted_upstream;
#[cfg(test)]
mod setup;

use llm_core::ChatDriver;
use llm_core::chat::RequestOption;
use llm_driver_gemini::{GeminiConfig, GeminiDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, as it is before Google: with its catalogue.
fn harness() -> Harness {
    Harness::new("gemini", "gemini-3.5-flash-lite", |endpoint: &Endpoint| {
        let config = GeminiConfig::new(endpoint.api_key.clone())
            .with_base_url(format!("{}/v1beta", endpoint.base_url))
            .with_shipped_catalog(true);
        let driver = match &endpoint.transport {
            Some(transport) => GeminiDriver::with_transport(config, transport.clone()),
            None => GeminiDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    // One that thinks within a budget, and one that neither thinks nor hears nor reads documents.
    .with_models(["gemini-2.5-flash", "gemma-3-27b-it"])
    .with_inherent(RequestOption::OutputStrict, "a schema is always kept")
    .with_inherent(
        RequestOption::ParallelToolCalls,
        "the model may always make several",
    )
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/v1beta/models/{model}:generateContent")
    .with_stream_path("/v1beta/models/{model}:streamGenerateContent?alt=sse")
}
