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
    /// `commit`: absent for a whole answer, which a caller waits for to its end.
    pub(super) fn add(&mut self, commit: Option<Duration>, total: Duration, now: Instant) {
        let [.., peak] = self.at(now);
        if peak.is_none() {
            *self = Latency::default();
        }
        let waited = millis(commit.unwrap_or(total));
        let faded = peak.filter(|peak| *peak > waited);
        self.peak = Some(faded.unwrap_or(waited));
        if let Some(commit) = commit {
            self.commit = Some(averaged(self.commit, millis(commit)));
        }
        self.total = Some(averaged(self.total, millis(total)));
        self.last = Some(now);
    }

    /// A call was cut after this time. That makes nobody quicker than it is known to be.
    pub(super) fn add_at_least(&mut self, waited: Duration, streamed: bool, now: Instant) {
        let [commit, total, peak] = self.at(now);
        let waited = millis(waited);
        let raised = |known: Option<f64>| match known {
            Some(known) if waited < known => known,
            known => averaged(known, waited),
        };
        self.commit = if streamed { Some(raised(commit)) } else { commit };
        self.total = Some(raised(total));
        self.peak = Some(peak.map_or(waited, |peak| peak.max(waited)));
        self.last = Some(now);
    }

    /// Time to commit, to the end, and the peak. What is too old to be true is unknown again, so that a candidate which
    /// was slow once is tried once more.
    pub(super) fn at(&self, now: Instant) -> [Option<f64>; 3] {
        let age = self.last.map(|last| now.saturating_duration_since(last));
        match age {
            Some(age) if age <= WINDOW => [self.commit, self.total, self.peak_after(age)],
            _ => [None; 3],
        }
    }

    /// A peak falls towards the average.
    fn peak_after(&self, age: Duration) -> Option<f64> {
        let (peak, floor) = (self.peak?, self.commit.or(self.total)?);
        if peak <= floor {
            return Some(floor);
        }
        let left = (-age.as_secs_f64() / PEAK_FADES.as_secs_f64()).exp();
        Some(floor + (peak - floor) * left)
    }
}

fn averaged(known: Option<f64>, new: f64) -> f64 {
    known.map_or(new, |known| known + (new - known) * ALPHA)
}

fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}
