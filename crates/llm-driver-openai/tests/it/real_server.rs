//! A real server (llama.cpp's, with a small model) at `LLM_TEST_MODEL_SERVER`, the base URL of which ends in `/v1`.
//! `cargo xtask test` starts one; without the variable these tests say so and pass, but not on CI.

use llm_core::stream::collect;
use llm_core::{
    CallContext, ChatDriver, ChatDriverExt, ChatEvent, ChatRequest, ErrorKind, FinishKind, Grammar,
    HealthState, Message, ModelCatalog, ModelId, OutputFormat, Phase,
};
use llm_driver_openai::{ApiChoice, OpenAiConfig, OpenAiDriver};
use llm_http::ReqwestTransport;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const MODEL: &str = "smollm2-135m-instruct";

/// The driver before the server, or a note and nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "the server is named by whoever starts it"
)]
fn base_url() -> Option<String> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let url = variable("LLM_TEST_MODEL_SERVER");
    if url.is_none() {
        assert_ne!(
            variable("CI").as_deref(),
            Some("true"),
            "LLM_TEST_MODEL_SERVER is not set; run `cargo xtask test`, which starts a model server and sets it"
        );
        println!(
            "skipped: LLM_TEST_MODEL_SERVER is not set (`cargo xtask services model-server` starts one)"
        );
    }
    url
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

fn question() -> ChatRequest {
    ChatRequest::user("Name the capital of France.")
        .with_max_output_tokens(24)
        .with_temperature(0.0)
}

#[tokio::test]
async fn a_plain_call_is_answered() {
    let Some(driver) = base_url().map(driver_at) else {
        return;
    };
    is_answered(driver).await;
}

#[tokio::test]
async fn a_plain_call_is_answered_through_responses() {
    let Some(driver) = base_url().map(responses_at) else {
        return;
    };
    is_answered(driver).await;
}

async fn is_answered(driver: OpenAiDriver) {
    let response = driver.chat(&cx(), &question()).await.unwrap();
    assert!(response.text().contains("Paris"), "{}", response.text());
    assert!(matches!(
        response.finish.kind,
        FinishKind::Stop | FinishKind::Length
    ));
    assert!(response.usage.input_tokens.unwrap() > 0 && response.usage.output_tokens.unwrap() > 0);
    assert_eq!(response.usage.cost, None, "what it costs is not known");
    assert_eq!(response.meta.requested_model.unwrap().as_str(), MODEL);
    assert!(response.warnings.is_empty(), "{:?}", response.warnings);
}

#[tokio::test]
async fn a_stream_is_legal_and_folds_to_the_plain_answer() {
    let Some(driver) = base_url().map(driver_at) else {
        return;
    };
    streams_legally(driver).await;
}

#[tokio::test]
async fn a_responses_stream_is_legal_and_folds_to_the_plain_answer() {
    let Some(driver) = base_url().map(responses_at) else {
        return;
    };
    streams_legally(driver).await;
}

/// A whole conversation with instructions, an earlier turn and a schema, in the items of this format.
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
    let long = ChatRequest::user("one two three four ".repeat(8_000));
    let error = driver.chat(&cx(), &long).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextLength, "{error}");
}

async fn streams_legally(driver: OpenAiDriver) {
    let plain = driver.chat(&cx(), &question()).await.unwrap();
    let mut stream = driver.chat_stream(&cx(), &question()).await.unwrap();
    let (mut grammar, mut pieces) = (Grammar::default(), 0);
    while let Some(event) = stream.next_event().await {
        let event = event.unwrap();
        grammar.check(&event).unwrap();
        pieces += usize::from(event.is_content());
        if let ChatEvent::Finish { usage, .. } = &event {
            assert_eq!(usage.output_tokens, plain.usage.output_tokens);
        }
    }
    grammar.end().unwrap();
    assert!(pieces > 2, "{pieces}");
    let folded = driver.chat_collected(&cx(), &question()).await.unwrap();
    assert_eq!((folded.text(), folded.finish), (plain.text(), plain.finish));
}

/// This server closes the connection of each stream a moment after it promised to keep it.
#[tokio::test]
async fn streams_back_to_back_all_arrive() {
    let Some(driver) = base_url().map(driver_at) else {
        return;
    };
    let request = question().with_max_output_tokens(2);
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

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_told_as_that() {
    let Some(driver) = base_url().map(driver_at) else {
        return;
    };
    let request = ChatRequest::user("one two three four ".repeat(8_000));
    let plain = driver.chat(&cx(), &request).await.unwrap_err();
    let stream = driver.chat_stream(&cx(), &request).await.unwrap_err();
    for error in [plain, stream] {
        assert_eq!(
            (error.kind(), error.phase()),
            (ErrorKind::ContextLength, Phase::Sent),
            "{error}"
        );
        assert_eq!(error.vendor().status, Some(400));
        assert!(!error.message().contains("three four"), "{error}");
    }
}

#[tokio::test]
async fn a_wrong_path_is_not_found() {
    let Some(base_url) = base_url() else { return };
    let driver = driver_at(format!("{base_url}/nowhere"));
    let error = driver.chat(&cx(), &question()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.vendor().status),
        (ErrorKind::NotFound, Some(404)),
        "{error}"
    );
    let status = driver.health(&cx()).await;
    assert_eq!(status.state, HealthState::Unhealthy, "{status:?}");
}

#[tokio::test]
async fn the_server_lists_its_model_and_is_well() {
    let Some(driver) = base_url().map(driver_at) else {
        return;
    };
    let listed = driver.list(&cx()).await.unwrap();
    assert!(
        listed.iter().any(|model| model.id.as_str() == MODEL),
        "{listed:?}"
    );
    driver.refresh(&cx()).await.unwrap();
    assert!(driver.resolve(None).unwrap().known);
    let status = driver.health(&cx()).await;
    assert_eq!(status.state, HealthState::Healthy, "{status:?}");
}
