//! How much of its quota is left.

use super::{Ranker, Score};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::Result;

/// Scores by the share of quota that is left, 0 to 1: what the engine's ledger
/// ([`QuotaView`](llm_core::QuotaView)) says, and what the vendor's last headers said, whichever is less. What neither knows ranks at
/// the median.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a value and has nothing to set"
)]
pub struct QuotaPressureRanker;

impl Ranker for QuotaPressureRanker {
    fn name(&self) -> &str {
        "quota_pressure"
    }

    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        let ledger = pairing
            .quota
            .and_then(|quota| quota.remaining_ratio(pairing.candidate.id()))
            .filter(|ratio| ratio.is_finite());
        let known = [ledger, pairing.metrics.remaining_ratio];
        let least = known.into_iter().flatten().min_by(f64::total_cmp);
        Ok(least.map(|ratio| {
            let ratio = ratio.clamp(0.0, 1.0);
            Score::new(ratio).with_facts(Facts::default().with("remaining_ratio", ratio))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::CandidateMetrics;
    use crate::ranker::test_scores::score;

    #[test]
    fn what_the_headers_left_counts_and_unknown_is_unknown() {
        let low = CandidateMetrics {
            remaining_ratio: Some(0.125),
            ..CandidateMetrics::default()
        };
        assert_eq!(score(&QuotaPressureRanker, &low), Some(0.125));
        assert_eq!(score(&QuotaPressureRanker, CandidateMetrics::UNKNOWN), None);
    }
}
