//! A store that has to be waited for, and that fails.

use super::{down, fine, model};
use crate::events::Lines;
use crate::{SECOND, request};
use llm_core::{ErrorKind, Stack, async_trait};
use llm_driver_testkit::{Exhausted, ScriptedDriver, TestClock};
use llm_resilience::breaker::{BreakerKeys, BreakerQuestion, BreakerReply, BreakerStore, MemoryBreakerStore};
use llm_resilience::store::{StoreError, StoreErrorKind};
use llm_resilience::{BreakerLayer, BreakerPolicy};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// The records of this process, as far away as those of a server.
#[derive(Debug, Default)]
pub(super) struct Awaited {
    kept: MemoryBreakerStore,
    is_slow: bool,
    is_down: AtomicBool,
    asked: AtomicUsize,
}

impl Awaited {
    /// Takes some milliseconds before it decides, and some after.
    pub(super) fn slow() -> Self {
        Awaited {
            is_slow: true,
            ..Awaited::default()
        }
    }

    async fn on_the_way(&self) {
        if self.is_slow {
            tokio::time::sleep(Duration::from_millis(fastrand::u64(0..4))).await;
        }
    }

    fn failure(&self) -> Option<StoreError> {
        self.asked.fetch_add(1, SeqCst);
        self.is_down
            .load(SeqCst)
            .then(|| StoreError::new(StoreErrorKind::Unreachable, "nobody is there"))
    }
}

#[async_trait]
impl BreakerStore for Awaited {
    fn decide_at_once(&self, _: &BreakerKeys, _: &BreakerQuestion<'_>, _: Instant) -> Option<BreakerReply> {
        None
    }

    async fn decide(
        &self,
        keys: &BreakerKeys,
        question: &BreakerQuestion<'_>,
        now: Instant,
        left: Option<Duration>,
    ) -> Result<BreakerReply, StoreError> {
        self.on_the_way().await;
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let reply = self.kept.decide(keys, question, now, left).await;
        self.on_the_way().await;
        reply
    }

    async fn forget(&self, keys: &BreakerKeys, left: Option<Duration>) -> Result<(), StoreError> {
        match self.failure() {
            Some(failure) => Err(failure),
            None => self.kept.forget(keys, left).await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_question_lets_a_call_in_and_one_tells_of_its_end() {
    let store = Arc::new(Awaited::default());
    let layer = BreakerLayer::with_store(BreakerPolicy::default(), store.clone());
    let stack = Stack::new(ScriptedDriver::always("alpha", fine())).layer(layer);
    let cx = TestClock::context();
    stack.chat(&cx, &request()).await.unwrap();
    assert_eq!(store.asked.load(SeqCst), 2);
    let stream = stack.chat_stream(&cx, &request()).await.unwrap();
    crate::read(stream).await;
    assert_eq!(store.asked.load(SeqCst), 4);
    // What says nothing is not told.
    drop(stack.chat_stream(&cx, &request()).await.unwrap());
    assert_eq!(store.asked.load(SeqCst), 5);
}

#[tokio::test(start_paused = true)]
async fn calls_pass_while_the_store_is_down_and_it_is_told_once() {
    let lines = Lines::default();
    let kept = lines.0.clone();
    let _guard = tracing::subscriber::set_default(lines);
    let store = Arc::new(Awaited::default());
    let layer = BreakerLayer::with_store(BreakerPolicy::new(1, SECOND * 60), store.clone());
    let driver = ScriptedDriver::new("alpha", [down()]).with_exhausted(Exhausted::RepeatLast);
    let stack = Stack::new(driver).layer(layer.clone());
    let cx = TestClock::context();
    store.is_down.store(true, SeqCst);
    for _ in 0..20 {
        let end = stack.chat(&cx, &request()).await.unwrap_err();
        assert_eq!(end.kind(), ErrorKind::Server, "it was let in");
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    assert_eq!(store.asked.load(SeqCst), 2, "once a second, not at each call");
    let failed = layer.forget(&cx, stack.info(), &model("m1")).await.unwrap_err();
    assert!(failed.is_outage());
    store.is_down.store(false, SeqCst);
    tokio::time::advance(SECOND).await;
    stack.chat(&cx, &request()).await.unwrap_err();
    let refused = stack.chat(&cx, &request()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Rejected, "it works again");
    let said: Vec<String> = kept.lock().unwrap().clone();
    let told = |level: &str, word: &str| {
        said.iter()
            .filter(|line| line.starts_with(level) && line.contains(word))
            .count()
    };
    assert_eq!(told("WARN", "store fails"), 1, "{said:#?}");
    assert_eq!(told("INFO", "answers again"), 1, "{said:#?}");
    assert_eq!(
        told("WARN", "is open"),
        2,
        "the vendor's and the model's: {said:#?}"
    );
}
