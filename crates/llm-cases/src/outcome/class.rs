//! Our kinds of failure in the words of the cases.

use llm_core::{Error, ErrorKind, Rejection};
use llm_routing::Evaluations;

/// The classes of the format.
pub(crate) const CLASSES: &[&str] = &[
    "rate_limit",
    "quota_exhausted",
    "overloaded",
    "server",
    "timeout",
    "connection",
    "protocol",
    "auth",
    "permission",
    "invalid_request",
    "context_length",
    "content_filter",
    "not_found",
];

/// The class of a failure. Kinds without a class of their own keep their name, so that they match nothing.
pub(crate) fn class_of(error: &Error) -> &'static str {
    match (error.kind(), error.rejection()) {
        (ErrorKind::NoEligibleCandidate, _) if is_too_long_for_all(error) => "context_length",
        (ErrorKind::InvalidRequest | ErrorKind::Unsupported | ErrorKind::NoEligibleCandidate, _) => {
            "invalid_request"
        }
        (ErrorKind::UnknownModel | ErrorKind::NotFound, _) => "not_found",
        (ErrorKind::ContextLength, _) => "context_length",
        (ErrorKind::ContentFilter, _) => "content_filter",
        (ErrorKind::Auth, _) => "auth",
        (ErrorKind::Permission, _) => "permission",
        (ErrorKind::QuotaExhausted, _) => "quota_exhausted",
        (ErrorKind::RateLimit, _) => "rate_limit",
        (ErrorKind::Overloaded, _) => "overloaded",
        (ErrorKind::Server, _) => "server",
        (ErrorKind::Connection | ErrorKind::Interrupted, _) => "connection",
        (ErrorKind::Timeout, _) => "timeout",
        (ErrorKind::Protocol, _) => "protocol",
        (ErrorKind::Rejected, Some(Rejection::RateLimit)) => "rate_limit",
        (ErrorKind::Rejected, _) => "overloaded",
        (other, _) => other.as_str(),
    }
}

/// Was nobody asked because no window is large enough?
fn is_too_long_for_all(error: &Error) -> bool {
    Evaluations::of(error).is_some_and(|evaluations| {
        let mut all = evaluations.all().iter().flat_map(|one| &one.rejections);
        all.all(|rejection| rejection.constraint == "context_window")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_that_a_vendor_can_cause_has_a_class() {
        let ours = [ErrorKind::Config, ErrorKind::Internal, ErrorKind::Cancelled];
        for kind in ErrorKind::ALL {
            let class = class_of(&Error::new(kind, "x"));
            assert_eq!(CLASSES.contains(&class), !ours.contains(&kind), "{kind}: {class}");
        }
        assert_eq!(
            class_of(&Error::rejected(Rejection::RateLimit, "full")),
            "rate_limit"
        );
        assert_eq!(
            class_of(&Error::rejected(Rejection::BreakerOpen, "open")),
            "overloaded"
        );
    }
}
