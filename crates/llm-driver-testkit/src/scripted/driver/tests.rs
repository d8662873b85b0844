use super::*;
use crate::TestClock;
use llm_core::stream::Grammar;
use llm_core::{Scope, UnavailableReason};

#[tokio::test(start_paused = true)]
async fn a_reply_is_the_same_plain_and_as_a_legal_stream() {
    let driver = ScriptedDriver::always("alpha", Reply::text("hello"));
    let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
    let plain = driver.chat(&cx, &request).await.unwrap();
    let mut stream = driver.chat_stream(&cx, &request).await.unwrap();
    let mut grammar = Grammar::default();
    let mut collector = stream::Collector::default();
    while let Some(event) = stream.next_event().await {
        let event = event.unwrap();
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    grammar.end().unwrap();
    let folded = collector.finish().unwrap();
    assert_eq!(folded.blocks, plain.blocks);
    assert_eq!(folded.meta, plain.meta);
    assert_eq!(folded.meta.driver.unwrap().as_str(), "alpha");
    assert_eq!(driver.calls()[0].progress, Progress::Ended);
    assert_eq!(driver.calls()[1].progress, Progress::Ended);
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_fails_a_plain_call_too() {
    let cut = || Error::new(ErrorKind::Interrupted, "cut");
    let driver = ScriptedDriver::always("alpha", Reply::text("hello").broken_after(3, cut()));
    let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
    assert_eq!(
        driver.chat(&cx, &request).await.unwrap_err().kind(),
        ErrorKind::Interrupted
    );
    let mut stream = driver.chat_stream(&cx, &request).await.unwrap();
    assert_eq!(stream.next_text().await.unwrap().as_deref(), Some("hello"));
    assert!(stream.next_event().await.unwrap().is_err());
    assert!(stream.next_event().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn waits_end_with_the_deadline() {
    let replies = [
        Reply::hang(),
        Reply::text("late").with_pause(Duration::from_secs(60)),
        Reply::text("stuck").hanging_after(2),
    ];
    let driver = ScriptedDriver::new("alpha", replies);
    for _ in 0..3 {
        let cx = TestClock::context().with_timeout(Duration::from_secs(4));
        let error = driver.chat(&cx, &ChatRequest::user("hi")).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.scope()),
            (ErrorKind::Timeout, Scope::Request)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_and_a_dropped_stream_are_recorded() {
    let replies = [Reply::hang(), Reply::text("hello")];
    let driver = ScriptedDriver::new("alpha", replies);
    let cx = TestClock::context()
        .with_attempt(3)
        .with_idempotency_key("key-1")
        .with_max_queue_wait(Duration::ZERO);
    let request = ChatRequest::user("hi");
    let call = driver.chat(&cx, &request);
    assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    let mut stream = driver.chat_stream(&cx, &request).await.unwrap();
    stream.next_event().await.unwrap().unwrap();
    assert_eq!(driver.calls()[1].progress, Progress::Running);
    drop(stream);
    for call in driver.calls() {
        assert_eq!(call.progress, Progress::Dropped);
        assert_eq!((call.attempt, call.max_queue_wait), (3, Some(Duration::ZERO)));
        assert_eq!(call.idempotency_key.as_deref(), Some("key-1"));
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_between_events_are_waited() {
    let driver = ScriptedDriver::new(
        "alpha",
        [Reply::text("hello").with_event_pause(Duration::from_secs(1))],
    );
    let cx = TestClock::context();
    let start = cx.clock().now();
    driver.chat(&cx, &ChatRequest::user("hi")).await.unwrap();
    assert_eq!(cx.clock().now() - start, Duration::from_secs(5));
}

#[tokio::test]
async fn an_exhausted_script_is_loud() {
    let driver = ScriptedDriver::new("alpha", []);
    let error = driver
        .chat(&TestClock::context(), &ChatRequest::user("hi"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(error.vendor().driver.as_ref().unwrap().as_str(), "alpha");
}

#[test]
fn models_and_availability_are_as_told() {
    let model = ModelId::new("m1").unwrap();
    let other = ModelId::new("m2").unwrap();
    let closed = Availability::unavailable(UnavailableReason::BreakerOpen, None);
    let driver = ScriptedDriver::new("alpha", [])
        .with_models([ResolvedModel::unknown(model.clone())])
        .with_availability_from({
            let model = model.clone();
            move |asked| {
                if *asked == model {
                    Availability::Available
                } else {
                    closed
                }
            }
        });
    assert_eq!(driver.resolve(None).unwrap().id, model);
    assert_eq!(
        driver.resolve(Some(&other)).unwrap_err().kind(),
        ErrorKind::UnknownModel
    );
    assert!(driver.availability(&model).is_available());
    assert!(!driver.availability(&other).is_available());
    driver.set_availability(closed);
    assert!(!driver.availability(&model).is_available());
}
