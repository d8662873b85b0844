//! How busy it is.

use super::{Ranker, Score};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::Result;

/// Scores by the calls that run now: minus their number, so that the idlest is the best. Calls of other processes are not
/// seen.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct LeastBusyRanker;

impl Ranker for LeastBusyRanker {
    fn name(&self) -> &str {
        "least_busy"
    }

    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        let running = pairing.metrics.in_flight;
        let facts = Facts::default().with("in_flight", running);
        Ok(Some(Score::new(-f64::from(running)).with_facts(facts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::CandidateMetrics;
    use crate::ranker::test_scores::score;

    #[test]
    fn fewer_is_better() {
        let busy = CandidateMetrics {
            in_flight: 3,
            ..CandidateMetrics::default()
        };
        assert_eq!(score(&LeastBusyRanker, &busy), Some(-3.0));
        assert_eq!(score(&LeastBusyRanker, CandidateMetrics::UNKNOWN), Some(0.0));
    }
}
