//! How long one attempt may take while others could be asked.

use crate::decision::PlannedCandidate;
use llm_core::error::{Error, ErrorKind, Scope};
use llm_core::{CallContext, Phase, VendorFacts};
use std::time::{Duration, Instant};

/// Less than this no attempt gets, as long as it is there.
const LEAST: Duration = Duration::from_secs(5);

/// So much of a share may have passed on the way down from the router that gave it.
const ON_THE_WAY: Duration = Duration::from_millis(250);

/// Until when one attempt must have come to its commit point, and what it means when it has not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Absent: no limit.
    pub(super) time: Option<Duration>,
    /// The moment, where what ends it counts against the candidate: its own share, or a router above that has left it as
    /// much as a share.
    pub(super) limit: Option<Instant>,
    /// Is it the caller's deadline that ends it?
    by_deadline: bool,
}

impl Share {
    /// Of what is left for this call, while so many others could be asked.
    pub(super) fn of(cx: &CallContext, others: usize) -> Self {
        let now = cx.clock().now();
        let above = cx
            .attempt_limit()
            .map(|limit| limit.saturating_duration_since(now));
        let deadline = cx.remaining();
        let left = above.into_iter().chain(deadline).min();
        let own = left.and_then(|left| share(left, others));
        let by_deadline = own.is_none() && (above.is_none() || above != left);
        let time = own.or(left);
        let counts = |time: &Duration| !by_deadline && *time + ON_THE_WAY >= LEAST;
        Share {
            time,
            limit: time.filter(counts).and_then(|time| now.checked_add(time)),
            by_deadline,
        }
    }

    /// Does it count against the candidate when this time is over?
    pub(super) fn counts(self) -> bool {
        self.limit.is_some()
    }

    /// The error of an attempt whose time is over.
    pub(super) fn over(self, planned: &PlannedCandidate) -> Error {
        if self.by_deadline {
            Error::deadline("the call's deadline passed before there was an answer; allow more time")
                .with_phase(Phase::Sent)
        } else {
            used_up(self.time, planned)
        }
    }
}

/// Has the moment passed at which a router above lets this call go? Nobody else is asked then.
pub(super) fn is_let_go(cx: &CallContext) -> bool {
    cx.attempt_limit().is_some_and(|limit| limit <= cx.clock().now())
}

/// The part of one candidate while so many others could be asked; absent: all that is left. Where no time would be left for
/// others, a share is none.
fn share(left: Duration, others: usize) -> Option<Duration> {
    if others == 0 {
        return None;
    }
    let candidates = u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1);
    Some((left / candidates).max(LEAST)).filter(|share| *share < left)
}

/// Its time is over. The candidate was slow, not the caller's deadline short: others may be asked.
fn used_up(share: Option<Duration>, planned: &PlannedCandidate) -> Error {
    let seconds = share.unwrap_or_default().as_secs_f64();
    let message = format!(
        "no content within {seconds:.1} s, its share of the time that is left; allow more time, or fewer fallbacks"
    );
    let info = planned.stack().info();
    let mut facts = VendorFacts::default();
    facts.driver = Some(info.id.clone());
    facts.model = planned.model_for_log().cloned();
    Error::new(ErrorKind::Timeout, message)
        .with_scope(Scope::Vendor)
        .with_phase(Phase::Sent)
        .with_vendor(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_driver::{TestClock, context};

    #[test]
    fn the_way_down_takes_nothing_from_what_counts() {
        let clock = TestClock::new();
        let secs = Duration::from_secs;
        let cx = context(&clock).with_timeout(secs(60));
        let given = |seconds| {
            let limit = cx.clock().now() + secs(seconds);
            let below = cx.clone().with_attempt_limit(limit);
            clock.advance(Duration::from_millis(1));
            Share::of(&below, 2)
        };
        assert!(given(5).counts(), "a share of another router's");
        assert!(!given(3).counts(), "less than a share");
    }

    #[test]
    fn everybody_gets_as_much_and_at_least_five_seconds() {
        let secs = Duration::from_secs;
        assert_eq!(share(secs(60), 0), None, "the last gets all");
        assert_eq!(share(secs(60), 2), Some(secs(20)));
        assert_eq!(share(secs(12), 2), Some(secs(5)));
        assert_eq!(
            share(secs(3), 2),
            None,
            "the deadline itself, and no failure of the candidate's"
        );
        assert_eq!(share(secs(5), 1), None);
        assert_eq!(share(secs(6), 1), Some(secs(5)));
        assert_eq!(share(secs(60), usize::MAX), Some(secs(5)));
    }
}
