//! A demanding request, and what a driver makes of it: for snapshots.

use crate::answer::Answer;
use crate::clock::TestClock;
use crate::scripted::ScriptedTransport;
use llm_core::{
    ChatDriver, ChatRequest, ContentPart, Message, Origin, ReasoningPart, Replay, Result, Role, Sampling,
    ToolCall, ToolResult, ToolSpec, VendorId,
};
use serde_json::{Value, json};

/// A conversation with everything that histories hold: instructions at two places, names, thoughts of this vendor
/// (`own` is what it wants back) and of another, calls with foreign ids and broken arguments, a failed result.
pub fn demanding_messages(vendor: &VendorId, own: Value) -> Vec<Message> {
    let thought = |vendor: VendorId, data| {
        let replay = Replay::new(Origin::new(vendor), data);
        ContentPart::Reasoning(ReasoningPart::new("a thought").with_replay(replay))
    };
    vec![
        Message::system("Answer in one sentence."),
        Message::user("What is the area of a circle of radius 2?").with_name("ada"),
        Message::new(
            Role::Assistant,
            vec![
                thought(VendorId::from_static("another"), json!({ "signature": "s" })),
                thought(vendor.clone(), own),
                ContentPart::text("I will compute it."),
                ContentPart::ToolCall(ToolCall::new("call_1", "area", r#"{"r":2}"#)),
                ContentPart::ToolCall(ToolCall::new("call_2", "area", "not an object")),
            ],
        ),
        Message::tool_results([
            ToolResult::new("call_1", "12.566").with_name("area"),
            ToolResult::new("call_2", "r is missing").with_error(),
        ]),
        Message::system("Use words for numbers."),
        Message::user("And in words?"),
        Message::assistant("Twelve and a half."),
        Message::user("More exactly?"),
    ]
}

/// A request with these messages, a tool and every knob for how an answer is drawn.
pub fn demanding_request(messages: Vec<Message>) -> ChatRequest {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.2);
    sampling.top_p = Some(0.9);
    sampling.top_k = Some(40);
    sampling.frequency_penalty = Some(0.1);
    sampling.presence_penalty = Some(-0.1);
    sampling.seed = Some(7);
    let area = ToolSpec::new("area")
        .with_description("The area of a circle.")
        .with_parameters(json!({
            "type": "object",
            "properties": { "r": { "type": "number" } },
            "required": ["r"],
        }));
    ChatRequest::new(messages)
        .with_sampling(sampling)
        .with_tools([area, ToolSpec::new("now")])
        .with_max_output_tokens(300)
        .with_stop(["END".to_owned()])
        .with_user("user-7f21")
        .with_service_tier("flex")
}

/// Sends a request and shows the body that went out and the warnings that came back, as text.
///
/// # Errors
/// Whatever the call fails with.
pub async fn shown(
    driver: &dyn ChatDriver,
    transport: &ScriptedTransport,
    answer: Answer,
    request: &ChatRequest,
) -> Result<String> {
    transport.set_answers([answer]);
    let response = driver.chat(&TestClock::context(), request).await?;
    let sent = transport.requests();
    let body = sent.last().and_then(|sent| sent.json().ok()).unwrap_or_default();
    let warnings = response.warnings.iter();
    let warnings: Vec<_> = warnings
        .map(|warning| format!("{}: {}", warning.field, warning.message))
        .collect();
    Ok(format!("{body:#}\n\nwarnings: {warnings:#?}\n"))
}
