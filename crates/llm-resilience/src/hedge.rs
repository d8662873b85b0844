//! A second attempt where the first one takes long: [`HedgeLayer`].

mod config;
mod latencies;
mod race;

use crate::clock;
use crate::idempotency;
use crate::policy::{Answer, Policy, PolicyChatDriver, Target};
use crate::retry::{RetryBudget, until_commit};
use latencies::{Latencies, TargetKey};
use llm_core::{CallContext, ChatDriver, ChatLayer, ChatStream, ModelId, Result};
use race::Race;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use config::HedgePolicy;

/// Begins a second attempt when the first one takes longer than such calls usually do, and gives back whichever answers
/// first.
///
/// ```
/// use llm_core::{ChatRequest, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{HedgeLayer, HedgePolicy};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// // One call teaches what is usual; the next one hangs.
/// let replies = [Reply::text("one"), Reply::hang(), Reply::text("two")];
/// let policy = HedgePolicy::default().with_percentile(95, 1);
/// let stack = Stack::new(ScriptedDriver::new("alpha", replies)).layer(HedgeLayer::new(policy));
/// let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
/// assert_eq!(stack.chat(&cx, &request).await?.text(), "one");
/// let response = stack.chat(&cx, &request).await?;
/// assert_eq!((response.text().as_str(), response.attempts.len()), ("two", 2));
/// # Ok::<(), llm_core::Error>(())
/// # }).unwrap();
/// ```
///
/// It buys shorter waits for the slowest calls with some calls more, so it is only there for who asks for it.
///
/// - **When**: after a percentile of the recent calls to the same driver and model, never before the floor, and only
///   once enough calls are known. Plain calls and streams are measured apart: a stream until its first content.
/// - **How many**: a small share of the calls, and never more than one for each. A second attempt waits in no queue of a
///   layer inside, so it takes no place that another call waits for.
/// - **Never after the commit point**: a stream is returned with its first content, as by
///   [`RetryLayer`](crate::RetryLayer), and from then on it is the answer.
/// - **The loser** is cancelled: it is dropped, which frees its connection. What it has cost by then, nobody reports.
/// - **Both attempts** have the same number and idempotency key, and stand in the log of attempts. When both fail, the
///   first one's error is given back.
/// - A request that cannot be sent twice is never hedged.
///
/// One layer value is one memory of latencies and one budget: clones of it, and all drivers that it wraps, share them.
///
/// # Cancellation
/// Dropping the future drops both attempts.
///
/// # Panics
/// When a call may get a second attempt and is made outside of a tokio runtime with its timer.
#[derive(Debug, Clone)]
pub struct HedgeLayer {
    shared: Arc<Hedge>,
}

impl HedgeLayer {
    /// A layer that knows of no calls yet.
    pub fn new(policy: HedgePolicy) -> Self {
        HedgeLayer {
            shared: Arc::new(Hedge {
                budget: Mutex::new(RetryBudget::new(policy.budget())),
                latencies: Mutex::default(),
                policy,
            }),
        }
    }
}

impl Default for HedgeLayer {
    fn default() -> Self {
        HedgeLayer::new(HedgePolicy::default())
    }
}

impl ChatLayer for HedgeLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        HedgeDriver::wrap(&self.shared, inner)
    }
}

type HedgeDriver = PolicyChatDriver<Hedge>;

/// What all drivers of one layer share.
#[derive(Debug)]
struct Hedge {
    policy: HedgePolicy,
    budget: Mutex<RetryBudget>,
    latencies: Mutex<Latencies>,
}

impl Policy for Hedge {
    const NAME: &'static str = "hedge";

    async fn run<T, Fut>(
        &self,
        cx: &CallContext,
        target: &Target<'_>,
        mut operation: impl FnMut(CallContext) -> Fut + Send,
    ) -> Result<T>
    where
        T: Answer,
        Fut: Future<Output = Result<T>> + Send,
    {
        if self.policy.is_off() {
            return operation(cx.clone()).await;
        }
        let key = TargetKey::of(target);
        let started = cx.clock().now();
        self.record_call(started);
        let delay = self.delay(&key, started).filter(|_| target.replayable);
        let Some(delay) = delay else {
            let answer = operation(cx.clone()).await?;
            self.learn(key, cx, started);
            return Ok(answer);
        };
        let cx = idempotency::with_key(cx.clone());
        let mut first = pin!(operation(cx.clone()));
        let outcome = match clock::within(delay, first.as_mut()).await {
            Some(outcome) => Some(outcome),
            None if self.takes_extra(cx.clock().now()) => None,
            None => Some(first.as_mut().await),
        };
        if let Some(outcome) = outcome {
            let answer = outcome?;
            self.learn(key, &cx, started);
            return Ok(answer);
        }
        self.log(&cx, target, delay);
        // It is extra: where there is a queue, those who wait in it come first.
        let second = pin!(operation(cx.clone().with_max_queue_wait(Duration::ZERO)));
        let race = Race::begin(&cx, target, started);
        let (answer, latencies) = race.run(first, second).await?;
        let now = cx.clock().now();
        let mut known = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        for latency in latencies {
            known.add(key.clone(), now, latency);
        }
        Ok(answer)
    }

    async fn watch(
        &self,
        _: &CallContext,
        _: &Target<'_>,
        _: Instant,
        stream: ChatStream,
    ) -> Result<ChatStream> {
        if self.policy.is_off() {
            return Ok(stream);
        }
        until_commit(stream).await
    }
}

impl Hedge {
    fn record_call(&self, now: Instant) {
        self.budget
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .record_call(now);
    }

    /// Is there room for a second attempt? Takes it in the same step.
    fn takes_extra(&self, now: Instant) -> bool {
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = budget.has_room(now);
        if has_room {
            budget.record_retry(now);
        }
        has_room
    }

    /// After how long a call of this target gets a second attempt; nothing, when that is not known.
    fn delay(&self, key: &TargetKey, now: Instant) -> Option<Duration> {
        let latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        let usual = latencies.percentile(key, now, self.policy.percentile, self.policy.min_samples)?;
        Some(usual.max(self.policy.floor))
    }

    fn learn(&self, key: TargetKey, cx: &CallContext, started: Instant) {
        let now = cx.clock().now();
        let latency = now.saturating_duration_since(started);
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        latencies.add(key, now, latency);
    }

    fn log(&self, cx: &CallContext, target: &Target<'_>, delay: Duration) {
        tracing::info!(
            after_ms = crate::millis::of(delay),
            request_id = cx.request_id(),
            driver = target.driver.id.as_str(),
            model = target.model.map(ModelId::as_str),
            stream = target.streamed,
            "a second attempt, because the first one takes long"
        );
    }
}
