//! What goes in and what may come out must fit the window.

use super::{Constraint, Findings};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::ModelLimits;
use llm_core::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;

/// No chat model has a smaller window than this: about so few tokens nothing need be said.
const FITS_ANYWHERE: u64 = 4_096;

/// Rejects a model whose context window is smaller than the estimated input and the output that the request allows:
/// `insufficient_context_window`.
///
/// The window is the one that the candidate states for itself, else its stack's for the model; an
/// [override](Self::with_windows) wins over both. What nobody states passes, with a note (`unknown_context_window`) where
/// more than 4,096 tokens are asked for. A model that limits the input alone is held to that too.
///
/// The estimate is one: a request near the edge may still fail, and is then asked of larger windows only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextWindowConstraint {
    windows: BTreeMap<String, u64>,
    most: Option<u64>,
}

impl ContextWindowConstraint {
    /// By what candidates and stacks state.
    pub fn new() -> Self {
        ContextWindowConstraint::default()
    }

    /// Windows in tokens by candidate id, model or driver id, in place of what is stated.
    ///
    /// # Errors
    /// `Config`, when one is 0.
    pub fn with_windows<K: Into<String>>(
        mut self,
        windows: impl IntoIterator<Item = (K, u64)>,
    ) -> Result<Self> {
        for (key, window) in windows {
            let key = key.into();
            self.windows.insert(key.clone(), at_least_one(window, &key)?);
        }
        Ok(self)
    }

    /// No candidate is given more than this, whatever its window.
    ///
    /// # Errors
    /// `Config`, when it is 0.
    pub fn with_most(mut self, tokens: u64) -> Result<Self> {
        self.most = Some(at_least_one(tokens, "every candidate")?);
        Ok(self)
    }

    fn limits(&self, pairing: &Pairing<'_>) -> ModelLimits {
        let mut limits = pairing
            .resolved
            .map(|resolved| resolved.limits)
            .unwrap_or_default();
        if let Some(window) = pairing.find_by_name(&self.windows) {
            limits = ModelLimits::new(Some(*window), None, limits.max_output);
        }
        if let Some(most) = self.most {
            limits.context_window = Some(limits.context_window.map_or(most, |window| window.min(most)));
        }
        limits
    }
}

fn at_least_one(window: u64, key: &str) -> Result<u64> {
    if window == 0 {
        let message = format!("the context window of {key} is 0 tokens; give at least 1, or leave it out");
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(window)
}

impl Constraint for ContextWindowConstraint {
    fn name(&self) -> &str {
        "context_window"
    }

    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
        if pairing.resolved.is_err() {
            return;
        }
        let limits = self.limits(pairing);
        let input = pairing.input_tokens();
        let output = pairing.needs.output_tokens().unwrap_or(0);
        // More than the model gives is cut to that before it is sent.
        let output = limits.max_output.map_or(output, |most| output.min(most));
        let room = limits.context_window.map(|window| window.saturating_sub(output));
        let Some(room) = room.into_iter().chain(limits.max_input).min() else {
            if input.saturating_add(output) <= FITS_ANYWHERE {
                return;
            }
            findings.note(
                "unknown_context_window",
                format!("about {input} tokens go in, and nobody knows how many it takes"),
            );
            return;
        };
        if input > room {
            let facts = Facts::default()
                .with("input_tokens", input)
                .with("output_tokens", output)
                .with("window", limits.context_window)
                .with("max_input", limits.max_input);
            let description =
                format!("about {input} tokens go in and {output} may come out, it takes {room} of input");
            findings.reject("insufficient_context_window", description, facts);
        }
    }

    fn input_limit(&self, pairing: &Pairing<'_>) -> Option<u64> {
        if self.windows.is_empty() && self.most.is_none() {
            return None;
        }
        let limits = self.limits(pairing);
        limits.context_window.into_iter().chain(limits.max_input).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::needs::{CallMode, Needs};
    use crate::test_driver::TestDriver;
    use llm_core::{ChatRequest, ResolvedModel};

    fn codes(
        constraint: &ContextWindowConstraint,
        window: Option<u64>,
        max_input: Option<u64>,
        output: Option<u32>,
    ) -> Vec<String> {
        let mut request = ChatRequest::user("four".repeat(1_000));
        request.max_output_tokens = output;
        let needs = Needs::of(&request, CallMode::Plain);
        assert!(
            (990..1_100).contains(&needs.input_tokens()),
            "{}",
            needs.input_tokens()
        );
        let model = ResolvedModel::unknown(crate::test_driver::model("m"))
            .with_limits(ModelLimits::new(window, max_input, None));
        let candidate = Candidate::new("a", TestDriver::new("test").serving_model(model).shared());
        let resolved = candidate.resolve(None);
        let mut findings = Findings::new("context_window");
        constraint.check(
            &Pairing::new(&request, &needs, &candidate, resolved.as_deref()),
            &mut findings,
        );
        let rejected = findings
            .rejections()
            .iter()
            .map(|rejection| rejection.code.to_string());
        rejected
            .chain(findings.notes().iter().map(|note| note.code.to_string()))
            .collect()
    }

    #[test]
    fn input_and_output_must_fit() {
        let plain = ContextWindowConstraint::new();
        let small = ["insufficient_context_window"];
        assert!(codes(&plain, Some(1_100), None, None).is_empty());
        assert_eq!(codes(&plain, Some(1_100), None, Some(200)), small);
        assert_eq!(codes(&plain, Some(500), None, None), small);
        assert_eq!(codes(&plain, Some(100_000), Some(500), None), small);
        assert_eq!(codes(&plain, Some(10), None, Some(u32::MAX)), small);
        assert!(codes(&plain, None, None, None).is_empty());
        assert_eq!(codes(&plain, None, None, Some(4_096)), ["unknown_context_window"]);
    }

    #[test]
    fn no_more_comes_out_than_the_model_gives() {
        let request = ChatRequest::user("four".repeat(1_000)).with_max_output_tokens(100_000);
        let needs = Needs::of(&request, CallMode::Plain);
        let limits = ModelLimits::new(Some(10_000), None, Some(4_096));
        let model = ResolvedModel::unknown(crate::test_driver::model("m")).with_limits(limits);
        let candidate = Candidate::new("a", TestDriver::new("test").serving_model(model).shared());
        let resolved = candidate.resolve(None);
        let mut findings = Findings::new("context_window");
        let pairing = Pairing::new(&request, &needs, &candidate, resolved.as_deref());
        ContextWindowConstraint::new().check(&pairing, &mut findings);
        assert!(findings.rejections().is_empty(), "{findings:?}");
        assert_eq!(ContextWindowConstraint::new().input_limit(&pairing), None);
        let set = ContextWindowConstraint::new().with_windows([("a", 7)]).unwrap();
        assert_eq!(set.input_limit(&pairing), Some(7));
    }

    #[test]
    fn what_is_set_here_wins_over_what_is_stated() {
        let small = ["insufficient_context_window"];
        for key in ["a", "m", "test"] {
            let set = ContextWindowConstraint::new()
                .with_windows([(key, 10_000)])
                .unwrap();
            assert!(codes(&set, Some(10), Some(10), None).is_empty(), "{key}");
        }
        let most = ContextWindowConstraint::new().with_most(10).unwrap();
        assert_eq!(codes(&most, Some(10_000), None, None), small);
        assert_eq!(codes(&most, None, None, None), small);
        assert!(ContextWindowConstraint::new().with_most(0).is_err());
        assert!(ContextWindowConstraint::new().with_windows([("a", 0)]).is_err());
    }
}
