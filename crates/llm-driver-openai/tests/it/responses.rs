//! The conformance suite once more, with the same driver speaking Responses.

use llm_core::{ChatDriver, DriverId, VendorId};
use llm_driver_openai::{ApiChoice, DialectChoice, OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, as it is before OpenAI where Responses serves every request. The suite's
/// report is told from the other one by the driver's id.
fn harness() -> Harness {
    const ID: DriverId = DriverId::from_static("openai-responses");
    Harness::new(ID.as_str(), "gpt-6-luna", |endpoint: &Endpoint| {
        let config = OpenAiConfig::new(endpoint.api_key.clone())
            .with_base_url(format!("{}/v1", endpoint.base_url))
            .with_identity(ID, VendorId::from_static("openai"))
            .with_api(ApiChoice::Responses)
            .with_dialect(DialectChoice::OpenAi)
            .with_shipped_catalog(true);
        let driver = match &endpoint.transport {
            Some(transport) => OpenAiDriver::with_transport(config, transport.clone()),
            None => OpenAiDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    // One that hears, and one that only chats, so that every ability is claimed and disclaimed.
    .with_models(["gpt-audio-1.5", "gpt-4"])
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures_responses"))
    .with_chat_path("/v1/responses")
    .with_stream_body(serde_json::json!({ "stream": true }))
}
