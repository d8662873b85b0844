//! How fast it has been.

use super::{Ranker, Score};
use crate::facts::Facts;
use crate::needs::CallMode;
use crate::pairing::Pairing;
use llm_core::Result;
use llm_core::error::{Error, ErrorKind};
use std::time::Duration;

/// Scores by the average time of a candidate's recent calls: minus the milliseconds. For a stream that is the time to
/// the first content, for a whole answer the time to its end.
///
/// **Cold start.** A candidate of which no recent call is known is taken to be quick
/// ([`with_assumed`](Self::with_assumed), 100 ms): it is tried, and known from then on. One that was slow is tried again when its
/// figures are too old to be true ([`Metrics::WINDOW`](crate::Metrics::WINDOW)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyRanker {
    assumed_ms: f64,
}

impl LatencyRanker {
    /// What an unknown candidate is taken to need.
    pub const ASSUMED: Duration = Duration::from_millis(100);

    /// With 100 ms for unknown candidates.
    pub fn new() -> Self {
        LatencyRanker {
            assumed_ms: Self::ASSUMED.as_secs_f64() * 1e3,
        }
    }

    /// What an unknown candidate is taken to need, in milliseconds: less than the quick ones need, and it is tried
    /// first; more, and it waits until they are slow.
    ///
    /// # Errors
    /// `Config`, when it is no finite number of at least 0.
    pub fn with_assumed(mut self, millis: f64) -> Result<Self> {
        if !millis.is_finite() || millis < 0.0 {
            let message = "the assumed latency must be a finite number of milliseconds, at least 0";
            return Err(Error::new(ErrorKind::Config, message));
        }
        self.assumed_ms = millis;
        Ok(self)
    }
}

impl Default for LatencyRanker {
    fn default() -> Self {
        LatencyRanker::new()
    }
}

impl Ranker for LatencyRanker {
    fn name(&self) -> &str {
        "latency"
    }

    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        let known = match pairing.needs.mode() {
            CallMode::Stream => pairing.metrics.commit_ms,
            CallMode::Plain => pairing.metrics.total_ms,
        };
        let millis = known.unwrap_or(self.assumed_ms);
        let facts = Facts::default().with("latency_ms", millis);
        let facts = if known.is_none() {
            facts.with("assumed", true)
        } else {
            facts
        };
        Ok(Some(Score::new(-millis).with_facts(facts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::CandidateMetrics;
    use crate::ranker::test_scores::score_as;

    #[test]
    fn the_time_that_the_caller_waits_for_counts() {
        let mut known = CandidateMetrics::default();
        (known.commit_ms, known.total_ms) = (Some(300.0), Some(2_000.0));
        let ranker = LatencyRanker::new();
        assert_eq!(score_as(&ranker, &known, CallMode::Stream), Some(-300.0));
        assert_eq!(score_as(&ranker, &known, CallMode::Plain), Some(-2_000.0));
    }

    #[test]
    fn an_unknown_candidate_is_taken_to_be_quick() {
        let new = CandidateMetrics::UNKNOWN;
        assert_eq!(
            score_as(&LatencyRanker::new(), new, CallMode::Plain),
            Some(-100.0)
        );
        let shy = LatencyRanker::new().with_assumed(9_000.0).unwrap();
        assert_eq!(score_as(&shy, new, CallMode::Plain), Some(-9_000.0));
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(LatencyRanker::new().with_assumed(wrong).is_err());
        }
    }
}
