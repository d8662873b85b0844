//! What is this driver's own: counting tokens, its two hosts, the end of K2.

use crate::setup::{ANSWER, driver, driver_of};
use llm_core::{ChatDriver, ChatRequest, ErrorKind, ModelId, TokenCounter};
use llm_driver_kimi::{KimiConfig, MAINLAND_BASE_URL};
use llm_driver_testkit::{Answer, TestClock};

use std::time::{Duration, UNIX_EPOCH};

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_by_the_vendor() {
    let (driver, transport) = driver([
        Answer::json(200, r#"{"data":{"total_tokens":80}}"#),
        Answer::json(
            401,
            r#"{"error":{"message":"Invalid Authentication","type":"invalid_authentication_error"}}"#,
        ),
        Answer::json(200, "{}"),
    ]);
    let request = ChatRequest::user("How long is this?").with_max_output_tokens(5);
    let cx = TestClock::context();
    assert_eq!(driver.count_tokens(&cx, &request).await.unwrap(), 80);
    for kind in [ErrorKind::Auth, ErrorKind::Protocol] {
        assert_eq!(driver.count_tokens(&cx, &request).await.unwrap_err().kind(), kind);
    }
    let sent = transport.requests().remove(0);
    assert_eq!(sent.path(), "/v1/tokenizers/estimate-token-count");
    let body = sent.json().unwrap();
    assert_eq!(
        body,
        serde_json::json!({
            "model": "kimi-k3.1-pro",
            "messages": [{ "role": "user", "content": "How long is this?" }],
        })
    );
}

#[tokio::test(start_paused = true)]
async fn the_mainland_host_is_chosen_by_configuration() {
    let config = KimiConfig::new("k").with_base_url(MAINLAND_BASE_URL);
    let (driver, transport) = driver_of(config, [Answer::json(200, ANSWER)]);
    let response = driver
        .chat(&TestClock::context(), &ChatRequest::user("hi"))
        .await
        .unwrap();
    assert!(response.usage.cost.is_some());
    assert_eq!(
        transport.requests()[0].url,
        "https://api.moonshot.cn/v1/chat/completions"
    );
}

#[tokio::test(start_paused = true)]
async fn the_end_of_k2_is_told_when_it_has_come() {
    let request = ChatRequest::user("hi").with_model(ModelId::new("kimi-k2.6").unwrap());
    for (day, warnings) in [(20_817, 0), (20_818, 1)] {
        let (driver, _) = driver([Answer::json(200, ANSWER)]);
        let wall = UNIX_EPOCH + Duration::from_secs(day * 86_400);
        let clock = std::sync::Arc::new(TestClock::starting_at(wall));
        let response = driver
            .chat(&llm_core::CallContext::new(clock), &request)
            .await
            .unwrap();
        assert_eq!(response.warnings.len(), warnings, "{day}");
    }
}
