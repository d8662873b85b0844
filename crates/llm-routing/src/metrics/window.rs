//! Counts of the recent past, in buckets of a minute.

use std::time::{Duration, Instant};

/// How far back the counts go.
pub(super) const WINDOW: Duration = Duration::from_secs(600);
const BUCKETS: usize = 10;
const WIDTH: Duration = Duration::from_secs(WINDOW.as_secs() / BUCKETS as u64);
/// What a bucket weighs beside the one after it.
const FADE: f64 = 0.8;

/// What happened in one minute.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) successes: u64,
    pub(super) failures: u64,
    pub(super) requests: u64,
    pub(super) tokens: u64,
    /// Input tokens of calls that said how much of it was cached, and how much that was.
    pub(super) input: u64,
    pub(super) cached: u64,
}

/// The last minutes.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// When the newest bucket began; absent: nothing was counted yet.
    newest: Option<Instant>,
    /// Newest first.
    buckets: [Counts; BUCKETS],
}

impl Window {
    /// The bucket of this moment. A moment before the newest bucket (a clock read by another thread a little earlier)
    /// belongs to that one.
    pub(super) fn at(&mut self, now: Instant) -> &mut Counts {
        let steps = self.steps(now);
        let newest = self.newest.get_or_insert(now);
        if steps > 0 {
            let kept = BUCKETS.saturating_sub(steps);
            self.buckets.copy_within(..kept, BUCKETS - kept);
            self.buckets[..BUCKETS - kept].fill(Counts::default());
            *newest += WIDTH * u32::try_from(steps).unwrap_or(u32::MAX);
        }
        &mut self.buckets[0]
    }

    /// The sums, and the share of successes in which older ones weigh less.
    pub(super) fn sums(&self, now: Instant) -> (Counts, Option<f64>) {
        let steps = self.steps(now);
        let mut sum = Counts::default();
        let (mut good, mut all) = (0.0, 0.0);
        let mut weight = 1.0;
        for counts in &self.buckets[..BUCKETS.saturating_sub(steps)] {
            sum.successes += counts.successes;
            sum.failures += counts.failures;
            sum.requests += counts.requests;
            sum.tokens = sum.tokens.saturating_add(counts.tokens);
            sum.input = sum.input.saturating_add(counts.input);
            sum.cached = sum.cached.saturating_add(counts.cached);
            good += counts.successes as f64 * weight;
            all += (counts.successes + counts.failures) as f64 * weight;
            weight *= FADE;
        }
        (sum, (all > 0.0).then(|| good / all))
    }

    /// How many buckets have begun since the newest one.
    fn steps(&self, now: Instant) -> usize {
        let Some(newest) = self.newest else { return 0 };
        let passed = now.saturating_duration_since(newest).as_millis() / WIDTH.as_millis();
        usize::try_from(passed).unwrap_or(usize::MAX)
    }
}
