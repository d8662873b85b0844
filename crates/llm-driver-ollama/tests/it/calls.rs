//! What is this driver's own: prices of one's own machine, what the server says of its models, thoughts between tags.

use llm_core::{
    Capability, ChatDriver, ChatDriverExt, ChatRequest, ContentPart, ErrorKind, ImagePart, MediaSource,
    Message, ModelCatalog, ModelEntry, ModelId, Reasoning, ResolvedModel, Role, Support,
};
use llm_driver_ollama::{OllamaConfig, OllamaDriver};
use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
use std::sync::Arc;

const ANSWER: &str = r#"{"model":"qwen4:8b","message":{"role":"assistant","content":"Seven."},"done":true,"done_reason":"stop","prompt_eval_count":20,"eval_count":5}"#;
const TAGS: &str = r#"{"models":[{"name":"qwen4:8b"},{"name":"old"}]}"#;
const CARD: &str = r#"{"capabilities":["completion","tools"],"model_info":{"general.architecture":"qwen4","qwen4.context_length":40960}}"#;

fn scripted(
    config: OllamaConfig,
    answers: impl IntoIterator<Item = Answer>,
) -> (OllamaDriver, Arc<ScriptedTransport>) {
    let transport = Arc::new(ScriptedTransport::new(answers));
    let driver = OllamaDriver::with_transport(config, transport.clone()).unwrap();
    (driver, transport)
}

fn resolve(driver: &OllamaDriver, name: &str) -> Arc<ResolvedModel> {
    driver.resolve(Some(&ModelId::new(name).unwrap())).unwrap()
}

fn picture(model: &str) -> ChatRequest {
    let picture = ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", b"bytes")));
    ChatRequest::new([Message::new(Role::User, vec![picture])]).with_model(ModelId::new(model).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_model_of_ones_own_machine_answers_for_nothing() {
    let (driver, transport) = scripted(OllamaConfig::default(), [Answer::json(200, ANSWER)]);
    let response = driver
        .ask(&TestClock::context(), "qwen4:8b", "How many?")
        .await
        .unwrap();
    assert_eq!(response.text(), "Seven.");
    assert_eq!(transport.requests()[0].url, "http://127.0.0.1:11434/api/chat");
    assert_eq!(transport.requests()[0].header("authorization"), None);
    assert!(resolve(&driver, "qwen4:8b").price.is_some());
    assert!(resolve(&driver, "big:cloud").price.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_server_says_what_its_models_can_do() {
    let (driver, transport) = scripted(
        OllamaConfig::default(),
        [
            Answer::json(200, TAGS),
            Answer::json(200, CARD),
            Answer::json(404, r#"{"error":"model \"old\" not found"}"#),
        ],
    );
    let cx = TestClock::context();
    let before = resolve(&driver, "qwen4:8b");
    assert!(!before.known && before.capabilities.support(Capability::Vision) == Support::Unknown);
    driver.refresh(&cx).await.unwrap();
    let paths: Vec<_> = transport
        .requests()
        .iter()
        .map(|sent| sent.path().to_owned())
        .collect();
    assert_eq!(paths, ["/api/tags", "/api/show", "/api/show"]);
    assert_eq!(
        transport.requests()[1].json().unwrap(),
        serde_json::json!({ "model": "qwen4:8b" })
    );

    let model = resolve(&driver, "qwen4:8b");
    assert!(model.known && model.price.is_some());
    assert_eq!(model.limits.context_window, Some(40_960));
    assert_eq!(model.capabilities.support(Capability::Tools), Support::Yes);
    assert_eq!(model.capabilities.support(Capability::Vision), Support::No);
    // One that says nothing of itself is there all the same.
    let silent = resolve(&driver, "old");
    assert!(silent.known && silent.capabilities.support(Capability::Vision) == Support::Unknown);

    // What it cannot do is refused before anything is sent; what nobody knows is left to the server.
    let refused = driver.chat(&cx, &picture("qwen4:8b")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert_eq!(transport.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_callers_facts_win_over_the_servers() {
    let entry = ModelEntry::default().with_capability(Capability::Vision, true);
    let config = OllamaConfig::default().with_model(ModelId::new("qwen4:8b").unwrap(), entry);
    let (driver, _) = scripted(
        config,
        [
            Answer::json(200, TAGS),
            Answer::json(200, CARD),
            Answer::json(200, CARD),
        ],
    );
    driver.refresh(&TestClock::context()).await.unwrap();
    let model = resolve(&driver, "qwen4:8b");
    assert_eq!(model.capabilities.support(Capability::Vision), Support::Yes);
    assert_eq!(model.limits.context_window, Some(40_960));
}

#[tokio::test(start_paused = true)]
async fn thoughts_between_tags_are_split_off_where_that_is_asked_for() {
    let body = ANSWER.replace("Seven.", "<think>Three and four.</think>Seven.");
    for extract in [true, false] {
        let config = OllamaConfig::default().with_extract_think_tags(extract);
        let (driver, _) = scripted(config, [Answer::json(200, body.clone())]);
        let request = ChatRequest::user("How many?")
            .with_model(ModelId::new("qwen4:8b").unwrap())
            .with_reasoning(Reasoning::default().with_include(true));
        let response = driver.chat(&TestClock::context(), &request).await.unwrap();
        assert_eq!(response.text() == "Seven.", extract, "{response:?}");
    }
}
