//! Counts of the recent past, in buckets of a minute.

use std::time::{Duration, Instant};

/// How far back the counts go.
pub(super) const WINDOW: Duration = Duration::from_secs(600);
const BUCKETS: usize = 10;
/// In seconds.
const WIDTH: u64 = WINDOW.as_secs() / BUCKETS as u64;
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
    /// All but the newest, added up when that began: a decision reads this for each of its candidates.
    older: Sums,
}

/// Buckets added up.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    counts: Counts,
    /// Successes and all ends, of which older ones weigh less.
    good: f64,
    all: f64,
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
            *newest += Duration::from_secs(WIDTH) * u32::try_from(steps).unwrap_or(u32::MAX);
            self.older = Sums::of(&self.buckets[1..]);
        }
        &mut self.buckets[0]
    }

    /// The sums, and the share of successes in which older ones weigh less.
    pub(super) fn sums(&self, now: Instant) -> (Counts, Option<f64>) {
        let sums = match self.steps(now) {
            0 => self.older.after(&self.buckets[0]),
            steps => Sums::of(&self.buckets[..BUCKETS.saturating_sub(steps)]),
        };
        (sums.counts, (sums.all > 0.0).then(|| sums.good / sums.all))
    }

    /// How many buckets have begun since the newest one.
    fn steps(&self, now: Instant) -> usize {
        let Some(newest) = self.newest else { return 0 };
        let passed = now.saturating_duration_since(newest).as_secs() / WIDTH;
        usize::try_from(passed).unwrap_or(usize::MAX)
    }
}

impl Sums {
    /// Newest first.
    fn of(buckets: &[Counts]) -> Self {
        let nothing = Sums::default();
        buckets
            .iter()
            .rev()
            .fold(nothing, |older, bucket| older.after(bucket))
    }

    /// With the bucket that comes after these.
    fn after(&self, bucket: &Counts) -> Self {
        let older = &self.counts;
        Sums {
            counts: Counts {
                successes: older.successes + bucket.successes,
                failures: older.failures + bucket.failures,
                requests: older.requests + bucket.requests,
                tokens: older.tokens.saturating_add(bucket.tokens),
                input: older.input.saturating_add(bucket.input),
                cached: older.cached.saturating_add(bucket.cached),
            },
            good: self.good * FADE + bucket.successes as f64,
            all: self.all * FADE + (bucket.successes + bucket.failures) as f64,
        }
    }
}
