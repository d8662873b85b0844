//! Time limits on attempts.

use crate::{Called, SECOND, error, read, request, text, timed};
use llm_core::{
    BlockKind, ChatEvent, ChatRequest, Delta, Error, ErrorKind, FinishReason, ModelId, Phase, Scope, Usage,
};
use llm_driver_testkit::{Progress, Reply, ScriptedDriver, Step, TestClock};
use llm_resilience::TimeoutPolicy;

pub(crate) fn always(reply: Reply) -> ScriptedDriver {
    ScriptedDriver::always("alpha", reply)
}

pub(crate) fn vendors(error: &Error) {
    assert_eq!(
        (error.kind(), error.scope()),
        (ErrorKind::Timeout, Scope::Vendor),
        "{error:?}"
    );
    assert!(error.retryable());
}

pub(crate) fn delta(text: &str) -> Step {
    let delta = Delta::Text(text.to_owned());
    Step::Event(ChatEvent::BlockDelta { index: 0, delta })
}

/// The start of a stream and of its block.
pub(crate) fn opening() -> Vec<Step> {
    let kind = BlockKind::Text;
    vec![
        Step::Event(ChatEvent::Start(Box::default())),
        Step::Event(ChatEvent::BlockStart { index: 0, kind }),
    ]
}

/// The end of the block and of the stream.
fn closing() -> [Step; 2] {
    let (reason, usage) = (FinishReason::default(), Usage::default());
    [
        Step::Event(ChatEvent::BlockEnd {
            index: 0,
            complete: true,
        }),
        Step::Event(ChatEvent::Finish { reason, usage }),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_plain_call_ends_after_180_s() {
    let call = Called::limited(always(Reply::hang()), TimeoutPolicy::default());
    let cx = TestClock::context();
    let request = request().with_model(ModelId::new("m1").unwrap());
    let (outcome, took) = timed(&cx, call.stack.chat(&cx, &request)).await;
    let error = outcome.unwrap_err();
    vendors(&error);
    assert_eq!((took, error.phase()), (SECOND * 180, Phase::Sent));
    assert!(
        error.message().contains("180s") && error.message().contains("whole_ms"),
        "{error}"
    );
    assert_eq!(error.vendor().driver.as_ref().unwrap().as_str(), "alpha");
    assert_eq!(error.vendor().model.as_ref().unwrap().as_str(), "m1");
    assert_eq!(
        call.driver.calls()[0].progress,
        Progress::Dropped,
        "the connection is freed"
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_event_must_come_within_60_s() {
    // In the call itself, and in the stream that it returned.
    for reply in [Reply::hang(), Reply::steps([Step::Hang])] {
        let call = Called::limited(always(reply), TimeoutPolicy::default());
        let cx = TestClock::context();
        let answer = async {
            read(call.stack.chat_stream(&cx, &request()).await?)
                .await
                .1
                .map_or(Ok(()), Err)
        };
        let (outcome, took) = timed(&cx, answer).await;
        let error = outcome.unwrap_err();
        vendors(&error);
        assert_eq!((took, error.phase()), (SECOND * 60, Phase::Sent));
        assert!(
            error.message().contains("60s") && error.message().contains("first_event_ms"),
            "{error}"
        );
        assert_eq!(call.driver.calls()[0].progress, Progress::Dropped);
    }
}

#[tokio::test(start_paused = true)]
async fn both_waits_for_the_first_event_are_one() {
    let late = Reply::steps([Step::Delay(SECOND * 40), Step::Hang]).with_pause(SECOND * 40);
    let call = Called::limited(always(late), TimeoutPolicy::default());
    let cx = TestClock::context();
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    let ((_, error), took) = timed(&cx, read(stream)).await;
    assert!(error.unwrap().message().contains("first event"));
    assert_eq!(took, SECOND * 20);
}

#[tokio::test(start_paused = true)]
async fn keep_alives_are_no_first_event() {
    let alive = [Step::Delay(SECOND * 10), Step::Event(ChatEvent::KeepAlive)];
    let reply = Reply::steps(std::iter::repeat_n(alive, 20).flatten());
    let call = Called::limited(always(reply), TimeoutPolicy::default());
    let cx = TestClock::context();
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    let ((_, error), took) = timed(&cx, read(stream)).await;
    assert!(error.unwrap().message().contains("first event"));
    assert_eq!(took, SECOND * 60);
}

#[tokio::test(start_paused = true)]
async fn silence_inside_a_stream_ends_it() {
    let policy = TimeoutPolicy::default().with_idle(SECOND * 20);
    let call = Called::limited(always(Reply::text("half").hanging_after(3)), policy);
    let cx = TestClock::context();
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    let ((events, error), took) = timed(&cx, read(stream)).await;
    assert_eq!((text(&events), took), ("half".to_owned(), SECOND * 20));
    let error = error.unwrap();
    vendors(&error);
    assert_eq!(error.phase(), Phase::Streaming);
    assert!(
        error.message().contains("20s") && error.message().contains("idle_ms"),
        "{error}"
    );
    assert_eq!(call.driver.calls()[0].progress, Progress::Dropped);
}

#[tokio::test(start_paused = true)]
async fn keep_alives_reset_the_idle_limit() {
    let mut steps = opening();
    for _ in 0..30 {
        steps.extend([Step::Delay(SECOND * 59), Step::Event(ChatEvent::KeepAlive)]);
    }
    steps.push(delta("done"));
    steps.extend(closing());
    let call = Called::limited(always(Reply::steps(steps)), TimeoutPolicy::default());
    let cx = TestClock::context();
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    let ((events, error), took) = timed(&cx, read(stream)).await;
    assert!(error.is_none());
    assert_eq!((text(&events), took), ("done".to_owned(), SECOND * 59 * 30));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_keeps_coming_may_run_longer_than_a_plain_call() {
    let mut steps = opening();
    for _ in 0..40 {
        steps.extend([Step::Delay(SECOND * 10), delta("x")]);
    }
    steps.extend(closing());
    let call = Called::limited(always(Reply::steps(steps)), TimeoutPolicy::default());
    let cx = TestClock::context();
    let (events, error) = read(call.stack.chat_stream(&cx, &request()).await.unwrap()).await;
    assert!(error.is_none());
    assert_eq!(text(&events).len(), 40);
}

#[tokio::test(start_paused = true)]
async fn a_limit_on_the_first_content_bounds_the_wait_for_the_stream_too() {
    let policy = TimeoutPolicy::default().with_first_content(SECOND * 30);
    let call = Called::limited(always(Reply::hang()), policy);
    let cx = TestClock::context();
    let (outcome, took) = timed(&cx, call.stack.chat_stream(&cx, &request())).await;
    vendors(&outcome.unwrap_err());
    assert_eq!(took, SECOND * 30);
}

#[tokio::test(start_paused = true)]
async fn what_is_there_in_the_same_instant_wins_over_the_limit() {
    let policy = TimeoutPolicy::default().with_whole(SECOND).with_idle(SECOND);
    let call = Called::limited(always(Reply::text("hello").with_pause(SECOND)), policy.clone());
    call.stack.chat(&TestClock::context(), &request()).await.unwrap();
    let call = Called::limited(always(Reply::text("hello").with_event_pause(SECOND)), policy);
    let stream = call
        .stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap();
    assert!(read(stream).await.1.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_complete_but_does_not_end_just_ends() {
    let call = Called::limited(
        always(Reply::text("hello").hanging_after(5)),
        TimeoutPolicy::default(),
    );
    let stream = call
        .stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap();
    let (events, error) = read(stream).await;
    assert!(matches!(events.last(), Some(ChatEvent::Finish { .. })));
    assert!(error.is_none(), "nothing may follow a finish");
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_vendor_pass_as_they_are() {
    let call = Called::limited(
        always(Reply::error(error(ErrorKind::Server))),
        TimeoutPolicy::default(),
    );
    let error = call
        .stack
        .chat(&TestClock::context(), &ChatRequest::user("hi"))
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.phase()), (ErrorKind::Server, Phase::NotSent));
}

#[tokio::test(start_paused = true)]
async fn a_short_idle_limit_holds_after_a_long_wait_for_the_first_event() {
    let policy = TimeoutPolicy::default()
        .with_first_event(SECOND * 300)
        .with_idle(SECOND * 20);
    let reply = Reply::text("half").with_event_pause(SECOND).hanging_after(1);
    let call = Called::limited(always(reply), policy);
    let cx = TestClock::context();
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    let ((_, error), took) = timed(&cx, read(stream)).await;
    assert!(error.unwrap().message().contains("idle_ms"));
    assert_eq!(took, SECOND * 21);
}

#[tokio::test(start_paused = true)]
async fn a_limit_on_the_first_content_is_kept_in_spite_of_keep_alives() {
    let mut steps = opening();
    for _ in 0..100 {
        steps.extend([Step::Delay(SECOND * 10), Step::Event(ChatEvent::KeepAlive)]);
    }
    let policy = TimeoutPolicy::default().with_first_content(SECOND * 180);
    let call = Called::limited(always(Reply::steps(steps)), policy.clone());
    let cx = TestClock::context();
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    let ((_, error), took) = timed(&cx, read(stream)).await;
    let error = error.unwrap();
    vendors(&error);
    assert!(error.message().contains("first_content_ms"), "{error}");
    assert_eq!(took, SECOND * 180);

    let mut steps = opening();
    steps.push(delta("x"));
    steps.extend(
        [Step::Delay(SECOND * 50), delta("x")]
            .into_iter()
            .cycle()
            .take(12),
    );
    steps.extend(closing());
    let call = Called::limited(always(Reply::steps(steps)), policy);
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    assert!(
        read(stream).await.1.is_none(),
        "it bounds nothing after the first content"
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_not_taken_for_a_silent_vendor() {
    let reply = Reply::text("hello").with_event_pause(SECOND);
    let call = Called::limited(always(reply), TimeoutPolicy::default());
    let mut stream = call
        .stack
        .chat_stream(&TestClock::context(), &request())
        .await
        .unwrap();
    let mut events = 0;
    while let Some(event) = stream.next_event().await {
        event.unwrap();
        events += 1;
        tokio::time::sleep(SECOND * 300).await;
    }
    assert_eq!(events, 5);
}
