//! A cap on how many calls run at once: [`BulkheadLayer`].

mod config;
mod room;

use crate::clock;
use crate::policy::{Answer, Policy, PolicyChatDriver, Target};
use crate::trace::note_queue_wait;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatLayer, ChatStream, Error, Rejection, Result, UnavailableReason,
};
use room::{Entry, Place, Room, Rooms};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use config::{BulkheadPolicy, BulkheadScope};

/// Lets so many calls run at once, so many more wait for their turn, and refuses the rest.
///
/// ```
/// use llm_core::{ChatRequest, ErrorKind, ModelId, Phase, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{BulkheadLayer, BulkheadPolicy};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let driver = ScriptedDriver::always("alpha", Reply::text("hello"));
/// let stack = Stack::new(driver).layer(BulkheadLayer::new(BulkheadPolicy::new(1).with_max_queue(0)));
/// let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
///
/// // A stream runs until its end, or until its reader drops it.
/// let stream = stack.chat_stream(&cx, &request).await?;
/// assert!(!stack.availability(&ModelId::new("m1")?).is_available());
/// let error = stack.chat(&cx, &request).await.unwrap_err();
/// assert_eq!((error.kind(), error.phase()), (ErrorKind::Rejected, Phase::NotSent));
///
/// drop(stream);
/// assert_eq!(stack.chat(&cx, &request).await?.text(), "hello");
/// # Ok::<(), llm_core::Error>(())
/// # }).unwrap();
/// ```
///
/// The queue is first come, first served. A call waits at most as long as the context says
/// ([`CallContext::max_queue_wait`]), or else the policy, and never past its deadline. Where a vendor caps
/// calls at once, this keeps to the cap; elsewhere it bounds what one slow vendor can tie up.
///
/// What is counted stands in the layer value: clones of it, and all drivers that it wraps, share it, apart by
/// [`BulkheadScope`].
///
/// # Errors
/// `Rejected` by [`Rejection::BulkheadFull`], when the queue is full or the wait was too long; `Timeout` with
/// scope `Request`, when the deadline passed in the queue. Both with phase `NotSent`. Nobody knows when a call
/// ends, so there is no hint when to come back.
///
/// # Cancellation
/// Dropping a call frees its place, in the queue as well as inside; dropping a stream does the same.
///
/// # Panics
/// When a call has to queue outside of a tokio runtime with its timer.
#[derive(Debug, Clone)]
pub struct BulkheadLayer {
    shared: Arc<Bulkhead>,
}

impl BulkheadLayer {
    /// A layer with nobody inside yet.
    pub fn new(policy: BulkheadPolicy) -> Self {
        BulkheadLayer {
            shared: Arc::new(Bulkhead {
                rooms: Rooms::new(&policy),
                policy,
            }),
        }
    }
}

impl ChatLayer for BulkheadLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        BulkheadDriver::wrap(&self.shared, inner)
    }
}

type BulkheadDriver = PolicyChatDriver<Bulkhead>;

/// What all drivers of one layer share.
#[derive(Debug)]
struct Bulkhead {
    policy: BulkheadPolicy,
    rooms: Rooms,
}

impl Policy for Bulkhead {
    const NAME: &'static str = "bulkhead";

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
        let room = self.rooms.of(self.policy.scope, target);
        let came = cx.clock().now();
        let place = self
            .enter(cx, &room)
            .await
            .map_err(|error| error.with_vendor(target.facts(None)))?;
        note_queue_wait(cx, came);
        let answer = operation(cx.clone()).await?;
        Ok(answer.holding(place))
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
        if self.rooms.of(self.policy.scope, target).is_full() {
            Availability::unavailable(UnavailableReason::BulkheadFull, None)
        } else {
            Availability::Available
        }
    }
}

impl Bulkhead {
    async fn enter(&self, cx: &CallContext, room: &Room) -> Result<Place> {
        cx.check_deadline()?;
        let queued = match room.enter() {
            Entry::Inside(place) => return Ok(place),
            Entry::Full => return Err(self.full("and the queue is full")),
            Entry::Queued(queued) => queued,
        };
        let own = cx.max_queue_wait().or(self.policy.max_wait);
        if own == Some(Duration::ZERO) {
            return Err(self.full("and this call may not wait"));
        }
        let left = cx.remaining();
        let Some(wait) = [own, left].into_iter().flatten().min() else {
            return Ok(queued.turn().await);
        };
        match clock::within(wait, queued.turn()).await {
            Some(place) => Ok(place),
            None if left.is_some_and(|left| left <= wait) => Err(Error::deadline(
                "the call's deadline passed while it waited for its turn at a bulkhead; allow more time",
            )),
            None => Err(self.full("and none of them ended while this call waited")),
        }
    }

    fn full(&self, detail: &str) -> Error {
        let message = format!(
            "{} calls run already, as many as this bulkhead lets in, {detail}; try elsewhere or raise max_concurrent",
            self.policy.max_concurrent
        );
        Error::rejected(Rejection::BulkheadFull, message)
    }
}
