//! Times of calls.

use super::window::WINDOW;
use std::time::{Duration, Instant};

/// What each new call weighs in an average.
const ALPHA: f64 = 0.2;
/// How fast a peak is forgotten: by this time a third of it is left.
const PEAK_FADES: Duration = Duration::from_secs(10);

/// The times of one candidate's calls, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Latency {
    commit: Option<f64>,
    total: Option<f64>,
    peak: Option<f64>,
    last: Option<Instant>,
}

impl Latency {
    pub(super) fn add(&mut self, commit: Duration, total: Duration, now: Instant) {
        if self.is_stale(now) {
            *self = Latency::default();
        }
        let commit = millis(commit);
        let faded = self.peak_at(now).filter(|peak| *peak > commit);
        self.peak = Some(faded.unwrap_or(commit));
        self.commit = Some(averaged(self.commit, commit));
        self.total = Some(averaged(self.total, millis(total)));
        self.last = Some(now);
    }

    /// Time to commit, to the end, and the peak. What is too old to be true is unknown again, so that a candidate which
    /// was slow once is tried once more.
    pub(super) fn at(&self, now: Instant) -> [Option<f64>; 3] {
        if self.is_stale(now) {
            return [None; 3];
        }
        [self.commit, self.total, self.peak_at(now)]
    }

    /// A peak falls towards the average.
    fn peak_at(&self, now: Instant) -> Option<f64> {
        let (peak, floor, last) = (self.peak?, self.commit?, self.last?);
        let age = now.saturating_duration_since(last).as_secs_f64();
        let left = (-age / PEAK_FADES.as_secs_f64()).exp();
        Some(floor + (peak - floor) * left)
    }

    fn is_stale(&self, now: Instant) -> bool {
        self.last
            .is_some_and(|last| now.saturating_duration_since(last) > WINDOW)
    }
}

fn averaged(known: Option<f64>, new: f64) -> f64 {
    known.map_or(new, |known| known + (new - known) * ALPHA)
}

fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}
