//! Snapshots of what is sent for requests that use much of the neutral form, and of what is said about the rest.

use crate::setup::{answer, scripted};
use llm_core::{
    CachePoint, ChatDriver, ChatRequest, ContentPart, DocumentPart, ErrorKind, ImageDetail, ImagePart,
    MediaSource, Message, ModelId, Origin, OutputFormat, Reasoning, ReasoningEffort, ReasoningPart, Replay,
    Role, Sampling, ToolCall, ToolChoice, ToolResult, ToolSpec, VendorId,
};
use llm_driver_openai::{ApiChoice, OpenAiConfig, OpenAiOptions, Verbosity};
use llm_driver_testkit::{Answer, TestClock};
use serde_json::{Value, json};

/// Compares what a driver sends, and its warnings, with the snapshot of this name.
async fn check(name: &str, config: OpenAiConfig, request: ChatRequest) {
    let (driver, transport) = scripted(config, [Answer::json(200, answer(json!({})))]);
    let response = driver.chat(&TestClock::context(), &request).await.unwrap();
    let sent = transport.requests().remove(0);
    let warnings = response.warnings.iter();
    let warnings: Vec<_> = warnings
        .map(|warning| format!("{}: {}", warning.field, warning.message))
        .collect();
    let body: Value = sent.json().unwrap();
    let shown = format!("{:#}\n\nwarnings: {warnings:#?}\n", body);
    insta::assert_snapshot!(name, shown);
}

/// Before OpenAI, with Chat Completions alone.
fn openai() -> OpenAiConfig {
    OpenAiConfig::new("an invented key").with_api(ApiChoice::ChatCompletions)
}

fn local() -> OpenAiConfig {
    OpenAiConfig::compatible("http://127.0.0.1:8080/v1")
}

fn to(model: &str, messages: Vec<Message>) -> ChatRequest {
    ChatRequest::new(messages).with_model(ModelId::new(model).unwrap())
}

fn conversation() -> Vec<Message> {
    vec![
        Message::system("Answer in one sentence."),
        Message::user("What is the area of a circle of radius 2?").with_name("ada"),
        Message::new(
            Role::Assistant,
            vec![
                ContentPart::text("I will compute it."),
                ContentPart::ToolCall(ToolCall::new("call_1", "area", r#"{"r":2}"#)),
                ContentPart::ToolCall(ToolCall::new("call_2", "area", "not an object")),
            ],
        ),
        Message::tool_results([
            ToolResult::new("call_1", "12.566"),
            ToolResult::new("call_2", "r is missing").with_error(),
        ]),
        Message::user("And in words?"),
    ]
}

fn area() -> ToolSpec {
    ToolSpec::new("area")
        .with_description("The area of a circle.")
        .with_parameters(json!({
            "type": "object",
            "properties": { "r": { "type": "number" } },
            "required": ["r"],
            "additionalProperties": false,
        }))
        .with_strict(true)
}

fn all_knobs(request: ChatRequest) -> ChatRequest {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.2);
    sampling.top_p = Some(0.9);
    sampling.top_k = Some(40);
    sampling.frequency_penalty = Some(0.1);
    sampling.presence_penalty = Some(-0.1);
    sampling.seed = Some(7);
    request
        .with_sampling(sampling)
        .with_max_output_tokens(300)
        .with_user("user-7f21")
        .with_service_tier("flex")
}

#[tokio::test(start_paused = true)]
async fn a_small_request_is_sent_small() {
    check("small", openai(), ChatRequest::user("hi")).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_without_reasoning_takes_every_knob() {
    let request = all_knobs(to("gpt-4o", conversation()))
        .with_tools([area()])
        .with_tool_choice(ToolChoice::Tool("area".to_owned()))
        .with_parallel_tool_calls(false)
        .with_stop(["END".to_owned()]);
    check("gpt_4o", openai(), request).await;
}

#[tokio::test(start_paused = true)]
async fn a_reasoning_model_takes_few() {
    let request =
        all_knobs(to("gpt-6-luna", conversation())).with_reasoning(Reasoning::effort(ReasoningEffort::Max));
    check("gpt_6_luna", openai(), request).await;
}

#[tokio::test(start_paused = true)]
async fn a_reasoning_model_with_tools_stops_thinking() {
    let request = all_knobs(to("gpt-6-luna", conversation())).with_tools([area()]);
    check("gpt_6_luna_tools", openai(), request).await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_always_thinks_gets_its_lowest_effort() {
    let request =
        to("gpt-6-astra", vec![Message::user("hi")]).with_reasoning(Reasoning::effort(ReasoningEffort::None));
    check("gpt_6_astra", openai(), request.with_temperature(0.0)).await;
}

#[tokio::test(start_paused = true)]
async fn another_host_gets_what_nearly_all_understand() {
    let request = all_knobs(to("some-model", conversation()))
        .with_tools([area()])
        .with_tool_choice(ToolChoice::Required)
        .with_reasoning(Reasoning::effort(ReasoningEffort::Low).with_include(true));
    check("compatible", local(), request).await;
}

#[tokio::test(start_paused = true)]
async fn pictures_files_and_schemas_are_sent() {
    let parts = vec![
        ContentPart::text("What is new in the report?"),
        ContentPart::CachePoint(CachePoint::default()),
        ContentPart::Image(
            ImagePart::new(MediaSource::url("https://host.example/a.png")).with_detail(ImageDetail::High),
        ),
        ContentPart::Image(ImagePart::new(MediaSource::bytes("image/png", b"bytes"))),
        ContentPart::Document(
            DocumentPart::new(MediaSource::bytes("application/pdf", b"bytes")).with_name("q3.pdf"),
        ),
    ];
    let schema = json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false });
    let request = to("gpt-6-luna", vec![Message::new(Role::User, parts)])
        .with_output(OutputFormat::json_schema("news", schema));
    let request = OpenAiOptions::default()
        .with_verbosity(Verbosity::Low)
        .with_prompt_cache_key("reports")
        .with_metadata("team", "blue")
        .apply(request);
    check("media_and_schema", openai(), request).await;
}

#[tokio::test(start_paused = true)]
async fn reasoning_goes_back_to_where_it_came_from_and_nowhere_else() {
    let thought = |vendor: &'static str| {
        let origin = Origin::new(VendorId::from_static(vendor));
        let replay = Replay::new(
            origin,
            json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "x" }] }),
        );
        ContentPart::Reasoning(ReasoningPart::new("a thought").with_replay(replay))
    };
    let turn = |vendor| Message::new(Role::Assistant, vec![thought(vendor), ContentPart::text("Hm.")]);
    let messages = vec![
        Message::user("hi"),
        turn("acme"),
        Message::user("and?"),
        turn("openai"),
        Message::user("so?"),
    ];
    check("replay_openai", openai(), to("gpt-4o", messages.clone())).await;
    let acme = local().with_identity(llm_driver_openai::DRIVER_ID, VendorId::from_static("acme"));
    check("replay_acme", acme, to("some-model", messages)).await;
}

#[tokio::test(start_paused = true)]
async fn what_would_change_the_meaning_is_refused() {
    let refused = [
        to("gpt-6-luna", vec![Message::user("hi")]).with_stop(["END".to_owned()]),
        to("gpt-6-luna", vec![Message::user("hi")])
            .with_tools([area()])
            .with_reasoning(Reasoning::effort(ReasoningEffort::High)),
        to("gpt-6-astra", vec![Message::user("hi")]).with_tools([area()]),
        to("gpt-4", vec![Message::user("hi")]).with_output(OutputFormat::json_schema("x", json!({}))),
    ];
    for request in refused {
        let (driver, transport) = scripted(openai(), []);
        let error = driver.chat(&TestClock::context(), &request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert_eq!(transport.request_count(), 0);
    }
}
