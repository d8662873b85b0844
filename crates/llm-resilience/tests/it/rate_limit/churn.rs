//! Many short lives of a limiter: calls that come, wait, give up, fail and are dropped at random.

use super::{impatient, requests};
use llm_core::{ChatRequest, Error, ErrorKind, Phase, Stack};
use llm_driver_testkit::{Exhausted, Reply, ScriptedDriver, TestClock};
use llm_resilience::RateLimitLayer;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::task::JoinSet;

/// How many lives.
const LIVES: u64 = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

/// One caller: comes late, has little patience, reads some of a stream and may drop it. Its request says which in
/// the order of arrival it is.
async fn caller(stack: Stack, arrivals: Arc<AtomicUsize>, mut random: fastrand::Rng) {
    let mut seconds = |most: u64| Duration::from_millis(random.u64(0..=most * 1000));
    tokio::time::sleep(seconds(60)).await;
    let (patience, queue, deadline) = (seconds(200), seconds(200), seconds(200));
    let mut cx = TestClock::context();
    if random.bool() {
        cx = cx.with_max_queue_wait(queue);
    }
    if random.bool() {
        cx = cx.with_timeout(deadline);
    }
    let (streams, events) = (random.bool(), random.usize(0..8));
    let call = async {
        let number = arrivals.fetch_add(1, SeqCst);
        let request = ChatRequest::user(number.to_string());
        if !streams {
            let _ = stack.chat(&cx, &request).await;
        } else if let Ok(mut stream) = stack.chat_stream(&cx, &request).await {
            for _ in 0..events {
                if stream.next_event().await.is_none() {
                    break;
                }
            }
        }
    };
    let _ = tokio::time::timeout(patience, call).await;
}

/// How many of ten calls in one moment are admitted.
async fn room_at_once(stack: &Stack) -> usize {
    let mut running = JoinSet::new();
    for _ in 0..10 {
        let stack = stack.clone();
        running.spawn(async move { stack.chat(&impatient(), &ChatRequest::user("hi")).await });
    }
    let outcomes = running.join_all().await;
    let refused = |error: &Error| error.kind() == ErrorKind::Rejected;
    outcomes.len()
        - outcomes
            .iter()
            .filter(|outcome| outcome.as_ref().is_err_and(refused))
            .count()
}

#[tokio::test(start_paused = true)]
async fn no_permit_is_lost_none_is_given_twice_and_nobody_is_passed() {
    let mut waited = 0;
    for life in 0..LIVES {
        let mut random = fastrand::Rng::with_seed(life);
        let limit = random.u64(1..5);
        let failure = Error::new(ErrorKind::Server, "scripted").with_phase(Phase::Sent);
        let pause = Duration::from_millis(random.u64(0..3000));
        let replies = [Reply::error(failure), Reply::text("hello").with_pause(pause)];
        let driver = ScriptedDriver::new("alpha", replies).with_exhausted(Exhausted::RepeatLast);
        let driver = Arc::new(driver);
        let stack =
            Stack::from_arc(driver.clone()).layer(RateLimitLayer::new(requests(limit).with_max_wait(None)));
        let arrivals = Arc::new(AtomicUsize::new(0));
        let mut callers = JoinSet::new();
        for _ in 0..random.usize(1..10) {
            callers.spawn(caller(stack.clone(), arrivals.clone(), random.fork()));
        }
        while !callers.is_empty() {
            if random.u8(0..6) == 0 {
                // Whoever is left is cut off wherever it stands.
                callers.shutdown().await;
            } else {
                callers.join_next().await.unwrap().unwrap();
            }
        }

        let mut calls = driver.calls();
        // Admitted in the moment of its deadline, a call comes back unsent and costs nothing.
        calls.retain(|call| call.remaining != Some(Duration::ZERO));
        let order: Vec<usize> = calls
            .iter()
            .map(|call| call.request.messages[0].text().parse().unwrap())
            .collect();
        assert!(order.is_sorted(), "life {life}: {order:?}");
        waited += calls.len().saturating_sub(usize::try_from(limit).unwrap());
        for call in &calls {
            let window = calls
                .iter()
                .filter(|other| call.at <= other.at && other.at < call.at + MINUTE);
            assert!(window.count() as u64 <= limit, "life {life}");
        }

        // Only what was sent counts.
        let now = TestClock::context().clock().now();
        let counted = calls.iter().filter(|call| now - call.at < MINUTE).count();
        let limit = usize::try_from(limit).unwrap();
        assert_eq!(room_at_once(&stack).await, limit - counted, "life {life}");
        tokio::time::sleep(MINUTE * 2).await;
        assert_eq!(room_at_once(&stack).await, limit, "life {life}");
    }
    assert!(waited > 1000, "only {waited} calls had to wait");
}
