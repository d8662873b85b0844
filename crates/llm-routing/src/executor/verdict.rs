//! What a failure means for the rest of the plan.

use crate::decision::PlannedCandidate;
use llm_core::Error;
use llm_core::error::verdict::OtherCandidate;

/// How the plan goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Not at all.
    Stop,
    /// With the next candidate.
    Other,
    /// With the next one that takes more input.
    Larger,
}

/// Reads the verdict for a failure before the commit point.
pub(super) fn next(error: &Error, planned: &PlannedCandidate, content_filter_failover: bool) -> Next {
    let when = |allowed| if allowed { Next::Other } else { Next::Stop };
    match error.verdict().other {
        OtherCandidate::Yes | OtherCandidate::BeforeCommit => Next::Other,
        OtherCandidate::YesWithAlarm => {
            // an inner router has raised it already
            if !error.is_exhausted() {
                tracing::warn!(
                    name: "llm.routing.credential_alarm",
                    candidate = planned.id(),
                    kind = error.kind().as_str(),
                    status = error.vendor().status,
                    "a vendor does not accept our credential; check it"
                );
            }
            Next::Other
        }
        OtherCandidate::LargerWindow => Next::Larger,
        OtherCandidate::IfPolicyAllows => when(content_filter_failover),
        OtherCandidate::IfFromRouter => when(planned.stack().info().is_router),
        // `No`, and whatever is added later, until it is answered here
        _ => Next::Stop,
    }
}

/// After an input was too long: only who takes more is worth asking.
///
/// Who takes nobody knows how much may take more, and is admitted, as everything unknown is; only one that is
/// known to take no more than a known one that failed is passed over.
#[derive(Debug, Default)]
pub(super) struct WindowBar {
    /// The largest known limit that was too small.
    too_small: Option<u64>,
}

impl WindowBar {
    /// A router takes as much as the largest of its candidates, but which of them has failed it does not say.
    pub(super) fn raise(&mut self, failed: &PlannedCandidate) {
        if !failed.stack().info().is_router {
            self.too_small = self.too_small.max(failed.input_limit());
        }
    }

    pub(super) fn admits(&self, planned: &PlannedCandidate) -> bool {
        match (self.too_small, planned.input_limit()) {
            (Some(too_small), Some(limit)) => limit > too_small,
            (None, _) | (_, None) => true,
        }
    }
}
