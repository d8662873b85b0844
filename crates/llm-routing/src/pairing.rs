//! One request beside one candidate: what constraints and rankers judge.

use crate::candidate::Candidate;
use crate::needs::Needs;
use llm_core::{ChatRequest, Error, ModelId, ResolvedModel};

/// A request beside a candidate, with the model that the candidate would serve it with.
///
/// Every judgement is about this pairing, never about the driver alone: it is the *candidate's* model that
/// is checked, priced and ranked.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Pairing<'a> {
    /// What is asked.
    pub request: &'a ChatRequest,
    /// What that needs.
    pub needs: &'a Needs,
    /// Who is considered.
    pub candidate: &'a Candidate,
    /// The model it would serve with and what is known of it, or why there is none.
    pub resolved: Result<&'a ResolvedModel, &'a Error>,
    /// Does the caller prefer quality over price and speed?
    pub prefers_quality: bool,
}

impl<'a> Pairing<'a> {
    /// A pairing; for the engine, and for testing constraints and rankers of your own.
    pub fn new(
        request: &'a ChatRequest,
        needs: &'a Needs,
        candidate: &'a Candidate,
        resolved: Result<&'a ResolvedModel, &'a Error>,
    ) -> Self {
        Pairing {
            request,
            needs,
            candidate,
            resolved,
            prefers_quality: false,
        }
    }

    /// Does the caller prefer quality?
    #[must_use]
    pub fn with_prefers_quality(mut self, prefers_quality: bool) -> Self {
        self.prefers_quality = prefers_quality;
        self
    }

    /// The model that the candidate would be asked for: its own, else the one that the request names.
    pub fn asked_model(&self) -> Option<&'a ModelId> {
        self.candidate.model().or(self.request.model.as_ref())
    }
}
