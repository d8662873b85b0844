//! The DeepSeek driver: the conformance suite, and what is this driver's own.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod encode;
#[cfg(test)]
mod setup;

use llm_core::ChatDriver;
use llm_core::chat::RequestOption;
use llm_driver_deepseek::{DeepSeekConfig, DeepSeekDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, as it is before the vendor: with its catalogue.
fn harness() -> Harness {
    Harness::new("deepseek", "deepseek-flash", |endpoint: &Endpoint| {
        let config = DeepSeekConfig::new(endpoint.api_key.clone())
            .with_base_url(format!("{}/v1", endpoint.base_url))
            .with_shipped_catalog(true);
        let driver = match &endpoint.transport {
            Some(transport) => DeepSeekDriver::with_transport(config, transport.clone()),
            None => DeepSeekDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    // One that does not see, one without tools, one that does not think.
    .with_models(["deepseek-v4-pro", "deepseek-reasoner", "deepseek-coder"])
    .with_inherent(
        RequestOption::ReasoningInclude,
        "the thoughts come in any case, and are shown when they are asked for",
    )
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/v1/chat/completions")
    .with_stream_body(serde_json::json!({ "stream": true, "stream_options": { "include_usage": true } }))
    .with_skip(
        "limits_rate_limit_headers",
        "the vendor sends no headers about limits",
    )
}
