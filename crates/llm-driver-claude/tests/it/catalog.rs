//! The live list of models, health, and being built by name.

use crate::setup::{answer, question, scripted};
use llm_core::{BuildContext, ChatDriver, ErrorKind, HealthState, ModelCatalog, ModelId, Registry};
use llm_driver_claude::ClaudeConfig;
use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
use llm_http::Transport;
use serde_json::json;
use std::sync::Arc;

const FIRST: &str = r#"{"data":[{"type":"model","id":"claude-opus-6","display_name":"Claude Opus 6",
    "created_at":"2026-11-20T00:00:00Z","lifecycle":"active"}],"has_more":true,"first_id":"claude-opus-6","last_id":"claude-opus-6"}"#;
const LAST: &str =
    r#"{"data":[{"type":"model","id":"claude-opus-5"}],"has_more":false,"last_id":"claude-opus-5"}"#;

#[tokio::test(start_paused = true)]
async fn all_pages_of_the_list_are_read() {
    let (driver, transport) = scripted(
        ClaudeConfig::new("k"),
        [Answer::json(200, FIRST), Answer::json(200, LAST)],
    );
    let listed = driver.list(&TestClock::context()).await.unwrap();
    let names: Vec<_> = listed.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(names, ["claude-opus-6", "claude-opus-5"]);
    let sent = transport.requests();
    assert_eq!(sent[0].path(), "/v1/models?limit=1000");
    assert_eq!(sent[1].path(), "/v1/models?limit=1000&after_id=claude-opus-6");
    for sent in sent {
        assert_eq!(sent.method.as_str(), "GET");
        assert_eq!(sent.header("x-api-key"), Some("k"));
        assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_never_ends_is_left() {
    let (driver, transport) = scripted(
        ClaudeConfig::new("k"),
        [Answer::json(200, FIRST), Answer::json(200, FIRST)],
    );
    assert_eq!(driver.list(&TestClock::context()).await.unwrap().len(), 2);
    assert_eq!(
        transport.request_count(),
        2,
        "the second page says to go on after the same model"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refresh_makes_listed_models_known_and_loses_none() {
    let new = ModelId::new("claude-opus-6").unwrap();
    let failed = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let answers = [
        Answer::json(529, failed),
        Answer::json(200, FIRST),
        Answer::json(200, LAST),
        answer(),
    ];
    let (driver, _) = scripted(ClaudeConfig::new("k"), answers);
    let cx = TestClock::context();
    assert_eq!(
        driver.refresh(&cx).await.unwrap_err().kind(),
        ErrorKind::Overloaded
    );
    assert_eq!(
        driver.resolve(Some(&new)).unwrap_err().kind(),
        ErrorKind::UnknownModel
    );
    driver.refresh(&cx).await.unwrap();
    let resolved = driver.resolve(Some(&new)).unwrap();
    assert!(resolved.known && resolved.price.is_none());
    assert!(driver.chat(&cx, &question("claude-opus-6")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn only_a_list_with_200_is_healthy() {
    for (answer, state) in [
        (Answer::json(200, LAST), HealthState::Healthy),
        (Answer::json(401, "{}"), HealthState::Unhealthy),
        (Answer::refused(), HealthState::Unhealthy),
        (Answer::silent(), HealthState::Unhealthy),
    ] {
        let (driver, transport) = scripted(ClaudeConfig::new("k"), [answer]);
        let status = driver.health(&TestClock::context()).await;
        assert_eq!(status.state, state, "{status:?}");
        assert_eq!(transport.requests()[0].path(), "/v1/models");
    }
}

#[tokio::test(start_paused = true)]
async fn the_registry_builds_it_over_the_shared_transport() {
    let mut registry = Registry::new();
    llm_driver_claude::register(&mut registry).unwrap();
    let transport = Arc::new(ScriptedTransport::new([answer()]));
    let mut context = BuildContext::default();
    context.insert(transport.clone() as Arc<dyn Transport>);
    let config = json!({ "base_url": "http://127.0.0.1:8080/v1", "default_model": "local" });
    let driver = registry.build("claude", config, &context).unwrap();
    assert!(driver.clone().as_catalog().is_some() && driver.clone().as_token_counter().is_some());
    let chat = driver.as_chat().unwrap();
    let request = llm_core::ChatRequest::user("hi");
    chat.chat(&TestClock::context(), &request).await.unwrap();
    assert_eq!(transport.requests()[0].json().unwrap()["model"], "local");
    let error = registry
        .build("claude", json!({ "api_kye": "k" }), &context)
        .unwrap_err();
    assert!(error.message().contains("api_kye"), "{error}");
}
