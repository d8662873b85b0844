//! What it would cost.

use super::{Ranker, Score};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::{Price, Result, Usage};
use std::borrow::Cow;

/// Scores by what the call would cost with the candidate's own model: minus the estimated dollars, so that the cheapest
/// is the best. What has no known price ranks at the median: unknown is not free.
///
/// The estimate takes the request's input as counted, the share of it that this candidate's recent calls read from the
/// vendor's cache, and for the output the cap of the request, else [`assumed`](Self::with_assumed_output).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostRanker {
    assumed_output: u64,
}

impl CostRanker {
    /// What is taken to come out where the request sets no cap, in tokens.
    pub const ASSUMED_OUTPUT: u64 = 200;

    /// With 200 tokens of output where the request sets no cap.
    pub fn new() -> Self {
        CostRanker {
            assumed_output: Self::ASSUMED_OUTPUT,
        }
    }

    /// How many tokens are taken to come out where the request sets no cap.
    #[must_use]
    pub fn with_assumed_output(mut self, tokens: u64) -> Self {
        self.assumed_output = tokens;
        self
    }
}

impl Default for CostRanker {
    fn default() -> Self {
        CostRanker::new()
    }
}

impl Ranker for CostRanker {
    fn name(&self) -> &str {
        "cost"
    }

    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        let Ok(resolved) = pairing.resolved else {
            return Ok(None);
        };
        let Some(price) = &resolved.price else {
            return Ok(None);
        };
        let input = pairing.input_tokens();
        let output = pairing.needs.output_tokens().unwrap_or(self.assumed_output);
        let output = resolved.limits.max_output.map_or(output, |most| output.min(most));
        let cached = pairing.metrics.cached_ratio.map(|ratio| share(input, ratio));
        let price = pairing.wall.map_or(Cow::Borrowed(price), |wall| price.at(wall));
        Ok(estimate(&price, input, cached, output).map(|usd| {
            let facts = Facts::default().with("estimated_usd", usd);
            Score::new(-usd).with_facts(facts)
        }))
    }
}

/// Dollars; a price that knows no rate for cached input takes it as any other.
fn estimate(price: &Price, input: u64, cached: Option<u64>, output: u64) -> Option<f64> {
    let plain = Usage::new(input, output);
    let mut warm = plain;
    warm.cached_input_tokens = cached;
    let cost = price.cost(&warm).or_else(|| price.cost(&plain))?;
    Some(cost.usd())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count; the cast saturates"
)]
fn share(count: u64, ratio: f64) -> u64 {
    (count as f64 * ratio.clamp(0.0, 1.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::metrics::CandidateMetrics;
    use crate::needs::{CallMode, Needs};
    use crate::test_driver::{TestDriver, model};
    use llm_core::price::Rates;
    use llm_core::{ChatRequest, ResolvedModel};

    fn usd(price: impl Into<Option<Price>>, output: Option<u32>, metrics: &CandidateMetrics) -> Option<f64> {
        let resolved = ResolvedModel::unknown(model("m")).with_price(price);
        let candidate = Candidate::new("a", TestDriver::new("test").serving_model(resolved).shared());
        // 996 tokens of words, and 4 for the message
        let mut request = ChatRequest::user("four".repeat(996));
        request.max_output_tokens = output;
        let needs = Needs::of(&request, CallMode::Plain);
        let resolved = candidate.resolve(None);
        let pairing = Pairing::new(&request, &needs, &candidate, resolved.as_deref()).with_metrics(metrics);
        CostRanker::new()
            .score(&pairing)
            .unwrap()
            .map(|score| -score.value)
    }

    fn price() -> Price {
        Price::new(Rates::usd(1_000_000_000, 10_000_000_000).with_cached_input(100_000_000))
    }

    #[test]
    fn the_candidates_own_model_is_priced() {
        let new = CandidateMetrics::UNKNOWN;
        assert_eq!(usd(price(), Some(100), new), Some(0.002));
        assert_eq!(usd(price(), None, new), Some(0.003), "200 tokens are assumed");
        assert_eq!(usd(Price::new(Rates::usd(0, 0)), None, new), Some(0.0));
        assert_eq!(usd(None, None, new), None, "unknown is not free");
    }

    #[test]
    fn what_the_cache_has_served_so_far_is_taken_into_account() {
        let warm = CandidateMetrics {
            cached_ratio: Some(0.5),
            ..CandidateMetrics::default()
        };
        assert_eq!(usd(price(), Some(0), &warm), Some(0.00055));
        let no_cache_rate = Price::new(Rates::usd(1_000_000_000, 0));
        assert_eq!(usd(no_cache_rate, Some(0), &warm), Some(0.001));
    }
}
