//! Many short lives of a half-open breaker: probes that end, fail, are given up and are dropped at random.

use super::outage::Awaited;
use crate::{error, request};
use llm_core::{ChatRequest, ErrorKind, ModelId, Stack};
use llm_driver_testkit::{Exhausted, Reply, ScriptedDriver, TestClock};
use llm_resilience::breaker::{BreakerStore, MemoryBreakerStore};
use llm_resilience::{BreakerLayer, BreakerPolicy, BreakerState};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How many lives.
const LIVES: u64 = 10_000;
const OPEN: Duration = Duration::from_secs(5);
/// Much longer than a life: nothing heals by it.
const LEASE: Duration = Duration::from_secs(100_000);

fn ms(random: &mut fastrand::Rng, most: u64) -> Duration {
    Duration::from_millis(random.u64(0..=most))
}

fn reply(random: &mut fastrand::Rng) -> Reply {
    let reply = match random.u8(0..10) {
        0 | 1 => Reply::error(error(ErrorKind::Server)),
        2 => Reply::error(error(ErrorKind::InvalidRequest)),
        3 | 4 => Reply::text("hello").broken_after(random.usize(0..5), error(ErrorKind::Interrupted)),
        5 => Reply::hang(),
        _ => Reply::text("hello"),
    };
    reply.with_pause(ms(random, 9)).with_event_pause(ms(random, 3))
}

/// One call: it is read to its end, or given up after a while.
async fn call(stack: Stack, mut random: fastrand::Rng) {
    tokio::time::sleep(ms(&mut random, 15)).await;
    let patience = ms(&mut random, 25);
    let request: ChatRequest = request();
    let cx = TestClock::context();
    let work = async {
        if random.bool() {
            let _ = stack.chat(&cx, &request).await;
        } else if let Ok(mut stream) = stack.chat_stream(&cx, &request).await {
            let most = random.usize(0..9);
            let mut read = 0;
            while read < most && stream.next_event().await.is_some() {
                read += 1;
            }
        }
    };
    let _ = tokio::time::timeout(patience, work).await;
}

/// After all calls of a life are gone, as many probes pass as may, whatever became of them.
async fn life(seed: u64, store: Arc<dyn BreakerStore>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let probes = random.u32(1..4);
    let policy = BreakerPolicy::new(1, OPEN)
        .with_longest_open(OPEN)
        .with_jitter_percent(0)
        .with_share(101, u32::MAX, OPEN)
        .with_probes(probes, LEASE);
    let layer = BreakerLayer::with_store(policy, store);
    let mut replies = vec![Reply::error(error(ErrorKind::Server))];
    replies.extend((0..12).map(|_| reply(&mut random)));
    let driver = ScriptedDriver::new("alpha", replies).with_exhausted(Exhausted::RepeatLast);
    let stack = Stack::new(driver).layer(layer.clone());
    let cx = TestClock::context();
    stack.chat(&cx, &request()).await.unwrap_err();
    tokio::time::advance(OPEN).await;
    let mut running = JoinSet::new();
    for _ in 0..random.usize(1..9) {
        running.spawn(call(stack.clone(), random.fork()));
    }
    if random.bool() {
        tokio::time::sleep(ms(&mut random, 20)).await;
        running.abort_all();
    }
    while running.join_next().await.is_some() {}

    // The same records around a driver that never answers: calls that pass stay.
    tokio::time::advance(OPEN).await;
    let model = ModelId::new("any").unwrap();
    let state = layer.state(stack.info(), &model);
    let waiting = Arc::new(ScriptedDriver::always("alpha", Reply::hang()));
    let stack = Stack::from_arc(waiting.clone()).layer(layer);
    for _ in 0..10 {
        let stack = stack.clone();
        running.spawn(async move { drop(stack.chat(&TestClock::context(), &request()).await) });
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let passed = waiting.call_count();
    if passed != 10 {
        // Successes of this half-open spell do not make the places fewer.
        assert_eq!(passed, probes as usize, "life {seed}, {state:?}: {probes} places");
    }
    if state == BreakerState::Open {
        assert_ne!(passed, 0, "life {seed}");
    }
    running.abort_all();
}

#[tokio::test(start_paused = true)]
async fn no_place_is_lost_in_ten_thousand_lives() {
    for seed in 0..LIVES {
        life(seed, Arc::new(MemoryBreakerStore::default())).await;
    }
}

#[tokio::test(start_paused = true)]
async fn no_place_is_lost_where_the_store_has_to_be_waited_for() {
    for seed in 0..LIVES {
        life(seed, Arc::new(Awaited::slow())).await;
    }
}
