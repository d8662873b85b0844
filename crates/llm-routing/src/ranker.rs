//! Rankers score the candidates that no constraint rejected: the higher, the better.

pub(crate) mod composite;
mod cost;
mod latency;
mod least_busy;
mod priority;
mod quota_pressure;
mod reliability;
mod usage;

#[cfg(test)]
mod test_scores;

use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::Result;
use std::fmt::Debug;
use std::sync::Arc;

pub use cost::CostRanker;
pub use latency::LatencyRanker;
pub use least_busy::LeastBusyRanker;
pub use priority::PriorityRanker;
pub use quota_pressure::QuotaPressureRanker;
pub use reliability::ReliabilityRanker;
pub use usage::{UsageCount, UsageRanker};

/// Scores candidates for a request.
///
/// A policy with one ranker takes its scores as they are. With several, each one's scores are first brought
/// to 0..1 over the eligible candidates, then weighted and added, so that dollars and milliseconds can be compared; the
/// decision shows raw and normalised values.
pub trait Ranker: Debug + Send + Sync + 'static {
    /// What decisions call it.
    fn name(&self) -> &str;

    /// How good this pairing is, the higher the better; `None`: nothing is known, which ranks it at the
    /// median of what is known of the others. It reads only memory.
    ///
    /// # Errors
    /// Any kind. An error, like a score that is not a finite number, rejects this candidate only
    /// (`ranker_error`); the others are ranked without it.
    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>>;
}

impl<R: Ranker + ?Sized> Ranker for Arc<R> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        (**self).score(pairing)
    }
}

/// A score and what it was made of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// The higher, the better.
    pub value: f64,
    /// The figures behind it.
    pub facts: Facts,
}

impl Score {
    /// A score without an explanation.
    pub fn new(value: f64) -> Self {
        Score {
            value,
            facts: Facts::default(),
        }
    }

    /// The figures behind it.
    #[must_use]
    pub fn with_facts(mut self, facts: Facts) -> Self {
        self.facts = facts;
        self
    }
}
