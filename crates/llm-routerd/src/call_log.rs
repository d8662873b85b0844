//! One request's entry in the log of calls: what is known of it, written when it ends, however it ends.

mod decision;
mod trail;

use crate::app::App;
use crate::route::Route;
use crate::running::RunningCall;
use crate::store::{CallRow, Outcome};
use llm_suite::core::{Attempt, ChatRequest, Error, ErrorKind, Scope, Skip, Usage};
use llm_suite::routing::{Evaluations, RoutingDecision};
use std::sync::Arc;
use std::time::Instant;

pub(crate) use decision::{KeptDecision, stored_json};
pub(crate) use trail::{Trail, Trails};

/// What stands as the error of a call that was cut because the daemon stopped.
const SHUTDOWN: &str = "shutdown";

/// Follows one request. Dropped without an end, it records that the caller went away.
#[derive(Debug)]
pub(crate) struct CallLog {
    app: Arc<App>,
    route: Arc<Route>,
    request_id: String,
    tools_present: bool,
    started: Instant,
    decision: Option<decision::Decided>,
    trail: Trail,
    /// Absent until an answer or an error brought it.
    attempts: Option<Vec<Attempt>>,
    usage: Usage,
    ended: bool,
    _running: RunningCall,
}

impl CallLog {
    pub(crate) fn begin(app: Arc<App>, route: Arc<Route>, request_id: String, request: &ChatRequest) -> Self {
        CallLog {
            started: app.clock.now(),
            tools_present: !request.tools.is_empty(),
            _running: app.running.begin(),
            app,
            route,
            request_id,
            decision: None,
            trail: Trail::default(),
            attempts: None,
            usage: Usage::default(),
            ended: false,
        }
    }

    /// For the context of the call.
    pub(crate) fn trail(&self) -> Trail {
        self.trail.clone()
    }

    pub(crate) fn decided(&mut self, decision: Arc<RoutingDecision>) {
        self.decision = Some(decision::Decided::Plan(decision));
    }

    /// No candidate can do what the request needs.
    pub(crate) fn refused(&mut self, error: &Error) {
        self.decision = Evaluations::of(error)
            .map(|evaluations| decision::Decided::Refusal(evaluations.record().clone()));
        self.failed(error, false);
    }

    /// What was tried, as soon as it is known.
    pub(crate) fn tried(&mut self, attempts: &[Attempt]) {
        self.attempts = Some(attempts.to_vec());
    }

    pub(crate) fn used(&mut self, usage: &Usage) {
        self.usage.merge(usage);
    }

    /// The answer is complete.
    pub(crate) fn served(&mut self) {
        self.end(&End {
            outcome: Outcome::Pass,
            error_type: None,
            error: None,
        });
    }

    /// It failed; `committed`: after its first content was on its way to the caller.
    pub(crate) fn failed(&mut self, error: &Error, committed: bool) {
        if self.attempts.is_none() {
            self.attempts = Some(error.attempts().to_vec());
        }
        let outcome = match (error.kind(), error.scope()) {
            // whose time was over is the first thing to know, wherever it struck
            (ErrorKind::Timeout, Scope::Request) => Outcome::RequestDeadline,
            _ if committed => Outcome::Interrupted,
            (ErrorKind::NoEligibleCandidate, _) => Outcome::Refused,
            (ErrorKind::Cancelled, _) => Outcome::Cancelled,
            _ if error.is_exhausted() || !error.skipped().is_empty() => Outcome::Degraded,
            _ => Outcome::Failed,
        };
        self.end(&End {
            outcome,
            error_type: Some(error.kind().as_str()),
            error: Some(error),
        });
    }

    /// Who served, its place in the chain, and why the first did not.
    pub(crate) fn winner(&self) -> Option<Winner> {
        let attempts = self.attempts.as_deref().unwrap_or_default();
        let served = attempts.iter().rfind(|attempt| attempt.failure.is_none())?;
        let (position, _) = self.route.entry_of(&served.candidate);
        // a second try of the same backend is no fallback
        let others = attempts
            .iter()
            .rev()
            .filter(|attempt| attempt.candidate != served.candidate);
        let failed = others.filter_map(|attempt| attempt.failure.as_ref()).next();
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

    /// Nobody waits for the answer any more: the caller went away, or the daemon stopped.
    fn left(&mut self) {
        let cut = self.app.running.is_cut();
        self.end(&End {
            outcome: if cut {
                Outcome::Interrupted
            } else {
                Outcome::Cancelled
            },
            error_type: cut.then_some(SHUTDOWN),
            error: None,
        });
    }

    fn end(&mut self, end: &End<'_>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let ts = self.app.now_ms();
        let (failed, last) = self.split_attempts(end);
        for attempt in &failed {
            self.app.recorder.call(self.row_of(attempt, ts));
        }
        let mut row = match &last {
            Some(attempt) => self.row_of(attempt, ts),
            None => CallRow {
                tier_alias: Some(self.route.entries.join(",")),
                latency_ms: count(self.elapsed_ms()),
                ..self.row(ts)
            },
        };
        row.outcome = end.outcome;
        row.error_type = end.error_type.map(str::to_owned);
        row.fallback_count = count(failed.len() as u64);
        row.prompt_tokens_est = self.usage.input_tokens.map(count);
        row.completion_tokens_est = self.usage.output_tokens.map(count);
        row.cost_usd_est = self.usage.cost.map(|cost| cost.usd());
        let backend = row.backend_id.clone();
        self.app.recorder.call(row);
        self.keep_decision(end, ts, &failed, last.as_ref());
        tracing::info!(
            target: "llm_routerd::calls",
            request_id = self.request_id, outcome = end.outcome.as_str(), backend, failed = failed.len(),
            elapsed_ms = self.elapsed_ms(), error = end.error_type,
            "call ended"
        );
    }

    /// The attempts that failed and were followed by something else, and the one that the call ended with: it served,
    /// its failure stopped the call, or it was under way when the caller left. Without that one nobody was left, or
    /// nobody was asked.
    fn split_attempts(&mut self, end: &End<'_>) -> (Vec<Attempt>, Option<Attempt>) {
        let Some(mut attempts) = self.attempts.take() else {
            let steps = self.trail.steps();
            let now = self.app.clock.now();
            return (steps.failed, steps.asked.map(|asked| asked.attempt(now)));
        };
        let ended_with = |attempt: &Attempt| match (&attempt.failure, end.error) {
            (None, _) => true,
            (Some(failure), Some(error)) => {
                !error.is_exhausted() && (failure.kind, failure.scope) == (error.kind(), error.scope())
            }
            (Some(_), None) => false,
        };
        let last = if attempts.last().is_some_and(ended_with) {
            attempts.pop()
        } else {
            None
        };
        (attempts, last)
    }

    fn keep_decision(&mut self, end: &End<'_>, ts: i64, failed: &[Attempt], last: Option<&Attempt>) {
        let Some(decided) = self.decision.take() else {
            return;
        };
        let skipped: &[Skip] = end.error.map(Error::skipped).unwrap_or_default();
        let fell_back = !failed.is_empty() || !skipped.is_empty() || end.outcome != Outcome::Pass;
        // an error knows best how the last attempt went
        let tried: Vec<Attempt> = match end.error {
            Some(error) if !error.attempts().is_empty() => error.attempts().to_vec(),
            _ => failed.iter().chain(last).cloned().collect(),
        };
        let kept = KeptDecision {
            request_id: self.request_id.clone(),
            ts,
            decided,
            attempts: tried,
            skipped: skipped.to_vec(),
        };
        if decision::is_wanted(self.app.config.routing.record_decisions, fell_back) {
            self.app.recorder.decision(kept.row());
        }
        self.app.keep_decision(kept);
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
        let failure = attempt.failure.as_ref();
        CallRow {
            backend_id: Some(attempt.candidate.clone()),
            tier_alias: entry.map(str::to_owned),
            chain_position: i64::from(position),
            outcome: Outcome::Fallback,
            error_type: failure.map(|failure| failure.kind.as_str().to_owned()),
            latency_ms: count(attempt.elapsed_ms),
            model: attempt.model.as_ref().map(ToString::to_string),
            vendor_status: failure.and_then(|failure| failure.status).map(i64::from),
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
        self.left();
    }
}

/// How a call ended.
struct End<'a> {
    outcome: Outcome,
    error_type: Option<&'a str>,
    error: Option<&'a Error>,
}

/// The attempt that served.
#[derive(Debug)]
pub(crate) struct Winner {
    pub(crate) backend: String,
    pub(crate) position: u32,
    pub(crate) latency_ms: u64,
    pub(crate) fallback_reason: Option<&'static str>,
}

fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
