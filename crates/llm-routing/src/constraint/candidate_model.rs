//! A pairing that cannot be served is never planned.

use super::{Constraint, Findings};
use crate::facts::Facts;
use crate::pairing::Pairing;

/// A candidate's own model must be one that its stack takes; a candidate without one needs a default when
/// the request names none either. (A name that comes with the request is
/// [`ModelConstraint`](super::ModelConstraint)'s.) Code: `candidate_model_unsupported`.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct CandidateModelConstraint;

impl Constraint for CandidateModelConstraint {
    fn name(&self) -> &str {
        "candidate_model"
    }

    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
        let own = pairing.candidate.model();
        match (own, pairing.resolved) {
            (Some(own), Err(error)) => findings.reject(
                "candidate_model_unsupported",
                format!("its stack does not take its model {own}: {}", error.message()),
                Facts::default().with("candidate", own.as_str()),
            ),
            (None, Err(error)) if pairing.request.model.is_none() => findings.reject(
                "candidate_model_unsupported",
                format!(
                    "no model is named and its stack has no default: {}",
                    error.message()
                ),
                Facts::default(),
            ),
            (Some(own), Ok(resolved)) if !resolved.known => findings.note(
                "model_unverified",
                format!("{own} is not in its catalogue; passed on unseen"),
            ),
            (Some(_), Ok(_)) | (None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::needs::{CallMode, Needs};
    use crate::test_driver::{TestDriver, model};
    use llm_core::ChatRequest;

    #[test]
    fn what_does_not_resolve_is_rejected() {
        let strict = TestDriver::new("test").serving("m").shared();
        let bare = TestDriver::new("bare").without_default().serving("m").shared();
        let any = TestDriver::new("any").taking_unknown().shared();
        let nameless = ChatRequest::user("hi");
        let named = ChatRequest::user("hi").with_model(model("x"));
        for (request, candidate, rejected, noted) in [
            (
                &nameless,
                Candidate::new("a", strict.clone()).with_model(model("x")),
                1,
                0,
            ),
            (
                &nameless,
                Candidate::new("a", strict.clone()).with_model(model("m")),
                0,
                0,
            ),
            (&nameless, Candidate::new("a", strict.clone()), 0, 0),
            (&nameless, Candidate::new("a", bare), 1, 0),
            (&named, Candidate::new("a", strict), 0, 0),
            (&nameless, Candidate::new("a", any).with_model(model("x")), 0, 1),
        ] {
            let needs = Needs::of(request, CallMode::Plain);
            let resolved = candidate.resolve(request.model.as_ref());
            let mut findings = Findings::new("candidate_model");
            let pairing = Pairing::new(request, &needs, &candidate, resolved.as_deref());
            CandidateModelConstraint.check(&pairing, &mut findings);
            assert_eq!(
                (findings.rejections().len(), findings.notes().len()),
                (rejected, noted),
                "{candidate:?} {findings:?}"
            );
        }
    }
}
