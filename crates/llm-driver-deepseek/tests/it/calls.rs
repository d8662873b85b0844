//! What is this driver's own: prices by the hour, the beta endpoint, keep-alives.

use crate::setup::{ANSWER, driver, driver_of};
use llm_core::{CallContext, ChatDriver, ChatRequest, HealthState, Message, ModelCatalog, ModelId, ToolSpec};
use llm_driver_deepseek::{BETA_BASE_URL, DeepSeekConfig};
use llm_driver_testkit::{Answer, TestClock};

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Monday, the 30th of November 2026, at this hour in UTC.
fn monday_at(hour: u64) -> CallContext {
    let wall = UNIX_EPOCH + Duration::from_secs(20_787 * 86_400 + hour * 3_600);
    CallContext::new(Arc::new(TestClock::starting_at(wall)))
}

#[tokio::test(start_paused = true)]
async fn a_call_costs_what_its_hour_costs() {
    // 1000 × 1.32 + 100 × 3.96 dollars for a million, and half of that
    let (peak, off_peak) = (1_716_000_000, 858_000_000);
    let request = ChatRequest::user("hi").with_model(ModelId::new("deepseek-v4-pro").unwrap());
    for (hour, cost) in [
        (0, off_peak),
        (1, peak),
        (3, peak),
        (4, off_peak),
        (6, peak),
        (9, peak),
        (10, off_peak),
        (23, off_peak),
    ] {
        let (driver, _) = driver([Answer::json(200, ANSWER)]);
        let response = driver.chat(&monday_at(hour), &request).await.unwrap();
        assert_eq!(response.usage.cost.unwrap().pico_usd, cost, "{hour}");
    }
    // Saturday, two days before
    let (driver, _) = driver([Answer::json(200, ANSWER)]);
    let wall = UNIX_EPOCH + Duration::from_secs(20_785 * 86_400 + 2 * 3_600);
    let cx = CallContext::new(Arc::new(TestClock::starting_at(wall)));
    assert_eq!(
        driver
            .chat(&cx, &request)
            .await
            .unwrap()
            .usage
            .cost
            .unwrap()
            .pico_usd,
        off_peak
    );
}

#[tokio::test(start_paused = true)]
async fn the_beta_endpoint_takes_more_and_has_no_lists() {
    let config = DeepSeekConfig::new("k").with_base_url(BETA_BASE_URL);
    let list = r#"{"object":"list","data":[{"id":"deepseek-flash","object":"model","owned_by":"deepseek"}]}"#;
    let answers = [
        Answer::json(200, ANSWER),
        Answer::json(200, list),
        Answer::json(200, list),
    ];
    let (driver, transport) = driver_of(config, answers);
    let request = ChatRequest::new([Message::user("3 + 4?"), Message::assistant("Se")])
        .with_tools([ToolSpec::new("f").with_strict(true)]);
    let cx = TestClock::context();
    driver.chat(&cx, &request).await.unwrap();
    assert_eq!(driver.list(&cx).await.unwrap().len(), 1);
    assert_eq!(driver.health(&cx).await.state, HealthState::Healthy);
    let sent = transport.requests();
    let paths: Vec<_> = sent.iter().map(|sent| sent.path()).collect();
    assert_eq!(paths, ["/beta/chat/completions", "/models", "/models"]);
    let body = sent[0].json().unwrap();
    assert_eq!(body["messages"][1]["prefix"], true);
    assert_eq!(body["tools"][0]["function"]["strict"], true);
}

#[tokio::test(start_paused = true)]
async fn blank_lines_before_an_answer_are_waiting() {
    let (driver, _) = driver([Answer::json(200, format!("\n\n\n{ANSWER}"))]);
    let response = driver
        .chat(&TestClock::context(), &ChatRequest::user("hi"))
        .await
        .unwrap();
    assert_eq!(response.text(), "Seven.");
}
