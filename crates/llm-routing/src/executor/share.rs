//! How long one attempt may take while others could be asked.

use crate::decision::PlannedCandidate;
use llm_core::error::{Error, ErrorKind, Scope};
use llm_core::{Phase, VendorFacts};
use std::time::Duration;

/// Less than this no attempt gets, as long as it is there.
const LEAST: Duration = Duration::from_secs(5);

/// The time until the commit point, of what remains of the deadline, while so many others could be asked; absent: no
/// limit but the deadline itself. It is the caller's, and counts against nobody; so where no time would be left for
/// others, a share is none.
pub(super) fn of(remaining: Option<Duration>, others: usize) -> Option<Duration> {
    let remaining = remaining?;
    if others == 0 {
        return None;
    }
    let candidates = u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1);
    Some((remaining / candidates).max(LEAST)).filter(|share| *share < remaining)
}

/// Its time is over. The candidate was slow, not the caller's deadline short: others may be asked.
pub(super) fn used_up(share: Option<Duration>, planned: &PlannedCandidate) -> Error {
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
        assert_eq!(of(None, 3), None);
        assert_eq!(of(Some(secs(60)), 0), None, "the last gets all");
        assert_eq!(of(Some(secs(60)), 2), Some(secs(20)));
        assert_eq!(of(Some(secs(12)), 2), Some(secs(5)));
        assert_eq!(
            of(Some(secs(3)), 2),
            None,
            "the deadline itself, and no failure of the candidate's"
        );
        assert_eq!(of(Some(secs(5)), 1), None);
        assert_eq!(of(Some(secs(6)), 1), Some(secs(5)));
        assert_eq!(of(Some(secs(60)), usize::MAX), Some(secs(5)));
    }
}
