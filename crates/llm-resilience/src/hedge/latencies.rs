//! How long recent calls took, for each target. Pure: the time is an argument.

use crate::policy::Target;
use llm_core::{DriverId, ModelId};
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// So many calls of a target are remembered.
const REMEMBERED: usize = 128;
/// For so long.
const RECENT: Duration = Duration::from_secs(600);
/// So many targets are remembered: callers choose models' names.
const MOST_TARGETS: usize = 256;

/// What is called. A stream's time is the one to its first content, so it is told apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TargetKey {
    driver: DriverId,
    base_url: String,
    model: Option<ModelId>,
    streamed: bool,
}

impl TargetKey {
    pub(super) fn of(target: &Target<'_>) -> Self {
        TargetKey {
            driver: target.driver.id.clone(),
            base_url: target.driver.base_url.clone(),
            model: target.serving_model(),
            streamed: target.streamed,
        }
    }
}

/// The latencies of all targets.
#[derive(Debug, Default)]
pub(super) struct Latencies(HashMap<TargetKey, VecDeque<(Instant, Duration)>>);

impl Latencies {
    /// A call took this long.
    pub(super) fn add(&mut self, key: TargetKey, now: Instant, latency: Duration) {
        if self.0.len() >= MOST_TARGETS && !self.0.contains_key(&key) {
            self.forget_stalest();
        }
        let samples = self.0.entry(key).or_default();
        if samples.len() >= REMEMBERED {
            samples.pop_front();
        }
        samples.push_back((now, latency));
    }

    /// The time that so many percent of the recent calls did not exceed; nothing, when too few are known.
    pub(super) fn percentile(
        &self,
        key: &TargetKey,
        now: Instant,
        percentile: u8,
        min: u32,
    ) -> Option<Duration> {
        let samples = self.0.get(key)?;
        // More than are remembered can never be known.
        let min = min.min(REMEMBERED as u32);
        let mut recent: Vec<Duration> = samples
            .iter()
            .filter(|(at, _)| now.saturating_duration_since(*at) <= RECENT)
            .map(|(_, latency)| *latency)
            .collect();
        if recent.is_empty() || recent.len() < min as usize {
            return None;
        }
        // The nearest rank: the smallest sample that so many percent do not exceed.
        let rank = (recent.len() * usize::from(percentile)).div_ceil(100).max(1) - 1;
        Some(*recent.select_nth_unstable(rank).1)
    }

    fn forget_stalest(&mut self) {
        let last = |samples: &VecDeque<(Instant, Duration)>| samples.back().map(|(at, _)| *at);
        let stalest = self.0.iter().min_by_key(|(_, samples)| last(samples));
        if let Some(key) = stalest.map(|(key, _)| key.clone()) {
            self.0.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_driver_testkit::TestClock;

    fn key(model: &str) -> TargetKey {
        TargetKey {
            driver: DriverId::from_static("alpha"),
            base_url: String::new(),
            model: ModelId::new(model).ok(),
            streamed: false,
        }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_percentile_is_the_nearest_rank_of_the_recent_calls() {
        let now = TestClock::context().clock().now();
        let mut latencies = Latencies::default();
        for latency in (1..=100).rev() {
            latencies.add(key("m"), now, ms(latency));
        }
        for (percentile, expected) in [(1, 1), (50, 50), (95, 95), (99, 99)] {
            assert_eq!(
                latencies.percentile(&key("m"), now, percentile, 100),
                Some(ms(expected))
            );
        }
        assert_eq!(latencies.percentile(&key("m"), now, 95, 101), None);
        assert_eq!(latencies.percentile(&key("other"), now, 95, 0), None);
        // What was ten minutes ago is not recent, and what is remembered is bounded.
        assert_eq!(latencies.percentile(&key("m"), now + RECENT + ms(1), 95, 1), None);
        for _ in 0..REMEMBERED {
            latencies.add(key("m"), now, ms(7));
        }
        assert_eq!(latencies.percentile(&key("m"), now, 99, 1), Some(ms(7)));
    }

    #[test]
    fn targets_are_bounded_and_the_stalest_goes() {
        let now = TestClock::context().clock().now();
        let mut latencies = Latencies::default();
        for number in 0..MOST_TARGETS as u64 + 1 {
            latencies.add(key(&format!("m{number}")), now + ms(number), ms(1));
        }
        assert_eq!(latencies.0.len(), MOST_TARGETS);
        assert!(!latencies.0.contains_key(&key("m0")) && latencies.0.contains_key(&key("m1")));
    }
}
