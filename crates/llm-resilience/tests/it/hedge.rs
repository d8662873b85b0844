//! A second attempt where the first one takes long.

use crate::{SECOND, error, read, request, text, timed};
use llm_core::{ChatRequest, ErrorKind, Stack};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{HedgeLayer, HedgePolicy, RetryLayer, RetryPolicy};
use std::sync::Arc;
use std::time::Duration;

struct Hedged {
    driver: Arc<ScriptedDriver>,
    layer: HedgeLayer,
    stack: Stack,
}

/// One call teaches what is usual.
fn policy() -> HedgePolicy {
    HedgePolicy::default().with_percentile(95, 1).with_extra(0, 100)
}

impl Hedged {
    fn new(policy: HedgePolicy, replies: impl IntoIterator<Item = Reply>) -> Self {
        let driver = Arc::new(ScriptedDriver::new("alpha", replies));
        let layer = HedgeLayer::new(policy);
        let stack = Stack::from_arc(driver.clone()).layer(layer.clone());
        Hedged { driver, layer, stack }
    }

    /// One that has seen a call of two seconds, plain and streamed.
    async fn taught(policy: HedgePolicy, replies: impl IntoIterator<Item = Reply>) -> Self {
        let usual = || Reply::text("usual").with_pause(SECOND * 2);
        let hedged = Hedged::new(policy, [usual(), usual()].into_iter().chain(replies));
        hedged
            .stack
            .chat(&TestClock::context(), &request())
            .await
            .unwrap();
        let stream = hedged.stack.chat_stream(&TestClock::context(), &request()).await;
        read(stream.unwrap()).await;
        hedged
    }

    /// The text, the time until it was there (until the first content of a stream), and what was tried.
    async fn call(&self, streamed: bool) -> Result<(String, Duration, Vec<Tried>), llm_core::Error> {
        let cx = TestClock::context();
        if streamed {
            let (stream, took) = timed(&cx, self.stack.chat_stream(&cx, &request())).await;
            let stream = stream?;
            let attempts = tried(stream.attempts());
            let (events, error) = read(stream).await;
            assert!(error.is_none());
            Ok((text(&events), took, attempts))
        } else {
            let (response, took) = timed(&cx, self.stack.chat(&cx, &request())).await;
            let response = response?;
            Ok((response.text(), took, tried(&response.attempts)))
        }
    }
}

/// How an attempt failed, and when it ended and began, in milliseconds.
type Tried = (Option<ErrorKind>, u64, u64);

fn tried(attempts: &[llm_core::Attempt]) -> Vec<Tried> {
    let line = |attempt: &llm_core::Attempt| {
        let kind = attempt.failure.as_ref().map(|failure| failure.kind);
        (kind, attempt.elapsed_ms, attempt.wait_ms)
    };
    attempts.iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn a_slow_attempt_gets_a_second_one_and_the_faster_is_the_answer() {
    for streamed in [false, true] {
        // The second is faster: it begins after two seconds and takes one.
        let slow = Reply::text("first").with_pause(SECOND * 60);
        let fast = Reply::text("second").with_pause(SECOND);
        let hedged = Hedged::taught(policy(), [slow, fast]).await;
        let (answer, took, attempts) = hedged.call(streamed).await.unwrap();
        assert_eq!((answer.as_str(), took), ("second", SECOND * 3));
        assert_eq!(
            attempts,
            [(Some(ErrorKind::Cancelled), 3000, 0), (None, 1000, 2000)]
        );
        let calls = hedged.driver.calls();
        assert_eq!(calls.len(), 4);
        let [first, second] = [&calls[2], &calls[3]];
        assert!(first.idempotency_key.is_some());
        assert_eq!(first.idempotency_key, second.idempotency_key);
        assert_eq!(
            (first.max_queue_wait, second.max_queue_wait),
            (None, Some(Duration::ZERO))
        );
        assert_eq!(first.progress, llm_driver_testkit::Progress::Dropped);

        // The first is faster all the same.
        let slow = Reply::text("first").with_pause(SECOND * 4);
        let hedged = Hedged::taught(policy(), [slow, Reply::hang()]).await;
        let (answer, took, attempts) = hedged.call(streamed).await.unwrap();
        assert_eq!((answer.as_str(), took), ("first", SECOND * 4));
        assert_eq!(
            attempts,
            [(None, 4000, 0), (Some(ErrorKind::Cancelled), 2000, 2000)]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_as_fast_as_usual_has_one_attempt_and_no_log_of_it() {
    for streamed in [false, true] {
        let hedged = Hedged::taught(policy(), [Reply::text("usual").with_pause(SECOND * 2)]).await;
        let (_, _, attempts) = hedged.call(streamed).await.unwrap();
        assert!(attempts.is_empty());
        assert_eq!(hedged.driver.call_count(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_hedged_after_the_first_content() {
    let slow = Reply::text("whole").with_event_pause(SECOND);
    let hedged = Hedged::taught(policy().with_floor(SECOND * 3), [slow]).await;
    let cx = TestClock::context();
    let (stream, took) = timed(&cx, hedged.stack.chat_stream(&cx, &request())).await;
    assert!(took < SECOND * 4, "{took:?}");
    tokio::time::sleep(SECOND * 100).await;
    let (events, error) = read(stream.unwrap()).await;
    assert_eq!((text(&events).as_str(), error.is_none()), ("whole", true));
    assert_eq!(hedged.driver.call_count(), 3);
}

#[tokio::test(start_paused = true)]
async fn before_enough_calls_are_known_nothing_is_hedged_and_the_floor_is_kept() {
    let slow = || Reply::text("slow").with_pause(SECOND * 30);
    let hedged = Hedged::new(policy().with_percentile(95, 3), [slow(), slow(), slow()]);
    for _ in 0..3 {
        assert_eq!(hedged.call(false).await.unwrap().1, SECOND * 30);
    }
    assert_eq!(hedged.driver.call_count(), 3);

    let hedged = Hedged::taught(
        policy().with_floor(SECOND * 10),
        [Reply::hang(), Reply::text("second")],
    )
    .await;
    assert_eq!(hedged.call(false).await.unwrap().1, SECOND * 10);
}

#[tokio::test(start_paused = true)]
async fn second_attempts_are_a_share_of_the_calls() {
    let replies = (0..40).map(|_| Reply::text("slow").with_pause(SECOND * 9));
    let hedged = Hedged::new(policy().with_percentile(1, 1).with_extra(10, 2), replies);
    hedged.call(false).await.unwrap();
    // Another, much faster sample makes all of the rest slow.
    let fast = Stack::new(ScriptedDriver::always("alpha", Reply::text("fast"))).layer(hedged.layer.clone());
    fast.chat(&TestClock::context(), &request()).await.unwrap();
    tokio::time::sleep(SECOND * 60).await;
    let cx = TestClock::context();
    let request = request();
    let calls = (0..20).map(|_| hedged.stack.chat(&cx, &request));
    for answer in futures_util::future::join_all(calls).await {
        answer.unwrap();
    }
    // Two in any case, and one for each ten of the twenty calls.
    assert_eq!(hedged.driver.call_count(), 1 + 20 + 4);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_given_back_and_a_second_one_that_fails_only_ends_itself() {
    for streamed in [false, true] {
        // Before its time: the retry layer's business.
        let hedged = Hedged::taught(policy(), [Reply::error(error(ErrorKind::Server))]).await;
        let failure = hedged.call(streamed).await.unwrap_err();
        assert_eq!((failure.kind(), failure.attempts().len()), (ErrorKind::Server, 0));

        // The second fails, the first serves.
        let slow = || Reply::text("first").with_pause(SECOND * 5);
        let failing = Reply::error(error(ErrorKind::Overloaded)).with_pause(SECOND);
        let hedged = Hedged::taught(policy(), [slow(), failing]).await;
        let (answer, _, attempts) = hedged.call(streamed).await.unwrap();
        assert_eq!(answer, "first");
        assert_eq!(
            attempts,
            [(None, 5000, 0), (Some(ErrorKind::Overloaded), 1000, 2000)]
        );

        // The first fails so that another may do better, and the second serves.
        let failing = Reply::error(error(ErrorKind::Overloaded)).with_pause(SECOND * 3);
        let hedged = Hedged::taught(policy(), [failing, slow()]).await;
        let (answer, took, attempts) = hedged.call(streamed).await.unwrap();
        assert_eq!((answer.as_str(), took), ("first", SECOND * 7));
        assert_eq!(
            attempts,
            [(Some(ErrorKind::Overloaded), 3000, 0), (None, 5000, 2000)]
        );

        // Both fail: the first one's error, whenever it came.
        let late = Reply::error(error(ErrorKind::Server)).with_pause(SECOND * 9);
        let early = Reply::error(error(ErrorKind::Overloaded)).with_pause(SECOND);
        let hedged = Hedged::taught(policy(), [late, early]).await;
        let failure = hedged.call(streamed).await.unwrap_err();
        assert_eq!(failure.kind(), ErrorKind::Server);
        let expected = [
            (Some(ErrorKind::Server), 9000, 0),
            (Some(ErrorKind::Overloaded), 1000, 2000),
        ];
        assert_eq!(tried(failure.attempts()), expected);

        // What is wrong with the request is wrong for both.
        let wrong = Reply::error(error(ErrorKind::InvalidRequest)).with_pause(SECOND * 3);
        let hedged = Hedged::taught(policy(), [wrong, Reply::hang()]).await;
        let failure = hedged.call(streamed).await.unwrap_err();
        assert_eq!(failure.kind(), ErrorKind::InvalidRequest);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_later_says_so_with_both_attempts() {
    let broken = Reply::text("part").broken_after(3, error(ErrorKind::Server));
    let hedged = Hedged::taught(policy(), [Reply::hang(), broken]).await;
    let stream = hedged.stack.chat_stream(&TestClock::context(), &request()).await;
    let (_, failure) = read(stream.unwrap()).await;
    let failure = failure.unwrap();
    assert_eq!(failure.phase(), llm_core::Phase::Streaming);
    let expected = [
        (Some(ErrorKind::Cancelled), 2000, 0),
        (Some(ErrorKind::Server), 0, 2000),
    ];
    assert_eq!(tried(failure.attempts()), expected);
}

#[tokio::test(start_paused = true)]
async fn a_retry_around_it_logs_both_and_each_try_may_be_hedged() {
    let failing = || Reply::error(error(ErrorKind::Server)).with_pause(SECOND * 3);
    let hedged = Hedged::taught(policy(), [failing(), failing(), Reply::text("third")]).await;
    let retry = RetryLayer::new(RetryPolicy::new(2).with_backoff(Duration::ZERO, Duration::ZERO));
    let stack = hedged.stack.clone().layer(retry);
    let response = stack
        .chat(&TestClock::context(), &ChatRequest::user("hi"))
        .await
        .unwrap();
    let kinds: Vec<_> = tried(&response.attempts).iter().map(|tried| tried.0).collect();
    assert_eq!(kinds, [Some(ErrorKind::Server), Some(ErrorKind::Server), None]);
    let keys: Vec<_> = hedged
        .driver
        .calls()
        .into_iter()
        .skip(2)
        .map(|call| call.idempotency_key)
        .collect();
    assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]));
}
