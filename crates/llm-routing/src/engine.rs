//! The engine: from a request and candidates to a decision.

mod seeds;

use crate::candidate::{Candidate, check_candidates};
use crate::constraint::{CandidateRejection, Findings, Note};
use crate::decision::{
    AvailabilityRecord, CandidateInputs, DecisionInputs, DecisionRecord, Evaluation, Evaluations,
    PlannedCandidate, RoutingDecision, ScorePart, ScoreRecord,
};
use crate::facts::Facts;
use crate::metrics::{CandidateMetrics, Metrics};
use crate::needs::{CallMode, Needs};
use crate::pairing::Pairing;
use crate::policy::RoutingPolicy;
use crate::ranker::composite::combine;
use crate::ranker::{Ranker, Score};
use crate::selector::{Contender, Selection};
use llm_core::error::{Error, ErrorKind, Result};
use llm_core::{CallContext, ChatRequest, ModelId, QuotaView, ResolvedModel};
use seeds::Seeds;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// Decides by a policy who serves a request, and calls nobody. Cheap to clone: clones share metrics and the source of
/// chance.
///
/// A decision depends on the request, the candidates, what their stacks answer from memory, the
/// [metrics](Self::with_metrics) and [quotas](Self::with_quota) of the moment, the context's clock and a seed, and on nothing else (but a
/// [`RoundRobin`](crate::RoundRobin)'s own place in the round).
#[derive(Debug, Clone, Default)]
pub struct RoutingEngine {
    policy: RoutingPolicy,
    metrics: Metrics,
    quota: Option<Arc<dyn QuotaView>>,
    seeds: Arc<Seeds>,
    records_inputs: bool,
}

impl RoutingEngine {
    /// Decides by this policy, with metrics of its own in which nothing is known yet.
    pub fn new(policy: RoutingPolicy) -> Self {
        RoutingEngine {
            policy,
            ..RoutingEngine::default()
        }
    }

    /// The figures that rankers and selectors see. Give the executor the same ones: it feeds them.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// What a ledger knows of the candidates' quotas.
    #[must_use]
    pub fn with_quota(mut self, quota: Arc<dyn QuotaView>) -> Self {
        self.quota = Some(quota);
        self
    }

    /// Draws chance from this seed on, so that the same decisions come in the same order. Without it, each engine begins
    /// somewhere else.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seeds = Arc::new(Seeds::from(seed));
        self
    }

    /// Puts into every [`DecisionRecord`] what it was decided by ([`DecisionInputs`]), so that another policy can be tried on
    /// it later. Off by default: it makes records several times as long. It holds no content.
    #[must_use]
    pub fn with_recorded_inputs(mut self, recorded: bool) -> Self {
        self.records_inputs = recorded;
        self
    }

    /// The figures that rankers and selectors see.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The policy.
    pub fn policy(&self) -> &RoutingPolicy {
        &self.policy
    }

    /// Decides who serves this request, in which order.
    ///
    /// Each candidate is considered with the model it would be asked for: its own, else the one the request
    /// names, else its stack's default. A candidate that is not available now stays where its score puts it:
    /// it is asked again at its turn, and skipped then if it must be. (Selectors that take turns or draw give it none.)
    ///
    /// # Errors
    /// `Config`, when there are no candidates or their ids are not unique; `NoEligibleCandidate`, when all
    /// are rejected: the message names ids and codes, and [`Evaluations::of`] finds every evaluation;
    /// `Internal`, when a selector names a place twice or one that does not exist.
    pub fn decide(
        &self,
        cx: &CallContext,
        request: &ChatRequest,
        candidates: &[Candidate],
        mode: CallMode,
    ) -> Result<RoutingDecision> {
        check_candidates(candidates)?;
        let needs = Needs::of(request, mode);
        let (now, wall) = (cx.clock().now(), cx.clock().wall());
        let asked = Asked {
            request,
            needs: &needs,
            prefers_quality: cx.prefers_quality(),
            quota: self.quota.as_deref(),
            now,
            wall,
            seed: self.seeds.next(),
        };
        let figures = self.metrics.of_all(candidates.iter().map(Candidate::id), now);
        let decided = self.decide_on(&asked, candidates, &figures)?;
        let Decided {
            plan,
            mut record,
            inputs,
        } = decided;
        record.inputs = self
            .records_inputs
            .then(|| Box::new(DecisionInputs::of(&asked, inputs)));
        if plan.is_empty() {
            return Err(nobody(record));
        }
        Ok(RoutingDecision::new(plan, record, needs))
    }

    /// Decides on what was recorded: `figures` are the candidates', in their order.
    pub(crate) fn redecide(
        &self,
        asked: &Asked<'_>,
        candidates: &[Candidate],
        figures: &[CandidateMetrics],
    ) -> Result<DecisionRecord> {
        check_candidates(candidates)?;
        Ok(self.decide_on(asked, candidates, figures)?.record)
    }

    fn decide_on(
        &self,
        asked: &Asked<'_>,
        candidates: &[Candidate],
        figures: &[CandidateMetrics],
    ) -> Result<Decided> {
        // One evaluation for each that is considered, in the same order. They are apart because they stay.
        let mut considered = Vec::with_capacity(candidates.len());
        let mut evaluations = Vec::with_capacity(candidates.len());
        for (candidate, metrics) in candidates.iter().zip(figures) {
            let mut one = Considered::new(candidate, asked, metrics);
            evaluations.push(self.constrain(&mut one));
            considered.push(one);
        }
        self.rank(&mut considered, &mut evaluations);
        let order = self.select(&considered, &mut evaluations, asked.seed)?;

        let plan: Vec<_> = order
            .iter()
            .filter_map(|place| considered.get(*place))
            .map(Considered::plan)
            .collect();
        let ids = plan
            .iter()
            .map(|planned| planned.candidate().shared_id().clone())
            .collect();
        let inputs = if self.records_inputs {
            considered.iter().map(Considered::inputs).collect()
        } else {
            Vec::new()
        };
        let record = DecisionRecord::new(self.policy.name().into(), asked.seed, ids, evaluations);
        Ok(Decided { plan, record, inputs })
    }

    fn constrain(&self, considered: &mut Considered<'_>) -> Evaluation {
        let mut evaluation = considered.evaluation();
        let mut taken = Vec::new();
        let pairing = considered.pairing();
        for rule in self.policy.constraints() {
            let name = rule.constraint.name();
            let mut findings = Findings::new(name);
            rule.constraint.check(&pairing, &mut findings);
            if findings.is_empty() {
                continue;
            }
            let (rejections, notes) = findings.into_parts();
            evaluation.notes.extend(notes);
            match rule.penalty {
                Some(penalty) if !rejections.is_empty() => {
                    let soft = rejections
                        .into_iter()
                        .map(|rejection| Note::new(name, rejection.code, rejection.description));
                    evaluation.notes.extend(soft);
                    taken.push(ScorePart::taken(name.into(), penalty));
                }
                _ => evaluation.rejections.extend(rejections),
            }
        }
        evaluation.eligible = evaluation.rejections.is_empty();
        considered.is_penalised = !taken.is_empty();
        considered.taken = taken;
        evaluation
    }

    /// Scores the eligible; whoever cannot be scored is eligible no longer.
    fn rank(&self, considered: &mut [Considered<'_>], evaluations: &mut [Evaluation]) {
        let rankers = self.policy.rankers();
        let names: Vec<Arc<str>> = rankers
            .iter()
            .map(|weighted| weighted.ranker.name().into())
            .collect();
        let weights: Vec<_> = rankers.iter().map(|weighted| weighted.weight).collect();
        let composite: Arc<str> = "composite".into();
        let said = |pairing: &Pairing<'_>, taken: Vec<ScorePart>| -> Result<_, Box<CandidateRejection>> {
            let mut parts = Vec::with_capacity(rankers.len() + taken.len());
            for (weighted, name) in rankers.iter().zip(&names) {
                let score = score(&weighted.ranker, pairing)?;
                parts.push(ScorePart::said(name.clone(), score));
            }
            parts.extend(taken);
            Ok(parts)
        };
        for (considered, evaluation) in considered.iter_mut().zip(&mut *evaluations) {
            if !evaluation.eligible {
                continue;
            }
            let taken = std::mem::take(&mut considered.taken);
            match said(&considered.pairing(), taken) {
                Ok(parts) => evaluation.score = Some(ScoreRecord::composite(composite.clone(), parts)),
                Err(rejection) => {
                    evaluation.eligible = false;
                    evaluation.rejections.push(*rejection);
                }
            }
        }
        let eligible = evaluations.iter_mut().filter(|evaluation| evaluation.eligible);
        let mut scores: Vec<_> = eligible.map(|evaluation| &mut evaluation.score).collect();
        combine(&mut scores, &weights);
    }

    /// Places in `considered`, group by group.
    fn select(
        &self,
        considered: &[Considered<'_>],
        evaluations: &mut [Evaluation],
        seed: u64,
    ) -> Result<Vec<usize>> {
        let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, evaluation) in evaluations.iter().enumerate() {
            if evaluation.eligible {
                groups.entry(evaluation.group).or_default().push(place);
            }
        }
        let mut order = Vec::with_capacity(evaluations.len());
        let selector = self.policy.selector();
        for places in groups.into_values() {
            let contender = |place: &usize| {
                let score = evaluations.get(*place)?.score.as_ref();
                Some(considered.get(*place)?.contender(score.map(|score| score.value)))
            };
            let contenders: Vec<_> = places.iter().filter_map(contender).collect();
            let mut chosen = vec![false; places.len()];
            for contender in selector.order(&Selection::new(&contenders).with_seed(seed)) {
                match (places.get(contender), chosen.get_mut(contender)) {
                    (Some(place), Some(chosen)) if !*chosen => {
                        *chosen = true;
                        order.push(*place);
                    }
                    _ => return Err(odd_order(selector.name(), contender)),
                }
            }
            for (place, chosen) in places.iter().zip(chosen) {
                if let (false, Some(evaluation)) = (chosen, evaluations.get_mut(*place)) {
                    evaluation.notes.push(Note::new(
                        selector.name(),
                        "left_out",
                        "the selector left it out of the plan",
                    ));
                }
            }
        }
        Ok(order)
    }
}

/// What is the same for every candidate of a decision.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a ChatRequest,
    pub(crate) needs: &'a Needs,
    pub(crate) prefers_quality: bool,
    pub(crate) quota: Option<&'a dyn QuotaView>,
    pub(crate) now: Instant,
    pub(crate) wall: SystemTime,
    pub(crate) seed: u64,
}

/// What came of it.
struct Decided {
    plan: Vec<PlannedCandidate>,
    record: DecisionRecord,
    inputs: Vec<CandidateInputs>,
}

/// A candidate on its way through the engine.
#[derive(Debug)]
struct Considered<'a> {
    candidate: &'a Candidate,
    asked: &'a Asked<'a>,
    metrics: &'a CandidateMetrics,
    model_asked: Option<&'a ModelId>,
    resolved: Result<Arc<ResolvedModel>>,
    availability: Option<AvailabilityRecord>,
    /// What soft constraints take from its score.
    taken: Vec<ScorePart>,
    is_penalised: bool,
}

impl<'a> Considered<'a> {
    fn new(candidate: &'a Candidate, asked: &'a Asked<'a>, metrics: &'a CandidateMetrics) -> Self {
        let named = asked.request.model.as_ref();
        let model_asked = candidate.model().or(named);
        let resolved = candidate.resolve(named);
        let availability = resolved.as_deref().ok().map(|resolved| {
            let availability = candidate.availability(model_asked, Some(resolved));
            AvailabilityRecord::new(availability, asked.now)
        });
        Considered {
            candidate,
            asked,
            metrics,
            model_asked,
            resolved,
            availability,
            taken: Vec::new(),
            is_penalised: false,
        }
    }

    /// Nothing is found yet.
    fn evaluation(&self) -> Evaluation {
        Evaluation {
            candidate: self.candidate.shared_id().clone(),
            name: self.candidate.shared_name().clone(),
            group: self.candidate.group(),
            model_asked: self.model_asked.cloned(),
            model: self.resolved.as_ref().ok().map(|resolved| resolved.id.clone()),
            eligible: true,
            score: None,
            rejections: Vec::new(),
            notes: Vec::new(),
            availability: self.availability,
        }
    }

    fn pairing(&self) -> Pairing<'_> {
        let asked = self.asked;
        Pairing::new(
            asked.request,
            asked.needs,
            self.candidate,
            self.resolved.as_deref(),
        )
        .with_prefers_quality(asked.prefers_quality)
        .with_metrics(self.metrics)
        .with_quota(asked.quota)
        .with_wall(asked.wall)
    }

    /// What it was judged by.
    fn inputs(&self) -> CandidateInputs {
        CandidateInputs::of(
            self.candidate,
            self.asked,
            self.resolved.as_deref(),
            *self.metrics,
            self.availability,
        )
    }

    fn contender(&self, score: Option<f64>) -> Contender<'_> {
        Contender::new(self.candidate, self.resolved.as_deref().ok(), score)
            .with_metrics(self.metrics)
            .with_available(self.availability.is_none_or(|record| record.available))
            .with_penalised(self.is_penalised)
    }

    fn plan(&self) -> PlannedCandidate {
        PlannedCandidate::new(
            self.candidate.clone(),
            self.model_asked.cloned(),
            self.resolved.as_ref().ok().cloned(),
        )
    }
}

/// What one ranker says of one candidate, or why that rejects it.
fn score(ranker: &Arc<dyn Ranker>, pairing: &Pairing<'_>) -> Result<Option<Score>, Box<CandidateRejection>> {
    let reject = |description: String, facts| {
        Err(Box::new(CandidateRejection::new(
            ranker.name(),
            "ranker_error",
            description,
            facts,
        )))
    };
    match ranker.score(pairing) {
        Ok(Some(score)) if !score.value.is_finite() => {
            let facts = Facts::default().with("score", score.value.to_string());
            reject(
                format!("its score is {}, which is no number to rank by", score.value),
                facts,
            )
        }
        Ok(score) => Ok(score),
        Err(error) => {
            let facts = Facts::default().with("kind", error.kind().as_str());
            reject(format!("it could not be scored: {}", error.message()), facts)
        }
    }
}

fn nobody(record: DecisionRecord) -> Error {
    let evaluations = Evaluations::new(record);
    let message = format!("no candidate can serve the request: {}", evaluations.summary());
    Error::new(ErrorKind::NoEligibleCandidate, message).with_source(evaluations)
}

fn odd_order(selector: &str, place: usize) -> Error {
    let message = format!("selector {selector} names place {place} twice, or there is no such place");
    Error::new(ErrorKind::Internal, message)
}

#[cfg(test)]
mod tests;
