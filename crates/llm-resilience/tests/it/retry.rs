//! Plain calls through the retry layer.

use crate::{Called, SECOND, error, request, timed};
use futures_util::future::join_all;
use llm_core::{Attempt, Error, ErrorKind, Scope, Stack};
use llm_driver_testkit::{Progress, Reply, ScriptedDriver, TestClock};
use llm_resilience::{BudgetPolicy, Jitter, RetryLayer, RetryPolicy};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

fn fails_then_serves(error: Error) -> ScriptedDriver {
    ScriptedDriver::new("alpha", [Reply::error(error), Reply::text("fine")])
}

fn always(error: Error) -> ScriptedDriver {
    ScriptedDriver::always("alpha", Reply::error(error))
}

#[tokio::test(start_paused = true)]
async fn each_row_of_the_verdict_table_is_obeyed_plain_and_streamed() {
    let mut rows: Vec<Error> = ErrorKind::ALL.into_iter().map(error).collect();
    rows.push(Error::deadline("scripted"));
    for row in rows {
        for stream in [false, true] {
            let call = Called::retrying(fails_then_serves(row.clone()), RetryPolicy::default());
            let cx = TestClock::context();
            let outcome = if stream {
                call.stack.chat_stream(&cx, &request()).await.map(drop)
            } else {
                call.stack.chat(&cx, &request()).await.map(drop)
            };
            let calls = call.driver.call_count();
            match outcome {
                Ok(()) => assert!(row.retryable() && calls == 2, "{row:?}: {calls} calls"),
                Err(error) => {
                    assert!(!row.retryable() && calls == 1, "{row:?}: {calls} calls");
                    assert_eq!(error.kind(), row.kind());
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_understood_is_tried_once_more() {
    let call = Called::retrying(always(error(ErrorKind::Protocol)), RetryPolicy::new(5));
    let error = call
        .stack
        .chat(&TestClock::context(), &request())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(call.driver.call_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn attempts_are_requests_and_the_last_error_carries_them_all() {
    let replies = [
        Reply::error(error(ErrorKind::Overloaded)).with_pause(Duration::from_millis(20)),
        Reply::error(error(ErrorKind::Server)).with_pause(Duration::from_millis(30)),
        Reply::error(error(ErrorKind::Connection).with_retry_after(SECOND * 90)),
    ];
    let call = Called::retrying(ScriptedDriver::new("alpha", replies), RetryPolicy::default());
    let error = call
        .stack
        .chat(&TestClock::context(), &request())
        .await
        .unwrap_err();
    assert_eq!(call.driver.call_count(), 3);
    assert_eq!(
        (error.kind(), error.retry_after()),
        (ErrorKind::Connection, Some(SECOND * 90))
    );
    let kinds: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| attempt.failure.as_ref().unwrap().kind)
        .collect();
    assert_eq!(
        kinds,
        [ErrorKind::Overloaded, ErrorKind::Server, ErrorKind::Connection]
    );
    let elapsed: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| attempt.elapsed_ms)
        .collect();
    assert_eq!(elapsed, [20, 30, 0]);
    assert_eq!(error.attempts()[0].wait_ms, 0);
    assert_eq!(error.attempts()[0].candidate, "alpha");
    let waits: Vec<_> = error.attempts()[1..]
        .iter()
        .map(|attempt| attempt.wait_ms)
        .collect();
    let gaps: Vec<_> = call.gaps().iter().map(|gap| gap.as_millis() as u64).collect();
    // Tokio's timer counts in whole milliseconds and rounds up.
    assert!((gaps[0] - 20).abs_diff(waits[0]) <= 1, "{gaps:?} {waits:?}");
    assert!((gaps[1] - 30).abs_diff(waits[1]) <= 1, "{gaps:?} {waits:?}");
    assert!(waits[0] <= 500 && waits[1] <= 1000);
}

#[tokio::test(start_paused = true)]
async fn the_answer_says_what_was_tried_for_it() {
    let call = Called::retrying(
        fails_then_serves(error(ErrorKind::Server)),
        RetryPolicy::default(),
    );
    let response = call.stack.chat(&TestClock::context(), &request()).await.unwrap();
    assert_eq!(response.text(), "fine");
    assert_eq!(response.attempts.len(), 2);
    assert_eq!(
        response.attempts[0].failure.as_ref().unwrap().kind,
        ErrorKind::Server
    );
    assert!(response.attempts[1].failure.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_log_kept_inside_is_kept_whole() {
    let inner = |name: &str| Attempt::failed(name, None, SECOND, &error(ErrorKind::Server));
    let router = error(ErrorKind::Server).with_attempts(vec![inner("one"), inner("two")]);
    let call = Called::retrying(always(router), RetryPolicy::new(2).with_jitter(Jitter::Half));
    let error = call
        .stack
        .chat(&TestClock::context(), &request())
        .await
        .unwrap_err();
    let names: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| &*attempt.candidate)
        .collect();
    assert_eq!(names, ["one", "two", "one", "two"]);
    let waits: Vec<_> = error.attempts().iter().map(|attempt| attempt.wait_ms).collect();
    assert!(
        waits[2] >= 250 && [waits[0], waits[1], waits[3]] == [0; 3],
        "{waits:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_router_has_used_up_is_not_multiplied() {
    let call = Called::retrying(
        always(error(ErrorKind::Overloaded).with_exhausted()),
        RetryPolicy::default(),
    );
    let error = call
        .stack
        .chat(&TestClock::context(), &request())
        .await
        .unwrap_err();
    assert!(error.is_exhausted());
    assert_eq!(call.driver.call_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_a_floor_and_chance_comes_on_top() {
    for _ in 0..50 {
        let limited = error(ErrorKind::RateLimit).with_retry_after(SECOND * 3);
        let call = Called::retrying(fails_then_serves(limited), RetryPolicy::default());
        call.stack.chat(&TestClock::context(), &request()).await.unwrap();
        let gap = call.gaps()[0];
        assert!(gap >= SECOND * 3 && gap <= Duration::from_millis(3501), "{gap:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn callers_that_failed_together_do_not_come_back_together() {
    let layer = RetryLayer::new(RetryPolicy::default().with_budget(None));
    let mut gaps = HashSet::new();
    for _ in 0..40 {
        let driver = Arc::new(fails_then_serves(
            error(ErrorKind::RateLimit).with_retry_after(SECOND),
        ));
        let stack = Stack::from_arc(driver.clone()).layer(layer.clone());
        stack.chat(&TestClock::context(), &request()).await.unwrap();
        gaps.insert((driver.calls()[1].at - driver.calls()[0].at).as_millis());
    }
    assert!(gaps.len() >= 20, "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hint_beyond_the_longest_pause_ends_the_call_at_once() {
    let hour = SECOND * 3600;
    let call = Called::retrying(
        always(error(ErrorKind::RateLimit).with_retry_after(hour)),
        RetryPolicy::default(),
    );
    let cx = TestClock::context();
    let (outcome, took) = timed(&cx, call.stack.chat(&cx, &request())).await;
    let error = outcome.unwrap_err();
    assert_eq!(
        (error.kind(), error.retry_after()),
        (ErrorKind::RateLimit, Some(hour))
    );
    assert_eq!((took, call.driver.call_count()), (Duration::ZERO, 1));
}

#[tokio::test(start_paused = true)]
async fn nobody_sleeps_past_the_deadline() {
    let limited = error(ErrorKind::RateLimit).with_retry_after(SECOND * 3);
    let call = Called::retrying(always(limited), RetryPolicy::default());
    let cx = TestClock::context().with_timeout(SECOND * 3);
    let (outcome, took) = timed(&cx, call.stack.chat(&cx, &request())).await;
    assert_eq!(
        outcome.unwrap_err().kind(),
        ErrorKind::RateLimit,
        "the vendor's error, not the deadline's"
    );
    assert_eq!((took, call.driver.call_count()), (Duration::ZERO, 1));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_that_passed_in_an_attempt_is_not_retried() {
    let call = Called::retrying(
        ScriptedDriver::always("alpha", Reply::hang()),
        RetryPolicy::default(),
    );
    let cx = TestClock::context().with_timeout(SECOND);
    let error = call.stack.chat(&cx, &request()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.scope()),
        (ErrorKind::Timeout, Scope::Request)
    );
    assert_eq!(call.driver.call_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_share_the_budget_of_their_layer() {
    let layer = RetryLayer::new(RetryPolicy::default());
    let drivers = ["alpha", "beta"].map(|name| {
        Arc::new(ScriptedDriver::always(
            name,
            Reply::error(error(ErrorKind::Overloaded)),
        ))
    });
    let stacks: Vec<_> = drivers
        .iter()
        .map(|driver| Stack::from_arc(driver.clone()).layer(layer.clone()))
        .collect();
    let calls = (0..100).map(|n| {
        let stack = &stacks[n % 2];
        async move { stack.chat(&TestClock::context(), &request()).await.unwrap_err() }
    });
    let errors = join_all(calls).await;
    let requests: usize = drivers.iter().map(|driver| driver.call_count()).sum();
    assert_eq!(requests, 100 + 20 + 10);
    assert!(errors.iter().all(|error| error.kind() == ErrorKind::Overloaded));
    let attempts: usize = errors.iter().map(|error| error.attempts().len()).sum();
    assert_eq!(attempts, requests);
}

#[tokio::test(start_paused = true)]
async fn a_layer_of_its_own_has_a_budget_of_its_own() {
    let none = RetryPolicy::default().with_budget(BudgetPolicy::new(0, 0));
    let call = Called::retrying(always(error(ErrorKind::Server)), none);
    call.stack
        .chat(&TestClock::context(), &request())
        .await
        .unwrap_err();
    assert_eq!(call.driver.call_count(), 1);
    let call = Called::retrying(always(error(ErrorKind::Server)), RetryPolicy::default());
    call.stack
        .chat(&TestClock::context(), &request())
        .await
        .unwrap_err();
    assert_eq!(call.driver.call_count(), 3);
}

#[tokio::test(start_paused = true)]
async fn one_key_serves_all_attempts_of_a_call_and_no_other() {
    let call = Called::retrying(always(error(ErrorKind::Server)), RetryPolicy::default());
    for _ in 0..2 {
        call.stack
            .chat(&TestClock::context(), &request())
            .await
            .unwrap_err();
    }
    let keys: Vec<_> = call
        .driver
        .calls()
        .into_iter()
        .map(|call| call.idempotency_key.unwrap())
        .collect();
    assert!(keys[..3].iter().all(|key| *key == keys[0]));
    assert!(keys[3..].iter().all(|key| *key == keys[3]));
    assert_ne!(keys[0], keys[3]);

    let call = Called::retrying(always(error(ErrorKind::Server)), RetryPolicy::default());
    let cx = TestClock::context().with_idempotency_key("mine");
    call.stack.chat(&cx, &request()).await.unwrap_err();
    assert!(
        call.driver
            .calls()
            .iter()
            .all(|call| call.idempotency_key.as_deref() == Some("mine"))
    );
}

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_on_from_the_callers() {
    let call = Called::retrying(always(error(ErrorKind::Server)), RetryPolicy::default());
    call.stack
        .chat(&TestClock::context().with_attempt(4), &request())
        .await
        .unwrap_err();
    let numbers: Vec<_> = call.driver.calls().iter().map(|call| call.attempt).collect();
    assert_eq!(numbers, [4, 5, 6]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_stops_in_its_attempt_and_in_its_wait() {
    let call = Called::retrying(
        ScriptedDriver::always("alpha", Reply::hang()),
        RetryPolicy::default(),
    );
    let cx = TestClock::context();
    tokio::time::timeout(SECOND, call.stack.chat(&cx, &request()))
        .await
        .unwrap_err();
    assert_eq!(call.driver.calls()[0].progress, Progress::Dropped);

    let slow = error(ErrorKind::RateLimit).with_retry_after(SECOND * 20);
    let call = Called::retrying(fails_then_serves(slow), RetryPolicy::default());
    tokio::time::timeout(SECOND, call.stack.chat(&cx, &request()))
        .await
        .unwrap_err();
    tokio::time::sleep(SECOND * 60).await;
    assert_eq!(call.driver.call_count(), 1);
}
