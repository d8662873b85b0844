//! What goes over the wire beside the body, and the list of models.

use crate::setup::{answer, question, scripted};
use llm_core::{ChatDriver, ErrorKind, Message, ModelCatalog, TokenCounter};
use llm_driver_gemini::GeminiConfig;
use llm_driver_testkit::{Answer, TestClock};

#[tokio::test(start_paused = true)]
async fn the_key_stands_in_its_header_and_nowhere_else() {
    let (driver, transport) = scripted(GeminiConfig::new("an-invented-key"), [answer()]);
    let cx = TestClock::context();
    let response = driver
        .chat(&cx, &question("gemini-3.5-flash-lite"))
        .await
        .unwrap();
    assert_eq!(response.text(), "Seven.");
    let sent = &transport.requests()[0];
    assert_eq!(sent.header("x-goog-api-key"), Some("an-invented-key"));
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(
        sent.path(),
        "/v1beta/models/gemini-3.5-flash-lite:generateContent"
    );
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_the_list_are_read() {
    let first = r#"{"models":[{"name":"models/a"}],"nextPageToken":"t/2"}"#;
    let second = r#"{"models":[{"name":"models/b"}]}"#;
    let (driver, transport) = scripted(
        GeminiConfig::new("k"),
        [Answer::json(200, first), Answer::json(200, second)],
    );
    let listed = driver.list(&TestClock::context()).await.unwrap();
    let names: Vec<_> = listed.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(transport.requests()[0].path(), "/v1beta/models?pageSize=1000");
    assert_eq!(
        transport.requests()[1].path(),
        "/v1beta/models?pageSize=1000&pageToken=t%2F2"
    );
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_by_the_vendor() {
    let (driver, transport) = scripted(
        GeminiConfig::new("k"),
        [Answer::json(200, r#"{"totalTokens":9}"#), Answer::json(200, "{}")],
    );
    let cx = TestClock::context();
    let mut request = question("gemini-3.5-flash-lite");
    request.messages.insert(0, Message::system("Be brief."));
    assert_eq!(driver.count_tokens(&cx, &request).await.unwrap(), 9);
    let sent = transport.requests().remove(0);
    assert_eq!(sent.path(), "/v1beta/models/gemini-3.5-flash-lite:countTokens");
    let counted = &sent.json().unwrap()["generateContentRequest"];
    assert_eq!(counted["model"], "models/gemini-3.5-flash-lite");
    assert_eq!(counted["systemInstruction"]["parts"][0]["text"], "Be brief.");
    let error = driver.count_tokens(&cx, &request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
}
