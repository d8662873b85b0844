//! The Claude driver: the conformance suite, and what is this driver's own.

#[cfg(test)]
mod catalog;
#[cfg(test)]
mod encode;
#[cfg(test)]
mod real_server;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod setup;

use llm_core::ChatDriver;
use llm_core::chat::RequestOption;
use llm_driver_claude::{ClaudeConfig, ClaudeDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, as it is before Anthropic: with its catalogue.
fn harness() -> Harness {
    Harness::new("claude", "claude-haiku-5-5", |endpoint: &Endpoint| {
        let config = ClaudeConfig::new(endpoint.api_key.clone())
            .with_base_url(format!("{}/v1", endpoint.base_url))
            .with_shipped_catalog(true);
        let driver = match &endpoint.transport {
            Some(transport) => ClaudeDriver::with_transport(config, transport.clone()),
            None => ClaudeDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    // One that thinks within a budget, one that cannot stop thinking, one that has short notes instead.
    .with_models(["claude-haiku-4-5", "claude-opus-5-5", "claude-sonnet-5-5"])
    .with_inherent(RequestOption::OutputStrict, "a schema is always kept")
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/v1/messages")
    .with_stream_body(serde_json::json!({ "stream": true }))
}
