//! What the request needs, the model must be able to do.

use super::{Constraint, Findings};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::{Capability, Support};

/// Rejects a model that lacks what the request needs: `missing_tools`, `missing_vision`, … one for each
/// ability. What is not known passes with a note: `unknown_tools`, …
///
/// The abilities are those of the model that the candidate would serve with, as its whole stack states them.
/// A candidate whose model does not resolve is none of this constraint's business.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapabilityConstraint {
    always: Vec<Capability>,
}

impl CapabilityConstraint {
    /// What the request needs.
    pub fn new() -> Self {
        CapabilityConstraint::default()
    }

    /// These abilities too, whether or not the request needs them.
    #[must_use]
    pub fn requiring(mut self, capabilities: impl IntoIterator<Item = Capability>) -> Self {
        self.always.extend(capabilities);
        self
    }
}

impl Constraint for CapabilityConstraint {
    fn name(&self) -> &str {
        "capability"
    }

    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
        let Ok(resolved) = pairing.resolved else {
            return;
        };
        let needed = pairing.needs.capabilities();
        let always = self.always.iter().filter(|always| !needed.contains(always));
        for need in needed.iter().chain(always) {
            match resolved.capabilities.support(*need) {
                Support::Yes => {}
                Support::No => findings.reject(
                    format!("missing_{need}"),
                    format!("the request needs {need}, which {} lacks", resolved.id),
                    Facts::default().with("model", resolved.id.as_str()),
                ),
                _ => findings.note(
                    format!("unknown_{need}"),
                    format!("the request needs {need}, which {} may lack", resolved.id),
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::needs::{CallMode, Needs};
    use crate::test_driver::TestDriver;
    use llm_core::{Capabilities, Capability, ChatRequest, OutputFormat, ToolSpec};

    #[test]
    fn every_missing_ability_is_named_and_unknown_ones_are_noted() {
        let request = ChatRequest::user("hi")
            .with_tools([ToolSpec::new("t")])
            .with_output(OutputFormat::json_schema("x", serde_json::Value::Null));
        let needs = Needs::of(&request, CallMode::Stream);
        let known = Capabilities::only([]).with(Capability::Streaming, Support::Unknown);
        let candidate = Candidate::new("a", TestDriver::new("test").serving_with("m", known).shared());
        let resolved = candidate.resolve(None);
        let mut findings = Findings::new("capability");
        CapabilityConstraint::new().check(
            &Pairing::new(&request, &needs, &candidate, resolved.as_deref()),
            &mut findings,
        );
        let codes: Vec<_> = findings.rejections().iter().map(|r| &*r.code).collect();
        assert_eq!(codes, ["missing_tools", "missing_json_schema"]);
        let notes: Vec<_> = findings.notes().iter().map(|n| &*n.code).collect();
        assert_eq!(notes, ["unknown_streaming"]);
        let mut findings = Findings::new("capability");
        CapabilityConstraint::new()
            .requiring([Capability::Vision, Capability::Tools])
            .check(
                &Pairing::new(&request, &needs, &candidate, resolved.as_deref()),
                &mut findings,
            );
        let codes: Vec<_> = findings.rejections().iter().map(|r| &*r.code).collect();
        assert_eq!(
            codes,
            ["missing_tools", "missing_json_schema", "missing_vision"],
            "each once"
        );
    }
}
