//! The conformance suite: what it finds missing is what the driver still lacks.

use llm_core::ChatDriver;
use llm_driver_acme::{AcmeConfig, AcmeDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, as it is before the vendor: with its catalogue.
fn harness() -> Harness {
    Harness::new("acme", "acme-1", |endpoint: &Endpoint| {
        let config = AcmeConfig::new(endpoint.api_key.clone())
            .with_base_url(format!("{}/v1", endpoint.base_url))
            .with_shipped_catalog(true);
        let driver = match &endpoint.transport {
            Some(transport) => AcmeDriver::with_transport(config, transport.clone()),
            None => AcmeDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    // One that cannot call tools.
    .with_models(["acme-1-mini"])
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/v1/chat/completions")
    .with_stream_body(serde_json::json!({ "stream": true, "stream_options": { "include_usage": true } }))
}
