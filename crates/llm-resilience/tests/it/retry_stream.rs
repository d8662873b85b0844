//! Streams through the retry layer: before the commit point nobody notices, after it everybody does.

use crate::{Called, SECOND, error, read, request, text, timed};
use llm_core::stream::{Grammar, events_of};
use llm_core::{Block, ChatEvent, ChatResponse, ErrorKind, Phase, ResponseMeta, Stack, TextPart};
use llm_driver_testkit::{Progress, Reply, ScriptedDriver, Step, TestClock};
use llm_resilience::{RetryLayer, RetryPolicy, TimeoutLayer};
use std::sync::Arc;

/// How many events of `Reply::text` come before its content: the start, and the start of its block.
const BEFORE_CONTENT: usize = 2;

#[tokio::test(start_paused = true)]
async fn what_fails_before_content_is_retried_and_nobody_notices() {
    for events in 0..=BEFORE_CONTENT {
        let broken = Reply::text("half").broken_after(events, error(ErrorKind::Overloaded));
        let call = Called::retrying(
            ScriptedDriver::new("alpha", [broken, Reply::text("fine")]),
            RetryPolicy::default(),
        );
        let stream = call
            .stack
            .chat_stream(&TestClock::context(), &request())
            .await
            .unwrap();
        assert_eq!(stream.attempts().len(), 2);
        assert!(stream.attempts()[0].failure.is_some() && stream.attempts()[1].failure.is_none());
        let (events, end) = read(stream).await;
        assert!(end.is_none());
        let mut grammar = Grammar::default();
        for event in &events {
            grammar.check(event).unwrap();
        }
        grammar.end().unwrap();
        assert_eq!(text(&events), "fine");
        assert_eq!(call.driver.call_count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_after_content_comes_in_band_with_the_log() {
    let broken = Reply::text("half").broken_after(BEFORE_CONTENT + 1, error(ErrorKind::Interrupted));
    let replies = [
        Reply::error(error(ErrorKind::Server)),
        broken,
        Reply::text("never"),
    ];
    let call = Called::retrying(ScriptedDriver::new("alpha", replies), RetryPolicy::default());
    let stream = call
        .stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap();
    let (events, end) = read(stream).await;
    assert_eq!(text(&events), "half");
    let end = end.unwrap();
    assert_eq!(
        (end.kind(), end.phase()),
        (ErrorKind::Interrupted, Phase::Streaming)
    );
    let kinds: Vec<_> = end
        .attempts()
        .iter()
        .map(|attempt| attempt.failure.as_ref().unwrap().kind)
        .collect();
    assert_eq!(kinds, [ErrorKind::Server, ErrorKind::Interrupted]);
    assert_eq!(call.driver.call_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_reaches_content_fails_as_a_call() {
    let broken = Reply::text("half").broken_after(1, error(ErrorKind::Server));
    let call = Called::retrying(ScriptedDriver::always("alpha", broken), RetryPolicy::default());
    let error = call
        .stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Server, 3));
}

#[tokio::test(start_paused = true)]
async fn the_first_token_is_not_held_back() {
    let slow = Reply::text("hello").with_event_pause(SECOND);
    let call = Called::retrying(ScriptedDriver::always("alpha", slow), RetryPolicy::default());
    let cx = TestClock::context();
    let (stream, took) = timed(&cx, call.stack.chat_stream(&cx, &request())).await;
    assert_eq!(took, SECOND * 3, "the start, the block, and the text itself");
    let (events, took) = timed(&cx, read(stream.unwrap())).await;
    assert_eq!(took, SECOND * 2, "the end of the block and the finish");
    assert_eq!(text(&events.0), "hello");
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_content_is_an_answer() {
    let call = Called::retrying(
        ScriptedDriver::always("alpha", Reply::text("")),
        RetryPolicy::default(),
    );
    let stream = call
        .stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap();
    let (events, end) = read(stream).await;
    assert!(end.is_none() && matches!(events.last(), Some(ChatEvent::Finish { .. })));
}

#[tokio::test(start_paused = true)]
async fn dropping_frees_the_stream_before_and_after_the_commit_point() {
    let replies = [
        Reply::text("a").hanging_after(1),
        Reply::text("b").hanging_after(3),
    ];
    let call = Called::retrying(ScriptedDriver::new("alpha", replies), RetryPolicy::default());
    let cx = TestClock::context();
    let request = request();
    let held = call.stack.chat_stream(&cx, &request);
    tokio::time::timeout(SECOND, held).await.unwrap_err();
    assert_eq!(call.driver.calls()[0].progress, Progress::Dropped);
    let stream = call.stack.chat_stream(&cx, &request).await.unwrap();
    assert_eq!(call.driver.calls()[1].progress, Progress::Running);
    drop(stream);
    assert_eq!(call.driver.calls()[1].progress, Progress::Dropped);
}

/// The recommended order: each attempt has its own limits.
fn stack(driver: &Arc<ScriptedDriver>) -> Stack {
    Stack::from_arc(driver.clone())
        .layer(TimeoutLayer::default())
        .layer(RetryLayer::default())
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_stalls_before_content_is_replaced() {
    let replies = [
        Reply::hang(),
        Reply::text("half").hanging_after(BEFORE_CONTENT),
        Reply::text("fine"),
    ];
    let driver = Arc::new(ScriptedDriver::new("alpha", replies));
    let cx = TestClock::context();
    let (stream, took) = timed(&cx, stack(&driver).chat_stream(&cx, &request())).await;
    assert_eq!(text(&read(stream.unwrap()).await.0), "fine");
    assert!(took >= SECOND * 120 && took <= SECOND * 122, "{took:?}");
    assert!(
        driver.calls()[..2]
            .iter()
            .all(|call| call.progress == Progress::Dropped)
    );
}

#[tokio::test(start_paused = true)]
async fn a_model_that_thinks_for_long_is_not_cut_while_its_vendor_shows_life() {
    let alive = [Step::Delay(SECOND * 15), Step::Event(ChatEvent::KeepAlive)];
    let mut answer = events_of(response("42")).into_iter().map(Step::Event);
    let mut steps: Vec<Step> = answer.by_ref().take(1).collect();
    steps.extend(std::iter::repeat_n(alive, 60).flatten());
    steps.extend(answer);
    let driver = Arc::new(ScriptedDriver::new("alpha", [Reply::steps(steps)]));
    let cx = TestClock::context();
    let (stream, took) = timed(&cx, stack(&driver).chat_stream(&cx, &request())).await;
    let (events, end) = read(stream.unwrap()).await;
    assert!(end.is_none());
    assert_eq!((text(&events), took), ("42".to_owned(), SECOND * 900));
    assert!(
        !events.contains(&ChatEvent::KeepAlive),
        "they are dropped while events are held"
    );
}

fn response(text: &str) -> ChatResponse {
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.blocks = vec![Block::Text(TextPart::new(text))];
    response
}
