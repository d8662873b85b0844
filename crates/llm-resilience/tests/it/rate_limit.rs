//! Limits on requests and tokens.

mod churn;
mod shared;
mod vendor;

use crate::{SECOND, error, read, request, timed};
use llm_core::{
    Availability, CallContext, ChatRequest, ChatResponse, Error, ErrorKind, ModelId, Phase, Rejection,
    ResponseMeta, Scope, Stack, UnavailableReason, Usage,
};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{
    BurstPolicy, LimitReason, RateLimitLayer, RateLimitPolicy, RateLimitScope, Refusal, TokenEstimate,
};
use std::error::Error as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

pub(crate) fn requests(limit: u64) -> RateLimitPolicy {
    RateLimitPolicy::default().with_requests_per_minute(limit)
}

/// Room for so many tokens; a bare request takes 5, and nothing is assumed of answers.
pub(crate) fn tokens(limit: u64) -> RateLimitPolicy {
    RateLimitPolicy::default()
        .with_tokens_per_minute(limit)
        .with_assumed_output_tokens(0)
}

pub(crate) fn limited(driver: ScriptedDriver, policy: RateLimitPolicy) -> (Stack, Arc<ScriptedDriver>) {
    let driver = Arc::new(driver);
    let stack = Stack::from_arc(driver.clone()).layer(RateLimitLayer::new(policy));
    (stack, driver)
}

fn hello(policy: RateLimitPolicy) -> Stack {
    limited(ScriptedDriver::always("alpha", Reply::text("hello")), policy).0
}

pub(crate) fn using(usage: Usage) -> Reply {
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.usage = usage;
    Reply::response(response)
}

/// A context that never queues.
pub(crate) fn impatient() -> CallContext {
    TestClock::context().with_max_queue_wait(Duration::ZERO)
}

pub(crate) fn reason(error: &Error) -> Option<LimitReason> {
    match error.source()?.downcast_ref::<Refusal>()? {
        Refusal::NoRoom { reason, .. } | Refusal::TooLarge { reason, .. } => Some(*reason),
        _ => None,
    }
}

/// Begins something that goes on beside the test.
pub(crate) fn begin<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> JoinSet<T> {
    let mut running = JoinSet::new();
    running.spawn(future);
    running
}

/// How many bare requests there is room for now.
pub(crate) async fn room(stack: &Stack) -> usize {
    let mut admitted = 0;
    loop {
        let outcome = stack.chat(&impatient(), &request()).await;
        if outcome.is_err_and(|error| error.kind() == ErrorKind::Rejected) {
            break;
        }
        admitted += 1;
        assert!(admitted < 10_000, "there is no limit");
    }
    admitted
}

#[tokio::test(start_paused = true)]
async fn what_would_wait_too_long_is_refused_at_once() {
    let stack = hello(requests(2));
    let cx = TestClock::context();
    stack.chat(&cx, &request()).await.unwrap();
    tokio::time::sleep(SECOND * 10).await;
    stack.chat(&cx, &request()).await.unwrap();
    let model = ModelId::new("m1").unwrap();
    let (outcome, took) = timed(&cx, stack.chat(&cx, &request().with_model(model.clone()))).await;
    let error = outcome.unwrap_err();
    assert_eq!(took, Duration::ZERO);
    assert_eq!(
        (error.kind(), error.rejection(), error.phase(), error.scope()),
        (
            ErrorKind::Rejected,
            Some(Rejection::RateLimit),
            Phase::NotSent,
            Scope::Request
        )
    );
    assert_eq!(error.retry_after(), Some(SECOND * 50));
    assert_eq!(reason(&error), Some(LimitReason::Requests));
    assert_eq!(error.vendor().driver.as_ref().unwrap().as_str(), "alpha");
    assert_eq!(error.vendor().model, Some(model));
    assert!(error.message().contains("50 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn availability_says_until_when_there_is_no_room() {
    let stack = hello(requests(1));
    let model = ModelId::new("m1").unwrap();
    assert_eq!(stack.availability(&model), Availability::Available);
    let cx = TestClock::context();
    let until = cx.clock().now() + SECOND * 60;
    stack.chat(&cx, &request()).await.unwrap();
    let closed = Availability::unavailable(UnavailableReason::RateLimit, until);
    assert_eq!(stack.availability(&model), closed);
    tokio::time::sleep(SECOND * 60).await;
    assert_eq!(stack.availability(&model), Availability::Available);
}

#[tokio::test(start_paused = true)]
async fn calls_wait_in_order_and_exactly_as_long_as_needed() {
    let stack = hello(requests(2).with_max_wait(None));
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut running = JoinSet::new();
    for call in 0..6_u32 {
        let (stack, order) = (stack.clone(), order.clone());
        running.spawn(async move {
            tokio::time::sleep(SECOND * call).await;
            let cx = TestClock::context();
            let (outcome, took) = timed(&cx, stack.chat(&cx, &request())).await;
            outcome.unwrap();
            order.lock().unwrap().push((call, took.as_secs()));
        });
    }
    running.join_all().await;
    let order = order.lock().unwrap().clone();
    assert_eq!(order, [(0, 0), (1, 0), (2, 58), (3, 58), (4, 116), (5, 116)]);
}

#[tokio::test(start_paused = true)]
async fn who_comes_later_waits_behind_the_queue_and_is_refused_if_that_is_too_long() {
    let stack = hello(requests(1).with_max_wait(SECOND * 100));
    stack.chat(&TestClock::context(), &request()).await.unwrap();
    let mut waiting = begin({
        let stack = stack.clone();
        async move { stack.chat(&TestClock::context(), &request()).await }
    });
    tokio::time::sleep(SECOND).await;
    let error = stack.chat(&TestClock::context(), &request()).await.unwrap_err();
    assert_eq!(
        error.retry_after(),
        Some(SECOND * 119),
        "a minute for each of both"
    );
    let model = ModelId::new("m1").unwrap();
    let Availability::Unavailable {
        until: Some(until), ..
    } = stack.availability(&model)
    else {
        panic!("there is no room");
    };
    assert_eq!(until - TestClock::context().clock().now(), SECOND * 119);
    waiting.join_next().await.unwrap().unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_bounded_by_context_policy_and_deadline() {
    let stack = hello(requests(1).with_max_wait(SECOND * 61));
    stack.chat(&TestClock::context(), &request()).await.unwrap();
    for short in [
        TestClock::context().with_max_queue_wait(SECOND * 59),
        TestClock::context().with_timeout(SECOND * 59),
    ] {
        let (outcome, took) = timed(&short, stack.chat(&short, &request())).await;
        assert_eq!(
            (outcome.unwrap_err().kind(), took),
            (ErrorKind::Rejected, Duration::ZERO)
        );
    }
    let gone = TestClock::context().with_timeout(Duration::ZERO);
    let error = stack.chat(&gone, &request()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.scope()),
        (ErrorKind::Timeout, Scope::Request)
    );
    let (outcome, took) = {
        let cx = TestClock::context().with_timeout(SECOND * 90);
        timed(&cx, stack.chat(&cx, &request())).await
    };
    outcome.unwrap();
    assert_eq!(took, SECOND * 60);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses() {
    let stack = hello(requests(1).with_max_queue(1));
    stack.chat(&TestClock::context(), &request()).await.unwrap();
    tokio::time::sleep(SECOND * 50).await;
    let mut waiting = begin({
        let stack = stack.clone();
        async move { stack.chat(&TestClock::context(), &request()).await }
    });
    tokio::time::sleep(SECOND).await;
    let cx = TestClock::context().with_max_queue_wait(SECOND * 600);
    let error = stack.chat(&cx, &request()).await.unwrap_err();
    let refusal = error.source().unwrap().downcast_ref::<Refusal>();
    assert!(matches!(refusal, Some(Refusal::QueueFull { .. })), "{error}");
    waiting.join_next().await.unwrap().unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn reported_usage_takes_the_place_of_the_estimate() {
    let stack = limited(
        ScriptedDriver::new("alpha", [using(Usage::new(60, 40)), using(Usage::new(500, 350))]),
        tokens(1000),
    )
    .0;
    let call = |budget| ChatRequest::user("").with_max_output_tokens(budget);
    stack.chat(&impatient(), &call(900)).await.unwrap();
    stack.chat(&impatient(), &call(850)).await.unwrap();
    let error = stack.chat(&impatient(), &call(60)).await.unwrap_err();
    assert_eq!(reason(&error), Some(LimitReason::Tokens));
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_gives_its_tokens_back_and_its_request_stays_counted() {
    let fails = |phase, status| {
        let mut error = error(ErrorKind::Server).with_phase(phase);
        error.vendor_mut().status = status;
        error
    };
    for (error, left) in [
        (fails(Phase::Sent, None), 9),
        (fails(Phase::NotSent, Some(500)), 9),
        (fails(Phase::NotSent, None), 10),
    ] {
        let policy = tokens(1000).with_requests_per_minute(10);
        let (stack, driver) = limited(ScriptedDriver::new("alpha", [Reply::error(error)]), policy);
        let all = ChatRequest::user("").with_max_output_tokens(990);
        stack.chat(&impatient(), &all).await.unwrap_err();
        for _ in 0..20 {
            driver.push(using(Usage::new(1, 1)));
        }
        assert_eq!(room(&stack).await, left);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_and_a_cancelled_call_give_their_tokens_back() {
    let reply = Reply::text("hello").with_event_pause(SECOND);
    let (stack, _) = limited(ScriptedDriver::always("alpha", reply), tokens(1000));
    let all = ChatRequest::user("").with_max_output_tokens(990);
    for _ in 0..3 {
        let mut stream = stack.chat_stream(&impatient(), &all).await.unwrap();
        stream.next_event().await.unwrap().unwrap();
        assert!(stack.chat_stream(&impatient(), &all).await.is_err());
        drop(stream);
        let mut call = begin({
            let (stack, all) = (stack.clone(), all.clone());
            async move { stack.chat(&impatient(), &all).await }
        });
        tokio::time::sleep(SECOND / 2).await;
        assert!(stack.chat(&impatient(), &all).await.is_err());
        call.shutdown().await;
    }
    let broken = Reply::text("hello").broken_after(3, error(ErrorKind::Interrupted).with_phase(Phase::Sent));
    let (stack, _) = limited(ScriptedDriver::always("alpha", broken), tokens(1000));
    for _ in 0..3 {
        let (_, error) = read(stack.chat_stream(&impatient(), &all).await.unwrap()).await;
        assert_eq!(error.unwrap().kind(), ErrorKind::Interrupted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_settles_at_its_finish() {
    let replies = std::iter::repeat_n(using(Usage::new(300, 100)), 9);
    let (stack, _) = limited(ScriptedDriver::new("alpha", replies), tokens(1000));
    let call = ChatRequest::user("").with_max_output_tokens(500);
    for _ in 0..2 {
        let stream = stack.chat_stream(&impatient(), &call).await.unwrap();
        assert!(read(stream).await.1.is_none());
    }
    assert!(
        stack.chat_stream(&impatient(), &call).await.is_err(),
        "800 are used"
    );
}

#[tokio::test(start_paused = true)]
async fn tokens_that_come_back_admit_who_waits_for_them() {
    let slow = Reply::error(error(ErrorKind::Server).with_phase(Phase::Sent)).with_pause(SECOND * 5);
    let driver = ScriptedDriver::new("alpha", [slow, using(Usage::new(1, 1))]);
    let (stack, _) = limited(driver, tokens(1000).with_max_wait(None));
    let all = ChatRequest::user("").with_max_output_tokens(990);
    let mut first = begin({
        let (stack, all) = (stack.clone(), all.clone());
        async move { stack.chat(&TestClock::context(), &all).await }
    });
    tokio::time::sleep(SECOND).await;
    let cx = TestClock::context();
    let (outcome, took) = timed(&cx, stack.chat(&cx, &all)).await;
    outcome.unwrap();
    assert_eq!(took, SECOND * 4, "as soon as the first has failed");
    first.join_next().await.unwrap().unwrap().unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn what_the_caller_knows_takes_the_place_of_the_guess() {
    let unreported = ScriptedDriver::always("alpha", using(Usage::default()));
    let (stack, _) = limited(unreported, tokens(1000));
    let knowing = |tokens| impatient().with_extension(TokenEstimate::new(tokens));
    let guessed = ChatRequest::user("").with_max_output_tokens(5000);
    stack.chat(&knowing(1000), &guessed).await.unwrap();
    let error = stack.chat(&knowing(1), &guessed).await.unwrap_err();
    assert_eq!(reason(&error), Some(LimitReason::Tokens));
}

#[tokio::test(start_paused = true)]
async fn what_never_fits_is_refused_and_never_waits() {
    let stack = hello(tokens(1000).with_max_wait(None));
    let large = ChatRequest::user("").with_max_output_tokens(1001);
    let error = stack.chat(&TestClock::context(), &large).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after()), (ErrorKind::Rejected, None));
    assert_eq!(reason(&error), Some(LimitReason::Tokens));
    assert!(error.message().contains("tokens_per_minute"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_layer_value_is_one_budget_unless_its_scope_says_otherwise() {
    let drivers = || ["alpha", "beta"].map(|id| ScriptedDriver::always(id, Reply::text("hello")));
    let by_model = |name: &str| request().with_model(ModelId::new(name).unwrap());
    for (scope, left_at_beta, left_for_m2) in [
        (RateLimitScope::Layer, false, false),
        (RateLimitScope::Driver, true, false),
        (RateLimitScope::Model, true, true),
    ] {
        let layer = RateLimitLayer::new(requests(1).with_scope(scope));
        let [alpha, beta] = drivers().map(|driver| Stack::new(driver).layer(layer.clone()));
        alpha.chat(&impatient(), &by_model("m1")).await.unwrap();
        assert!(alpha.chat(&impatient(), &by_model("m1")).await.is_err());
        let at_beta = beta.chat(&impatient(), &by_model("m1")).await;
        assert_eq!(at_beta.is_ok(), left_at_beta, "{scope:?}");
        let for_m2 = alpha.chat(&impatient(), &by_model("m2")).await;
        assert_eq!(for_m2.is_ok(), left_for_m2, "{scope:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn smoothing_spreads_what_the_window_would_admit_at_once() {
    let policy = requests(60)
        .with_smooth(BurstPolicy::new(2))
        .with_max_wait(SECOND * 3);
    let stack = hello(policy);
    let started = TestClock::context().clock().now();
    let mut running = JoinSet::new();
    for _ in 0..7 {
        let stack = stack.clone();
        running.spawn(async move {
            let cx = TestClock::context();
            let outcome = stack.chat(&cx, &request()).await.map(drop);
            (
                (cx.clock().now() - started).as_secs(),
                outcome.map_err(|error| error.retry_after()),
            )
        });
    }
    let mut ended = running.join_all().await;
    ended.sort();
    let late = |seconds| (0, Err(Some(SECOND * seconds)));
    assert_eq!(
        ended,
        [
            (0, Ok(())),
            (0, Ok(())),
            late(4),
            late(4),
            (1, Ok(())),
            (2, Ok(())),
            (3, Ok(()))
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn many_models_leave_no_budgets_behind() {
    let stack = hello(requests(1).with_scope(RateLimitScope::Model));
    for number in 0..5000 {
        let model = ModelId::new(format!("m{number}")).unwrap();
        stack
            .chat(&impatient(), &request().with_model(model))
            .await
            .unwrap();
        if number % 50 == 0 {
            tokio::time::sleep(SECOND * 61).await;
        }
    }
    let kept = format!("{stack:?}").matches("Budget {").count();
    assert!(kept < 300, "{kept} budgets");
}
