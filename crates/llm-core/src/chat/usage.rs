//! What a call used, counted one way for every vendor.

use crate::price::Cost;
use serde::{Deserialize, Serialize};

/// What a call used. A field is absent when nobody reported it: unknown is not zero.
///
/// `input_tokens` is everything that went in; cached and cache-written tokens are subsets of it.
/// `output_tokens` is everything that came out; reasoning is a subset of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// All tokens that went in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Of these, read from the vendor's prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Of these, written to the vendor's prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_input_tokens: Option<u64>,
    /// Of the written ones, those kept for the vendor's long time, which costs more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_long_input_tokens: Option<u64>,
    /// All tokens that came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Of these, reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Input and output together, from a vendor that does not report them apart; absent where both are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undivided_tokens: Option<u64>,
    /// What it cost: as the vendor reported it, else computed from known prices. Absent: unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// So many tokens in, so many out.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Usage {
            input_tokens: Some(input_tokens),
            output_tokens: Some(output_tokens),
            ..Usage::default()
        }
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Usage::default()
    }

    /// Input and output together: where both are known their sum, else as the vendor reported it.
    pub fn total_tokens(&self) -> Option<u64> {
        match (self.input_tokens, self.output_tokens) {
            (Some(input), Some(output)) => Some(input.saturating_add(output)),
            _ => self.undivided_tokens,
        }
    }

    /// Takes over what a later report knows. Counts in a stream are running totals: the last one stands,
    /// nothing is added, and an absent field never erases a known one.
    pub fn merge(&mut self, later: &Usage) {
        let take = |into: &mut Option<u64>, from: Option<u64>| *into = from.or(*into);
        take(&mut self.input_tokens, later.input_tokens);
        take(&mut self.cached_input_tokens, later.cached_input_tokens);
        take(&mut self.cache_write_input_tokens, later.cache_write_input_tokens);
        take(
            &mut self.cache_write_long_input_tokens,
            later.cache_write_long_input_tokens,
        );
        take(&mut self.output_tokens, later.output_tokens);
        take(&mut self.reasoning_tokens, later.reasoning_tokens);
        take(&mut self.undivided_tokens, later.undivided_tokens);
        self.cost = later.cost.or(self.cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_the_last_known_figure() {
        let mut usage = Usage::new(9, 1);
        usage.merge(&Usage {
            output_tokens: Some(4),
            ..Usage::default()
        });
        usage.merge(&Usage::default());
        assert_eq!(usage, Usage::new(9, 4));
        assert_eq!(usage.total_tokens(), Some(13));
        assert_eq!(
            Usage {
                output_tokens: Some(1),
                ..Usage::default()
            }
            .total_tokens(),
            None
        );
    }

    #[test]
    fn a_total_that_is_not_divided_counts_until_both_parts_are_known() {
        let mut usage = Usage {
            undivided_tokens: Some(100),
            ..Usage::default()
        };
        assert_eq!(usage.total_tokens(), Some(100));
        assert_eq!((usage.input_tokens, usage.output_tokens), (None, None));
        usage.merge(&Usage::new(60, 50));
        assert_eq!(usage.total_tokens(), Some(110));
    }
}
