//! Stacks from configuration: their order, and what a reload keeps.

use crate::cache::shelf::Shelf;
use crate::{SECOND, error, request};
use llm_core::{CallContext, ErrorKind, Rejection, Stack};
use llm_driver_testkit::{Exhausted, Reply, ScriptedDriver, TestClock};
use llm_resilience::{
    BreakerLayer, BulkheadLayer, BulkheadPolicy, CacheLayer, CachePolicy, HedgeLayer, KeyPoolLayer, PoolKey,
    RateLimitLayer, RateLimitPolicy, RetryLayer, StackConfig, StackLayers, StackStores, TimeoutLayer,
    TraceLayer,
};
use std::sync::Arc;

const EVERY_LAYER: &str = r#"{
    "timeout": {}, "key_pool": {}, "bulkhead": {"max_concurrent": 9}, "rate_limit": {}, "breaker": {},
    "hedge": {}, "retry": {}, "cache": {}, "trace": {}
}"#;

fn config(text: &str) -> StackConfig {
    serde_json::from_str(text).unwrap()
}

fn stores() -> StackStores {
    StackStores::default().with_cache(Arc::new(Shelf::default()))
}

fn layers(text: &str) -> StackLayers {
    StackLayers::build(config(text), stores()).unwrap()
}

fn alpha() -> Arc<ScriptedDriver> {
    Arc::new(ScriptedDriver::always("alpha", Reply::text("hello")))
}

/// In code, `.layer(x)` puts x outermost, so code reads innermost first; configuration lists outermost first, whatever
/// the order of its keys. Both are the same stack.
#[test]
fn the_order_is_the_same_in_code_and_in_configuration() {
    let expected = format!("{} > alpha", StackConfig::ORDER.join(" > "));
    assert_eq!(
        expected,
        "trace > cache > retry > hedge > breaker > rate_limit > bulkhead > key_pool > timeout > alpha"
    );
    let by_hand = Stack::from_arc(alpha())
        .layer(TimeoutLayer::default())
        .layer(KeyPoolLayer::default())
        .layer(BulkheadLayer::new(BulkheadPolicy::new(9)))
        .layer(RateLimitLayer::new(RateLimitPolicy::default()))
        .layer(BreakerLayer::default())
        .layer(HedgeLayer::default())
        .layer(RetryLayer::default())
        .layer(CacheLayer::new(
            CachePolicy::default(),
            Arc::new(Shelf::default()),
        ))
        .layer(TraceLayer::default());
    assert_eq!(by_hand.info().to_string(), expected);

    let layers = layers(EVERY_LAYER);
    assert_eq!(layers.stack(alpha()).info().to_string(), expected);
    let keys = [PoolKey::new("one", alpha()), PoolKey::new("two", alpha())];
    assert_eq!(layers.stack_of_keys(keys).unwrap().info().to_string(), expected);

    // The fields of the configuration stand in that order, too.
    let told = serde_json::from_str::<StackConfig>(r#"{"x": {}}"#)
        .unwrap_err()
        .to_string();
    let fields = StackConfig::ORDER.map(|name| format!("`{name}`")).join(", ");
    assert!(told.contains(&fields), "{told}");
}

#[test]
fn what_is_not_named_is_not_there_and_what_makes_no_sense_is_refused() {
    let empty = StackLayers::build(config("{}"), StackStores::default()).unwrap();
    assert_eq!(empty.stack(alpha()).info().to_string(), "alpha");
    let recommended = StackLayers::build(StackConfig::recommended(), StackStores::default()).unwrap();
    assert_eq!(
        recommended.stack(alpha()).info().to_string(),
        "trace > retry > breaker > timeout > alpha"
    );

    let cache = StackLayers::build(config(r#"{"cache": {}}"#), StackStores::default()).unwrap_err();
    assert!(
        cache.kind() == ErrorKind::Config && cache.message().contains("store"),
        "{cache}"
    );
    let keys = empty.stack_of_keys([PoolKey::new("one", alpha())]).unwrap_err();
    assert!(
        keys.kind() == ErrorKind::Config && keys.message().contains("key_pool"),
        "{keys}"
    );
    assert!(serde_json::from_str::<StackConfig>(r#"{"retry": {"attempts": 2}}"#).is_err());
}

/// A failing driver behind a stack, until the breaker of it has opened.
async fn break_down(layers: &StackLayers, cx: &CallContext) -> Arc<ScriptedDriver> {
    let down = Arc::new(ScriptedDriver::always(
        "alpha",
        Reply::error(error(ErrorKind::Server)),
    ));
    let stack = layers.stack(down.clone());
    for _ in 0..2 {
        assert_eq!(
            stack.chat(cx, &request()).await.unwrap_err().kind(),
            ErrorKind::Server
        );
    }
    down
}

#[tokio::test(start_paused = true)]
async fn a_reload_keeps_what_layers_know_whose_policy_did_not_change() {
    let cx = TestClock::context();
    let before = layers(r#"{"breaker": {"failures": 2}, "timeout": {}, "bulkhead": {"max_concurrent": 1}}"#);
    break_down(&before, &cx).await;

    let after = before
        .rebuild(config(
            r#"{"breaker": {"failures": 2}, "timeout": {"idle_ms": 1}, "trace": {}}"#,
        ))
        .unwrap();
    let stack = after.stack(alpha());
    assert_eq!(stack.info().to_string(), "trace > breaker > timeout > alpha");
    let refused = stack.chat(&cx, &request()).await.unwrap_err();
    assert_eq!(refused.rejection(), Some(Rejection::BreakerOpen));
    assert_eq!(
        after.config().timeout,
        config(r#"{"timeout": {"idle_ms": 1}}"#).timeout
    );

    // Another policy begins anew, and the old stack goes on with what it knows.
    let anew = after.rebuild(config(r#"{"breaker": {"failures": 3}}"#)).unwrap();
    assert_eq!(
        anew.stack(alpha()).chat(&cx, &request()).await.unwrap().text(),
        "hello"
    );
    assert!(stack.chat(&cx, &request()).await.is_err());
    // Left out, and configured again: anew, too.
    let without = before.rebuild(config("{}")).unwrap();
    let again = without.rebuild(before.config().clone()).unwrap();
    assert_eq!(
        again.stack(alpha()).chat(&cx, &request()).await.unwrap().text(),
        "hello"
    );
}

#[tokio::test(start_paused = true)]
async fn a_reload_asks_a_refused_credential_again_and_keeps_what_else_shut_it() {
    let cx = TestClock::context();
    let failing = |kind| Arc::new(ScriptedDriver::always("alpha", Reply::error(error(kind))));
    for (kind, rejection, passes) in [
        (ErrorKind::Auth, Rejection::NoCredential, true),
        (ErrorKind::QuotaExhausted, Rejection::Budget, false),
    ] {
        let before = layers(r#"{"breaker": {}}"#);
        let refused = before.stack(failing(kind));
        let model = refused.resolve(None).unwrap().id.clone();
        refused.chat(&cx, &request()).await.unwrap_err();
        let again = refused.chat(&cx, &request()).await.unwrap_err();
        assert_eq!(again.rejection(), Some(rejection));

        let renewed = before.rebuild(before.config().clone()).unwrap().stack(alpha());
        // A router would never ask it otherwise.
        assert_eq!(renewed.availability(&model).is_available(), passes, "{kind}");
        assert!(!refused.availability(&model).is_available());
        assert_eq!(renewed.chat(&cx, &request()).await.is_ok(), passes, "{kind}");

        // The new credential may be no better. Then it is asked once, not with every call.
        let worse = failing(kind);
        let stack = before
            .rebuild(before.config().clone())
            .unwrap()
            .stack(worse.clone());
        for _ in 0..3 {
            stack.chat(&cx, &request()).await.unwrap_err();
        }
        assert_eq!(worse.call_count(), usize::from(passes), "{kind}");
        assert!(!stack.availability(&model).is_available());
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_does_not_open_the_breaker_around_the_pool() {
    let cx = TestClock::context();
    let layers = layers(r#"{"breaker": {}, "key_pool": {}, "timeout": {}}"#);
    assert_eq!(
        layers.config().breaker.as_ref().map(|policy| policy.credentials),
        Some(false)
    );
    let refused = ScriptedDriver::always("alpha", Reply::error(error(ErrorKind::Auth)));
    let keys = [
        PoolKey::new("bad", Arc::new(refused)),
        PoolKey::new("good", alpha()),
    ];
    let stack = layers.stack_of_keys(keys).unwrap();
    for _ in 0..3 {
        assert_eq!(stack.chat(&cx, &request()).await.unwrap().text(), "hello");
    }
}

/// Each attempt with its own key gets the time limit anew.
#[tokio::test(start_paused = true)]
async fn each_key_of_a_pool_has_its_own_time_limits() {
    let cx = TestClock::context();
    let layers = layers(r#"{"key_pool": {}, "timeout": {"whole_ms": 10000}}"#);
    let slow_limit = Reply::error(error(ErrorKind::RateLimit)).with_pause(SECOND * 9);
    let slow = ScriptedDriver::new("alpha", [Reply::text("hello").with_pause(SECOND * 9)])
        .with_exhausted(Exhausted::RepeatLast);
    let keys = [
        PoolKey::new("limited", Arc::new(ScriptedDriver::always("alpha", slow_limit))),
        PoolKey::new("slow", Arc::new(slow)),
    ];
    let stack = layers.stack_of_keys(keys).unwrap();
    assert_eq!(stack.chat(&cx, &request()).await.unwrap().text(), "hello");
}
