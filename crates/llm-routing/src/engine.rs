//! The engine: from a request and candidates to a decision.

mod seeds;

use crate::candidate::{Candidate, check_candidates};
use crate::constraint::{CandidateRejection, Findings, Note};
use crate::decision::{
    AvailabilityRecord, CandidateInputs, DecisionInputs, DecisionRecord, Evaluations, Grounds, Judgement,
    RecordedQuota, RoutingDecision, ScorePart,
};
use crate::facts::Facts;
use crate::metrics::{CandidateMetrics, Metrics};
use crate::needs::{CallMode, Needs};
use crate::pairing::Pairing;
use crate::policy::RoutingPolicy;
use crate::ranker::composite::Scores;
use crate::ranker::{Ranker, Score};
use crate::selector::{Contender, Selection};
use llm_core::error::{Error, ErrorKind, Result};
use llm_core::{CallContext, ChatRequest, QuotaView};
use seeds::Seeds;
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
    /// it is asked again at its turn, and skipped then if it must be. ([`RoundRobin`](crate::RoundRobin) and
    /// [`PowerOfTwo`](crate::PowerOfTwo) put it behind the others, so that it takes nobody's turn.)
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
        let ledger = self.quota.as_deref();
        let recorded = ledger.filter(|_| self.records_inputs);
        let recorded = recorded.map(|ledger| RecordedQuota::ask(ledger, candidates));
        let asked = Asked {
            request,
            needs: &needs,
            prefers_quality: cx.prefers_quality(),
            quota: recorded
                .as_ref()
                .map(|recorded| recorded as &dyn QuotaView)
                .or(ledger),
            now,
            wall,
            seed: self.seeds.next(),
        };
        let figures = self.metrics.of_all(candidates.iter().map(Candidate::id), now);
        let mut grounds = self.decide_on(&asked, candidates, &figures)?;
        if self.records_inputs {
            let judged = grounds.judgements.iter().zip(&figures);
            let inputs = judged.map(|(judgement, metrics)| CandidateInputs::of(judgement, &asked, *metrics));
            grounds.inputs = Some(Box::new(DecisionInputs::of(&asked, inputs.collect())));
        }
        let plan = grounds.plan();
        if plan.is_empty() {
            return Err(nobody(grounds.record()));
        }
        Ok(RoutingDecision::new(plan, grounds, needs))
    }

    /// Decides on what was recorded: `figures` are the candidates', in their order.
    pub(crate) fn redecide(
        &self,
        asked: &Asked<'_>,
        candidates: &[Candidate],
        figures: &[CandidateMetrics],
    ) -> Result<DecisionRecord> {
        check_candidates(candidates)?;
        Ok(self.decide_on(asked, candidates, figures)?.record())
    }

    fn decide_on(
        &self,
        asked: &Asked<'_>,
        candidates: &[Candidate],
        figures: &[CandidateMetrics],
    ) -> Result<Grounds> {
        let mut judgements: Vec<_> = candidates
            .iter()
            .zip(figures)
            .map(|(candidate, metrics)| self.constrain(candidate, asked, metrics))
            .collect();
        let scores = self.rank(&mut judgements, asked, figures);
        let order = self.select(&mut judgements, &scores, asked, figures)?;
        Ok(Grounds {
            policy: self.policy.shared_name().clone(),
            wall: asked.wall,
            seed: asked.seed,
            named: asked.request.model.clone(),
            judgements,
            scores,
            order,
            inputs: None,
        })
    }

    /// What the constraints find of one candidate.
    fn constrain(&self, candidate: &Candidate, asked: &Asked<'_>, metrics: &CandidateMetrics) -> Judgement {
        let mut judgement = asked.judgement(candidate);
        for rule in self.policy.constraints() {
            let name = rule.constraint.name();
            let mut findings = Findings::new(name);
            let pairing = asked.pairing(&judgement, metrics);
            rule.constraint.check(&pairing, &mut findings);
            judgement.input_limit = rule.constraint.input_limit(&pairing).or(judgement.input_limit);
            if findings.is_empty() {
                continue;
            }
            let (rejections, notes) = findings.into_parts();
            judgement.notes.extend(notes);
            match rule.penalty {
                Some(penalty) if !rejections.is_empty() => {
                    judgement.notes.extend(rejections.into_iter().map(Note::soft));
                    judgement.penalties.push(ScorePart::penalty(name.into(), penalty));
                }
                _ => judgement.rejections.extend(rejections),
            }
        }
        judgement
    }

    /// Scores those that no constraint rejected, and gives each its row; whoever cannot be scored is rejected.
    fn rank(&self, judgements: &mut [Judgement], asked: &Asked<'_>, figures: &[CandidateMetrics]) -> Scores {
        let rankers = self.policy.rankers();
        let mut scores = Scores::new(self.policy.shares().clone(), judgements.len());
        let (mut rows, mut penalised) = (0, false);
        for (judgement, metrics) in judgements.iter_mut().zip(figures) {
            if !judgement.rejections.is_empty() {
                continue;
            }
            let pairing = asked.pairing(judgement, metrics);
            match scores.add(|place| score(&rankers[place].ranker, &pairing)) {
                Ok(()) => {
                    judgement.row = Some(rows);
                    rows += 1;
                    penalised |= !judgement.penalties.is_empty();
                }
                Err(rejection) => judgement.rejections.push(*rejection),
            }
        }
        scores.finish(penalised);
        scores
    }

    /// Places in `judgements`, group by group.
    fn select(
        &self,
        judgements: &mut [Judgement],
        scores: &Scores,
        asked: &Asked<'_>,
        figures: &[CandidateMetrics],
    ) -> Result<Vec<usize>> {
        let eligible = judgements
            .iter()
            .enumerate()
            .filter(|(_, judgement)| judgement.row.is_some());
        let mut places: Vec<_> = eligible
            .map(|(place, judgement)| (judgement.candidate.group(), place))
            .collect();
        // By group; within one, as they were given.
        places.sort_unstable();
        let mut order = Vec::with_capacity(places.len());
        let selector = self.policy.selector();
        for places in places.chunk_by(|(group, _), (next, _)| group == next) {
            let contender = |(_, place): &(u32, usize)| {
                let (judgement, metrics) = (judgements.get(*place)?, figures.get(*place)?);
                let score = scores.value(judgement.row?, &judgement.penalties);
                let available = judgement.availability.as_ref();
                Some(
                    Contender::new(&judgement.candidate, judgement.resolved.as_deref().ok(), score)
                        .with_metrics(metrics)
                        .with_available(available.is_none_or(|record| record.available))
                        .with_penalised(!judgement.penalties.is_empty()),
                )
            };
            let contenders: Vec<_> = places.iter().filter_map(contender).collect();
            let mut chosen = vec![false; places.len()];
            for contender in selector.order(&Selection::new(&contenders).with_seed(asked.seed)) {
                match (places.get(contender), chosen.get_mut(contender)) {
                    (Some((_, place)), Some(chosen)) if !*chosen => {
                        *chosen = true;
                        order.push(*place);
                    }
                    _ => return Err(odd_order(selector.name(), contender)),
                }
            }
            for ((_, place), chosen) in places.iter().zip(chosen) {
                if let (false, Some(judgement)) = (chosen, judgements.get_mut(*place)) {
                    judgement.notes.push(Note::new(
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

impl Asked<'_> {
    /// Nothing is found of this candidate yet but what its stack says.
    fn judgement(&self, candidate: &Candidate) -> Judgement {
        let named = self.request.model.as_ref();
        let resolved = candidate.resolve(named);
        let availability = resolved.as_deref().ok().map(|resolved| {
            let availability = candidate.availability(candidate.model().or(named), Some(resolved));
            AvailabilityRecord::new(availability, self.now)
        });
        Judgement {
            candidate: candidate.clone(),
            resolved,
            availability,
            rejections: Vec::new(),
            notes: Vec::new(),
            input_limit: None,
            penalties: Vec::new(),
            row: None,
        }
    }

    fn pairing<'p>(&'p self, judgement: &'p Judgement, metrics: &'p CandidateMetrics) -> Pairing<'p> {
        let resolved = judgement.resolved.as_deref();
        Pairing::new(self.request, self.needs, &judgement.candidate, resolved)
            .with_prefers_quality(self.prefers_quality)
            .with_metrics(metrics)
            .with_quota(self.quota)
            .with_wall(self.wall)
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
