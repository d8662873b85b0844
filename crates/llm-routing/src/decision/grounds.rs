//! What a decision rests on. Its record is made of this when somebody asks to see it: most are never looked at.

use super::PlannedCandidate;
use super::inputs::{DecisionInputs, millis_since_1970};
use super::record::{AvailabilityRecord, DecisionRecord, Evaluation, ScorePart};
use crate::candidate::Candidate;
use crate::constraint::{CandidateRejection, Note};
use crate::ranker::composite::Scores;
use llm_core::error::Result;
use llm_core::{ModelId, ResolvedModel};
use std::sync::Arc;
use std::time::SystemTime;

/// Everything that was found, in memory.
#[derive(Debug, Clone)]
pub(crate) struct Grounds {
    /// The name of the policy.
    pub(crate) policy: Arc<str>,
    /// The calendar time.
    pub(crate) wall: SystemTime,
    pub(crate) seed: u64,
    /// The model that the request names.
    pub(crate) named: Option<ModelId>,
    /// One for each candidate, in the order they were given.
    pub(crate) judgements: Vec<Judgement>,
    pub(crate) scores: Scores,
    /// Places in `judgements`, the first to be asked first.
    pub(crate) order: Vec<usize>,
    pub(crate) inputs: Option<Box<DecisionInputs>>,
}

/// What was found of one candidate.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    pub(crate) candidate: Candidate,
    pub(crate) resolved: Result<Arc<ResolvedModel>>,
    pub(crate) availability: Option<AvailabilityRecord>,
    pub(crate) rejections: Vec<CandidateRejection>,
    pub(crate) notes: Vec<Note>,
    /// What a constraint goes by in place of the model's own limits.
    pub(crate) input_limit: Option<u64>,
    /// What soft constraints take from its score.
    pub(crate) penalties: Vec<ScorePart>,
    /// Its row among the scores; absent: it was rejected.
    pub(crate) row: Option<usize>,
}

impl Judgement {
    /// The model it would be asked for.
    pub(crate) fn asked<'a>(&'a self, named: Option<&'a ModelId>) -> Option<&'a ModelId> {
        self.candidate.model().or(named)
    }
}

impl Grounds {
    /// Those that were chosen, in order.
    pub(crate) fn plan(&self) -> Vec<PlannedCandidate> {
        let planned = |judgement: &Judgement| {
            PlannedCandidate::new(
                judgement.candidate.clone(),
                judgement.asked(self.named.as_ref()).cloned(),
                judgement.resolved.as_ref().ok().cloned(),
                judgement.input_limit,
            )
        };
        self.chosen().map(planned).collect()
    }

    pub(crate) fn record(&self) -> DecisionRecord {
        let mut plan = self
            .chosen()
            .map(|judgement| judgement.candidate.shared_id().clone());
        DecisionRecord {
            version: DecisionRecord::VERSION,
            policy: self.policy.clone(),
            at_ms: millis_since_1970(self.wall),
            seed: self.seed,
            selected: plan.next(),
            fallbacks: plan.collect(),
            evaluations: self.judgements.iter().map(|one| self.evaluation(one)).collect(),
            inputs: self.inputs.clone(),
        }
    }

    fn chosen(&self) -> impl Iterator<Item = &Judgement> {
        self.order.iter().filter_map(|place| self.judgements.get(*place))
    }

    fn evaluation(&self, judgement: &Judgement) -> Evaluation {
        let candidate = &judgement.candidate;
        Evaluation {
            candidate: candidate.shared_id().clone(),
            name: candidate.shared_name().clone(),
            group: candidate.group(),
            model_asked: judgement.asked(self.named.as_ref()).cloned(),
            model: judgement
                .resolved
                .as_ref()
                .ok()
                .map(|resolved| resolved.id.clone()),
            eligible: judgement.row.is_some(),
            score: judgement
                .row
                .and_then(|row| self.scores.record(row, &judgement.penalties)),
            rejections: judgement.rejections.clone(),
            notes: judgement.notes.clone(),
            availability: judgement.availability,
        }
    }
}
