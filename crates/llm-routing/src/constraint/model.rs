//! A named model is binding.

use super::{Constraint, Findings};
use crate::facts::Facts;
use crate::pairing::Pairing;

/// A request that names a model is served by that model or not at all.
///
/// A candidate with a model of its own passes when that is the named one: as written, or as its stack
/// resolves both, so that a vendor's prefix or an alias matches. A candidate without one passes when its
/// stack takes the name. Code: `model_mismatch`.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct ModelConstraint;

impl Constraint for ModelConstraint {
    fn name(&self) -> &str {
        "model"
    }

    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
        let Some(named) = &pairing.request.model else {
            return;
        };
        let facts = || Facts::default().with("requested", named.as_str());
        match (pairing.candidate.model(), pairing.resolved) {
            (Some(own), resolved) => {
                // without a resolution only the names can be compared
                let serves = match resolved {
                    Ok(resolved) => pairing.candidate.serves(named, resolved),
                    Err(_) => own == named,
                };
                if !serves {
                    let description = format!("the request names {named}, it serves {own}");
                    findings.reject(
                        "model_mismatch",
                        description,
                        facts().with("candidate", own.as_str()),
                    );
                }
            }
            (None, Ok(resolved)) if !resolved.known => findings.note(
                "model_unverified",
                format!("{named} is not in its catalogue; passed on unseen"),
            ),
            (None, Ok(_)) => {}
            (None, Err(error)) => {
                let description = format!("its stack does not take {named}: {}", error.message());
                findings.reject("model_mismatch", description, facts());
            }
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

    fn codes(request: &ChatRequest, candidate: &Candidate) -> (Vec<String>, Vec<String>) {
        let needs = Needs::of(request, CallMode::Plain);
        let resolved = candidate.resolve(request.model.as_ref());
        let pairing = Pairing::new(request, &needs, candidate, resolved.as_deref());
        let mut findings = Findings::new("model");
        ModelConstraint.check(&pairing, &mut findings);
        let rejections = findings.rejections().iter().map(|r| r.code.to_string()).collect();
        (
            rejections,
            findings.notes().iter().map(|n| n.code.to_string()).collect(),
        )
    }

    #[test]
    fn a_named_model_is_binding() {
        let strict = TestDriver::new("test").serving("m").serving("n").shared();
        let any = TestDriver::new("any").taking_unknown().shared();
        let request = ChatRequest::user("hi").with_model(model("m"));
        let prefixed = ChatRequest::user("hi").with_model(model("test/m"));
        let nameless = ChatRequest::user("hi");
        let pass = (vec![], vec![]);
        let mismatch = (vec!["model_mismatch".to_owned()], vec![]);

        let with_m = Candidate::new("a", strict.clone()).with_model(model("m"));
        assert_eq!(codes(&request, &with_m), pass);
        assert_eq!(codes(&prefixed, &with_m), pass);
        assert_eq!(codes(&nameless, &with_m), pass);
        let with_n = Candidate::new("a", strict.clone()).with_model(model("n"));
        assert_eq!(codes(&request, &with_n), mismatch);
        assert_eq!(codes(&nameless, &with_n), pass);

        let without = Candidate::new("a", strict);
        assert_eq!(codes(&request, &without), pass);
        let foreign = ChatRequest::user("hi").with_model(model("foreign"));
        assert_eq!(codes(&foreign, &without), mismatch);
        let unverified = (vec![], vec!["model_unverified".to_owned()]);
        assert_eq!(codes(&foreign, &Candidate::new("a", any.clone())), unverified);
        // an own model that is the named one is left to the candidate-model constraint to verify
        assert_eq!(
            codes(&foreign, &Candidate::new("a", any).with_model(model("foreign"))),
            pass
        );
    }
}
