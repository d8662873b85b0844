//! Which of the two APIs a request goes to, as the vendor sees it, and that nothing is lost between its turns.

use crate::setup::{answer, question, scripted};
use llm_core::stream::collect;
use llm_core::{
    CallContext, ChatDriver, ChatRequest, ContentPart, DocumentPart, ErrorKind, FinishKind, MediaSource,
    Message, ModelId, Reasoning, ReasoningEffort, Role, ToolResult, ToolSpec,
};
use llm_driver_openai::{ApiChoice, OpenAiConfig, OpenAiOptions};
use llm_driver_testkit::{Answer, TestClock};
use serde_json::{Value, json};

fn openai() -> OpenAiConfig {
    OpenAiConfig::new("an invented key")
}

fn cx() -> CallContext {
    TestClock::context()
}

/// A thought and a call, as Responses gives them.
fn called() -> Value {
    json!({
        "id": "resp_1", "object": "response", "status": "completed", "model": "gpt-6-luna",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "area", "arguments": "{\"r\":2}"},
        ],
        "usage": {"input_tokens": 1000, "output_tokens": 100},
    })
}

fn said(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text}]);
    json!({"object": "response", "status": "completed", "output": [{"type": "message", "content": content}]})
}

fn with_tools(model: &str) -> ChatRequest {
    question(model).with_tools([ToolSpec::new("area")])
}

#[tokio::test(start_paused = true)]
async fn tools_beside_thought_go_through_responses_and_the_thought_goes_back() {
    let answers = [called(), said("12.6"), said("12.6")];
    let (driver, transport) = scripted(openai(), answers.map(|body| Answer::json(200, body.to_string())));
    let request = with_tools("gpt-6-luna");
    let first = driver.chat(&cx(), &request).await.unwrap();
    assert_eq!(first.finish.kind, FinishKind::ToolCalls);
    assert!(first.warnings.is_empty(), "{:?}", first.warnings);
    assert!(first.usage.cost.is_some(), "the price of the model is known");

    let next = request
        .with_message(first.to_message())
        .with_message(Message::tool_results([ToolResult::new("call_1", "12.6")]));
    let second = driver.chat(&cx(), &next).await.unwrap();
    assert_eq!(second.text(), "12.6");

    // without tools, and so without need, it still goes where its reasoning was recorded
    let mut last = next
        .with_message(second.to_message())
        .with_message(Message::user("why?"));
    last.tools.clear();
    driver.chat(&cx(), &last).await.unwrap();

    let sent = transport.requests();
    for request in &sent {
        assert!(request.url.ends_with("/v1/responses"), "{}", request.url);
        assert_eq!(request.json().unwrap()["store"], false);
    }
    let items = sent[1].json().unwrap()["input"].clone();
    let thought = json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"});
    assert_eq!(items[1], thought);
    let kinds = ["message", "reasoning", "function_call", "function_call_output"];
    for (item, kind) in items.as_array().unwrap().iter().zip(kinds) {
        assert_eq!(item["type"], kind);
    }
}

#[tokio::test(start_paused = true)]
async fn what_responses_recorded_is_told_as_left_out_where_chat_completions_is_asked_for() {
    let (driver, transport) = scripted(
        openai(),
        [
            Answer::json(200, called().to_string()),
            Answer::json(200, answer(json!({}))),
        ],
    );
    let request = with_tools("gpt-6-luna");
    let first = driver.chat(&cx(), &request).await.unwrap();
    let next = request
        .with_message(first.to_message())
        .with_message(Message::tool_results([ToolResult::new("call_1", "12.6")]))
        .with_reasoning(Reasoning::effort(ReasoningEffort::None));
    let next = OpenAiOptions::default()
        .with_api(ApiChoice::ChatCompletions)
        .apply(next);
    let second = driver.chat(&cx(), &next).await.unwrap();
    assert_eq!(second.text(), "Seven.");
    assert_eq!(second.warnings.len(), 1, "{:?}", second.warnings);
    assert_eq!(second.warnings[0].field, "messages[1].content[0]");
    let sent = &transport.requests()[1];
    assert!(sent.url.ends_with("/v1/chat/completions"), "{}", sent.url);
    let body = sent.json().unwrap().to_string();
    assert!(!body.contains("gAAA") && !body.contains("\"api\""), "{body}");
}

#[tokio::test(start_paused = true)]
async fn what_chat_completions_would_refuse_goes_through_responses() {
    let stream = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n\
                  event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"A report.\"}\n\n\
                  event: response.completed\ndata: {\"type\":\"response.completed\"}\n\n";
    let (driver, transport) = scripted(openai(), [Answer::sse(stream)]);
    let document = DocumentPart::new(MediaSource::url("https://host.example/a.pdf"));
    let request = ChatRequest::new([Message::new(Role::User, vec![ContentPart::Document(document)])])
        .with_model(ModelId::new("gpt-6-luna").unwrap());
    let response = collect(driver.chat_stream(&cx(), &request).await.unwrap())
        .await
        .unwrap();
    assert_eq!(response.text(), "A report.");
    assert!(transport.requests()[0].url.ends_with("/v1/responses"));
    // what neither takes is refused as Chat Completions says it
    let neither = request.with_stop(["END".to_owned()]);
    let error = driver.chat(&cx(), &neither).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    // nor does another host speak Responses without being told
    let (driver, transport) = scripted(OpenAiConfig::compatible("http://127.0.0.1:8080/v1"), []);
    let mut request = neither;
    request.stop.clear();
    assert_eq!(
        driver.chat(&cx(), &request).await.unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(transport.request_count(), 0);
}
