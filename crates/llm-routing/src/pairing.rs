//! One request beside one candidate: what constraints and rankers judge.

use crate::candidate::Candidate;
use crate::metrics::CandidateMetrics;
use crate::needs::Needs;
use llm_core::estimate::TokenEstimator;
use llm_core::{ChatRequest, Error, ModelId, QuotaView, ResolvedModel};
use std::collections::BTreeMap;
use std::time::SystemTime;

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
    /// What its own calls have shown.
    pub metrics: &'a CandidateMetrics,
    /// What a ledger knows of quotas; absent: there is none.
    pub quota: Option<&'a dyn QuotaView>,
    /// The calendar time of the decision, for prices that depend on it; absent: today's prices do not matter.
    pub wall: Option<SystemTime>,
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
            metrics: CandidateMetrics::UNKNOWN,
            quota: None,
            wall: None,
        }
    }

    /// Does the caller prefer quality?
    #[must_use]
    pub fn with_prefers_quality(mut self, prefers_quality: bool) -> Self {
        self.prefers_quality = prefers_quality;
        self
    }

    /// What its own calls have shown.
    #[must_use]
    pub fn with_metrics(mut self, metrics: &'a CandidateMetrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// What a ledger knows of quotas.
    #[must_use]
    pub fn with_quota(mut self, quota: Option<&'a dyn QuotaView>) -> Self {
        self.quota = quota;
        self
    }

    /// The calendar time of the decision.
    #[must_use]
    pub fn with_wall(mut self, wall: impl Into<Option<SystemTime>>) -> Self {
        self.wall = wall.into();
        self
    }

    /// About how many tokens would go in, as this candidate's vendor counts them.
    pub fn input_tokens(&self) -> u64 {
        let estimator = TokenEstimator::default();
        let estimator = match self.metrics.input_ratio {
            Some(ratio) => estimator.with_input_ratio(ratio),
            None => estimator,
        };
        estimator.input(self.needs.demand())
    }

    /// What a table holds for it: under the candidate's id, else under its model as asked or as resolved, else under
    /// its driver's id.
    pub(crate) fn find_by_name<'t, T>(&self, table: &'t BTreeMap<String, T>) -> Option<&'t T> {
        self.find_with_name(table).map(|(value, _)| value)
    }

    /// The same, and by which of the names.
    pub(crate) fn find_with_name<'t, T>(
        &self,
        table: &'t BTreeMap<String, T>,
    ) -> Option<(&'t T, &'static str)> {
        if table.is_empty() {
            return None;
        }
        let by_model = || {
            let asked = self.asked_model().and_then(|model| table.get(model.as_str()));
            asked.or_else(|| table.get(self.resolved.ok()?.id.as_str()))
        };
        None.or_else(|| Some((table.get(self.candidate.id())?, "candidate")))
            .or_else(|| Some((by_model()?, "model")))
            .or_else(|| Some((table.get(self.candidate.stack().info().id.as_str())?, "driver")))
    }

    /// The model that the candidate would be asked for: its own, else the one that the request names.
    pub fn asked_model(&self) -> Option<&'a ModelId> {
        self.candidate.model().or(self.request.model.as_ref())
    }
}
