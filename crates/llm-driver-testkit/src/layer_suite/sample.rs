//! What goes through a layer: requests, answers with everything in them, and every sort of error.

use crate::scripted::{Reply, Step};
use llm_core::chat::AudioPart;
use llm_core::{
    Attempt, Block, ChatEvent, ChatRequest, ChatResponse, ContentPart, Error, ErrorKind, FinishKind,
    FinishReason, IncompleteToolCall, MediaSource, Message, OpaquePart, Origin, Phase, RawFrame,
    ReasoningPart, RefusalPart, Rejection, Replay, ResponseMeta, Role, Scope, Skip, TextPart, ToolCall,
    UnavailableReason, Usage, VendorId, Warning,
};
use serde_json::json;
use std::time::Duration;

pub(super) const SECOND: Duration = Duration::from_secs(1);

const VENDOR: VendorId = VendorId::from_static("inner");

/// A request with something of everything.
pub(super) fn request() -> ChatRequest {
    let request = crate::demanding_request(crate::demanding_messages(&VENDOR, json!({ "signature": "s1" })));
    let sound = ContentPart::Audio(AudioPart::new(MediaSource::bytes(
        "audio/wav",
        b"not listened to",
    )));
    request
        .with_message(Message::new(Role::User, vec![sound]))
        .with_vendor_option(VENDOR, "verbosity", json!("low"))
}

/// A response with a block of every sort.
pub(super) fn response() -> ChatResponse {
    let replay = || Replay::new(Origin::new(VENDOR), json!({ "signature": "s2" }));
    let mut meta = ResponseMeta::default();
    meta.id = Some("answer-1".to_owned());
    meta.model = Some("served-model".to_owned());
    meta.request_id = Some("req-1".to_owned());
    meta.service_tier = Some("flex".to_owned());
    let mut response = ChatResponse::new(meta);
    response.blocks = vec![
        Block::Reasoning(ReasoningPart::new("I should look.").with_replay(replay())),
        Block::Text(TextPart::new("Let me look.").with_replay(replay())),
        Block::ToolCall(ToolCall::new("call_9", "area", r#"{"r":2}"#).with_replay(replay())),
        Block::Refusal(RefusalPart::new("Not that.")),
        Block::Opaque(OpaquePart::new("redacted", replay())),
    ];
    response.incomplete_tool_calls = vec![IncompleteToolCall::new("call_10", "area", r#"{"r":"#)];
    response.finish = FinishReason::new(FinishKind::Length, Some("max_tokens".to_owned()));
    let mut usage = Usage::new(100, 20);
    usage.cached_input_tokens = Some(60);
    usage.reasoning_tokens = Some(7);
    response.usage = usage;
    response.warnings = vec![
        Warning::option("top_k", "is not sent"),
        Warning::wire("x", "is no number"),
    ];
    response.metadata.set(VENDOR, "fingerprint", json!("fp-1"));
    response
}

/// Answers of every shape.
pub(super) fn answers() -> Vec<Reply> {
    let mut steps = vec![
        Step::Event(ChatEvent::Start(Box::default())),
        Step::Event(ChatEvent::KeepAlive),
        Step::Event(ChatEvent::Usage(Usage::new(100, 0))),
    ];
    steps.extend(
        llm_core::stream::events_of(response())
            .into_iter()
            .filter(|event| !matches!(event, ChatEvent::Start(_)))
            .flat_map(|event| [Step::Event(ChatEvent::KeepAlive), Step::Event(event)]),
    );
    // Nothing may follow the last event.
    let finish = steps.len() - 1;
    steps.swap(finish, finish - 1);
    steps.truncate(finish);
    let keeps_alive = Reply::steps(steps);
    vec![
        Reply::text("hello"),
        Reply::text(""),
        Reply::text("hello")
            .with_pause(3 * SECOND)
            .with_event_pause(3 * SECOND),
        Reply::response(response()),
        Reply::response(response()).with_event_pause(SECOND),
        keeps_alive,
    ]
}

/// Events of raw mode.
pub(super) fn raw_events() -> Vec<ChatEvent> {
    let frame = |bytes: &'static [u8], content| ChatEvent::Raw(RawFrame::new(bytes.into(), content));
    vec![
        ChatEvent::Start(Box::default()),
        frame(b": hi\n\n", false),
        frame(b"data: {\"a\":1}\n\n", true),
        ChatEvent::Usage(Usage::new(3, 1)),
        ChatEvent::Finish {
            reason: FinishReason::new(FinishKind::Stop, Some("stop".to_owned())),
            usage: Usage::new(3, 1),
        },
    ]
}

/// Errors of every kind, in every scope, with everything that can stand in one.
pub(super) fn errors() -> Vec<Error> {
    let mut errors = Vec::new();
    for kind in ErrorKind::ALL {
        errors.push(Error::new(kind, "scripted"));
        for scope in [Scope::Request, Scope::Model, Scope::Credential, Scope::Vendor] {
            let error = Error::new(kind, "scripted")
                .with_scope(scope)
                .with_phase(Phase::Sent)
                .with_retry_after(7 * SECOND);
            errors.push(error);
        }
    }
    let mut told = Error::new(ErrorKind::RateLimit, "too many requests")
        .with_retry_after(SECOND)
        .with_status(418)
        .with_source(std::io::Error::other("beneath"));
    let facts = told.vendor_mut();
    facts.status = Some(429);
    facts.code = Some("rate_limit_exceeded".to_owned());
    facts.param = Some("messages".to_owned());
    facts.request_id = Some("req-2".to_owned());
    facts.body = Some("the vendor's words".into());
    let tried = Attempt::failed("other", None, SECOND, &told).with_wait(SECOND);
    errors.push(
        told.clone()
            .with_attempts(vec![tried])
            .with_skipped(vec![Skip::new("third", UnavailableReason::Quota, Some(SECOND))])
            .with_exhausted(),
    );
    errors.push(told);
    errors.push(Error::rejected(Rejection::Budget, "spent"));
    errors
}
