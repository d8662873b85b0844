//! What is sent around the body: where to, with which headers; and what is not sent at all.

use crate::setup::{answer, question, scripted};
use llm_core::{
    ChatDriver, ChatRequest, ContentPart, DriverId, Error, ErrorKind, ImagePart, MediaSource, Message,
    ModelId, Phase, Role, VendorId,
};
use llm_driver_openai::{ApiChoice, AuthScheme, OpenAiConfig, OpenAiDriver, OpenAiOptions};
use llm_driver_testkit::{Answer, RecordedRequest, ScriptedTransport, TestClock};
use serde_json::json;
use std::sync::Arc;

/// What a driver of this configuration sends for a plain question.
async fn sent(config: OpenAiConfig) -> RecordedRequest {
    let config = config.with_default_model(ModelId::new("a-model").unwrap());
    let config = config.with_unknown_models(llm_driver_openai::UnknownModels::Allow);
    let (driver, transport) = scripted(config, [Answer::json(200, answer(json!({})))]);
    let cx = TestClock::context().with_idempotency_key("once-only");
    driver.chat(&cx, &ChatRequest::user("hi")).await.unwrap();
    transport.requests().remove(0)
}

fn refused(config: OpenAiConfig) -> Error {
    let transport = Arc::new(ScriptedTransport::new([]));
    let error = OpenAiDriver::with_transport(config, transport).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    error
}

#[tokio::test(start_paused = true)]
async fn openai_gets_the_key_and_who_pays() {
    let mut config = OpenAiConfig::new("an-invented-key");
    config.organization = Some("org-7".to_owned());
    config.project = Some("proj-7".to_owned());
    let sent = sent(config).await;
    assert_eq!(sent.url, "https://api.openai.com/v1/chat/completions");
    for (name, value) in [
        ("authorization", Some("Bearer an-invented-key")),
        ("openai-organization", Some("org-7")),
        ("openai-project", Some("proj-7")),
        ("content-type", Some("application/json")),
        ("accept", Some("application/json")),
        ("idempotency-key", None),
    ] {
        assert_eq!(sent.header(name), value, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_auth_scheme_has_its_place() {
    let at = |auth| {
        let config = OpenAiConfig::compatible("https://host.example/v1/?api-version=2")
            .with_api_key("an-invented-key");
        sent(config.with_auth(auth))
    };
    let header = at(AuthScheme::Header("api-key".to_owned())).await;
    assert_eq!(
        header.url,
        "https://host.example/v1/chat/completions?api-version=2"
    );
    assert_eq!(header.header("api-key"), Some("an-invented-key"));
    assert_eq!(header.header("authorization"), None);
    let query = at(AuthScheme::Query("key".to_owned())).await;
    assert_eq!(
        query.path(),
        "/v1/chat/completions?api-version=2&key=an-invented-key"
    );
    assert_eq!(query.header("authorization"), None);
    let none = at(AuthScheme::None).await;
    assert_eq!(none.path(), "/v1/chat/completions?api-version=2");
    assert_eq!(none.header("authorization"), None);
    // A host of one's own may want no key at all.
    let local = sent(OpenAiConfig::compatible("http://127.0.0.1:8080/v1")).await;
    assert_eq!(local.header("authorization"), None);
}

#[tokio::test(start_paused = true)]
async fn configured_headers_and_parameters_go_with_every_call() {
    let config = OpenAiConfig::compatible("https://host.example/v1")
        .with_header("x-title", "a title")
        .with_query("tenant", "blue & green")
        .with_idempotency_header("idempotency-key");
    let sent = sent(config).await;
    assert_eq!(sent.header("x-title"), Some("a title"));
    assert_eq!(sent.path(), "/v1/chat/completions?tenant=blue%20%26%20green");
    assert_eq!(sent.header("idempotency-key"), Some("once-only"));
}

#[test]
fn what_cannot_be_sent_is_told_when_the_driver_is_built() {
    assert!(refused(OpenAiConfig::default()).message().contains("api_key"));
    assert!(refused(OpenAiConfig::new("  ")).message().contains("api_key"));
    let keyless = OpenAiConfig::compatible("https://host.example/v1");
    refused(
        keyless
            .clone()
            .with_auth(AuthScheme::Header("api-key".to_owned())),
    );
    refused(keyless.clone().with_base_url("host.example/v1"));
    refused(
        keyless
            .clone()
            .with_base_url("https://somebody:secret@host.example/v1"),
    );
    refused(keyless.clone().with_header("not a name", "x"));
    refused(keyless.clone().with_idempotency_header("not a name"));
    let error = refused(keyless.with_header("x-token", "secret\nvalue"));
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_name_after_our_prefix_is_what_is_sent() {
    let (driver, transport) = scripted(OpenAiConfig::new("k"), [Answer::json(200, answer(json!({})))]);
    let response = driver
        .chat(&TestClock::context(), &question("openai/gpt-6-luna"))
        .await
        .unwrap();
    assert_eq!(transport.requests()[0].json().unwrap()["model"], "gpt-6-luna");
    assert_eq!(response.meta.requested_model.unwrap().as_str(), "gpt-6-luna");
}

#[tokio::test(start_paused = true)]
async fn what_the_model_cannot_do_is_refused_before_sending() {
    let config = OpenAiConfig::new("k").with_api(ApiChoice::ChatCompletions);
    let (driver, transport) = scripted(config, []);
    let image = ImagePart::new(MediaSource::bytes("image/png", b"not looked at"));
    let look = ChatRequest::new([Message::new(Role::User, vec![ContentPart::Image(image)])]);
    let cases = [
        (
            look.with_model(ModelId::new("o3-mini").unwrap()),
            ErrorKind::Unsupported,
            "vision",
        ),
        (question("whisper-1"), ErrorKind::Unsupported, "transcribes"),
        (question("o1-pro"), ErrorKind::Unsupported, "Responses API"),
        (question("gpt-99"), ErrorKind::UnknownModel, "gpt-"),
        (
            OpenAiOptions::default()
                .with("verbositty", "low")
                .apply(question("gpt-4o")),
            ErrorKind::Unsupported,
            "verbosit",
        ),
    ];
    for (request, kind, says) in cases {
        let cx = TestClock::context();
        let plain = driver.chat(&cx, &request).await.unwrap_err();
        let stream = driver.chat_stream(&cx, &request).await.unwrap_err();
        for error in [plain, stream] {
            assert_eq!((error.kind(), error.phase()), (kind, Phase::NotSent), "{error}");
            assert!(error.message().contains(says), "{error}");
            assert_eq!(error.vendor().driver.as_ref().unwrap().as_str(), "openai");
            assert_eq!(error.vendor().model, request.model, "{error}");
        }
    }
    assert_eq!(transport.request_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn another_identity_reads_its_own_bag_and_signs_its_own_answers() {
    let (id, vendor) = (DriverId::from_static("lab"), VendorId::from_static("acme"));
    let config = OpenAiConfig::compatible("http://127.0.0.1:8080/v1").with_identity(id, vendor.clone());
    let (driver, transport) = scripted(
        config,
        [Answer::json(200, answer(json!({ "system_fingerprint": "fp" })))],
    );
    let request = OpenAiOptions::default()
        .with_body_field("min_p", 0.1)
        .apply_as(&vendor, question("m"));
    let request = OpenAiOptions::default()
        .with("of somebody else", 1)
        .apply(request);
    let response = driver.chat(&TestClock::context(), &request).await.unwrap();
    assert_eq!(transport.requests()[0].json().unwrap()["min_p"], 0.1);
    assert_eq!(driver.resolve(request.model.as_ref()).unwrap().id.as_str(), "m");
    assert_eq!(response.meta.driver.unwrap().as_str(), "lab");
    assert_eq!(response.metadata.of("acme").unwrap()["system_fingerprint"], "fp");
}
