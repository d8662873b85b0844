//! The caller's deadline, beside the limits of an attempt.

use crate::timeout::{always, delta, opening, vendors};
use crate::{Called, SECOND, read, request, text, timed};
use llm_core::{
    Availability, CallContext, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ChatStream, DriverInfo,
    Error, ErrorKind, HealthStatus, ModelId, Phase, ResolvedModel, Result, Scope, Stack, async_trait,
};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{TimeoutLayer, TimeoutPolicy};
use std::sync::Arc;
use std::time::Duration;

fn callers(error: &Error) {
    assert_eq!(
        (error.kind(), error.scope()),
        (ErrorKind::Timeout, Scope::Request),
        "{error:?}"
    );
    assert!(!error.retryable());
}

/// Takes the deadline away from what is inside, as a driver does that forgets about it.
#[derive(Debug)]
struct Deaf(ScriptedDriver);

#[async_trait]
impl ChatDriver for Deaf {
    fn info(&self) -> &DriverInfo {
        self.0.info()
    }
    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.0.resolve(model)
    }
    fn availability(&self, model: &ModelId) -> Availability {
        self.0.availability(model)
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.0.health(cx).await
    }
    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        self.0.chat(&CallContext::new(cx.clock().clone()), request).await
    }
    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        self.0
            .chat_stream(&CallContext::new(cx.clock().clone()), request)
            .await
    }
}

fn deaf(reply: Reply) -> Stack {
    Stack::new(Deaf(always(reply))).layer(TimeoutLayer::attempt(TimeoutPolicy::off()))
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_kept_for_a_driver_that_forgets_it() {
    let minute = TimeoutPolicy::default().with_whole(SECOND * 60);
    for policy in [TimeoutPolicy::off(), minute] {
        for reply in [Reply::hang(), Reply::text("half").hanging_after(3)] {
            let layer = TimeoutLayer::attempt(policy.clone());
            let deaf = Stack::new(Deaf(always(reply))).layer(layer);
            // As long as the layer's own limits: the vendor is not blamed.
            let cx = TestClock::context().with_timeout(SECOND * 60);
            callers(&deaf.chat(&cx, &request()).await.unwrap_err());
            let cx = TestClock::context().with_timeout(SECOND * 60);
            let ended = async {
                read(deaf.chat_stream(&cx, &request()).await?)
                    .await
                    .1
                    .map_or(Ok(()), Err)
            };
            let (outcome, took) = timed(&cx, ended).await;
            callers(&outcome.unwrap_err());
            assert_eq!(took, SECOND * 60);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_callers_deadline_wins_where_it_is_the_earlier() {
    let call = Called::limited(always(Reply::hang()), TimeoutPolicy::default());
    let cx = TestClock::context().with_timeout(SECOND * 5);
    let (outcome, took) = timed(&cx, call.stack.chat(&cx, &request())).await;
    callers(&outcome.unwrap_err());
    assert_eq!(took, SECOND * 5);

    let cx = TestClock::context().with_timeout(SECOND * 180);
    callers(&call.stack.chat(&cx, &request()).await.unwrap_err());

    let cx = TestClock::context().with_timeout(SECOND * 181);
    vendors(&call.stack.chat(&cx, &request()).await.unwrap_err());

    let call = Called::limited(
        always(Reply::text("half").hanging_after(3)),
        TimeoutPolicy::default(),
    );
    let cx = TestClock::context().with_timeout(SECOND * 5);
    let stream = call.stack.chat_stream(&cx, &request()).await.unwrap();
    let ((_, error), took) = timed(&cx, read(stream)).await;
    callers(&error.unwrap());
    assert_eq!(took, SECOND * 5);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_the_deadline() {
    let call = Called::limited(always(Reply::text("hello")), TimeoutPolicy::default());
    let cx = TestClock::context().with_timeout(Duration::ZERO);
    let error = call.stack.chat(&cx, &request()).await.unwrap_err();
    callers(&error);
    assert_eq!((error.phase(), call.driver.call_count()), (Phase::NotSent, 0));
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_never_pauses_does_not_outlive_the_deadline() {
    let mut steps = opening();
    steps.extend(std::iter::repeat_n(delta("x"), 1000));
    let cx = TestClock::context().with_timeout(SECOND);
    let mut stream = deaf(Reply::steps(steps))
        .chat_stream(&cx, &request())
        .await
        .unwrap();
    stream.next_event().await.unwrap().unwrap();
    tokio::time::sleep(SECOND * 2).await;
    callers(&stream.next_event().await.unwrap().unwrap_err());
    assert!(stream.next_event().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_event_in_the_instant_of_the_deadline_and_a_finish_after_it_are_handed_on() {
    let slow = Reply::text("hello").with_event_pause(SECOND);
    let cx = TestClock::context().with_timeout(SECOND * 3);
    let (events, error) = read(deaf(slow).chat_stream(&cx, &request()).await.unwrap()).await;
    callers(&error.unwrap());
    assert_eq!((events.len(), text(&events)), (3, "hello".to_owned()));

    let cx = TestClock::context().with_timeout(SECOND);
    let mut stream = deaf(Reply::text("hello"))
        .chat_stream(&cx, &request())
        .await
        .unwrap();
    for _ in 0..4 {
        stream.next_event().await.unwrap().unwrap();
    }
    tokio::time::sleep(SECOND * 2).await;
    let last = stream.next_event().await.unwrap().unwrap();
    assert!(
        matches!(last, ChatEvent::Finish { .. }),
        "a complete answer is not thrown away"
    );
}
