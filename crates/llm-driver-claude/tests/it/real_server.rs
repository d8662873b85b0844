//! A real server (llama.cpp's, with a small model) at `LLM_TEST_MODEL_SERVER`, the base URL of which ends in `/v1`.
//! `cargo xtask test` starts one; without the variable these tests say so and pass, but not on CI.

use llm_core::{CallContext, ChatDriver, ChatRequest, ModelId, TokenCounter};
use llm_driver_claude::{ClaudeConfig, ClaudeDriver};
use llm_driver_testkit::{outside_server, real_server_suite};
use llm_http::ReqwestTransport;
use std::sync::Arc;
use std::time::Duration;

const MODEL: &str = "smollm2-135m-instruct";

real_server_suite!(super::driver_at, super::MODEL);

fn driver_at(base_url: String) -> ClaudeDriver {
    let config = ClaudeConfig::compatible(base_url).with_default_model(ModelId::new(MODEL).unwrap());
    // A transport for each test: the shared one's connections belong to the runtime that opened them.
    let transport = ReqwestTransport::builder().build().unwrap();
    ClaudeDriver::with_transport(config, Arc::new(transport)).unwrap()
}

fn cx() -> CallContext {
    CallContext::new(llm_http::shared_clock()).with_timeout(Duration::from_secs(120))
}

#[tokio::test]
async fn the_server_counts_as_it_charges() {
    let Some(driver) = outside_server("LLM_TEST_MODEL_SERVER").map(driver_at) else {
        return;
    };
    let question = ChatRequest::user("Name the capital of France.").with_max_output_tokens(2);
    let counted = driver.count_tokens(&cx(), &question).await.unwrap();
    let response = driver.chat(&cx(), &question).await.unwrap();
    let charged = response.usage.input_tokens.unwrap();
    assert!(
        counted > 0 && counted.abs_diff(charged) < 5,
        "{counted}, {charged}"
    );
}
