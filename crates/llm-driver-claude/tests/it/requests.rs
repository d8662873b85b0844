//! What is sent around the body: where to, with which headers; what a call costs; counting tokens.

use crate::setup::{answer, question, scripted};
use llm_core::{
    ChatDriver, ChatRequest, DriverId, Error, ErrorKind, ModelId, Phase, TokenCounter, ToolSpec,
    UnknownModels, VendorId,
};
use llm_driver_claude::{AuthScheme, ClaudeConfig, ClaudeDriver, ClaudeOptions};
use llm_driver_testkit::{Answer, RecordedRequest, ScriptedTransport, TestClock};
use serde_json::json;
use std::sync::Arc;

fn anthropic() -> ClaudeConfig {
    ClaudeConfig::new("an-invented-key")
}

fn elsewhere() -> ClaudeConfig {
    ClaudeConfig::compatible("https://host.example/v1")
}

/// What a driver of this configuration sends for this request.
async fn sent_for(config: ClaudeConfig, request: ChatRequest) -> RecordedRequest {
    let config = config
        .with_default_model(ModelId::new("a-model").unwrap())
        .with_unknown_models(UnknownModels::Allow);
    let (driver, transport) = scripted(config, [answer()]);
    let cx = TestClock::context().with_idempotency_key("once-only");
    driver.chat(&cx, &request).await.unwrap();
    transport.requests().remove(0)
}

async fn sent(config: ClaudeConfig) -> RecordedRequest {
    sent_for(config, ChatRequest::user("hi")).await
}

fn refused(config: ClaudeConfig) -> Error {
    let transport = Arc::new(ScriptedTransport::new([]));
    let error = ClaudeDriver::with_transport(config, transport).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    error
}

#[tokio::test(start_paused = true)]
async fn anthropic_gets_the_key_and_the_version() {
    let sent = sent(anthropic()).await;
    assert_eq!(sent.url, "https://api.anthropic.com/v1/messages");
    for (name, value) in [
        ("x-api-key", Some("an-invented-key")),
        ("authorization", None),
        ("anthropic-version", Some("2026-10-21")),
        ("anthropic-beta", None),
        ("content-type", Some("application/json")),
        ("idempotency-key", None),
    ] {
        assert_eq!(sent.header(name), value, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_version_is_one_that_takes_the_request() {
    let version = async |config, request| {
        let sent = sent_for(config, request).await;
        sent.header("anthropic-version").unwrap().to_owned()
    };
    let sampled = |model| question(model).with_temperature(0.5);
    assert_eq!(
        version(anthropic(), sampled("claude-haiku-4-5")).await,
        "2023-06-01"
    );
    // This model is not sent the temperature at all.
    assert_eq!(
        version(anthropic(), sampled("claude-opus-5-5")).await,
        "2026-10-21"
    );
    assert_eq!(
        version(elsewhere(), question("claude-opus-5-5")).await,
        "2023-06-01"
    );
    let fixed = anthropic().with_header("anthropic-version", "2023-06-01");
    assert_eq!(version(fixed, question("claude-opus-5-5")).await, "2023-06-01");
}

#[tokio::test(start_paused = true)]
async fn betas_of_configuration_and_request_are_joined() {
    let config = anthropic().with_header("Anthropic-Beta", "one, two");
    let request = ClaudeOptions::default().with_beta("two").with_beta("three");
    let sent = sent_for(config, request.apply(ChatRequest::user("hi"))).await;
    assert_eq!(sent.header("anthropic-beta"), Some("one,two,three"));
    assert!(sent.json().unwrap().get("betas").is_none());
}

#[tokio::test(start_paused = true)]
async fn each_auth_scheme_has_its_place() {
    let at = |auth| sent(elsewhere().with_api_key("an-invented-key").with_auth(auth));
    let bearer = at(AuthScheme::Bearer).await;
    assert_eq!(bearer.header("authorization"), Some("Bearer an-invented-key"));
    assert_eq!(bearer.header("x-api-key"), None);
    let query = at(AuthScheme::Query("key".to_owned())).await;
    assert_eq!(query.path(), "/v1/messages?key=an-invented-key");
    // A host of one's own may want no key at all.
    let local = sent(elsewhere()).await;
    assert_eq!(
        (local.header("x-api-key"), local.header("authorization")),
        (None, None)
    );
    let more = elsewhere()
        .with_header("x-title", "a title")
        .with_query("tenant", "blue & green")
        .with_idempotency_header("idempotency-key");
    let more = sent(more).await;
    assert_eq!(more.header("x-title"), Some("a title"));
    assert_eq!(more.path(), "/v1/messages?tenant=blue%20%26%20green");
    assert_eq!(more.header("idempotency-key"), Some("once-only"));
}

#[test]
fn what_cannot_be_sent_is_told_when_the_driver_is_built() {
    assert!(refused(ClaudeConfig::default()).message().contains("api_key"));
    assert!(refused(ClaudeConfig::new("  ")).message().contains("api_key"));
    refused(elsewhere().with_auth(AuthScheme::Bearer));
    refused(elsewhere().with_base_url("host.example/v1"));
    refused(elsewhere().with_header("not a name", "x"));
    refused(elsewhere().with_header("anthropic-beta", "not\na header"));
    refused(elsewhere().with_idempotency_header("not a name"));
    let error = refused(elsewhere().with_header("x-token", "secret\nvalue"));
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_is_refused_before_sending() {
    let (driver, transport) = scripted(anthropic(), []);
    for (request, kind, says) in [
        (question("claude-opus-9"), ErrorKind::UnknownModel, "claude-opus-"),
        (
            ClaudeOptions::default()
                .with("sped", "fast")
                .apply(question("claude-opus-5")),
            ErrorKind::Unsupported,
            "speed",
        ),
    ] {
        let cx = TestClock::context();
        for error in [
            driver.chat(&cx, &request).await.unwrap_err(),
            driver.chat_stream(&cx, &request).await.unwrap_err(),
            driver.count_tokens(&cx, &request).await.unwrap_err(),
        ] {
            assert_eq!((error.kind(), error.phase()), (kind, Phase::NotSent), "{error}");
            assert!(error.message().contains(says), "{error}");
            assert_eq!(error.vendor().driver.as_ref().unwrap().as_str(), "claude");
            assert_eq!(error.vendor().model, request.model, "{error}");
        }
    }
    assert_eq!(transport.request_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_cost_is_computed_but_for_what_has_another_price() {
    let cost = async |config, request: ChatRequest| {
        let (driver, _) = scripted(config, [answer()]);
        let response = driver.chat(&TestClock::context(), &request).await.unwrap();
        response.usage.cost.map(|cost| cost.pico_usd)
    };
    let ask = || question("claude-haiku-5-5");
    // 0.10 and 0.50 dollars a million tokens (the shipped catalogue).
    let usual = Some(1_000 * 100_000 + 100 * 500_000);
    assert_eq!(cost(anthropic(), ask()).await, usual);
    assert_eq!(cost(elsewhere(), ask()).await, None);
    let options = ClaudeOptions::default();
    assert_eq!(
        cost(anthropic(), options.clone().with_speed("standard").apply(ask())).await,
        usual
    );
    assert_eq!(
        cost(anthropic(), options.clone().with_speed("fast").apply(ask())).await,
        None
    );
    assert_eq!(
        cost(anthropic(), options.with_inference_geo("us").apply(ask())).await,
        None
    );
}

#[tokio::test(start_paused = true)]
async fn another_identity_reads_its_own_bag_and_signs_its_own_answers() {
    let (id, vendor) = (DriverId::from_static("lab"), VendorId::from_static("acme"));
    let (driver, transport) = scripted(elsewhere().with_identity(id, vendor.clone()), [answer()]);
    let request = ClaudeOptions::default()
        .with_body_field("min_p", 0.1)
        .apply_as(&vendor, question("m"));
    let request = ClaudeOptions::default()
        .with("of somebody else", 1)
        .apply(request);
    let response = driver.chat(&TestClock::context(), &request).await.unwrap();
    assert_eq!(transport.requests()[0].json().unwrap()["min_p"], 0.1);
    assert_eq!(response.meta.driver.unwrap().as_str(), "lab");
}

#[tokio::test(start_paused = true)]
async fn a_renamed_tool_comes_back_under_its_own_name() {
    let call = json!({
        "type": "message", "stop_reason": "tool_use",
        "content": [{ "type": "tool_use", "id": "t", "name": "circle_area", "input": {} }],
    });
    let (driver, transport) = scripted(anthropic(), [Answer::json(200, call.to_string())]);
    let request = question("claude-opus-5").with_tools([ToolSpec::new("circle.area")]);
    let response = driver.chat(&TestClock::context(), &request).await.unwrap();
    let sent = transport.requests()[0].json().unwrap();
    assert_eq!(sent["tools"][0]["name"], "circle_area");
    assert_eq!(response.tool_calls().next().unwrap().name, "circle.area");
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_by_the_vendor() {
    let (driver, transport) = scripted(
        anthropic().with_header("anthropic-beta", "one"),
        [
            Answer::json(200, r#"{"input_tokens":2095}"#),
            Answer::json(200, "{}"),
            Answer::json(
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"bad: Why is the sky blue?"}}"#,
            ),
        ],
    );
    let cx = TestClock::context();
    let request = question("claude-haiku-5-5")
        .with_user("u")
        .with_max_output_tokens(9);
    assert_eq!(driver.count_tokens(&cx, &request).await.unwrap(), 2095);
    let sent = transport.requests().remove(0);
    assert_eq!(sent.path(), "/v1/messages/count_tokens");
    assert_eq!(sent.header("anthropic-version"), Some("2026-10-21"));
    assert_eq!(sent.header("anthropic-beta"), Some("one"));
    let text = json!([{ "type": "text", "text": "Why is the sky blue?" }]);
    assert_eq!(
        sent.json().unwrap(),
        json!({ "model": "claude-haiku-5-5", "messages": [{ "role": "user", "content": text }] })
    );
    let error = driver.count_tokens(&cx, &request).await.unwrap_err();
    assert_eq!((error.kind(), error.phase()), (ErrorKind::Protocol, Phase::Sent));
    let error = driver.count_tokens(&cx, &request).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.vendor().status),
        (ErrorKind::InvalidRequest, Some(400))
    );
    assert!(!error.message().contains("sky"), "{error}");
}
