//! What is known of limits: what a vendor's headers said, and what a quota ledger answers.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;

/// One limit as a vendor's headers state it. Absent fields were not stated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LimitWindow {
    /// How many are allowed.
    pub limit: Option<u64>,
    /// How many are left.
    pub remaining: Option<u64>,
    /// How long until it is full again, counted from the answer.
    pub reset: Option<Duration>,
}

impl LimitWindow {
    /// A window with these figures.
    pub fn new(limit: Option<u64>, remaining: Option<u64>, reset: Option<Duration>) -> Self {
        LimitWindow {
            limit,
            remaining,
            reset,
        }
    }

    /// Nothing stated.
    pub fn is_empty(&self) -> bool {
        *self == LimitWindow::default()
    }

    /// What is left as a share of the whole, 0 to 1; zero left is 0 even where the limit is unknown.
    pub fn remaining_ratio(&self) -> Option<f64> {
        match (self.remaining?, self.limit) {
            (0, _) => Some(0.0),
            (_, None | Some(0)) => None,
            (remaining, Some(limit)) => Some((remaining as f64 / limit as f64).min(1.0)),
        }
    }
}

/// What the headers of one answer said about limits. Comes with every answer, good or bad.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RateLimitSnapshot {
    /// Requests.
    pub requests: LimitWindow,
    /// Tokens, input and output together.
    pub tokens: LimitWindow,
    /// Input tokens, where a vendor counts them apart.
    pub input_tokens: LimitWindow,
    /// Output tokens, where a vendor counts them apart.
    pub output_tokens: LimitWindow,
    /// The vendor asked to wait this long.
    pub retry_after: Option<Duration>,
}

impl RateLimitSnapshot {
    /// Nothing stated.
    pub fn is_empty(&self) -> bool {
        *self == RateLimitSnapshot::default()
    }

    /// The smallest share that is left of any stated limit.
    pub fn remaining_ratio(&self) -> Option<f64> {
        [self.requests, self.tokens, self.input_tokens, self.output_tokens]
            .iter()
            .filter_map(LimitWindow::remaining_ratio)
            .min_by(f64::total_cmp)
    }
}

/// What a quota ledger answers a router. Asking costs nothing; unknown is `None`.
pub trait QuotaView: Debug + Send + Sync + 'static {
    /// Is the quota of this candidate used up?
    fn exhausted(&self, candidate: &str) -> Option<bool>;

    /// The share that is left, 0 to 1.
    fn remaining_ratio(&self, candidate: &str) -> Option<f64>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_the_smallest_stated_share() {
        let snapshot = RateLimitSnapshot {
            requests: LimitWindow::new(Some(100), Some(50), None),
            tokens: LimitWindow::new(Some(1000), Some(100), None),
            ..RateLimitSnapshot::default()
        };
        assert_eq!(snapshot.remaining_ratio(), Some(0.1));
        assert_eq!(RateLimitSnapshot::default().remaining_ratio(), None);
        assert_eq!(LimitWindow::new(None, Some(0), None).remaining_ratio(), Some(0.0));
        assert_eq!(LimitWindow::new(None, Some(7), None).remaining_ratio(), None);
    }
}
