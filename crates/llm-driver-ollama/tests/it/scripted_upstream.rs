//! A scripted upstream that others wrote, at `LLM_TEST_SCRIPTED_UPSTREAM`. `cargo xtask test` starts one; without the
//! variable these tests say so and pass, but not on CI.

use llm_core::ModelId;
use llm_driver_ollama::{OllamaConfig, OllamaDriver};
use llm_driver_testkit::scripted_upstream_suite;
use llm_http::ReqwestTransport;
use std::sync::Arc;

scripted_upstream_suite!(super::driver_at);

fn driver_at(origin: String) -> OllamaDriver {
    let config = OllamaConfig::new("an invented key")
        .with_base_url(origin)
        .with_default_model(ModelId::new("qwen4:8b").unwrap());
    // A transport for each test: the shared one's connections belong to the runtime that opened them.
    let transport = ReqwestTransport::builder().build().unwrap();
    OllamaDriver::with_transport(config, Arc::new(transport)).unwrap()
}
