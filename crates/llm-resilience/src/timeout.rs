//! Time limits on one attempt: [`TimeoutLayer`].

mod config;
mod limit;
mod stream;

use crate::clock;
use crate::policy::{Answer, Policy, PolicyChatDriver, Target};
use limit::{Limit, earliest};
use llm_core::{CallContext, ChatDriver, ChatLayer, ChatStream, Phase, Result};
use std::sync::Arc;
use std::time::Instant;
use stream::Limited;

pub use config::TimeoutPolicy;

/// Ends an attempt that takes too long: before its first event, between two events, or as a whole.
///
/// ```
/// use llm_core::{ChatRequest, ErrorKind, Scope, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{TimeoutLayer, TimeoutPolicy};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let driver = ScriptedDriver::always("alpha", Reply::hang());
/// let stack = Stack::new(driver).layer(TimeoutLayer::attempt(TimeoutPolicy::default()));
/// let error = stack.chat(&TestClock::context(), &ChatRequest::user("hi")).await.unwrap_err();
/// assert_eq!((error.kind(), error.scope()), (ErrorKind::Timeout, Scope::Vendor));
/// assert!(error.message().contains("180s"));
/// # });
/// ```
///
/// - **First event**: from the call until the first event that is not a keep-alive. That is the stream's `Start`,
///   which a decoder emits with the first piece of the answer, and not with the headers or with comments before
///   it; so this is the time to the first byte of the answer. A driver that emits its `Start` with the headers
///   gets no second wait of this sort: from there on the idle limit watches.
/// - **Idle gap**: from one event to the next, keep-alives included: a model that thinks for long while its
///   vendor shows life is not cut. Only time in which the reader waits counts, so a slow reader is never taken
///   for a silent vendor.
/// - **Whole**: a plain call. A stream's total length is bounded by nothing but the caller's deadline.
/// - **The caller's deadline** is kept too, and wins where it is the earlier: a `Timeout` with scope `Request`,
///   which nobody retries and which counts against no vendor. All other limits are scope `Vendor`.
///
/// Put it innermost, so that each attempt gets its own limits, and waits of layers outside are not the vendor's.
/// The time to connect is the transport's.
///
/// What is there in the same instant as a limit wins over it. A stream that is cut ends with the error, at
/// whatever point it is: blocks that were open stay open, and a collector counts them as incomplete.
///
/// # Cancellation
/// Dropping the future or the stream drops what it waits for; a limit does the same, so the connection is freed.
///
/// # Panics
/// When called outside of a tokio runtime with its timer, unless all limits are off and there is no deadline.
#[derive(Debug, Clone)]
pub struct TimeoutLayer {
    policy: Arc<TimeoutPolicy>,
}

impl TimeoutLayer {
    /// Limits on each attempt.
    pub fn attempt(policy: TimeoutPolicy) -> Self {
        TimeoutLayer {
            policy: Arc::new(policy),
        }
    }
}

impl Default for TimeoutLayer {
    fn default() -> Self {
        TimeoutLayer::attempt(TimeoutPolicy::default())
    }
}

impl ChatLayer for TimeoutLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        TimeoutDriver::wrap(&self.policy, inner)
    }
}

type TimeoutDriver = PolicyChatDriver<TimeoutPolicy>;

impl Policy for TimeoutPolicy {
    const NAME: &'static str = "timeout";

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
        cx.check_deadline()
            .map_err(|error| error.with_vendor(target.facts(None)))?;
        let own = if target.streamed {
            [
                self.first_event.map(|limit| (Limit::FirstEvent(limit), limit)),
                self.first_content
                    .map(|limit| (Limit::FirstContent(limit), limit)),
            ]
        } else {
            [self.whole.map(|limit| (Limit::Whole(limit), limit)), None]
        };
        let deadline = cx.remaining().map(|left| (Limit::Deadline, left));
        let call = operation(cx.clone());
        let Some((limit, left)) = earliest([deadline, own[0], own[1]]) else {
            return call.await;
        };
        match clock::within(left, call).await {
            Some(outcome) => outcome,
            None => Err(limit.passed(Phase::Sent).with_vendor(target.facts(None))),
        }
    }

    async fn watch(
        &self,
        cx: &CallContext,
        target: &Target<'_>,
        started: Instant,
        stream: ChatStream,
    ) -> Result<ChatStream> {
        if *self == TimeoutPolicy::off() && cx.deadline().is_none() {
            return Ok(stream);
        }
        let facts = target.facts(stream.meta().request_id.clone());
        Ok(stream.map_events(|events| Limited::new(self, cx, facts, started, events)))
    }
}
