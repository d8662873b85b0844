//! What a ranker says of a candidate with these figures.

use super::Ranker;
use crate::candidate::Candidate;
use crate::metrics::CandidateMetrics;
use crate::needs::{CallMode, Needs};
use crate::pairing::Pairing;
use crate::test_driver::TestDriver;
use llm_core::ChatRequest;

pub(super) fn score(ranker: &dyn Ranker, metrics: &CandidateMetrics) -> Option<f64> {
    score_as(ranker, metrics, CallMode::Plain)
}

pub(super) fn score_as(ranker: &dyn Ranker, metrics: &CandidateMetrics, mode: CallMode) -> Option<f64> {
    let request = ChatRequest::user("hi");
    let needs = Needs::of(&request, mode);
    let candidate = Candidate::new("a", TestDriver::new("test").serving("m").shared());
    let resolved = candidate.resolve(None);
    let pairing = Pairing::new(&request, &needs, &candidate, resolved.as_deref()).with_metrics(metrics);
    ranker.score(&pairing).unwrap().map(|score| score.value)
}
