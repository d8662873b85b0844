//! Which limit passed, and what the error says then.

use llm_core::{Error, ErrorKind, Phase};
use std::time::Duration;

/// A limit, with its length where it is one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// The caller's own.
    Deadline,
    FirstEvent(Duration),
    FirstContent(Duration),
    Idle(Duration),
    Whole(Duration),
}

impl Limit {
    /// The error when it has passed.
    pub(super) fn passed(self, phase: Phase) -> Error {
        let message = match self {
            Limit::Deadline => {
                let message = "the call's deadline passed before the answer was complete; allow more time";
                return Error::deadline(message).with_phase(phase);
            }
            Limit::FirstEvent(limit) => {
                format!("no first event came within {limit:?}; ask again or raise first_event_ms")
            }
            Limit::FirstContent(limit) => {
                format!("no content came within {limit:?}; ask again or raise first_content_ms")
            }
            Limit::Idle(limit) => {
                format!("nothing came for {limit:?} in the middle of a stream; ask again or raise idle_ms")
            }
            Limit::Whole(limit) => {
                format!("no whole answer came within {limit:?}; ask for a stream or raise whole_ms")
            }
        };
        Error::new(ErrorKind::Timeout, message).with_phase(phase)
    }
}

/// The limit that passes first; of several in the same instant the first of the list. Callers put the deadline
/// first, so that a vendor is never blamed for it.
pub(super) fn earliest<T: Ord, const N: usize>(limits: [Option<(Limit, T)>; N]) -> Option<(Limit, T)> {
    limits.into_iter().flatten().min_by(|(_, a), (_, b)| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::Scope;

    #[test]
    fn the_deadline_wins_a_tie() {
        let limits = [
            Some((Limit::Deadline, 5)),
            Some((Limit::Whole(Duration::ZERO), 5)),
            None,
        ];
        assert_eq!(earliest(limits), Some((Limit::Deadline, 5)));
        assert_eq!(earliest::<u8, 2>([None, None]), None);
    }

    #[test]
    fn only_the_deadline_is_about_the_request() {
        let limit = Duration::from_secs(60);
        for ours in [
            Limit::FirstEvent(limit),
            Limit::FirstContent(limit),
            Limit::Idle(limit),
            Limit::Whole(limit),
        ] {
            let error = ours.passed(Phase::Sent);
            assert_eq!((error.kind(), error.scope()), (ErrorKind::Timeout, Scope::Vendor));
            assert!(error.retryable());
            assert!(error.message().contains("60s"), "{error}");
        }
        let error = Limit::Deadline.passed(Phase::Streaming);
        assert_eq!((error.scope(), error.phase()), (Scope::Request, Phase::Streaming));
        assert!(!error.retryable());
    }
}
