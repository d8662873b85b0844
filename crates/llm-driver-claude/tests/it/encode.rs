//! Snapshots of what is sent for requests that use much of the neutral form, and of what is said about the rest.

use crate::setup::{answer, scripted};
use llm_core::{
    CachePoint, ChatDriver, ChatRequest, ContentPart, DocumentPart, ErrorKind, ImagePart, MediaSource,
    Message, ModelId, Origin, OutputFormat, Reasoning, ReasoningEffort, ReasoningPart, Replay, Role,
    Sampling, ToolCall, ToolChoice, ToolResult, ToolSpec, VendorId,
};
use llm_driver_claude::{ClaudeConfig, ClaudeOptions};
use llm_driver_testkit::TestClock;
use serde_json::{Value, json};

/// Compares what a driver sends, and its warnings, with the snapshot of this name.
async fn check(name: &str, config: ClaudeConfig, request: ChatRequest) {
    let (driver, transport) = scripted(config, [answer()]);
    let response = driver.chat(&TestClock::context(), &request).await.unwrap();
    let sent = transport.requests().remove(0);
    let warnings: Vec<_> = response
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.field, warning.message))
        .collect();
    let version = sent.header("anthropic-version").unwrap_or_default();
    let body: Value = sent.json().unwrap();
    insta::assert_snapshot!(
        name,
        format!("anthropic-version: {version}\n\n{body:#}\n\nwarnings: {warnings:#?}\n")
    );
}

fn anthropic() -> ClaudeConfig {
    ClaudeConfig::new("an invented key")
}

fn local() -> ClaudeConfig {
    ClaudeConfig::compatible("http://127.0.0.1:8080/v1")
}

fn to(model: &str, messages: Vec<Message>) -> ChatRequest {
    ChatRequest::new(messages).with_model(ModelId::new(model).unwrap())
}

/// A conversation with calls, a thought of this vendor and a system message in the middle.
fn conversation() -> Vec<Message> {
    let signed = json!({ "type": "thinking", "thinking": "Pi times four.", "signature": "EqQ=" });
    let thought = |vendor: &'static str| {
        let replay = Replay::new(Origin::new(VendorId::from_static(vendor)), signed.clone());
        ContentPart::Reasoning(ReasoningPart::new("Pi times four.").with_replay(replay))
    };
    vec![
        Message::system("Answer in one sentence."),
        Message::user("What is the area of a circle of radius 2?"),
        Message::new(
            Role::Assistant,
            vec![
                thought("anthropic"),
                ContentPart::text("I will compute it."),
                ContentPart::ToolCall(ToolCall::new("call 1", "area", r#"{"r":2.0}"#)),
                ContentPart::ToolCall(ToolCall::new("call_2", "area", "not an object")),
            ],
        ),
        Message::tool_results([
            ToolResult::new("call 1", "12.566"),
            ToolResult::new("call_2", "r is missing").with_error(),
        ]),
        Message::new(
            Role::Assistant,
            vec![thought("openai"), ContentPart::text("About 12.6.")],
        ),
        Message::system("Now in French."),
        Message::user("And in words?"),
    ]
}

fn area() -> ToolSpec {
    ToolSpec::new("area")
        .with_description("The area of a circle.")
        .with_parameters(
            json!({ "type": "object", "properties": { "r": { "type": "number" } }, "required": ["r"] }),
        )
}

fn all_knobs(request: ChatRequest) -> ChatRequest {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(1.4);
    sampling.top_p = Some(0.9);
    sampling.top_k = Some(40);
    sampling.frequency_penalty = Some(0.1);
    sampling.seed = Some(7);
    request
        .with_sampling(sampling)
        .with_max_output_tokens(300_000)
        .with_stop(["END".to_owned()])
        .with_user("user-7f21")
        .with_service_tier("standard_only")
        .with_tools([area()])
        .with_tool_choice(ToolChoice::Tool("area".to_owned()))
        .with_parallel_tool_calls(false)
}

#[tokio::test(start_paused = true)]
async fn a_small_request_is_sent_small() {
    check("small", anthropic(), ChatRequest::user("hi")).await;
}

#[tokio::test(start_paused = true)]
async fn an_older_model_takes_every_knob() {
    check(
        "haiku_4_5",
        anthropic(),
        all_knobs(to("claude-haiku-4-5", conversation())),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_newest_models_take_few() {
    let request = all_knobs(to("claude-opus-5-5", conversation()));
    let request = request.with_reasoning(Reasoning::effort(ReasoningEffort::XHigh).with_include(true));
    check("opus_5_5", anthropic(), request).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_thinks_between_calls_at_least_says_so() {
    let off = Reasoning::effort(ReasoningEffort::None);
    let request = to("claude-sonnet-5-5", vec![Message::user("hi")]).with_reasoning(off);
    check("sonnet_5_5_off", anthropic(), request).await;
}

#[tokio::test(start_paused = true)]
async fn another_host_gets_a_model_of_which_nothing_is_known() {
    let request = all_knobs(to("some-model", conversation())).with_max_output_tokens(300);
    check("compatible", local(), request).await;
}

#[tokio::test(start_paused = true)]
async fn pictures_documents_marks_and_schemas_are_sent() {
    let parts = vec![
        ContentPart::text("What is new in the report?"),
        ContentPart::CachePoint(CachePoint::default()),
        ContentPart::Image(ImagePart::new(MediaSource::url("https://host.example/a.png"))),
        ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", b"bytes"))),
        ContentPart::Document(
            DocumentPart::new(MediaSource::bytes("application/pdf", b"bytes")).with_name("q3.pdf"),
        ),
    ];
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 1 } } });
    let request = to("claude-opus-5", vec![Message::new(Role::User, parts)])
        .with_output(OutputFormat::json_schema("news", schema));
    let request = ClaudeOptions::default()
        .with_automatic_cache()
        .with_task_budget(json!({ "type": "tokens", "total": 9_000 }))
        .apply(request);
    check("media_and_schema", anthropic(), request).await;
}

#[tokio::test(start_paused = true)]
async fn what_would_change_the_meaning_is_refused() {
    let hi = || to("claude-opus-5-5", vec![Message::user("hi")]);
    let open = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    for request in [
        hi().with_output(OutputFormat::Json),
        hi().with_output(OutputFormat::json_schema("open", open)),
        hi().with_stop(["  ".to_owned()]),
    ] {
        let (driver, transport) = scripted(anthropic(), []);
        let error = driver.chat(&TestClock::context(), &request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert_eq!(transport.request_count(), 0);
    }
}
