//! A scripted upstream that others wrote, at `LLM_TEST_SCRIPTED_UPSTREAM`. `cargo xtask test` starts one; without the
//! variable these tests say so and pass, but not on CI.

use llm_core::ModelId;
use llm_driver_gemini::{GeminiConfig, GeminiDriver};
use llm_driver_testkit::scripted_upstream_suite;
use llm_http::ReqwestTransport;
use std::sync::Arc;

scripted_upstream_suite!(super::driver_at);

fn driver_at(origin: String) -> GeminiDriver {
    let config = GeminiConfig::new("an invented key")
        .with_base_url(format!("{origin}/v1beta"))
        .with_default_model(ModelId::new("gemini-3.5-flash-lite").unwrap());
    // A transport for each test: the shared one's connections belong to the runtime that opened them.
    let transport = ReqwestTransport::builder().build().unwrap();
    GeminiDriver::with_transport(config, Arc::new(transport)).unwrap()
}
