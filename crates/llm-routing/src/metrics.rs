//! What is known of candidates from their own calls: how fast, how reliable, how busy, how much used.

mod candidate;
mod latency;
mod window;

use candidate::Measured;
use foldhash::HashMap;
use llm_core::estimate::TokenDemand;
use llm_core::{Clock, Error, ErrorKind, Phase, RateLimitSnapshot, Usage};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The figures of every candidate, by its id. Cheap to clone: clones share them.
///
/// The executor feeds them, rankers and selectors read them. They belong to the id, not to the candidate's value, so
/// that a changed configuration keeps what was learnt. All of it is of the recent past: what is older than
/// [ten minutes](Self::WINDOW) is forgotten.
///
/// ```
/// use llm_core::Usage;
/// use llm_routing::Metrics;
/// use std::time::{Duration, Instant};
/// let (metrics, start) = (Metrics::default(), Instant::now());
/// let call = metrics.begin("local", start);
/// assert_eq!(metrics.of("local", start).in_flight, 1);
/// call.succeeded(start + Duration::from_millis(300), start + Duration::from_secs(2), &Usage::new(90, 10), None);
///
/// let local = metrics.of("local", start + Duration::from_secs(2));
/// assert_eq!((local.in_flight, local.commit_ms, local.tokens), (0, Some(300.0), 100));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    cells: Arc<RwLock<Cells>>,
}

type Cells = HashMap<Arc<str>, Arc<Cell>>;

fn figures(cells: &Cells, candidate: &str, now: Instant) -> CandidateMetrics {
    cells
        .get(candidate)
        .map_or_else(Default::default, |cell| cell.at(now))
}

/// One candidate's figures.
#[derive(Debug, Default)]
struct Cell {
    in_flight: AtomicU32,
    measured: Mutex<Measured>,
}

impl Cell {
    fn at(&self, now: Instant) -> CandidateMetrics {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        self.measured().at(now, in_flight)
    }

    fn measured(&self) -> std::sync::MutexGuard<'_, Measured> {
        // every change is whole before the lock is let go
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of one candidate at one moment. Unknown is absent, and none of it is a guess.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CandidateMetrics {
    /// Time to the commit point of streams in milliseconds: an average in which each new call weighs a fifth.
    pub commit_ms: Option<f64>,
    /// Time to the end of the answer in milliseconds, averaged alike.
    pub total_ms: Option<f64>,
    /// Time to the commit point in milliseconds (of a plain call: to its answer), as the slowest recent call has it: it
    /// rises at once and falls slowly. For choices between two candidates of which one may just have become slow.
    pub peak_ms: Option<f64>,
    /// Calls that ended well, of those in the window.
    pub successes: u64,
    /// Calls that ended in a failure that counts against health, of those in the window.
    pub failures: u64,
    /// The share that ended well, 0 to 1, in which older calls weigh less; absent: none ended.
    pub success_rate: Option<f64>,
    /// Calls that run now.
    pub in_flight: u32,
    /// Calls that were sent within the window.
    pub requests: u64,
    /// Tokens in and out that were reported within the window.
    pub tokens: u64,
    /// The share of the input that came from the vendor's prompt cache, 0 to 1; absent: no call reported it.
    pub cached_ratio: Option<f64>,
    /// How many tokens its vendor counts for each that is estimated from words; absent: no call has shown it. It is learnt
    /// from reported usage and not forgotten.
    pub input_ratio: Option<f64>,
    /// The share of its limits that the vendor's last headers left, 0 to 1; absent: not stated, or their time is over.
    pub remaining_ratio: Option<f64>,
}

impl CandidateMetrics {
    /// Nothing is known, for whoever has no figures at hand.
    pub const UNKNOWN: &'static CandidateMetrics = &CandidateMetrics {
        commit_ms: None,
        total_ms: None,
        peak_ms: None,
        successes: 0,
        failures: 0,
        success_rate: None,
        in_flight: 0,
        requests: 0,
        tokens: 0,
        cached_ratio: None,
        input_ratio: None,
        remaining_ratio: None,
    };
}

impl Metrics {
    /// How far back the figures go.
    pub const WINDOW: Duration = window::WINDOW;

    /// Nothing known of anybody.
    pub fn new() -> Self {
        Metrics::default()
    }

    /// What is known of a candidate now.
    pub fn of(&self, candidate: &str, now: Instant) -> CandidateMetrics {
        figures(
            &self.cells.read().unwrap_or_else(PoisonError::into_inner),
            candidate,
            now,
        )
    }

    /// The same of many, in their order.
    pub(crate) fn of_all<'c>(
        &self,
        candidates: impl Iterator<Item = &'c str>,
        now: Instant,
    ) -> Vec<CandidateMetrics> {
        let cells = self.cells.read().unwrap_or_else(PoisonError::into_inner);
        candidates
            .map(|candidate| figures(&cells, candidate, now))
            .collect()
    }

    /// A call to a candidate begins. It is in flight until the guard is told how it ended, or dropped.
    pub fn begin(&self, candidate: &str, now: Instant) -> CallInFlight {
        let cell = self.cell(candidate);
        cell.in_flight.fetch_add(1, Ordering::Relaxed);
        cell.measured().sent(now);
        CallInFlight {
            cell,
            started: now,
            demand: None,
            limit: None,
            streamed: false,
        }
    }

    /// Puts in the past what is known of a candidate that is gone. One that comes back under the id begins anew.
    pub fn forget(&self, candidate: &str) {
        self.cells
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(candidate);
    }

    fn cell(&self, candidate: &str) -> Arc<Cell> {
        let known = self
            .cells
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(candidate)
            .cloned();
        known.unwrap_or_else(|| {
            let mut cells = self.cells.write().unwrap_or_else(PoisonError::into_inner);
            cells.entry(candidate.into()).or_default().clone()
        })
    }
}

/// A call that is under way. Dropped without an end it was given up: nothing is known of how it would have ended, unless
/// it had a [limit](Self::with_limit).
#[derive(Debug)]
#[must_use = "dropping it says that the call was given up"]
pub struct CallInFlight {
    cell: Arc<Cell>,
    started: Instant,
    demand: Option<TokenDemand>,
    limit: Option<(Arc<dyn Clock>, Instant)>,
    streamed: bool,
}

impl CallInFlight {
    /// What its tokens were estimated from: the usage that is reported then makes later estimates better.
    pub fn with_demand(mut self, demand: &TokenDemand) -> Self {
        self.demand = Some(*demand);
        self
    }

    /// It is a stream: what ends it before its first content says how long that takes at least.
    pub fn with_stream(mut self) -> Self {
        self.streamed = true;
        self
    }

    /// Until when it must have shown content, as in [`CallContext::attempt_limit`](llm_core::CallContext::attempt_limit):
    /// dropped at that moment or later it was too slow, and has failed.
    pub fn with_limit(mut self, clock: Arc<dyn Clock>, limit: Instant) -> Self {
        self.limit = Some((clock, limit));
        self
    }

    /// Its first content is there: it has no limit any more.
    pub fn committed(&mut self) {
        self.limit = None;
    }

    /// What it used, and what its headers said of limits, where it does not end well.
    pub fn used(&self, usage: &Usage, limits: Option<&RateLimitSnapshot>, now: Instant) {
        let mut measured = self.cell.measured();
        measured.used(usage, now);
        if let Some(limits) = limits {
            measured.limited(limits, now);
        }
    }

    /// It ended well. `committed`: when the first content of a stream was there; `None` for a whole answer.
    pub fn succeeded(
        mut self,
        committed: impl Into<Option<Instant>>,
        ended: Instant,
        usage: &Usage,
        limits: Option<&RateLimitSnapshot>,
    ) {
        self.limit = None;
        self.used(usage, limits, ended);
        let mut measured = self.cell.measured();
        measured.took(self.started, committed.into(), ended);
        measured.ended(true, ended);
        if let Some(demand) = &self.demand {
            measured.learn(demand, usage);
        }
    }

    /// It failed. Only what counts against health ([`Verdict::counts`](llm_core::Verdict)) says something about the
    /// candidate, and where its time was up, how slow it is at least; a hint to wait says that its limits are used up.
    pub fn failed(mut self, error: &Error, ended: Instant) {
        self.limit = None;
        let mut measured = self.cell.measured();
        if error.verdict().counts {
            measured.ended(false, ended);
            if error.kind() == ErrorKind::Timeout && error.phase() != Phase::Streaming {
                measured.took_at_least(self.started, self.streamed, ended);
            }
        }
        measured.refused(error, ended);
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        self.cell.in_flight.fetch_sub(1, Ordering::Relaxed);
        if let Some((clock, limit)) = self.limit.take() {
            let now = clock.now();
            if now >= limit {
                let mut measured = self.cell.measured();
                measured.ended(false, now);
                measured.took_at_least(self.started, self.streamed, now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
