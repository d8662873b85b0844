//! What a call's span says.

use crate::{SECOND, error, read, request};
use llm_core::{
    Block, CallContext, ChatResponse, ContentPart, DriverId, DriverInfo, ErrorKind, FinishKind, FinishReason,
    MediaSource, Message, ModelId, ResponseMeta, Stack, TextPart, ToolCall, Usage, VendorId,
};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{BulkheadLayer, BulkheadPolicy, RetryLayer, RetryPolicy, TraceLayer, TracePolicy};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

type Fields = BTreeMap<String, String>;

/// Keeps the spans of the trace layer, and the events that fell into them.
#[derive(Debug, Clone, Default)]
struct Spans(Arc<Mutex<Vec<(Id, Seen)>>>);

#[derive(Debug, Clone, Default)]
struct Seen {
    fields: Fields,
    events: Vec<String>,
    is_over: bool,
}

impl Seen {
    fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }
}

struct Visitor<'a>(&'a mut Fields);

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Spans {
    fn listen() -> (Self, DefaultGuard) {
        let spans = Spans::default();
        let subscriber = tracing_subscriber::registry().with(spans.clone());
        (spans, tracing::subscriber::set_default(subscriber))
    }

    fn change(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        let mut spans = self.0.lock().unwrap();
        if let Some((_, seen)) = spans.iter_mut().rfind(|(found, _)| found == id) {
            change(seen);
        }
    }

    /// The one span that there was.
    fn only(&self) -> Seen {
        let spans = self.0.lock().unwrap();
        assert_eq!(spans.len(), 1, "{spans:?}");
        spans[0].1.clone()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, span: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        if span.metadata().target() == "llm_resilience::trace" {
            let mut seen = Seen::default();
            span.record(&mut Visitor(&mut seen.fields));
            self.0.lock().unwrap().push((id.clone(), seen));
        }
    }
    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.change(id, |seen| values.record(&mut Visitor(&mut seen.fields)));
    }
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut Visitor(&mut fields));
        if let Some(span) = context.event_span(event) {
            let message = fields.remove("message").unwrap_or_default();
            self.change(&span.id(), |seen| seen.events.push(message));
        }
    }
    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.change(&id, |seen| seen.is_over = true);
    }
}

fn answer() -> ChatResponse {
    let mut meta = ResponseMeta::new(DriverId::from_static("alpha"), None);
    meta.id = Some("answer-1".into());
    meta.model = Some("m1-2026".into());
    let mut response = ChatResponse::new(meta);
    response.blocks = vec![
        Block::Text(TextPart::new("the secret plan")),
        Block::ToolCall(ToolCall::new("c1", "look_up", r#"{"who":"me"}"#)),
    ];
    response.finish = FinishReason::new(FinishKind::ToolCalls, "tool_use".to_owned());
    response.usage = Usage::new(30, 12);
    response.usage.cached_input_tokens = Some(10);
    response
}

fn driver(replies: impl IntoIterator<Item = Reply>) -> ScriptedDriver {
    let id = DriverId::from_static("alpha");
    let info = DriverInfo::new(id, VendorId::from_static("mistral"), "Alpha")
        .with_base_url("https://someone:s3cret@api.vendor.test:8443/v1?key=s3cret");
    ScriptedDriver::new("alpha", replies).with_info(info)
}

fn traced(replies: impl IntoIterator<Item = Reply>) -> Stack {
    Stack::new(driver(replies)).layer(TraceLayer::default())
}

fn cx() -> CallContext {
    TestClock::context().with_request_id("call-7")
}

/// What both kinds of calls show of the same answer.
fn expect_answer(seen: &Seen, streamed: bool) {
    for (field, value) in [
        ("otel.name", "chat m1"),
        ("otel.kind", "client"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "mistral_ai"),
        ("gen_ai.request.model", "m1"),
        ("gen_ai.response.id", "answer-1"),
        ("gen_ai.response.model", "m1-2026"),
        ("gen_ai.response.finish_reasons", r#"["tool_calls"]"#),
        ("gen_ai.usage.input_tokens", "30"),
        ("gen_ai.usage.output_tokens", "12"),
        ("gen_ai.usage.cache_read.input_tokens", "10"),
        ("server.address", "api.vendor.test"),
        ("server.port", "8443"),
        ("llm_router.driver", "alpha"),
        ("llm_router.request_id", "call-7"),
        ("llm_router.stream", if streamed { "true" } else { "false" }),
        ("llm_router.from_cache", "false"),
        ("llm_router.outcome", "finished"),
    ] {
        assert_eq!(seen.get(field), Some(value), "{field} of {seen:?}");
    }
    // Of which nothing is known: absent, not zero.
    for field in [
        "error.type",
        "otel.status_code",
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.request.temperature",
        "llm_router.cost_pico_usd",
        "llm_router.attempts",
        "llm_router.queue_wait_ms",
    ] {
        assert_eq!(seen.get(field), None, "{field}");
    }
    let all = format!("{seen:?}");
    assert!(
        !all.contains("s3cret") && !all.contains("secret plan") && !all.contains("hi"),
        "{all}"
    );
    assert!(seen.is_over);
}

#[tokio::test(start_paused = true)]
async fn a_plain_call_and_a_stream_are_one_span_each_with_the_same_facts() {
    for streamed in [false, true] {
        let (spans, _guard) = Spans::listen();
        let stack = traced([Reply::response(answer()).with_pause(SECOND)]);
        let request = llm_core::ChatRequest::user("say nothing").with_model(ModelId::new("m1").unwrap());
        if streamed {
            let stream = stack.chat_stream(&cx(), &request).await.unwrap();
            assert!(!spans.only().is_over);
            let (events, error) = read(stream).await;
            assert!(!events.is_empty() && error.is_none());
            assert_eq!(spans.only().get("llm_router.first_content_ms"), Some("1000"));
        } else {
            stack.chat(&cx(), &request).await.unwrap();
        }
        expect_answer(&spans.only(), streamed);
    }
}

#[tokio::test(start_paused = true)]
async fn content_is_shown_to_who_asked_for_it_and_files_are_only_named() {
    for streamed in [false, true] {
        let (spans, _guard) = Spans::listen();
        let layer = TraceLayer::new(TracePolicy::default().with_content(true));
        let stack = Stack::new(driver([Reply::response(answer())])).layer(layer);
        let picture = ContentPart::Image(llm_core::ImagePart::new(MediaSource::bytes(
            "image/png",
            b"pixels",
        )));
        let message = Message::new(llm_core::Role::User, vec!["look".into(), picture]);
        let request = llm_core::ChatRequest::new([message]);
        if streamed {
            read(stack.chat_stream(&cx(), &request).await.unwrap()).await;
        } else {
            stack.chat(&cx(), &request).await.unwrap();
        }
        let seen = spans.only();
        let json =
            |field: &str| -> serde_json::Value { serde_json::from_str(seen.get(field).unwrap()).unwrap() };
        assert_eq!(
            json("gen_ai.input.messages"),
            serde_json::json!([{
                "role": "user",
                "parts": [{ "type": "text", "content": "look" }, { "type": "image" }],
            }])
        );
        assert_eq!(
            json("gen_ai.output.messages"),
            serde_json::json!([{
                "role": "assistant",
                "parts": [
                    { "type": "text", "content": "the secret plan" },
                    { "type": "tool_call", "id": "c1", "name": "look_up", "arguments": r#"{"who":"me"}"# },
                ],
                "finish_reason": "tool_calls",
            }])
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_by_its_kind_and_never_by_its_words() {
    let mut down = error(ErrorKind::Server);
    down.vendor_mut().status = Some(503);
    for streamed in [false, true] {
        let (spans, _guard) = Spans::listen();
        let stack = if streamed {
            traced([Reply::response(answer()).broken_after(2, down.clone())])
        } else {
            traced([Reply::error(down.clone())])
        };
        if streamed {
            let (_, error) = read(stack.chat_stream(&cx(), &request()).await.unwrap()).await;
            assert_eq!(error.unwrap().kind(), ErrorKind::Server);
        } else {
            stack.chat(&cx(), &request()).await.unwrap_err();
        }
        let seen = spans.only();
        assert_eq!(seen.get("error.type"), Some("server"));
        assert_eq!(seen.get("http.response.status_code"), Some("503"));
        assert_eq!(seen.get("otel.status_code"), Some("ERROR"));
        assert_eq!(seen.get("llm_router.outcome"), Some("failed"));
        assert_eq!(seen.get("otel.name"), Some("chat"));
        assert!(!format!("{seen:?}").contains("scripted") && seen.is_over);
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_and_their_pauses_are_counted_and_what_layers_log_stands_in_the_span() {
    let (spans, _guard) = Spans::listen();
    let limited = error(ErrorKind::RateLimit).with_retry_after(SECOND * 2);
    let policy = RetryPolicy::new(2).with_backoff(std::time::Duration::ZERO, std::time::Duration::ZERO);
    let stack = Stack::new(driver([Reply::error(limited), Reply::text("there")]))
        .layer(RetryLayer::new(policy))
        .layer(TraceLayer::default());
    read(stack.chat_stream(&cx(), &request()).await.unwrap()).await;
    let seen = spans.only();
    assert_eq!(seen.get("llm_router.attempts"), Some("2"));
    assert_eq!(seen.get("llm_router.wait_ms"), Some("2000"));
    assert_eq!(seen.events, ["retrying"]);
}

#[tokio::test(start_paused = true)]
async fn time_in_a_queue_is_told() {
    let (spans, _guard) = Spans::listen();
    let stack = Stack::new(driver([
        Reply::text("one").with_pause(SECOND * 3),
        Reply::text("two"),
    ]))
    .layer(BulkheadLayer::new(BulkheadPolicy::new(1)))
    .layer(TraceLayer::default());
    let (context, request) = (cx(), request());
    let (one, two) = tokio::join!(stack.chat(&context, &request), stack.chat(&context, &request));
    one.unwrap();
    two.unwrap();
    let waits: Vec<Option<String>> = {
        let spans = spans.0.lock().unwrap();
        let wait = |seen: &Seen| seen.get("llm_router.queue_wait_ms").map(str::to_owned);
        spans.iter().map(|(_, seen)| wait(seen)).collect()
    };
    assert_eq!(waits, [None, Some("3000".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn what_its_caller_drops_is_told_as_dropped() {
    let (spans, _guard) = Spans::listen();
    let stack = traced([Reply::hang(), Reply::response(answer()).hanging_after(2)]);
    assert!(
        tokio::time::timeout(SECOND, stack.chat(&cx(), &request()))
            .await
            .is_err()
    );
    let stream = stack.chat_stream(&cx(), &request()).await.unwrap();
    drop(stream);
    let spans = spans.0.lock().unwrap();
    assert_eq!(spans.len(), 2);
    for (_, seen) in &*spans {
        assert!(seen.is_over);
        assert_eq!(seen.get("llm_router.outcome"), Some("dropped"));
    }
}
