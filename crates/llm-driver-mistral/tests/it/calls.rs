//! What is this driver's own: its list of models, priced aliases, what an answer repeats.

use crate::setup::{ANSWER, driver};
use llm_core::{ChatDriver, ChatRequest, HealthState, Message, ModelCatalog, ModelId};
use llm_driver_testkit::{Answer, TestClock};

const LIST: &str = r#"{"object":"list","data":[
    {"id":"mistral-small-2603","object":"model","created":1770000000,"owned_by":"mistralai","aliases":["mistral-small-latest"]},
    {"id":"mistral-small-latest","object":"model","created":1770000000,"owned_by":"mistralai"},
    {"id":"mistral-new","object":"model","created":1795000000,"owned_by":"mistralai"}]}"#;

#[tokio::test(start_paused = true)]
async fn the_list_of_models_is_read_and_is_the_probe() {
    let (driver, transport) = driver([Answer::json(200, LIST), Answer::json(200, LIST)]);
    let cx = TestClock::context();
    driver.refresh(&cx).await.unwrap();
    let new = driver
        .resolve(Some(&ModelId::new("mistral-new").unwrap()))
        .unwrap();
    assert!(new.known && new.price.is_none());
    assert_eq!(driver.health(&cx).await.state, HealthState::Healthy);
    for sent in transport.requests() {
        assert_eq!((sent.method.as_str(), sent.path()), ("GET", "/v1/models"));
        assert_eq!(sent.header("authorization"), Some("Bearer an invented key"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_moving_alias_has_a_price() {
    let (driver, transport) = driver([Answer::json(200, ANSWER)]);
    let response = driver
        .chat(&TestClock::context(), &ChatRequest::user("hi"))
        .await
        .unwrap();
    // 1000 × 0.15 + 100 × 0.60 dollars for a million
    assert_eq!(response.usage.cost.unwrap().pico_usd, 210_000_000);
    assert_eq!(
        transport.requests()[0].json().unwrap()["model"],
        "mistral-small-latest"
    );
}

#[tokio::test(start_paused = true)]
async fn the_beginning_that_an_answer_repeats_is_cut_off() {
    let stream = "data: {\"id\":\"m1\",\"choices\":[{\"delta\":{\"content\":\"Se\"}}]}\n\n\
        data: {\"id\":\"m1\",\"choices\":[{\"delta\":{\"content\":\"ptember.\"},\"finish_reason\":\"stop\"}]}\n\n\
        data: [DONE]\n\n";
    let (driver, _) = driver([Answer::json(200, ANSWER), Answer::sse(stream)]);
    let request = ChatRequest::new([Message::user("3 + 4?"), Message::assistant("Seven")]);
    let cx = TestClock::context();
    assert_eq!(driver.chat(&cx, &request).await.unwrap().text(), ".");
    let stream = driver.chat_stream(&cx, &request).await.unwrap();
    // This one begins otherwise: nothing is cut off.
    assert_eq!(
        llm_core::stream::collect(stream).await.unwrap().text(),
        "September."
    );
}
