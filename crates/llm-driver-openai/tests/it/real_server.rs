//! A real server (llama.cpp's, with a small model) at `LLM_TEST_MODEL_SERVER`, the base URL of which ends in `/v1`.
//! `cargo xtask test` starts one; without the variable these tests say so and pass, but not on CI.

use llm_core::stream::collect;
use llm_core::{CallContext, ChatDriver, ChatDriverExt, ChatRequest, Message, ModelId, OutputFormat};
use llm_driver_openai::{ApiChoice, OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{outside_server, real_server_suite};
use llm_http::ReqwestTransport;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const MODEL: &str = "smollm2-135m-instruct";

real_server_suite!(crate::real_server::driver_at, crate::real_server::MODEL);

mod through_responses {
    use llm_driver_testkit::real_server_suite;

    real_server_suite!(crate::real_server::responses_at, crate::real_server::MODEL);
}

fn base_url() -> Option<String> {
    outside_server("LLM_TEST_MODEL_SERVER")
}

fn driver_at(base_url: String) -> OpenAiDriver {
    driver_with(base_url, ApiChoice::Auto)
}

/// The same server serves Responses too.
fn responses_at(base_url: String) -> OpenAiDriver {
    driver_with(base_url, ApiChoice::Responses)
}

fn driver_with(base_url: String, api: ApiChoice) -> OpenAiDriver {
    let config = OpenAiConfig::compatible(base_url)
        .with_default_model(ModelId::new(MODEL).unwrap())
        .with_api(api);
    // A transport for each test: the shared one's connections belong to the runtime that opened them.
    let transport = ReqwestTransport::builder().build().unwrap();
    OpenAiDriver::with_transport(config, Arc::new(transport)).unwrap()
}

fn cx() -> CallContext {
    CallContext::new(llm_http::shared_clock()).with_timeout(Duration::from_secs(120))
}

/// A whole conversation with instructions and an earlier turn, in the items of this format.
#[tokio::test]
async fn a_conversation_goes_through_responses() {
    let Some(driver) = base_url().map(responses_at) else {
        return;
    };
    let request = ChatRequest::new([
        Message::system("You answer in one short sentence."),
        Message::user("Name the capital of France."),
        Message::assistant("It is Paris."),
        Message::user("Name the capital of France again."),
    ])
    .with_max_output_tokens(24)
    .with_temperature(0.0);
    let response = driver.chat(&cx(), &request).await.unwrap();
    assert!(response.text().contains("Paris"), "{}", response.text());
}

/// This server closes the connection of each stream a moment after it promised to keep it.
#[tokio::test]
async fn streams_back_to_back_all_arrive() {
    let Some(driver) = base_url().map(driver_at) else {
        return;
    };
    let request = ChatRequest::user("Name the capital of France.").with_max_output_tokens(2);
    for nth in 0..60 {
        let answer = driver.chat_collected(&cx(), &request).await;
        assert!(answer.is_ok(), "{nth}: {answer:?}");
    }
}

#[tokio::test]
async fn a_schema_binds_the_answer() {
    let Some(driver) = base_url().map(driver_at) else {
        return;
    };
    let schema = json!({
        "type": "object",
        "properties": { "mood": { "type": "string", "enum": ["good", "bad"] } },
        "required": ["mood"],
        "additionalProperties": false,
    });
    let request = ChatRequest::user("I love Kyoto.")
        .with_max_output_tokens(60)
        .with_temperature(0.0)
        .with_output(OutputFormat::json_schema("remark", schema));
    for response in [
        driver.chat(&cx(), &request).await.unwrap(),
        collect(driver.chat_stream(&cx(), &request).await.unwrap())
            .await
            .unwrap(),
    ] {
        let value: Value = serde_json::from_str(&response.text()).unwrap();
        assert!(
            ["good", "bad"].contains(&value["mood"].as_str().unwrap()),
            "{value}"
        );
    }
}
