//! A cap on calls at once.

mod churn;

use crate::{SECOND, read, request, timed};
use llm_core::{Availability, ErrorKind, ModelId, Phase, Rejection, Result, Scope, Stack, UnavailableReason};
use llm_core::{ChatResponse, Error};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{BulkheadLayer, BulkheadPolicy, BulkheadScope};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

fn model(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

fn slow(id: &'static str) -> Arc<ScriptedDriver> {
    Arc::new(ScriptedDriver::always(
        id,
        Reply::text("hello").with_pause(SECOND * 10),
    ))
}

fn stack(policy: BulkheadPolicy) -> (Stack, Arc<ScriptedDriver>) {
    let driver = slow("alpha");
    let stack = Stack::from_arc(driver.clone()).layer(BulkheadLayer::new(policy));
    (stack, driver)
}

fn refused(error: &Error) {
    assert_eq!(
        (
            error.kind(),
            error.rejection(),
            error.phase(),
            error.retry_after()
        ),
        (
            ErrorKind::Rejected,
            Some(Rejection::BulkheadFull),
            Phase::NotSent,
            None
        ),
        "{error:?}"
    );
    assert_eq!(error.vendor().driver.as_ref().unwrap().as_str(), "alpha");
}

/// Calls that are begun one after the other, in this order, and how each ended and when.
async fn at_once(stack: &Stack, calls: usize) -> Vec<(usize, Result<ChatResponse>, Duration)> {
    let ended = Arc::new(Mutex::new(Vec::new()));
    let mut running = JoinSet::new();
    for call in 0..calls {
        let (stack, ended) = (stack.clone(), ended.clone());
        running.spawn(async move {
            let cx = TestClock::context();
            let (outcome, took) = timed(&cx, stack.chat(&cx, &request())).await;
            ended.lock().unwrap().push((call, outcome, took));
        });
    }
    running.join_all().await;
    std::mem::take(&mut *ended.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn calls_run_in_the_order_they_came_and_no_more_than_allowed() {
    let (stack, driver) = stack(BulkheadPolicy::new(2).with_max_queue(4));
    let ended = at_once(&stack, 8).await;
    let served: Vec<_> = ended
        .iter()
        .filter(|(_, outcome, _)| outcome.is_ok())
        .map(|(call, _, took)| (*call, took.as_secs()))
        .collect();
    assert_eq!(served, [(0, 10), (1, 10), (2, 20), (3, 20), (4, 30), (5, 30)]);
    for (call, outcome, took) in ended.iter().filter(|(_, outcome, _)| outcome.is_err()) {
        assert!(*call >= 6 && took.is_zero(), "{call} was refused at once");
        refused(outcome.as_ref().unwrap_err());
    }
    assert_eq!(driver.call_count(), 6, "a refused call is not sent");
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_after_the_contexts_limit_or_else_the_policys() {
    let (stack, _) = stack(BulkheadPolicy::new(1).with_max_wait(SECOND * 3));
    let cx = TestClock::context();
    let _running = stack.chat_stream(&cx, &request()).await.unwrap();
    for (own, waited) in [(None, 3), (Some(7), 7), (Some(0), 0)] {
        // The deadline is later than any of them.
        let mut cx = TestClock::context().with_timeout(SECOND * 8);
        if let Some(own) = own {
            cx = cx.with_max_queue_wait(SECOND * own);
        }
        let (outcome, took) = timed(&cx, stack.chat(&cx, &request())).await;
        refused(&outcome.unwrap_err());
        assert_eq!(took, SECOND * waited);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_in_the_queue_is_the_callers() {
    for wait in [None, Some(SECOND * 2), Some(SECOND * 9)] {
        let (stack, driver) = stack(BulkheadPolicy::new(1).with_max_wait(wait));
        let _running = stack
            .chat_stream(&TestClock::context(), &request())
            .await
            .unwrap();
        let cx = TestClock::context().with_timeout(SECOND * 2);
        let (outcome, took) = timed(&cx, stack.chat(&cx, &request())).await;
        let error = outcome.unwrap_err();
        assert_eq!(
            (error.kind(), error.scope(), error.phase()),
            (ErrorKind::Timeout, Scope::Request, Phase::NotSent)
        );
        assert_eq!((took, driver.call_count()), (SECOND * 2, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_a_call_waits_as_long_as_it_takes() {
    let (stack, _) = stack(BulkheadPolicy::new(1).with_max_wait(None));
    let ended = at_once(&stack, 12).await;
    assert!(ended.iter().all(|(_, outcome, _)| outcome.is_ok()));
    assert_eq!(ended.last().unwrap().2, SECOND * 120);
}

#[tokio::test(start_paused = true)]
async fn a_stream_keeps_its_place_until_its_end_its_error_or_its_drop() {
    let cut = Reply::text("hello").broken_after(2, Error::new(ErrorKind::Interrupted, "cut"));
    for (reply, end) in [
        (Reply::text("hello"), "read"),
        (cut, "read"),
        (Reply::text("hello"), "drop"),
    ] {
        let driver = Arc::new(ScriptedDriver::always("alpha", reply));
        let layer = BulkheadLayer::new(BulkheadPolicy::new(1).with_max_queue(0));
        let stack = Stack::from_arc(driver).layer(layer);
        let cx = TestClock::context();
        let stream = stack.chat_stream(&cx, &request()).await.unwrap();
        refused(&stack.chat_stream(&cx, &request()).await.unwrap_err());
        let closed = Availability::unavailable(UnavailableReason::BulkheadFull, None);
        assert_eq!(stack.availability(&model("m1")), closed);
        if end == "read" {
            read(stream).await;
        } else {
            drop(stream);
        }
        assert!(stack.availability(&model("m1")).is_available());
        drop(stack.chat_stream(&cx, &request()).await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_finished_stream_that_is_kept_keeps_no_place() {
    let driver = ScriptedDriver::always("alpha", Reply::text("hello"));
    let stack = Stack::new(driver).layer(BulkheadLayer::new(BulkheadPolicy::new(1).with_max_queue(0)));
    let cx = TestClock::context();
    let mut stream = stack.chat_stream(&cx, &request()).await.unwrap();
    while stream.finish_reason().is_none() {
        stream.next_event().await.unwrap().unwrap();
    }
    assert!(stack.chat(&cx, &request()).await.is_ok());
    drop(stream);
}

#[tokio::test(start_paused = true)]
async fn it_is_unavailable_only_when_the_queue_is_full_too() {
    let (stack, _) = stack(BulkheadPolicy::new(1).with_max_queue(1));
    let mut running = JoinSet::new();
    for calls in [1, 2] {
        assert!(
            stack.availability(&model("m1")).is_available(),
            "{calls} calls fit"
        );
        let stack = stack.clone();
        running.spawn(async move { stack.chat(&TestClock::context(), &request()).await.map(drop) });
        tokio::time::sleep(SECOND).await;
    }
    assert!(!stack.availability(&model("m1")).is_available());
    running.shutdown().await;
    assert!(stack.availability(&model("m1")).is_available());
}

#[tokio::test(start_paused = true)]
async fn the_scope_says_what_is_counted_together() {
    for (scope, other_driver, other_model) in [
        (BulkheadScope::Layer, false, false),
        (BulkheadScope::Driver, true, false),
        (BulkheadScope::Model, true, true),
    ] {
        let layer = BulkheadLayer::new(BulkheadPolicy::new(1).with_max_queue(0).with_scope(scope));
        let [alpha, beta] =
            [slow("alpha"), slow("beta")].map(|driver| Stack::from_arc(driver).layer(layer.clone()));
        let cx = TestClock::context();
        let ask = |model: &str| request().with_model(ModelId::new(model).ok());
        let _running = alpha.chat_stream(&cx, &ask("m1")).await.unwrap();
        assert!(alpha.chat_stream(&cx, &ask("m1")).await.is_err());
        assert_eq!(beta.chat_stream(&cx, &ask("m1")).await.is_ok(), other_driver);
        assert_eq!(alpha.chat_stream(&cx, &ask("m2")).await.is_ok(), other_model);
        assert_eq!(alpha.availability(&model("m2")).is_available(), other_model);
    }
}

#[tokio::test(start_paused = true)]
async fn names_that_callers_make_up_leave_nothing_behind_and_free_no_places() {
    let policy = BulkheadPolicy::new(1)
        .with_max_queue(0)
        .with_scope(BulkheadScope::Model);
    let layer = BulkheadLayer::new(policy);
    let stack = Stack::from_arc(slow("alpha")).layer(layer.clone());
    let cx = TestClock::context();
    let ask = |model: &str| request().with_model(ModelId::new(model).ok());
    let _running = stack.chat_stream(&cx, &ask("kept")).await.unwrap();
    for name in 0..1000 {
        drop(stack.chat_stream(&cx, &ask(&format!("m{name}"))).await.unwrap());
    }
    refused(&stack.chat_stream(&cx, &ask("kept")).await.unwrap_err());
    let rooms = format!("{layer:?}").matches("Key").count();
    assert!(rooms < 200, "{rooms} rooms are kept");
}
