//! What is this driver's own: its list of models, answers in JSON, what its tiers cost.

use crate::setup::{ANSWER, driver};
use llm_core::{ChatDriver, ChatRequest, ModelCatalog, OutputFormat};
use llm_driver_testkit::{Answer, TestClock};

const LIST: &str = r#"{"object":"list","data":[
    {"id":"openai/gpt-oss-20b","object":"model","created":1790000000,"owned_by":"OpenAI","active":true},
    {"id":"gone/model","object":"model","created":1700000000,"owned_by":"Meta","active":false}]}"#;

#[tokio::test(start_paused = true)]
async fn models_that_are_not_active_are_not_listed() {
    let (driver, transport) = driver([Answer::json(200, LIST)]);
    let listed = driver.list(&TestClock::context()).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].owned_by.as_deref(), Some("OpenAI"));
    assert_eq!(transport.requests()[0].path(), "/openai/v1/models");
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_json_comes_as_a_stream_all_the_same() {
    let (driver, transport) = driver([Answer::json(200, ANSWER)]);
    let request = ChatRequest::user("Seven in JSON.").with_output(OutputFormat::Json);
    let stream = driver.chat_stream(&TestClock::context(), &request).await.unwrap();
    let response = llm_core::stream::collect(stream).await.unwrap();
    assert_eq!(response.text(), "Seven.");
    assert_eq!(response.warnings[0].field, "output");
    assert!(transport.requests()[0].json().unwrap().get("stream").is_none());
}

#[tokio::test(start_paused = true)]
async fn what_a_tier_costs_is_known_for_the_usual_one() {
    for (tier, cost) in [
        ("on_demand", Some(105_000_000)),
        ("performance", None),
        ("flex", None),
    ] {
        let (driver, _) = driver([Answer::json(200, ANSWER)]);
        let request = ChatRequest::user("hi").with_service_tier(tier);
        let response = driver.chat(&TestClock::context(), &request).await.unwrap();
        assert_eq!(response.usage.cost.map(|cost| cost.pico_usd), cost, "{tier}");
    }
}
