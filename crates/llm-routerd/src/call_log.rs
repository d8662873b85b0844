//! One request's entry in the log of calls: what is known of it, written when it ends, however it ends.

use crate::app::{App, KeptDecision};
use crate::config::RecordDecisions;
use crate::route::Route;
use crate::store::{CallRow, DecisionRow, Outcome};
use llm_suite::core::{Attempt, ChatRequest, Error, ErrorKind, Scope, Skip, Usage};
use llm_suite::routing::RoutingDecision;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Follows one request. Dropped without an end, it records that the caller went away.
#[derive(Debug)]
pub(crate) struct CallLog {
    app: Arc<App>,
    route: Arc<Route>,
    request_id: String,
    tools_present: bool,
    started: Instant,
    decision: Option<Arc<RoutingDecision>>,
    attempts: Vec<Attempt>,
    skipped: Vec<Skip>,
    usage: Usage,
    ended: bool,
}

impl CallLog {
    pub(crate) fn begin(app: Arc<App>, route: Arc<Route>, request_id: String, request: &ChatRequest) -> Self {
        let started = app.clock.now();
        let tools_present = !request.tools.is_empty();
        CallLog {
            app,
            route,
            request_id,
            tools_present,
            started,
            decision: None,
            attempts: Vec::new(),
            skipped: Vec::new(),
            usage: Usage::default(),
            ended: false,
        }
    }

    pub(crate) fn decided(&mut self, decision: Arc<RoutingDecision>) {
        self.decision = Some(decision);
    }

    /// What was tried, as soon as it is known.
    pub(crate) fn tried(&mut self, attempts: &[Attempt]) {
        self.attempts = attempts.to_vec();
    }

    pub(crate) fn used(&mut self, usage: &Usage) {
        self.usage.merge(usage);
    }

    /// The answer is complete.
    pub(crate) fn served(&mut self) {
        self.end(Outcome::Pass, None);
    }

    /// It failed.
    pub(crate) fn failed(&mut self, error: &Error, committed: bool) {
        if self.attempts.is_empty() {
            self.attempts = error.attempts().to_vec();
        }
        self.skipped = error.skipped().to_vec();
        let outcome = match (error.kind(), error.scope()) {
            _ if committed => Outcome::Interrupted,
            (ErrorKind::NoEligibleCandidate, _) => Outcome::Refused,
            (ErrorKind::Timeout, Scope::Request) => Outcome::RequestDeadline,
            (ErrorKind::Cancelled, _) => Outcome::Cancelled,
            _ if error.is_exhausted() || self.attempts.is_empty() => Outcome::Degraded,
            _ => Outcome::Failed,
        };
        self.end(outcome, Some(error));
    }

    /// Who served, its place in the chain, and why the first did not.
    pub(crate) fn winner(&self) -> Option<Winner> {
        let served = self.attempts.iter().rfind(|attempt| attempt.failure.is_none())?;
        let (position, _) = self.route.entry_of(&served.candidate);
        let failed = self
            .attempts
            .iter()
            .rev()
            .find_map(|attempt| attempt.failure.as_ref());
        let fallback_reason = match failed {
            Some(failure) => Some(failure.kind.as_str()),
            None => (position > 0).then_some("chain_advance"),
        };
        Some(Winner {
            backend: served.candidate.clone(),
            position,
            latency_ms: served.elapsed_ms,
            fallback_reason,
        })
    }

    fn end(&mut self, outcome: Outcome, error: Option<&Error>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let ts = self.app.now_ms();
        let failed = self
            .attempts
            .iter()
            .filter(|attempt| attempt.failure.is_some())
            .count();
        for attempt in self.attempts.iter().filter(|attempt| attempt.failure.is_some()) {
            self.app.recorder.call(self.row_of(attempt, ts));
        }
        let mut row = match self.attempts.iter().rfind(|attempt| attempt.failure.is_none()) {
            Some(served) => self.row_of(served, ts),
            None => CallRow {
                tier_alias: Some(self.route.entries.join(",")),
                ..self.row(ts)
            },
        };
        row.outcome = outcome;
        row.error_type = error.map(|error| error.kind().as_str().to_owned());
        row.fallback_count = count(failed as u64);
        if row.backend_id.is_none() {
            row.latency_ms = count(self.elapsed_ms());
        }
        row.prompt_tokens_est = self.usage.input_tokens.map(count);
        row.completion_tokens_est = self.usage.output_tokens.map(count);
        row.cost_usd_est = self.usage.cost.map(|cost| cost.usd());
        self.app.recorder.call(row);
        self.keep_decision(ts, outcome, failed > 0 || !self.skipped.is_empty());
        let backend = self.attempts.last().map(|attempt| attempt.candidate.as_str());
        tracing::info!(
            target: "llm_routerd::calls",
            request_id = self.request_id, outcome = outcome.as_str(), backend, failed,
            elapsed_ms = self.elapsed_ms(), error = error.map(|error| error.kind().as_str()),
            "call ended"
        );
    }

    fn keep_decision(&mut self, ts: i64, outcome: Outcome, fell_back: bool) {
        let Some(decision) = self.decision.take() else {
            return;
        };
        let attempts = serde_json::to_value(&self.attempts).unwrap_or_default();
        let skipped = serde_json::to_value(&self.skipped).unwrap_or_default();
        let wanted = match self.app.config.routing.record_decisions {
            RecordDecisions::All => true,
            RecordDecisions::Fallbacks => fell_back || outcome != Outcome::Pass,
            RecordDecisions::Off => false,
        };
        if wanted {
            self.app.recorder.decision(DecisionRow {
                ts,
                request_id: self.request_id.clone(),
                decision: decision_json(&decision),
                attempts: attempts.clone(),
                skipped: skipped.clone(),
            });
        }
        let request_id = self.request_id.clone();
        self.app.keep_decision(KeptDecision {
            request_id,
            ts,
            decision,
            attempts,
            skipped,
        });
    }

    fn row(&self, ts: i64) -> CallRow {
        CallRow {
            ts,
            request_id: self.request_id.clone(),
            tools_present: self.tools_present,
            ..CallRow::default()
        }
    }

    fn row_of(&self, attempt: &Attempt, ts: i64) -> CallRow {
        let (position, entry) = self.route.entry_of(&attempt.candidate);
        CallRow {
            backend_id: Some(attempt.candidate.clone()),
            tier_alias: entry.map(str::to_owned),
            chain_position: i64::from(position),
            outcome: Outcome::Fallback,
            error_type: attempt
                .failure
                .as_ref()
                .map(|failure| failure.kind.as_str().to_owned()),
            latency_ms: count(attempt.elapsed_ms),
            model: attempt.model.as_ref().map(ToString::to_string),
            vendor_status: attempt
                .failure
                .as_ref()
                .and_then(|failure| failure.status)
                .map(i64::from),
            ..self.row(ts)
        }
    }

    fn elapsed_ms(&self) -> u64 {
        let elapsed = self.app.clock.now().saturating_duration_since(self.started);
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        self.end(Outcome::Cancelled, None);
    }
}

/// The attempt that served.
#[derive(Debug)]
pub(crate) struct Winner {
    pub(crate) backend: String,
    pub(crate) position: u32,
    pub(crate) latency_ms: u64,
    pub(crate) fallback_reason: Option<&'static str>,
}

/// A decision in its stable form.
pub(crate) fn decision_json(decision: &RoutingDecision) -> Value {
    serde_json::to_value(decision).unwrap_or_else(|error| json!({ "error": error.to_string() }))
}

fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
