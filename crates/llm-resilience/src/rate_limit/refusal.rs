//! What a limiter says when it lets a call not through.

use super::store::{LimitReason, StoreFault};
use llm_core::{Error, Phase, Rejection};
use std::fmt;
use std::time::Duration;

/// Why a limiter refused. It is the source of the error, for callers that act on more than the words:
///
/// ```
/// use llm_core::{ChatRequest, ErrorKind, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{LimitReason, RateLimitLayer, RateLimitPolicy, Refusal};
/// use std::error::Error as _;
/// use std::time::Duration;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let driver = ScriptedDriver::always("alpha", Reply::text("hello"));
/// let limits = RateLimitPolicy::default().with_requests_per_minute(1).with_max_wait(Duration::ZERO);
/// let stack = Stack::new(driver).layer(RateLimitLayer::new(limits));
/// let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
/// stack.chat(&cx, &request).await?;
///
/// let error = stack.chat(&cx, &request).await.unwrap_err();
/// assert_eq!((error.kind(), error.retry_after()), (ErrorKind::Rejected, Some(Duration::from_secs(60))));
/// let refusal = error.source().and_then(|source| source.downcast_ref::<Refusal>());
/// assert!(matches!(refusal, Some(Refusal::NoRoom { reason: LimitReason::Requests, .. })));
/// # Ok::<(), llm_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no room for longer than the call may wait.
    NoRoom {
        /// What has none.
        reason: LimitReason,
        /// How long not.
        free_in: Duration,
    },
    /// The call needs more than there ever is.
    TooLarge {
        /// What it needs too much of.
        reason: LimitReason,
        /// How much, as far as can be seen beforehand.
        needs: u64,
        /// How much there is at most.
        limit: u64,
    },
    /// As many calls wait as may.
    QueueFull {
        /// How long there is no room for one more.
        free_in: Duration,
    },
    /// The shared store is down, and this limiter fails closed (or has no local share that the call fits).
    Store(StoreFault),
}

impl Refusal {
    /// As an error: `Rejected` by a rate limit, not sent, with the time when there is room.
    pub(super) fn into_error(self) -> Error {
        let retry_after = match self {
            Refusal::NoRoom { free_in, .. } | Refusal::QueueFull { free_in } => Some(free_in),
            Refusal::Store(StoreFault::StateLost { trusted_in }) => Some(trusted_in),
            Refusal::TooLarge { .. } | Refusal::Store(StoreFault::Unavailable(_)) => None,
        };
        Error::rejected(Rejection::RateLimit, self.to_string())
            .with_phase(Phase::NotSent)
            .with_retry_after(retry_after)
            .with_source(self)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: &Duration| time.as_millis().div_ceil(1000);
        match self {
            Refusal::NoRoom {
                reason: LimitReason::Vendor,
                free_in,
            } => write!(
                f,
                "the vendor asked for a pause of {} s more; wait or try elsewhere",
                seconds(free_in)
            ),
            Refusal::NoRoom { reason, free_in } => write!(
                f,
                "the limit of {word} a minute has no room for {} s; wait, try elsewhere or raise {word}_per_minute",
                seconds(free_in),
                word = reason.as_str(),
            ),
            Refusal::TooLarge { reason, needs, limit } => write!(
                f,
                "the call needs about {needs} {word}, and no more than {limit} a minute are allowed; ask for less \
                 or raise {word}_per_minute",
                word = reason.as_str(),
            ),
            Refusal::QueueFull { free_in } => write!(
                f,
                "too many calls wait for the rate limit, which has no room for {} s; try elsewhere or raise max_queue",
                seconds(free_in)
            ),
            Refusal::Store(fault) => write!(f, "the rate limit cannot be counted: {fault}; try elsewhere"),
        }
    }
}

impl std::error::Error for Refusal {}
