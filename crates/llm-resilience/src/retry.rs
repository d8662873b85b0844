//! Trying again: [`RetryLayer`], and the pure [`decide`] that it asks.
//!
//! What may be tried again says the verdict table of `llm_core::error::verdict`; how often and how patiently says
//! the [`RetryPolicy`]; both meet in [`decide`], which knows no clock and no network. The layer around it only
//! gathers the facts, waits, and keeps the log.

mod attempts;
mod backoff;
mod budget;
mod commit;
mod config;
mod decision;
mod report;

use crate::policy::{Answer, Policy, PolicyChatDriver, Target};
use crate::{clock, idempotency};
use llm_core::error::verdict::SameCandidate;
use llm_core::{CallContext, ChatDriver, ChatLayer, ChatStream, ErrorKind, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub(crate) use attempts::AttemptLog;
pub(crate) use budget::RetryBudget;
pub(crate) use commit::until_commit;

pub use backoff::Jitter;
pub use budget::BudgetPolicy;
pub use config::RetryPolicy;
pub use decision::{Decision, Facts, GiveUpReason, decide};

/// Tries a failed call again where that can help, and never after content has reached the caller.
///
/// ```
/// use llm_core::{ChatRequest, Error, ErrorKind, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{RetryLayer, RetryPolicy};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let busy = Error::new(ErrorKind::Overloaded, "busy");
/// let driver = ScriptedDriver::new("alpha", [Reply::error(busy), Reply::text("hello")]);
/// let stack = Stack::new(driver).layer(RetryLayer::new(RetryPolicy::default()));
/// let response = stack.chat(&TestClock::context(), &ChatRequest::user("hi")).await.unwrap();
/// assert_eq!(response.text(), "hello");
/// assert_eq!(response.attempts.len(), 2);
/// # });
/// ```
///
/// One layer value has one budget: clones of it, and all drivers that it wraps, share it.
///
/// - **Streams** are returned as soon as their first content is there, with what came before it; until then a
///   failure is retried like any other. Later ones are the stream's last item, with phase `Streaming`.
/// - **The log**: each response, stream and error says in its `attempts` what was tried, how long each try took
///   and how long was waited before it.
/// - **The context** of an attempt has its number, counted on from the caller's, and one idempotency key for
///   all attempts.
/// - **Logs**: each retry is a `tracing` event at level INFO, and giving up one at WARN (DEBUG where the failure
///   could not have been retried anyway), with the fields `attempt`, `kind`, `status`, `wait_ms` or `reason`,
///   `request_id`, `vendor_request_id`, `driver`, `model` and `stream`. No content, no messages.
///
/// # Cancellation
/// Dropping the future or the stream stops the attempt or the wait that is going on; nothing was started
/// elsewhere.
///
/// # Panics
/// When a retry has to wait outside of a tokio runtime with its timer.
#[derive(Debug, Clone)]
pub struct RetryLayer {
    shared: Arc<Retry>,
}

impl RetryLayer {
    /// A layer with a budget of its own.
    pub fn new(policy: RetryPolicy) -> Self {
        let budget = policy.budget.map(|budget| Mutex::new(RetryBudget::new(budget)));
        RetryLayer {
            shared: Arc::new(Retry { policy, budget }),
        }
    }
}

impl Default for RetryLayer {
    fn default() -> Self {
        RetryLayer::new(RetryPolicy::default())
    }
}

impl ChatLayer for RetryLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        RetryDriver::wrap(&self.shared, inner)
    }
}

type RetryDriver = PolicyChatDriver<Retry>;

/// What all drivers of one layer share.
#[derive(Debug)]
struct Retry {
    policy: RetryPolicy,
    budget: Option<Mutex<RetryBudget>>,
}

impl Policy for Retry {
    const NAME: &'static str = "retry";

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
        if self.is_off() {
            return operation(cx.clone()).await;
        }
        let cx = idempotency::with_key(cx.clone());
        let call_started = cx.clock().now();
        self.record_call(call_started);
        let mut log = AttemptLog::begin(&cx, target);
        let mut attempt = 1;
        let mut once_spent = false;
        let mut failure = None;
        loop {
            // The caller's count goes on: a router's second attempt is not this call's first.
            let number = cx.attempt().saturating_add(attempt - 1);
            let error = match operation(cx.clone().with_attempt(number)).await {
                Ok(answer) => {
                    let attempts = log.clone().into_served(answer.attempts());
                    let late = move |error| log.into_late_error(error);
                    return Ok(answer.with_attempts(attempts).map_late_error(late));
                }
                Err(error) => error,
            };
            log.add_failure(&error);
            let now = cx.clock().now();
            let facts = Facts::of(&error)
                .with_attempt(attempt)
                .with_once_spent(once_spent)
                .with_replayable(target.replayable)
                .with_elapsed(now.saturating_duration_since(call_started))
                .with_remaining(cx.remaining())
                .with_random(fastrand::f64());
            match self.decide(facts, now) {
                Decision::Retry { wait } => {
                    self.log_retry(&cx, target, &error, number, wait);
                    once_spent |= facts.same == SameCandidate::Once;
                    clock::sleep(wait).await;
                    log.begin_next(wait);
                    attempt += 1;
                    failure = Some(error);
                }
                Decision::GiveUp { reason } => {
                    self.log_giving_up(&cx, target, &error, number, reason);
                    // What the vendor said tells more than that a layer inside does not let us ask again.
                    let refused = error.kind() == ErrorKind::Rejected;
                    let telling = failure.filter(|_| refused).unwrap_or(error);
                    return Err(log.into_error(telling));
                }
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
        if self.is_off() {
            return Ok(stream);
        }
        until_commit(stream).await
    }
}

impl Retry {
    fn is_off(&self) -> bool {
        self.policy.max_attempts <= 1
    }

    fn record_call(&self, now: Instant) {
        if let Some(budget) = &self.budget {
            budget
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .record_call(now);
        }
    }

    /// Decides and takes what the decision needs of the budget, in one step: of two calls that see the last
    /// room, one gets it.
    fn decide(&self, facts: Facts, now: Instant) -> Decision {
        let Some(budget) = &self.budget else {
            return decide(&self.policy, &facts);
        };
        let mut budget = budget.lock().unwrap_or_else(PoisonError::into_inner);
        let decision = decide(&self.policy, &facts.with_budget_has_room(budget.has_room(now)));
        if let Decision::Retry { .. } = decision {
            budget.record_retry(now);
        }
        decision
    }
}

#[cfg(test)]
mod tests;
