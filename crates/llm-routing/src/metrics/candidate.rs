//! What was measured of one candidate.

use super::CandidateMetrics;
use super::latency::Latency;
use super::window::Window;
use llm_core::estimate::{TokenDemand, TokenEstimator};
use llm_core::rate_limit::LimitWindow;
use llm_core::{Error, ErrorKind, RateLimitSnapshot, Usage};
use std::time::{Duration, Instant};

/// What was measured of one candidate.
#[derive(Debug, Default)]
pub(super) struct Measured {
    latency: Latency,
    window: Window,
    /// The limits as last stated, and when.
    limits: Option<(RateLimitSnapshot, Instant)>,
    /// Absent until a call has taught it something.
    estimator: Option<TokenEstimator>,
    /// Refused until then.
    refused_until: Option<Instant>,
}

impl Measured {
    pub(super) fn sent(&mut self, now: Instant) {
        self.window.at(now).requests += 1;
    }

    pub(super) fn took(&mut self, started: Instant, committed: Option<Instant>, ended: Instant) {
        let commit = committed.map(|committed| committed.saturating_duration_since(started));
        let total = ended.saturating_duration_since(started);
        self.latency.add(commit, total, ended);
    }

    /// It was cut after this time: how long it would have taken nobody knows.
    pub(super) fn took_at_least(&mut self, started: Instant, streamed: bool, cut: Instant) {
        self.latency
            .add_at_least(cut.saturating_duration_since(started), streamed, cut);
    }

    pub(super) fn ended(&mut self, well: bool, now: Instant) {
        let counts = self.window.at(now);
        if well {
            counts.successes += 1;
        } else {
            counts.failures += 1;
        }
    }

    pub(super) fn used(&mut self, usage: &Usage, now: Instant) {
        let counts = self.window.at(now);
        // what is known of it: the total, or the one side that was reported
        let known = usage
            .total_tokens()
            .or(usage.input_tokens)
            .or(usage.output_tokens);
        counts.tokens = counts.tokens.saturating_add(known.unwrap_or(0));
        if let (Some(input), Some(cached)) = (usage.input_tokens, usage.cached_input_tokens) {
            counts.input = counts.input.saturating_add(input);
            counts.cached = counts.cached.saturating_add(cached.min(input));
        }
    }

    pub(super) fn learn(&mut self, demand: &TokenDemand, usage: &Usage) {
        if usage.input_tokens.is_some() {
            self.estimator.get_or_insert_default().learn(demand, usage);
        }
    }

    /// What the headers of an answer said.
    pub(super) fn limited(&mut self, limits: &RateLimitSnapshot, now: Instant) {
        if !limits.is_empty() {
            self.limits = Some((*limits, now));
            self.refused_until = None;
        }
    }

    /// Nothing is left for as long as the vendor says.
    pub(super) fn refused(&mut self, error: &Error, now: Instant) {
        if let (ErrorKind::RateLimit | ErrorKind::QuotaExhausted, Some(wait)) =
            (error.kind(), error.retry_after())
        {
            self.refused_until = now.checked_add(wait);
        }
    }

    pub(super) fn at(&self, now: Instant, in_flight: u32) -> CandidateMetrics {
        let [commit_ms, total_ms, peak_ms] = self.latency.at(now).map(|millis| millis.map(rounded));
        let (counts, success_rate) = self.window.sums(now);
        CandidateMetrics {
            commit_ms,
            total_ms,
            peak_ms,
            successes: counts.successes,
            failures: counts.failures,
            success_rate: success_rate.map(rounded),
            in_flight,
            requests: counts.requests,
            tokens: counts.tokens,
            cached_ratio: (counts.input > 0).then(|| rounded(counts.cached as f64 / counts.input as f64)),
            input_ratio: self.estimator.map(|estimator| rounded(estimator.input_ratio())),
            remaining_ratio: self.remaining(now).map(rounded),
        }
    }

    /// The smallest share that is left of a limit which is not full again by now.
    fn remaining(&self, now: Instant) -> Option<f64> {
        if self.refused_until.is_some_and(|until| now < until) {
            return Some(0.0);
        }
        let (limits, stated) = self.limits?;
        let age = now.saturating_duration_since(stated);
        [
            limits.requests,
            limits.tokens,
            limits.input_tokens,
            limits.output_tokens,
        ]
        .iter()
        .filter(|window| still_holds(window, age))
        .filter_map(LimitWindow::remaining_ratio)
        .min_by(f64::total_cmp)
    }
}

/// A limit whose reset nobody stated is taken to hold for a minute, as most are per minute.
fn still_holds(window: &LimitWindow, age: Duration) -> bool {
    age < window.reset.unwrap_or(Duration::from_secs(60))
}

/// To four places: more says nothing, and so much comes back from JSON as it was.
fn rounded(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}
