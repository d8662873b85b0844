//! How often it has answered.

use super::{Ranker, Score};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::Result;

/// Scores by the share of recent calls that ended well, 0 to 1; older ones weigh less. Only failures that count against
/// a candidate's health are failures here. With fewer than
/// [`minimum`](Self::with_minimum) calls nothing is known, which ranks it at the median of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReliabilityRanker {
    minimum: u64,
}

impl ReliabilityRanker {
    /// How many calls must have ended before their share says anything.
    pub const MINIMUM: u64 = 5;

    /// With a minimum of 5 calls.
    pub fn new() -> Self {
        ReliabilityRanker {
            minimum: Self::MINIMUM,
        }
    }

    /// How many calls must have ended before their share says anything.
    #[must_use]
    pub fn with_minimum(mut self, calls: u64) -> Self {
        self.minimum = calls;
        self
    }
}

impl Default for ReliabilityRanker {
    fn default() -> Self {
        ReliabilityRanker::new()
    }
}

impl Ranker for ReliabilityRanker {
    fn name(&self) -> &str {
        "reliability"
    }

    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        let metrics = pairing.metrics;
        let calls = metrics.successes + metrics.failures;
        let rate = metrics.success_rate.filter(|_| calls >= self.minimum);
        Ok(rate.map(|rate| {
            let facts = Facts::default().with("success_rate", rate).with("calls", calls);
            Score::new(rate).with_facts(facts)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::CandidateMetrics;
    use crate::ranker::test_scores::score;

    #[test]
    fn a_few_calls_say_nothing() {
        let mut known = CandidateMetrics::default();
        (known.successes, known.failures, known.success_rate) = (3, 1, Some(0.75));
        assert_eq!(score(&ReliabilityRanker::new(), &known), None);
        assert_eq!(
            score(&ReliabilityRanker::new().with_minimum(4), &known),
            Some(0.75)
        );
        known.successes = 4;
        assert_eq!(score(&ReliabilityRanker::new(), &known), Some(0.75));
        assert_eq!(
            score(
                &ReliabilityRanker::new().with_minimum(0),
                CandidateMetrics::UNKNOWN
            ),
            None
        );
    }
}
