//! The OpenAI driver: the conformance suite, and what is this driver's own.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod apis;
#[cfg(test)]
mod catalog;
#[cfg(test)]
mod encode;
#[cfg(test)]
mod real_server;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod setup;

use llm_core::ChatDriver;
use llm_driver_openai::{DialectChoice, OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
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
