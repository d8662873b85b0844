//! Several credentials for one driver.

use crate::{SECOND, error, read, request, text};
use llm_core::{
    CallContext, ChatDriver, Error, ErrorKind, HealthState, HealthStatus, ModelId, Phase, Rejection, Stack,
    UnavailableReason,
};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{
    BreakerLayer, BreakerPolicy, CacheNamespace, KeyPoolLayer, KeyPoolPolicy, PoolKey, RetryLayer,
    RetryPolicy,
};
use std::sync::Arc;
use std::time::SystemTime;

struct Pool {
    drivers: Vec<Arc<ScriptedDriver>>,
    layer: KeyPoolLayer,
    stack: Stack,
}

impl Pool {
    /// Keys `k0`, `k1`, …, each of which answers this at first, and its own name from then on.
    fn new(policy: KeyPoolPolicy, first: impl IntoIterator<Item = Vec<Reply>>) -> Self {
        let drivers = first.into_iter().enumerate().map(|(place, mut replies)| {
            replies.push(Reply::text(format!("k{place}")));
            let driver = ScriptedDriver::new("alpha", replies);
            Arc::new(driver.with_exhausted(llm_driver_testkit::Exhausted::RepeatLast))
        });
        let drivers: Vec<_> = drivers.collect();
        let layer = KeyPoolLayer::new(policy);
        let stack = over(&layer, &drivers);
        Pool {
            drivers,
            layer,
            stack,
        }
    }

    async fn ask(&self, cx: &CallContext) -> Result<String, Error> {
        Ok(self.stack.chat(cx, &request()).await?.text())
    }

    async fn ask_streamed(&self, cx: &CallContext) -> Result<String, Error> {
        let stream = self.stack.chat_stream(cx, &request()).await?;
        Ok(text(&read(stream).await.0))
    }

    fn counts(&self) -> Vec<usize> {
        self.drivers.iter().map(|driver| driver.call_count()).collect()
    }
}

fn over(layer: &KeyPoolLayer, drivers: &[Arc<ScriptedDriver>]) -> Stack {
    let key =
        |(place, driver): (usize, &Arc<ScriptedDriver>)| PoolKey::new(format!("k{place}"), driver.clone());
    Stack::from_arc(layer.over(drivers.iter().enumerate().map(key)).unwrap())
}

fn limit(seconds: u32) -> Error {
    error(ErrorKind::RateLimit).with_retry_after(SECOND * seconds)
}

fn model() -> ModelId {
    ModelId::new("m1").unwrap()
}

#[tokio::test(start_paused = true)]
async fn calls_take_turns_and_a_probe_of_the_health_takes_none() {
    let pool = Pool::new(KeyPoolPolicy::default(), [vec![], vec![]]);
    let cx = TestClock::context();
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(pool.ask(&cx).await.unwrap());
        assert_eq!(pool.stack.health(&cx).await.state, HealthState::Healthy);
    }
    assert_eq!(answers, ["k0", "k1", "k0", "k1"]);
    assert_eq!(pool.stack.info().to_string(), "key_pool > alpha");
}

#[tokio::test(start_paused = true)]
async fn a_key_at_its_limit_gives_way_within_the_call_and_rests_for_the_hint() {
    let cx = TestClock::context();
    for streamed in [false, true] {
        let pool = Pool::new(KeyPoolPolicy::default(), [vec![Reply::error(limit(30))], vec![]]);
        let start = cx.clock().now();
        let answer = match streamed {
            true => pool.ask_streamed(&cx).await,
            false => pool.ask(&cx).await,
        };
        assert_eq!(answer.unwrap(), "k1");
        assert_eq!(cx.clock().now(), start, "at once");
        assert_eq!(pool.ask(&cx).await.unwrap(), "k1");
        tokio::time::sleep(SECOND * 30).await;
        let answers = [pool.ask(&cx).await.unwrap(), pool.ask(&cx).await.unwrap()];
        assert!(answers.contains(&"k0".to_owned()), "{answers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_a_stream_tells_before_its_content_gives_way_too_and_later_rests_the_key() {
    let cx = TestClock::context();
    let before = Reply::text("lost").broken_after(1, limit(30));
    let pool = Pool::new(KeyPoolPolicy::default(), [vec![before], vec![]]);
    let stream = pool.stack.chat_stream(&cx, &request()).await.unwrap();
    let tried: Vec<_> = stream
        .attempts()
        .iter()
        .map(|attempt| attempt.candidate.clone())
        .collect();
    assert_eq!(tried, ["alpha#k0", "alpha#k1"]);
    assert_eq!(text(&read(stream).await.0), "k1");

    let after = Reply::text("half").broken_after(3, error(ErrorKind::QuotaExhausted));
    let pool = Pool::new(KeyPoolPolicy::default(), [vec![after], vec![]]);
    let (_, failure) = read(pool.stack.chat_stream(&cx, &request()).await.unwrap()).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::QuotaExhausted);
    for _ in 0..3 {
        assert_eq!(pool.ask(&cx).await.unwrap(), "k1");
    }
}

#[tokio::test(start_paused = true)]
async fn when_no_key_is_left_the_hint_is_the_time_until_the_first_is_back() {
    let cx = TestClock::context();
    let replies = [vec![Reply::error(limit(10))], vec![Reply::error(limit(60))]];
    let pool = Pool::new(KeyPoolPolicy::default(), replies);
    assert!(pool.stack.availability(&model()).is_available());
    let failure = pool.ask(&cx).await.unwrap_err();
    assert_eq!(
        (failure.kind(), failure.retry_after()),
        (ErrorKind::RateLimit, Some(SECOND * 10))
    );
    assert_eq!(failure.attempts().len(), 2);
    // Asked without a model: the driver's own.
    let resting = pool.stack.resolve(None).unwrap().id.clone();
    let until = cx.clock().now() + SECOND * 10;
    assert_eq!(
        pool.stack.availability(&resting),
        llm_core::Availability::unavailable(UnavailableReason::RateLimit, until)
    );
    let refused = pool.ask(&cx).await.unwrap_err();
    assert_eq!(
        (refused.rejection(), refused.phase()),
        (Some(Rejection::RateLimit), Phase::NotSent)
    );
    assert_eq!(refused.retry_after(), Some(SECOND * 10));
    assert_eq!(pool.counts(), [1, 1]);
    tokio::time::sleep(SECOND * 10).await;
    assert_eq!(pool.ask(&cx).await.unwrap(), "k0");
}

#[tokio::test(start_paused = true)]
async fn a_retry_around_it_waits_until_the_first_key_is_back() {
    let cx = TestClock::context();
    let replies = [vec![Reply::error(limit(10))], vec![Reply::error(limit(60))]];
    let pool = Pool::new(KeyPoolPolicy::default(), replies);
    let start = cx.clock().now();
    let stack = pool.stack.clone().layer(RetryLayer::new(RetryPolicy::new(2)));
    let response = stack.chat(&cx, &request()).await.unwrap();
    assert_eq!(response.text(), "k0");
    assert!(cx.clock().now() - start >= SECOND * 10);
    assert_eq!(response.attempts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_not_used_until_the_pool_is_made_anew_and_rests_outlive_that() {
    let cx = TestClock::context();
    let refused = vec![Reply::error(error(ErrorKind::Auth))];
    let resting = vec![Reply::error(limit(600))];
    let pool = Pool::new(KeyPoolPolicy::default(), [refused, resting, vec![]]);
    for _ in 0..5 {
        assert_eq!(pool.ask(&cx).await.unwrap(), "k2");
    }
    assert_eq!(pool.counts(), [1, 1, 5]);
    // A reload: the same layer, a new stack.
    let stack = over(&pool.layer, &pool.drivers);
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(stack.chat(&cx, &request()).await.unwrap().text());
    }
    assert!(
        answers.contains(&"k0".into()) && !answers.contains(&"k1".into()),
        "{answers:?}"
    );

    let pool = Pool::new(
        KeyPoolPolicy::default(),
        [vec![Reply::error(error(ErrorKind::Permission))]],
    );
    assert_eq!(pool.ask(&cx).await.unwrap_err().kind(), ErrorKind::Permission);
    let refusal = pool.ask(&cx).await.unwrap_err();
    assert_eq!(
        (refusal.rejection(), refusal.retry_after()),
        (Some(Rejection::NoCredential), None)
    );
    assert_eq!(pool.stack.health(&cx).await.state, HealthState::Unhealthy);
    pool.layer.readmit(["k0"]);
    assert_eq!(pool.ask(&cx).await.unwrap(), "k0");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_fault_of_the_key_is_given_back_as_it_is() {
    let cx = TestClock::context();
    for kind in [
        ErrorKind::Server,
        ErrorKind::InvalidRequest,
        ErrorKind::Overloaded,
    ] {
        let pool = Pool::new(
            KeyPoolPolicy::default(),
            [vec![Reply::error(error(kind))], vec![]],
        );
        let failure = pool.ask(&cx).await.unwrap_err();
        assert_eq!((failure.kind(), failure.attempts().len()), (kind, 0));
        assert_eq!(pool.counts(), [1, 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_keeps_its_key_where_that_is_asked_for() {
    let pool = Pool::new(
        KeyPoolPolicy::default().with_sticky(true),
        [vec![], vec![], vec![]],
    );
    let mut seen = std::collections::BTreeSet::new();
    for tenant in 0..20 {
        let cx = TestClock::context().with_extension(CacheNamespace::new(format!("tenant-{tenant}")));
        let key = pool.ask(&cx).await.unwrap();
        for _ in 0..3 {
            assert_eq!(pool.ask(&cx).await.unwrap(), key);
        }
        seen.insert(key);
    }
    assert_eq!(seen.len(), 3);
    // Calls of nobody take turns all the same.
    let cx = TestClock::context();
    let answers = [
        pool.ask(&cx).await.unwrap(),
        pool.ask(&cx).await.unwrap(),
        pool.ask(&cx).await.unwrap(),
    ];
    assert_eq!(
        answers.into_iter().collect::<std::collections::BTreeSet<_>>(),
        seen
    );
}

#[tokio::test(start_paused = true)]
async fn a_breaker_around_it_that_leaves_credentials_alone_keeps_the_others_usable() {
    let cx = TestClock::context();
    let pool = Pool::new(
        KeyPoolPolicy::default(),
        [vec![Reply::error(error(ErrorKind::Auth))], vec![]],
    );
    let breaker = BreakerLayer::new(BreakerPolicy::default().without_credentials());
    let stack = pool.stack.clone().layer(breaker);
    for _ in 0..3 {
        assert_eq!(stack.chat(&cx, &request()).await.unwrap().text(), "k1");
    }
}

#[test]
fn a_pool_that_makes_no_sense_is_refused_and_no_secret_has_a_place_in_it() {
    let layer = KeyPoolLayer::default();
    let driver = |name: &'static str| -> Arc<dyn ChatDriver> {
        let ill = HealthStatus::unhealthy(SystemTime::UNIX_EPOCH, "ill");
        Arc::new(ScriptedDriver::new(name, []).with_health(ill))
    };
    let key = |name: &'static str| PoolKey::new(name, driver("alpha"));
    for (keys, told) in [
        (vec![], "at least one key"),
        (vec![key("a").with_weight(0)], "weight 0"),
        (vec![key("a"), key("b"), key("a")], "\"a\""),
        (
            vec![key("a"), PoolKey::new("b", driver("beta"))],
            "different drivers",
        ),
    ] {
        let error = layer.over(keys).unwrap_err();
        assert!(
            error.kind() == ErrorKind::Config && error.message().contains(told),
            "{error}"
        );
    }
}
