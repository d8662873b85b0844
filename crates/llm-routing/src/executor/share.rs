//! How long one attempt may take while others could be asked.

use crate::decision::PlannedCandidate;
use llm_core::error::{Error, ErrorKind, Scope};
use llm_core::{CallContext, Phase, VendorFacts};
use std::time::{Duration, Instant};

/// Less than this no attempt gets, as long as it is there.
const LEAST: Duration = Duration::from_secs(5);

/// Until when one attempt must have come to its commit point, and what it means when it has not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Absent: no limit.
    pub(super) time: Option<Duration>,
    /// The moment, where what ends it is the candidate's own share or a router above; absent: the caller's deadline, which
    /// counts against nobody.
    pub(super) limit: Option<Instant>,
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
        let is_limit = own.is_some() || (above.is_some() && above == left);
        let time = own.or(left);
        Share {
            time,
            limit: time.filter(|_| is_limit).and_then(|time| now.checked_add(time)),
        }
    }

    /// The error of an attempt whose time is over.
    pub(super) fn over(self, planned: &PlannedCandidate) -> Error {
        match self.limit {
            Some(_) => used_up(self.time, planned),
            None => Error::deadline("the call's deadline passed before there was an answer; allow more time")
                .with_phase(Phase::Sent),
        }
    }
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
