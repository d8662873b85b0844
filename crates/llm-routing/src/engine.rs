//! The engine: from a request and candidates to a decision.

use crate::candidate::{Candidate, check_candidates};
use crate::constraint::{CandidateRejection, Findings, Note};
use crate::decision::{
    AvailabilityRecord, DecisionRecord, Evaluation, Evaluations, PlannedCandidate, RoutingDecision,
    ScoreRecord,
};
use crate::facts::Facts;
use crate::needs::{CallMode, Needs};
use crate::pairing::Pairing;
use crate::policy::RoutingPolicy;
use crate::ranker::composite::{Column, combine};
use crate::ranker::{Ranker, Score};
use crate::selector::{Contender, Selection};
use llm_core::error::{Error, ErrorKind, Result};
use llm_core::{CallContext, ChatRequest, ResolvedModel};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Decides by a policy who serves a request, and calls nobody. Cheap to clone.
///
/// A decision depends on the request, the candidates, what their stacks answer from memory and the
/// context's clock, and on nothing else.
#[derive(Debug, Clone, Default)]
pub struct RoutingEngine {
    policy: RoutingPolicy,
}

impl RoutingEngine {
    /// Decides by this policy.
    pub fn new(policy: RoutingPolicy) -> Self {
        RoutingEngine { policy }
    }

    /// The policy.
    pub fn policy(&self) -> &RoutingPolicy {
        &self.policy
    }

    /// Decides who serves this request, in which order.
    ///
    /// Each candidate is considered with the model it would be asked for: its own, else the one the request
    /// names, else its stack's default. A candidate that is not available now stays where its score puts it:
    /// it is asked again at its turn, and skipped then if it must be.
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
        let now = cx.clock().now();
        let mut considered: Vec<_> = candidates
            .iter()
            .map(|candidate| {
                let mut considered = Considered::new(candidate, request, cx.prefers_quality());
                self.constrain(&mut considered, &needs);
                let availability = considered.availability();
                considered.evaluation.availability =
                    availability.map(|availability| AvailabilityRecord::new(availability, now));
                considered
            })
            .collect();
        self.rank(&mut considered, &needs);
        let order = self.select(&mut considered)?;

        let plan: Vec<_> = order
            .iter()
            .filter_map(|place| considered.get(*place))
            .map(Considered::plan)
            .collect();
        let ids = plan
            .iter()
            .map(|planned| planned.candidate().shared_id().clone())
            .collect();
        let evaluations = considered
            .into_iter()
            .map(|considered| considered.evaluation)
            .collect();
        let record = DecisionRecord::new(self.policy.name().into(), ids, evaluations);
        if plan.is_empty() {
            return Err(nobody(record));
        }
        Ok(RoutingDecision::new(plan, record))
    }

    fn constrain(&self, considered: &mut Considered<'_>, needs: &Needs) {
        for constraint in self.policy.constraints() {
            let mut findings = Findings::new(constraint.name());
            constraint.check(&considered.pairing(needs), &mut findings);
            let (rejections, notes) = findings.into_parts();
            considered.evaluation.rejections.extend(rejections);
            considered.evaluation.notes.extend(notes);
        }
        considered.evaluation.eligible = considered.evaluation.rejections.is_empty();
    }

    /// Scores the eligible; whoever cannot be scored is eligible no longer.
    fn rank(&self, considered: &mut [Considered<'_>], needs: &Needs) {
        let rankers = self.policy.rankers();
        if rankers.is_empty() {
            return;
        }
        let mut rows = Vec::new();
        for considered in considered.iter_mut().filter(|c| c.evaluation.eligible) {
            let pairing = considered.pairing(needs);
            let scored: Result<Vec<_>, _> = rankers.iter().map(|ranker| score(ranker, &pairing)).collect();
            match scored {
                Ok(row) => rows.push(row),
                Err(rejection) => {
                    considered.evaluation.eligible = false;
                    considered.evaluation.rejections.push(rejection);
                }
            }
        }
        let eligible = rows.len();
        let mut columns: Vec<_> = rankers
            .iter()
            .map(|ranker| Column {
                ranker: ranker.name(),
                scores: Vec::with_capacity(eligible),
            })
            .collect();
        for row in rows {
            for (column, score) in columns.iter_mut().zip(row) {
                column.scores.push(score);
            }
        }
        let scores: Vec<Option<ScoreRecord>> = combine(columns, eligible);
        let eligible = considered.iter_mut().filter(|c| c.evaluation.eligible);
        for (considered, score) in eligible.zip(scores) {
            considered.evaluation.score = score;
        }
    }

    /// Places in `considered`, group by group.
    fn select(&self, considered: &mut [Considered<'_>]) -> Result<Vec<usize>> {
        let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, considered) in considered
            .iter()
            .enumerate()
            .filter(|(_, c)| c.evaluation.eligible)
        {
            groups
                .entry(considered.candidate.group())
                .or_default()
                .push(place);
        }
        let mut order = Vec::new();
        let selector = self.policy.selector();
        for places in groups.into_values() {
            let contenders: Vec<_> = places
                .iter()
                .filter_map(|place| considered.get(*place))
                .map(Considered::contender)
                .collect();
            let mut chosen = vec![false; places.len()];
            for contender in selector.order(&Selection::new(&contenders)) {
                match (places.get(contender), chosen.get_mut(contender)) {
                    (Some(place), Some(chosen)) if !*chosen => {
                        *chosen = true;
                        order.push(*place);
                    }
                    _ => return Err(odd_order(selector.name(), contender)),
                }
            }
            for (place, chosen) in places.iter().zip(chosen) {
                if let (false, Some(considered)) = (chosen, considered.get_mut(*place)) {
                    let note = Note::new(
                        selector.name(),
                        "left_out",
                        "the selector left it out of the plan",
                    );
                    considered.evaluation.notes.push(note);
                }
            }
        }
        Ok(order)
    }
}

/// A candidate on its way through the engine.
#[derive(Debug)]
struct Considered<'a> {
    candidate: &'a Candidate,
    request: &'a ChatRequest,
    prefers_quality: bool,
    resolved: Result<Arc<ResolvedModel>>,
    evaluation: Evaluation,
}

impl<'a> Considered<'a> {
    fn new(candidate: &'a Candidate, request: &'a ChatRequest, prefers_quality: bool) -> Self {
        let named = request.model.as_ref();
        let resolved = candidate.resolve(named);
        let evaluation = Evaluation {
            candidate: candidate.shared_id().clone(),
            name: candidate.shared_name().clone(),
            group: candidate.group(),
            model_asked: candidate.model().or(named).cloned(),
            model: resolved.as_ref().ok().map(|resolved| resolved.id.clone()),
            eligible: true,
            score: None,
            rejections: Vec::new(),
            notes: Vec::new(),
            availability: None,
        };
        Considered {
            candidate,
            request,
            prefers_quality,
            resolved,
            evaluation,
        }
    }

    fn pairing<'s>(&'s self, needs: &'s Needs) -> Pairing<'s> {
        Pairing::new(self.request, needs, self.candidate, self.resolved.as_deref())
            .with_prefers_quality(self.prefers_quality)
    }

    fn availability(&self) -> Option<llm_core::Availability> {
        let resolved = self.resolved.as_deref().ok()?;
        Some(
            self.candidate
                .availability(self.evaluation.model_asked.as_ref(), Some(resolved)),
        )
    }

    fn contender(&self) -> Contender<'_> {
        let score = self.evaluation.score.as_ref().map(|score| score.value);
        Contender::new(self.candidate, self.resolved.as_deref().ok(), score)
    }

    fn plan(&self) -> PlannedCandidate {
        PlannedCandidate::new(
            self.candidate.clone(),
            self.evaluation.model_asked.clone(),
            self.resolved.as_ref().ok().cloned(),
        )
    }
}

/// What one ranker says of one candidate, or why that rejects it.
fn score(ranker: &Arc<dyn Ranker>, pairing: &Pairing<'_>) -> Result<Option<Score>, CandidateRejection> {
    let reject = |description: String, facts| {
        Err(CandidateRejection::new(
            ranker.name(),
            "ranker_error",
            description,
            facts,
        ))
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
