//! Bounded by bytes, and by time on the clock it is given.

use super::*;
use llm_driver_testkit::TestClock;

const MINUTE: Duration = Duration::from_secs(60);

fn store(max_bytes: u64) -> MemoryStore {
    MemoryStore::new(max_bytes, Arc::new(TestClock::new()))
}

async fn has(store: &MemoryStore, key: &str) -> bool {
    store.get(key, None).await.unwrap().is_some()
}

#[tokio::test(start_paused = true)]
async fn a_value_runs_out_on_the_stores_clock() {
    let store = store(1 << 20);
    store.set("a", "1".into(), MINUTE, None).await.unwrap();
    store.set("b", "2".into(), MINUTE * 2, None).await.unwrap();
    tokio::time::advance(MINUTE - Duration::from_millis(1)).await;
    assert!(has(&store, "a").await);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(!has(&store, "a").await && has(&store, "b").await);
    // A new value runs anew, from now.
    store.set("b", "3".into(), MINUTE * 2, None).await.unwrap();
    tokio::time::advance(MINUTE).await;
    assert_eq!(store.get("b", None).await.unwrap().as_deref(), Some(&b"3"[..]));
}

#[tokio::test(start_paused = true)]
async fn no_time_keeps_nothing_and_all_time_keeps_for_good() {
    let store = store(1 << 20);
    store.set("a", "1".into(), Duration::MAX, None).await.unwrap();
    tokio::time::advance(Duration::from_secs(10 * 365 * 24 * 3600)).await;
    assert!(has(&store, "a").await);
    store.set("a", "2".into(), Duration::ZERO, None).await.unwrap();
    assert!(!has(&store, "a").await);
    store.set("b", "1".into(), MINUTE, None).await.unwrap();
    store.delete("b", None).await.unwrap();
    assert!(!has(&store, "b").await);
}

#[tokio::test(start_paused = true)]
async fn it_holds_no_more_bytes_than_allowed() {
    let store = store(100_000);
    for number in 0..1000 {
        let value = vec![7; 1000].into();
        store
            .set(&format!("key-{number}"), value, MINUTE, None)
            .await
            .unwrap();
    }
    store.values.run_pending_tasks();
    let held = store.values.weighted_size();
    assert!((50_000..=100_000).contains(&held), "{held} bytes");
    let large = vec![7; 200_000].into();
    store.set("large", large, MINUTE, None).await.unwrap();
    store.values.run_pending_tasks();
    assert!(
        !has(&store, "large").await,
        "what is larger than all of it is not held"
    );
    assert!(!format!("{store:?}").contains("key-"));
}
