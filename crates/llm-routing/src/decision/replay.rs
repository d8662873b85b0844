//! Deciding again on what was recorded.

use super::inputs::{CandidateInputs, DecisionInputs, ModelFacts, QuotaFacts};
use super::record::DecisionRecord;
use crate::candidate::Candidate;
use crate::engine::{Asked, RoutingEngine};
use crate::policy::RoutingPolicy;
use llm_core::error::{Error, ErrorKind, Result};
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Clock, DriverInfo,
    HealthStatus, ModelId, QuotaView, ResolvedModel, VendorId, async_trait,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl DecisionInputs {
    /// What another policy would have decided on the same request, candidates and figures. Nobody is called.
    ///
    /// Candidates are judged by what was recorded of them: the model that the request was resolved to and whether they were
    /// available, not what their stacks would say today.
    ///
    /// The request's content is not recorded: constraints and rankers of your own see one without messages, and all that
    /// was derived from it in the needs.
    ///
    /// With the policy and the seed of the record it is the same decision, but for a
    /// [`RoundRobin`](crate::RoundRobin), whose round has its own state.
    ///
    /// # Errors
    /// `Config` or `Internal`, as [`RoutingEngine::decide`]. A decision that finds nobody is no error here: it has no
    /// selected candidate.
    pub fn decide_by(
        &self,
        policy: RoutingPolicy,
        clock: &Arc<dyn Clock>,
        seed: u64,
    ) -> Result<DecisionRecord> {
        let now = clock.now();
        let candidates: Vec<_> = self
            .candidates
            .iter()
            .map(|inputs| Recorded::candidate(inputs, self.model.as_ref(), now))
            .collect();
        let request = ChatRequest::new([]).with_model(self.model.clone());
        let figures: Vec<_> = self.candidates.iter().map(|one| one.metrics).collect();
        let quota = RecordedQuota::of(self);
        let asked = Asked {
            request: &request,
            needs: &self.needs,
            prefers_quality: self.prefers_quality,
            quota: quota.as_ref().map(|quota| quota as &dyn QuotaView),
            now,
            wall: self.wall(),
            seed,
        };
        RoutingEngine::new(policy).redecide(&asked, &candidates, &figures)
    }
}

/// Stands for a stack that was: knows what was known, and cannot be called.
#[derive(Debug)]
struct Recorded {
    info: DriverInfo,
    model: Option<ModelFacts>,
    refusal: Option<String>,
    /// The named model, where it was found that the candidate does not serve it.
    refused: Option<ModelId>,
    availability: Availability,
}

impl Recorded {
    fn candidate(inputs: &CandidateInputs, named: Option<&ModelId>, now: Instant) -> Candidate {
        let vendor = VendorId::from_static("recorded");
        let refused = named.filter(|named| {
            inputs.serves_named == Some(false) && inputs.own_model.as_ref().is_some_and(|own| own != *named)
        });
        let availability = inputs.availability.and_then(|record| {
            let until = record
                .available_in_ms
                .map(|left| now + Duration::from_millis(left));
            Some(Availability::unavailable(record.reason?, until))
        });
        let stack = Arc::new(Recorded {
            info: DriverInfo::new(inputs.driver.clone(), vendor, "a recorded stack"),
            model: inputs.model.clone(),
            refusal: inputs.refusal.clone(),
            refused: refused.cloned(),
            availability: availability.unwrap_or(Availability::Available),
        });
        let candidate = Candidate::new(inputs.id.clone(), stack)
            .with_model(inputs.own_model.clone())
            .with_group(inputs.group);
        let candidate = match &inputs.name {
            Some(name) => candidate.with_name(name.clone()),
            None => candidate,
        };
        inputs
            .tags
            .iter()
            .fold(candidate, |candidate, tag| candidate.with_tag(tag.as_str()))
    }
}

fn cannot_be_called() -> Error {
    Error::new(ErrorKind::Internal, "a recorded candidate cannot be called")
}

#[async_trait]
impl ChatDriver for Recorded {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let refused = model.is_some() && model == self.refused.as_ref();
        let Some(facts) = self.model.as_ref().filter(|_| !refused) else {
            let words = self.refusal.as_deref().unwrap_or("its stack took no such model");
            return Err(Error::new(ErrorKind::UnknownModel, words));
        };
        let mut resolved = ResolvedModel::unknown(facts.id.clone())
            .with_requested(model.cloned())
            .with_capabilities(facts.capabilities)
            .with_limits(facts.limits)
            .with_price(facts.price.clone());
        resolved.known = facts.known;
        Ok(Arc::new(resolved))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        self.availability
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        HealthStatus::unknown(cx.clock().wall(), "a recorded candidate cannot be called")
    }

    async fn chat(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatResponse> {
        Err(cannot_be_called())
    }

    async fn chat_stream(&self, _: &CallContext, _: &ChatRequest) -> Result<ChatStream> {
        Err(cannot_be_called())
    }
}

/// What a ledger knew.
#[derive(Debug)]
pub(crate) struct RecordedQuota(HashMap<Arc<str>, QuotaFacts>);

impl RecordedQuota {
    /// Asks a ledger once: what is recorded is then what was decided by.
    pub(crate) fn ask(ledger: &dyn QuotaView, candidates: &[Candidate]) -> Self {
        let facts = |candidate: &Candidate| QuotaFacts {
            exhausted: ledger.exhausted(candidate.id()),
            remaining_ratio: ledger.remaining_ratio(candidate.id()),
        };
        let known = candidates.iter().map(|one| (one.shared_id().clone(), facts(one)));
        RecordedQuota(known.collect())
    }

    /// Absent: there was no ledger.
    fn of(inputs: &DecisionInputs) -> Option<Self> {
        let known = inputs.candidates.iter();
        let known: HashMap<_, _> = known
            .filter_map(|one| Some((one.id.clone(), one.quota?)))
            .collect();
        (!known.is_empty()).then_some(RecordedQuota(known))
    }
}

impl QuotaView for RecordedQuota {
    fn exhausted(&self, candidate: &str) -> Option<bool> {
        self.0.get(candidate)?.exhausted
    }

    fn remaining_ratio(&self, candidate: &str) -> Option<f64> {
        self.0.get(candidate)?.remaining_ratio
    }
}
