//! Whose quota is used up is not asked.

use super::{Constraint, Findings};
use crate::facts::Facts;
use crate::pairing::Pairing;

/// Rejects a candidate whose quota is used up, as the [`QuotaView`](llm_core::QuotaView) of the engine says:
/// `quota_exhausted`. Where there is no view, or it does not know the candidate, it passes; a ledger that does not know
/// whether it is used up gets a note (`unknown_quota`) only when it is there at all.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct QuotaConstraint;

impl Constraint for QuotaConstraint {
    fn name(&self) -> &str {
        "quota"
    }

    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
        let Some(quota) = pairing.quota else { return };
        let id = pairing.candidate.id();
        match quota.exhausted(id) {
            Some(true) => findings.reject(
                "quota_exhausted",
                "its quota is used up",
                Facts::default().with("remaining_ratio", quota.remaining_ratio(id)),
            ),
            Some(false) => {}
            None => findings.note("unknown_quota", "the ledger does not know its quota"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::needs::{CallMode, Needs};
    use crate::test_driver::TestDriver;
    use llm_core::{ChatRequest, QuotaView};

    #[derive(Debug)]
    struct Ledger;
    impl QuotaView for Ledger {
        fn exhausted(&self, candidate: &str) -> Option<bool> {
            match candidate {
                "empty" => Some(true),
                "full" => Some(false),
                _ => None,
            }
        }
        fn remaining_ratio(&self, _: &str) -> Option<f64> {
            Some(0.0)
        }
    }

    fn codes(id: &str, quota: Option<&dyn QuotaView>) -> Vec<String> {
        let request = ChatRequest::user("hi");
        let needs = Needs::of(&request, CallMode::Plain);
        let candidate = Candidate::new(id, TestDriver::new("test").serving("m").shared());
        let resolved = candidate.resolve(None);
        let mut pairing = Pairing::new(&request, &needs, &candidate, resolved.as_deref());
        pairing.quota = quota;
        let mut findings = Findings::new("quota");
        QuotaConstraint.check(&pairing, &mut findings);
        let rejected = findings
            .rejections()
            .iter()
            .map(|rejection| rejection.code.to_string());
        rejected
            .chain(findings.notes().iter().map(|note| note.code.to_string()))
            .collect()
    }

    #[test]
    fn only_what_is_known_to_be_used_up_rejects() {
        assert_eq!(codes("empty", Some(&Ledger)), ["quota_exhausted"]);
        assert!(codes("full", Some(&Ledger)).is_empty());
        assert_eq!(codes("new", Some(&Ledger)), ["unknown_quota"]);
        assert!(codes("empty", None).is_empty());
    }
}
