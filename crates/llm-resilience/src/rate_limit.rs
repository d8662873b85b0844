//! Limits on requests and tokens: [`RateLimitLayer`].

mod budget;
mod budgets;
mod config;
mod estimate;
mod lease;
mod pace;
mod queue;
#[cfg(feature = "redis")]
mod redis;
mod refusal;
mod settle;
mod store;
mod window;

use crate::policy::{Answer, Observer as _, Policy, PolicyChatDriver, Target};
use crate::trace::note_queue_wait;
use budgets::Budgets;
use llm_core::estimate::TokenDemand;
use llm_core::{Availability, CallContext, ChatDriver, ChatLayer, ChatStream, Result, UnavailableReason};
use std::sync::Arc;
use std::time::Instant;

pub use config::{RateLimitPolicy, RateLimitScope, StoreFailurePolicy};
pub use estimate::TokenEstimate;
pub use pace::BurstPolicy;
#[cfg(feature = "redis")]
pub use redis::RedisQuotaStore;
pub use refusal::Refusal;
pub use store::{
    Amount, LimitReason, Limits, MemoryQuotaStore, QuotaStore, Reserved, Settlement, StoreFault,
};

/// Lets through so many requests and tokens a minute, makes the rest wait for their turn, and refuses at once what
/// would wait too long.
///
/// ```
/// use llm_core::{ChatRequest, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{RateLimitLayer, RateLimitPolicy};
/// use std::time::Duration;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let driver = ScriptedDriver::always("alpha", Reply::text("hello"));
/// let limits = RateLimitPolicy::default().with_requests_per_minute(2).with_max_wait(Duration::from_secs(60));
/// let stack = Stack::new(driver).layer(RateLimitLayer::new(limits));
/// let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
///
/// let start = cx.clock().now();
/// for _ in 0..3 {
///     stack.chat(&cx, &request).await?;
/// }
/// assert_eq!(cx.clock().now() - start, Duration::from_secs(60), "the third waited, exactly as long as needed");
/// # Ok::<(), llm_core::Error>(())
/// # }).unwrap();
/// ```
///
/// - **The window slides**: in every 60 s, wherever they begin, no more is admitted than the limits, and under
///   demand at least 98 % of them.
/// - **Tokens** are reserved as an estimate of what goes in (text, tool schemas, pictures by their size, replayed
///   reasoning) and of what may come out, and settled with what the vendor reports; reports correct the estimates
///   after them. A call that fails, is cancelled or whose stream is dropped gives back what was not reported. A
///   request that was sent stays counted, as the vendor counts it; one that was never sent costs nothing.
/// - **Waiting** is first come, first served, up to the context's [`CallContext::max_queue_wait`], or else the
///   policy's wait, and never past the deadline. What would wait longer is refused at once.
/// - **The vendor's headers**, on answers and on errors, make the window narrower when others use the same account,
///   and never wider than the limits. A 429 with a hint closes it for the hint (an hour at most).
/// - **Availability** says until when there is no room, from memory.
///
/// What is counted stands in the layer value: clones of it, and all drivers that it wraps, share it, apart by
/// [`RateLimitScope`]. [`RateLimitLayer::with_store`] shares it with other layers and processes.
///
/// # Errors
/// `Rejected` by [`Rejection::RateLimit`](llm_core::Rejection::RateLimit), with phase `NotSent`, the time when
/// there is room as its hint, and a [`Refusal`] as its source; `Timeout` with scope `Request`, when the deadline
/// passed in the queue.
///
/// # Cancellation
/// Dropping a call that waits leaves the queue and costs nothing. Nothing waits in `Drop`.
///
/// # Panics
/// When a call has to wait outside of a tokio runtime with its timer.
#[derive(Debug, Clone)]
pub struct RateLimitLayer {
    shared: Arc<RateLimit>,
}

impl RateLimitLayer {
    /// Limits that this layer value counts by itself.
    pub fn new(policy: RateLimitPolicy) -> Self {
        RateLimitLayer::build(policy, None)
    }

    /// Limits that are counted in a store, together with every layer and process that uses it under the same
    /// [`budget`](RateLimitPolicy::budget).
    ///
    /// Each decision is one question to the store. First come, first served holds for each process by itself. When
    /// the store is down, [`when_store_fails`](RateLimitPolicy::when_store_fails) says what happens.
    pub fn with_store(policy: RateLimitPolicy, store: Arc<dyn QuotaStore>) -> Self {
        RateLimitLayer::build(policy, Some(store))
    }

    fn build(policy: RateLimitPolicy, store: Option<Arc<dyn QuotaStore>>) -> Self {
        RateLimitLayer {
            shared: Arc::new(RateLimit {
                budgets: Budgets::new(policy, store),
            }),
        }
    }
}

impl ChatLayer for RateLimitLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        RateLimitDriver::wrap(&self.shared, inner)
    }
}

type RateLimitDriver = PolicyChatDriver<RateLimit>;

/// What all drivers of one layer share.
#[derive(Debug)]
struct RateLimit {
    budgets: Budgets,
}

impl Policy for RateLimit {
    const NAME: &'static str = "rate_limit";

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
        if self.budgets.are_off() {
            return operation(cx.clone()).await;
        }
        let demand = target.chat.map(TokenDemand::of_chat).unwrap_or_default();
        let budget = self.budgets.of(target);
        let came = cx.clock().now();
        let mut lease = budget
            .acquire(cx, &demand)
            .await
            .map_err(|error| error.with_vendor(target.facts(None)))?;
        note_queue_wait(cx, came);
        match operation(cx.clone()).await {
            Ok(answer) => Ok(answer.observed(lease)),
            Err(error) => {
                lease.failed(&error);
                Err(error)
            }
        }
    }

    async fn watch(
        &self,
        _: &CallContext,
        _: &Target<'_>,
        _: Instant,
        stream: ChatStream,
    ) -> Result<ChatStream> {
        Ok(stream)
    }

    fn availability(&self, target: &Target<'_>) -> Availability {
        if self.budgets.are_off() {
            return Availability::Available;
        }
        match self.budgets.of(target).free_at() {
            Some(until) => Availability::unavailable(UnavailableReason::RateLimit, until),
            None => Availability::Available,
        }
    }
}
