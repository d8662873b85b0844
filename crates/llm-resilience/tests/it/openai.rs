//! The layers around a real driver on scripted bytes: what a first event and a gap are on the wire.

use crate::{SECOND, read, request, text, timed};
use llm_core::{ErrorKind, ModelId, Scope, Stack};
use llm_driver_openai::{OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Answer, End, Piece, ScriptedTransport, TestClock};
use llm_resilience::{RetryLayer, TimeoutLayer, TimeoutPolicy};
use std::sync::Arc;

const FIRST: &str = r#"{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
const HALF: &str = r#"{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m1","choices":[{"index":0,"delta":{"content":"half"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn data(payload: &str) -> Piece {
    Piece::from(format!("data: {payload}\n\n"))
}

fn sse(pieces: impl IntoIterator<Item = Piece>) -> Answer {
    Answer::sse("").with_pieces(pieces)
}

/// The driver with its limits, 30 s for the first event and 20 s for gaps, and what it sends over.
fn limited(answers: impl IntoIterator<Item = Answer>) -> (Stack, Arc<ScriptedTransport>) {
    let transport = Arc::new(ScriptedTransport::new(answers));
    let config = OpenAiConfig::compatible("http://vendor.test/v1")
        .with_default_model(ModelId::new("m1").unwrap())
        .with_idempotency_header("idempotency-key");
    let driver = OpenAiDriver::with_transport(config, transport.clone()).unwrap();
    let policy = TimeoutPolicy::default()
        .with_first_event(SECOND * 30)
        .with_idle(SECOND * 20);
    let stack = Stack::new(driver).layer(TimeoutLayer::attempt(policy));
    (stack, transport)
}

#[tokio::test(start_paused = true)]
async fn neither_headers_nor_comments_are_a_first_event() {
    let comment = [Piece::Delay(SECOND * 7), Piece::from(": processing\n\n")];
    let chatty = sse(std::iter::repeat_n(comment, 9).flatten());
    for answer in [sse([Piece::Hang]), chatty, Answer::silent()] {
        let (stack, _) = limited([answer]);
        let cx = TestClock::context();
        let ended = async {
            read(stack.chat_stream(&cx, &request()).await?)
                .await
                .1
                .map_or(Ok(()), Err)
        };
        let (outcome, took) = timed(&cx, ended).await;
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.scope()), (ErrorKind::Timeout, Scope::Vendor));
        assert_eq!(took, SECOND * 30);
    }
}

#[tokio::test(start_paused = true)]
async fn comments_inside_a_stream_are_proof_of_life_and_silence_is_not() {
    let comment = [Piece::Delay(SECOND * 19), Piece::from(": ping\n\n")];
    let mut pieces = vec![data(FIRST)];
    pieces.extend(std::iter::repeat_n(comment, 20).flatten());
    pieces.extend([data(HALF), Piece::Hang]);
    let (stack, _) = limited([sse(pieces).with_header("x-request-id", "req-1")]);
    let cx = TestClock::context();
    let stream = stack.chat_stream(&cx, &request()).await.unwrap();
    let ((events, error), took) = timed(&cx, read(stream)).await;
    assert_eq!(
        (text(&events), took),
        ("half".to_owned(), SECOND * (19 * 20 + 20))
    );
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(
        error.vendor().request_id.as_deref(),
        Some("req-1"),
        "to quote to the vendor"
    );
}

#[tokio::test(start_paused = true)]
async fn retries_send_one_key_and_stop_at_the_first_content() {
    let done = || [data(FIRST), data(HALF), data(STOP), data("[DONE]")];
    let busy = Answer::json(503, r#"{"error":{"message":"busy"}}"#);
    let overloaded = sse([data(r#"{"error":{"message":"busy","type":"overloaded_error"}}"#)]);
    let cut = || sse([data(FIRST), data(HALF)]).with_end(End::Reset);
    let (stack, transport) = limited([busy, overloaded, sse(done()), cut(), sse(done())]);
    let stack = stack.layer(RetryLayer::default());

    let stream = stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap();
    let (events, error) = read(stream).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(text(&events), "half");
    let keys: Vec<_> = transport
        .requests()
        .iter()
        .map(|request| request.header("idempotency-key").unwrap().to_owned())
        .collect();
    assert_eq!((keys.len(), keys.iter().all(|key| *key == keys[0])), (3, true));

    let stream = stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap();
    let (events, error) = read(stream).await;
    assert_eq!(text(&events), "half");
    assert_eq!(error.unwrap().attempts().len(), 1);
    assert_eq!(
        transport.request_count(),
        4,
        "nothing is asked again after content"
    );
}
