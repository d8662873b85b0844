//! The live list of models, health, and being built by name.

use crate::setup::{answer, question, scripted};
use llm_core::{
    BuildContext, ChatDriver, Driver, ErrorKind, HealthState, ModelCatalog, ModelId, Phase, Registry,
};
use llm_driver_openai::OpenAiConfig;
use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
use llm_http::Transport;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const LIST: &str = r#"{"object":"list","data":[
    {"id":"gpt-6.2-sol","object":"model","created":1795000000,"owned_by":"system","shutdown_date":null},
    {"id":"gpt-6-luna","object":"model","created":1790000000,"owned_by":"system"}]}"#;

#[tokio::test(start_paused = true)]
async fn the_hosts_list_is_read() {
    let (driver, transport) = scripted(OpenAiConfig::new("k"), [Answer::json(200, LIST)]);
    let listed = driver.list(&TestClock::context()).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0].id.as_str(), "gpt-6.2-sol");
    assert_eq!(
        (listed[0].created, listed[0].owned_by.as_deref()),
        (Some(1_795_000_000), Some("system"))
    );
    let sent = &transport.requests()[0];
    assert_eq!((sent.method.as_str(), sent.path()), ("GET", "/v1/models"));
    assert_eq!(sent.header("authorization"), Some("Bearer k"));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_makes_listed_models_known_and_loses_none() {
    let new = ModelId::new("gpt-6.2-sol").unwrap();
    let (driver, transport) = scripted(
        OpenAiConfig::new("k"),
        [Answer::json(503, "{}"), Answer::json(200, LIST)],
    );
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
    assert!(driver.resolve(Some(&ModelId::new("gpt-4o").unwrap())).is_ok());
    transport.push(Answer::json(200, answer(json!({}))));
    assert!(driver.chat(&cx, &question("gpt-6.2-sol")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_says_why() {
    let unauthorized =
        r#"{"error":{"message":"Incorrect API key provided: the-key","code":"invalid_api_key"}}"#;
    for (answer, kind, phase) in [
        (Answer::json(401, unauthorized), ErrorKind::Auth, Phase::Sent),
        (
            Answer::html(200, "<html></html>"),
            ErrorKind::Protocol,
            Phase::Sent,
        ),
        (Answer::json(200, "{}"), ErrorKind::Protocol, Phase::Sent),
        (Answer::refused(), ErrorKind::Connection, Phase::NotSent),
    ] {
        let (driver, _) = scripted(OpenAiConfig::new("the-key"), [answer]);
        let error = driver.list(&TestClock::context()).await.unwrap_err();
        assert_eq!((error.kind(), error.phase()), (kind, phase), "{error}");
        assert_eq!(error.vendor().driver.as_ref().unwrap().as_str(), "openai");
        assert!(!format!("{error:?}").contains("the-key"), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_model_list_with_200_is_healthy() {
    for (answer, state, says) in [
        (Answer::json(200, LIST), HealthState::Healthy, None),
        (Answer::json(200, ""), HealthState::Healthy, None),
        (Answer::json(204, ""), HealthState::Unhealthy, Some("204")),
        (Answer::json(401, "{}"), HealthState::Unhealthy, Some("401")),
        (Answer::json(500, "{}"), HealthState::Unhealthy, Some("500")),
        (Answer::refused(), HealthState::Unhealthy, Some("nobody listens")),
        (Answer::silent(), HealthState::Unhealthy, Some("in time")),
    ] {
        let (driver, transport) = scripted(OpenAiConfig::new("k"), [answer]);
        let cx = TestClock::context();
        let began = cx.clock().now();
        let status = driver.health(&cx).await;
        assert_eq!(status.state, state, "{status:?}");
        assert_eq!(status.message.is_some(), says.is_some(), "{status:?}");
        assert!(
            status
                .message
                .unwrap_or_default()
                .contains(says.unwrap_or_default())
        );
        assert!(cx.clock().now() - began <= Duration::from_secs(4));
        assert!(
            transport
                .requests()
                .iter()
                .all(|sent| sent.path() == "/v1/models" && sent.body.is_empty())
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_registry_builds_it_on_the_transport_of_the_program() {
    let mut registry = Registry::new();
    llm_driver_openai::register(&mut registry).unwrap();
    assert_eq!(
        llm_driver_openai::register(&mut registry).unwrap_err().kind(),
        ErrorKind::Config
    );

    let transport = Arc::new(ScriptedTransport::new([Answer::json(200, answer(json!({})))]));
    let mut context = BuildContext::default();
    context.insert::<Arc<dyn Transport>>(transport.clone());
    let config = json!({ "api_key": "k", "base_url": "https://eu.api.openai.com/v1" });
    let driver = registry.build("openai", config, &context).unwrap();
    assert_eq!(Driver::info(&*driver).base_url, "https://eu.api.openai.com/v1");
    assert!(!driver.clone().as_catalog().unwrap().known().is_empty());
    let chat = driver.as_chat().unwrap();
    assert_eq!(
        chat.chat(&TestClock::context(), &question("gpt-6-luna"))
            .await
            .unwrap()
            .text(),
        "Seven."
    );
    assert_eq!(transport.request_count(), 1);

    for (config, says) in [
        (json!({}), "api_key"),
        (json!({ "api_key": "k", "modle": 1 }), "modle"),
        (json!(7), ""),
    ] {
        let error = registry.build("openai", config, &context).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.message().contains(says), "{error}");
    }
}
