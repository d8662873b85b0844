//! The cache-grade store: what is kept, what counts as absent.

use super::Server;
use llm_resilience::store::redis::RedisKeyValueStore;
use llm_resilience::store::{KeyValueStore, StoreErrorKind};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_value_is_kept_for_its_time_and_forgotten_on_demand() {
    let Some(server) = Server::start(&[]) else { return };
    let store = RedisKeyValueStore::new(server.link(), "cache");
    assert_eq!(store.get("k", None).await.unwrap(), None);
    store.set("k", "one".into(), MINUTE, None).await.unwrap();
    store.set("k", "two".into(), MINUTE, None).await.unwrap();
    assert_eq!(store.get("k", None).await.unwrap().unwrap(), "two");
    let ttl = server.node.ask(&["PTTL", "llm_router:cache:{k}"]).unwrap();
    assert!((1..=60_000).contains(&ttl.parse::<u64>().unwrap()), "{ttl}");
    store.delete("k", None).await.unwrap();
    assert_eq!(store.get("k", None).await.unwrap(), None);

    store.set("k", "three".into(), MINUTE, None).await.unwrap();
    store.set("k", "four".into(), Duration::ZERO, None).await.unwrap();
    assert_eq!(
        store.get("k", None).await.unwrap(),
        None,
        "a ttl of zero keeps nothing"
    );
    store.set("k", "five".into(), Duration::MAX, None).await.unwrap();
    assert_eq!(store.get("k", None).await.unwrap().unwrap(), "five");
    store
        .set("k", "six".into(), Duration::from_millis(1), None)
        .await
        .unwrap();
    while store.get("k", None).await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn one_operation_is_one_round_trip() {
    let Some(server) = Server::start(&[]) else { return };
    let store = RedisKeyValueStore::new(server.link(), "cache");
    store.delete("warm", None).await.unwrap();
    server.node.ask(&["CONFIG", "RESETSTAT"]).unwrap();
    for _ in 0..10 {
        store.set("k", "value".into(), MINUTE, None).await.unwrap();
        store.get("k", None).await.unwrap();
        store.delete("k", None).await.unwrap();
    }
    assert_eq!(
        server.commands(),
        ["config|resetstat 1", "del 10", "getrange 10", "set 10"]
    );
}

#[tokio::test]
async fn what_others_left_there_is_absent_and_can_be_replaced() {
    let Some(server) = Server::start(&[]) else { return };
    let store = RedisKeyValueStore::new(server.link(), "cache").with_largest_value(10);
    let key = "llm_router:cache:{k}";
    for hostile in [
        &["HSET", key, "a", "b"][..],
        &["RPUSH", key, "a"],
        &["SET", key, "longer than ten bytes"],
        &["SET", key, ""],
    ] {
        server.node.ask(&["DEL", key]).unwrap();
        server.node.ask(hostile).unwrap();
        assert_eq!(store.get("k", None).await.unwrap(), None, "{hostile:?}");
        store.set("k", "ten bytes.".into(), MINUTE, None).await.unwrap();
        assert_eq!(store.get("k", None).await.unwrap().unwrap(), "ten bytes.");
    }
    let error = store
        .set("k", "eleven byte".into(), MINUTE, None)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
}
