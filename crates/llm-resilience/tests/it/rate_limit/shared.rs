//! Limits that a store counts.

use super::{begin, impatient, requests, room, tokens, using};
use crate::{SECOND, request, timed};
use llm_core::{ChatRequest, Error, ErrorKind, ModelId, Stack, Usage, async_trait};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::rate_limit::{Amount, Limits, Reserved, Settlement};
use llm_resilience::store::{StoreError, StoreErrorKind};
use llm_resilience::{
    MemoryQuotaStore, QuotaStore, RateLimitLayer, RateLimitPolicy, Refusal, StoreFailurePolicy, StoreFault,
};
use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A store that can be broken.
#[derive(Debug)]
struct Fragile {
    inner: MemoryQuotaStore,
    fault: Mutex<Option<StoreFault>>,
    asked: AtomicUsize,
}

impl Fragile {
    fn new() -> Arc<Self> {
        Arc::new(Fragile {
            inner: MemoryQuotaStore::new(TestClock::shared()),
            fault: Mutex::default(),
            asked: AtomicUsize::new(0),
        })
    }

    fn set(&self, fault: Option<StoreFault>) {
        *self.fault.lock().unwrap() = fault;
    }

    fn down(&self) {
        let error = StoreError::new(StoreErrorKind::Unreachable, "nobody answers");
        self.set(Some(StoreFault::Unavailable(error)));
    }

    fn check(&self) -> Result<(), StoreFault> {
        self.asked.fetch_add(1, SeqCst);
        let fault = self.fault.lock().map_or(None, |fault| fault.clone());
        fault.map_or(Ok(()), Err)
    }
}

#[async_trait]
impl QuotaStore for Fragile {
    async fn reserve(
        &self,
        budget: &str,
        limits: &Limits,
        amount: Amount,
        time_left: Option<Duration>,
    ) -> Result<Reserved, StoreFault> {
        self.check()?;
        self.inner.reserve(budget, limits, amount, time_left).await
    }

    async fn settle(&self, budget: &str, limits: &Limits, settlement: &Settlement) -> Result<(), StoreFault> {
        self.check()?;
        self.inner.settle(budget, limits, settlement).await
    }
}

/// A process of its own in front of the store.
fn process(policy: &RateLimitPolicy, store: &Arc<Fragile>) -> Stack {
    let driver = ScriptedDriver::always("alpha", using(Usage::new(5, 0)));
    Stack::new(driver).layer(RateLimitLayer::with_store(policy.clone(), store.clone()))
}

fn fault(error: &Error) -> Option<StoreFault> {
    match error.source()?.downcast_ref::<Refusal>()? {
        Refusal::Store(fault) => Some(fault.clone()),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn processes_share_the_limits_of_one_name() {
    let store = Fragile::new();
    let [one, two] = [0, 1].map(|_| process(&requests(10), &store));
    let other = process(&requests(10).with_budget("other"), &store);
    for _ in 0..3 {
        one.chat(&impatient(), &request()).await.unwrap();
    }
    assert_eq!(room(&two).await, 7);
    assert!(one.chat(&impatient(), &request()).await.is_err());
    assert_eq!(room(&other).await, 10);
    let model = ModelId::new("m1").unwrap();
    assert!(!one.availability(&model).is_available(), "the store said so");
    tokio::time::sleep(SECOND * 60).await;
    assert!(one.availability(&model).is_available());
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_store_has_room() {
    let store = Fragile::new();
    let policy = requests(2).with_max_wait(None);
    let [one, two] = [0, 1].map(|_| process(&policy, &store));
    for stack in [&one, &two] {
        stack.chat(&impatient(), &request()).await.unwrap();
    }
    let cx = TestClock::context();
    let (outcome, took) = timed(&cx, one.chat(&cx, &request())).await;
    outcome.unwrap();
    assert_eq!(took, SECOND * 60);
}

#[tokio::test(start_paused = true)]
async fn settlements_reach_the_store_and_who_waits_elsewhere_asks_again() {
    let store = Fragile::new();
    let policy = tokens(1000).with_max_wait(None);
    let [one, two] = [0, 1].map(|_| process(&policy, &store));
    let slow = Reply::text("hello").with_pause(SECOND * 30);
    let slow = Stack::new(ScriptedDriver::always("beta", slow))
        .layer(RateLimitLayer::with_store(policy.clone(), store.clone()));
    let all = ChatRequest::user("").with_max_output_tokens(990);
    one.chat(&impatient(), &all).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;

    let mut cancelled = begin({
        let (slow, all) = (slow.clone(), all.clone());
        async move { slow.chat(&impatient(), &all).await }
    });
    tokio::time::sleep(SECOND * 10).await;
    assert!(two.chat(&impatient(), &all).await.is_err());
    let mut waiting = begin({
        let all = all.clone();
        async move {
            let cx = TestClock::context();
            let (outcome, took) = timed(&cx, two.chat(&cx, &all)).await;
            outcome.map(|_| took)
        }
    });
    tokio::time::sleep(SECOND * 5).await;
    cancelled.shutdown().await;
    let took = waiting.join_next().await.unwrap().unwrap().unwrap();
    assert!(took >= SECOND * 5 && took <= SECOND * 6, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_refuses_with_a_typed_error_and_comes_back() {
    let store = Fragile::new();
    let stack = process(&requests(10), &store);
    stack.chat(&impatient(), &request()).await.unwrap();
    store.down();
    let error = stack.chat(&TestClock::context(), &request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rejected);
    assert!(
        matches!(fault(&error), Some(StoreFault::Unavailable(_))),
        "{error:?}"
    );
    store.set(Some(StoreFault::StateLost {
        trusted_in: SECOND * 60,
    }));
    let error = stack.chat(&TestClock::context(), &request()).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(SECOND * 60));
    store.set(None);
    assert_eq!(room(&stack).await, 9);
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_told_when_the_store_goes_down() {
    let store = Fragile::new();
    let stack = process(&requests(1).with_max_wait(None), &store);
    stack.chat(&impatient(), &request()).await.unwrap();
    let mut waiting = begin({
        let stack = stack.clone();
        async move { stack.chat(&TestClock::context(), &request()).await }
    });
    tokio::time::sleep(SECOND * 5).await;
    store.down();
    let error = waiting.join_next().await.unwrap().unwrap().unwrap_err();
    assert!(fault(&error).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_local_share_goes_on_without_the_store() {
    let store = Fragile::new();
    let policy = requests(10).with_when_store_fails(StoreFailurePolicy::LocalShare(3));
    let stack = process(&policy, &store);
    stack.chat(&impatient(), &request()).await.unwrap();
    store.down();
    assert_eq!(room(&stack).await, 2, "a third, less what was used of it");
    let asked = store.asked.load(SeqCst);
    assert!(stack.chat(&impatient(), &request()).await.is_err());
    assert_eq!(
        store.asked.load(SeqCst),
        asked,
        "a store that is down is left alone for a second"
    );
    store.set(None);
    tokio::time::sleep(SECOND).await;
    assert_eq!(room(&stack).await, 9, "the store counts again");

    // A call that does not fit the share is refused as the store's outage.
    let policy = tokens(1000).with_when_store_fails(StoreFailurePolicy::LocalShare(10));
    let stack = process(&policy, &store);
    store.down();
    let large = ChatRequest::user("").with_max_output_tokens(500);
    for _ in 0..2 {
        let error = stack.chat(&impatient(), &large).await.unwrap_err();
        assert!(fault(&error).is_some(), "{error}");
    }
    stack.chat(&impatient(), &request()).await.unwrap();
}
