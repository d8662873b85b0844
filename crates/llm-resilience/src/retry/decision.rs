//! Whether to try again, and when: one pure function over facts.

use super::RetryPolicy;
use super::backoff::backoff;
use llm_core::error::verdict::SameCandidate;
use llm_core::{Error, Phase};
use std::time::Duration;

/// Everything the decision after a failed attempt rests on. Start from the error with [`Facts::of`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Facts {
    /// What the verdict table says about asking the same candidate again.
    pub same: SameCandidate,
    /// How far the attempt had come.
    pub phase: Phase,
    /// The vendor's hint: do not come back before this long. Zero sets no floor.
    pub retry_after: Option<Duration>,
    /// Has a router inside tried every candidate it has? Trying again would multiply that.
    pub exhausted: bool,
    /// Which attempt failed, from 1.
    pub attempt: u32,
    /// Has a failure of this call that may be retried only once been retried already?
    pub once_spent: bool,
    /// Has content reached the caller? Then the attempt is committed, and nothing is replayed.
    pub content_seen: bool,
    /// Can the request be sent again?
    pub replayable: bool,
    /// From the start of the first attempt until now.
    pub elapsed: Duration,
    /// How long is left until the caller's deadline; absent: there is none.
    pub remaining: Option<Duration>,
    /// Does the budget that all calls share have room for one more retry?
    pub budget_has_room: bool,
    /// A random number from 0 to 1.
    pub random: f64,
}

impl Facts {
    /// What an error says, as the end of a first attempt of a call that can be sent again, without a deadline,
    /// with room in the budget. `random` is 0, the shortest wait.
    pub fn of(error: &Error) -> Self {
        Facts {
            same: error.verdict().same,
            phase: error.phase(),
            retry_after: error.retry_after(),
            exhausted: error.is_exhausted(),
            attempt: 1,
            once_spent: false,
            content_seen: false,
            replayable: true,
            elapsed: Duration::ZERO,
            remaining: None,
            budget_has_room: true,
            random: 0.0,
        }
    }

    /// A stricter verdict than the table's, for a layer that knows more.
    #[must_use]
    pub fn with_same(mut self, same: SameCandidate) -> Self {
        self.same = same;
        self
    }

    /// Which attempt failed, from 1.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// Whether the one retry of a failure that gets only one was made already.
    #[must_use]
    pub fn with_once_spent(mut self, spent: bool) -> Self {
        self.once_spent = spent;
        self
    }

    /// Whether content has reached the caller.
    #[must_use]
    pub fn with_content_seen(mut self, seen: bool) -> Self {
        self.content_seen = seen;
        self
    }

    /// Whether the request can be sent again.
    #[must_use]
    pub fn with_replayable(mut self, replayable: bool) -> Self {
        self.replayable = replayable;
        self
    }

    /// How long the call has taken so far, waits included.
    #[must_use]
    pub fn with_elapsed(mut self, elapsed: Duration) -> Self {
        self.elapsed = elapsed;
        self
    }

    /// How long is left until the caller's deadline, if there is one.
    #[must_use]
    pub fn with_remaining(mut self, remaining: Option<Duration>) -> Self {
        self.remaining = remaining;
        self
    }

    /// Whether the shared budget has room.
    #[must_use]
    pub fn with_budget_has_room(mut self, has_room: bool) -> Self {
        self.budget_has_room = has_room;
        self
    }

    /// A random number from 0 to 1.
    #[must_use]
    pub fn with_random(mut self, random: f64) -> Self {
        self.random = random;
        self
    }
}

/// What happens after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Wait this long, then try again.
    Retry {
        /// How long; never less than the vendor's hint.
        wait: Duration,
    },
    /// Hand the error on as it is.
    GiveUp {
        /// Why.
        reason: GiveUpReason,
    },
}

/// Why a call is not tried again. Where several reasons apply, the first of this list is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GiveUpReason {
    /// Content has reached the caller.
    Committed,
    /// A router inside has tried every candidate.
    Exhausted,
    /// The failure would come again.
    Verdict,
    /// The failure may be retried once, and was.
    Once,
    /// The request cannot be sent a second time.
    NotReplayable,
    /// All attempts are used up.
    Attempts,
    /// The vendor asks for a longer pause than the policy allows.
    HintTooLong,
    /// The call would take longer in all than the policy allows.
    TotalTime,
    /// The caller's deadline would pass before the next attempt.
    Deadline,
    /// All calls together have made as many retries as they may.
    Budget,
}

impl GiveUpReason {
    /// The stable word for logs.
    pub fn as_str(self) -> &'static str {
        match self {
            GiveUpReason::Committed => "committed",
            GiveUpReason::Exhausted => "exhausted",
            GiveUpReason::Verdict => "verdict",
            GiveUpReason::Once => "once",
            GiveUpReason::NotReplayable => "not_replayable",
            GiveUpReason::Attempts => "attempts",
            GiveUpReason::HintTooLong => "hint_too_long",
            GiveUpReason::TotalTime => "total_time",
            GiveUpReason::Deadline => "deadline",
            GiveUpReason::Budget => "budget",
        }
    }
}

/// Whether to try again after a failed attempt, and after how long.
///
/// The wait is the vendor's hint plus the jittered backoff, and [`RetryPolicy::max_wait`] at most. Retrying stops
/// at once, with nothing waited, when the hint is longer than that, and when the wait would use up all the time
/// that is left: an error now is worth more than the same error later.
///
/// ```
/// use llm_core::{Error, ErrorKind};
/// use llm_resilience::{Decision, Facts, GiveUpReason, RetryPolicy, decide};
/// use std::time::Duration;
///
/// let policy = RetryPolicy::default();
/// let limited = Error::new(ErrorKind::RateLimit, "slow down").with_retry_after(Duration::from_secs(3));
/// let facts = Facts::of(&limited).with_random(0.5);
/// let wait = Duration::from_millis(3250);
/// assert_eq!(decide(&policy, &facts), Decision::Retry { wait });
///
/// let hurried = facts.with_remaining(Some(Duration::from_secs(3)));
/// let reason = GiveUpReason::Deadline;
/// assert_eq!(decide(&policy, &hurried), Decision::GiveUp { reason });
/// ```
pub fn decide(policy: &RetryPolicy, facts: &Facts) -> Decision {
    match reason_to_give_up(policy, facts) {
        Some(reason) => Decision::GiveUp { reason },
        None => Decision::Retry {
            wait: wait(policy, facts),
        },
    }
}

fn reason_to_give_up(policy: &RetryPolicy, facts: &Facts) -> Option<GiveUpReason> {
    if facts.content_seen || facts.phase == Phase::Streaming {
        return Some(GiveUpReason::Committed);
    }
    if facts.exhausted {
        return Some(GiveUpReason::Exhausted);
    }
    match facts.same {
        SameCandidate::Backoff | SameCandidate::AfterHint | SameCandidate::BeforeCommit => {}
        SameCandidate::Once if facts.once_spent => return Some(GiveUpReason::Once),
        SameCandidate::Once => {}
        // A verdict that this crate does not know yet is none that allows anything.
        _ => return Some(GiveUpReason::Verdict),
    }
    if !facts.replayable {
        return Some(GiveUpReason::NotReplayable);
    }
    if facts.attempt >= policy.max_attempts {
        return Some(GiveUpReason::Attempts);
    }
    let hint = facts.retry_after.unwrap_or_default();
    if policy.max_wait.is_some_and(|longest| hint > longest) {
        return Some(GiveUpReason::HintTooLong);
    }
    let wait = wait(policy, facts);
    let total = facts.elapsed.saturating_add(wait);
    if policy.max_elapsed.is_some_and(|longest| total > longest) {
        return Some(GiveUpReason::TotalTime);
    }
    if facts.remaining.is_some_and(|remaining| wait >= remaining) {
        return Some(GiveUpReason::Deadline);
    }
    if !facts.budget_has_room {
        return Some(GiveUpReason::Budget);
    }
    None
}

/// The hint first, chance on top: callers that were sent away together must not come back together either.
fn wait(policy: &RetryPolicy, facts: &Facts) -> Duration {
    let backoff = backoff(policy.base, policy.cap, facts.attempt);
    let hint = facts.retry_after.unwrap_or_default();
    let wait = hint.saturating_add(policy.jitter.apply(backoff, facts.random));
    match policy.max_wait {
        Some(longest) => wait.min(longest),
        None => wait,
    }
}

#[cfg(test)]
mod tests;
