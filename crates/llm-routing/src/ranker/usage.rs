//! How much it was used.

use super::{Ranker, Score};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::Result;
use serde::{Deserialize, Serialize};

/// Scores by what a candidate has served within the last minutes ([`Metrics::WINDOW`](crate::Metrics::WINDOW)): minus
/// the figure, so that the least used is the best.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageRanker {
    count: UsageCount,
}

/// What is counted as use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UsageCount {
    /// Tokens in and out, as reported.
    #[default]
    Tokens,
    /// Calls that were sent.
    Requests,
}

impl UsageRanker {
    /// Counts tokens.
    pub fn new() -> Self {
        UsageRanker::default()
    }

    /// What is counted.
    #[must_use]
    pub fn with_count(mut self, count: UsageCount) -> Self {
        self.count = count;
        self
    }
}

impl Ranker for UsageRanker {
    fn name(&self) -> &str {
        "usage"
    }

    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        let (name, used) = match self.count {
            UsageCount::Tokens => ("tokens", pairing.metrics.tokens),
            UsageCount::Requests => ("requests", pairing.metrics.requests),
        };
        Ok(Some(
            Score::new(-(used as f64)).with_facts(Facts::default().with(name, used)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::CandidateMetrics;
    use crate::ranker::test_scores::score;

    #[test]
    fn less_is_better() {
        let mut used = CandidateMetrics::default();
        (used.tokens, used.requests) = (900, 3);
        assert_eq!(score(&UsageRanker::new(), &used), Some(-900.0));
        let by_requests = UsageRanker::new().with_count(UsageCount::Requests);
        assert_eq!(score(&by_requests, &used), Some(-3.0));
    }
}
