//! What was tried and skipped on the way through a plan.

use super::outcome;
use crate::decision::PlannedCandidate;
use llm_core::{Attempt, Error, ErrorKind, Phase, Scope, Skip};
use std::time::Duration;

/// The record of a walk.
#[derive(Debug, Default)]
pub(super) struct AttemptLog<'p> {
    attempts: Vec<Attempt>,
    skipped: Vec<Skip>,
    failures: Vec<Failure<'p>>,
    /// The furthest any failed attempt had come: may it have been billed?
    phase: Option<Phase>,
}

/// A failure that let the plan go on.
#[derive(Debug)]
pub(super) struct Failure<'p> {
    pub(super) planned: &'p PlannedCandidate,
    pub(super) error: Error,
}

impl<'p> AttemptLog<'p> {
    pub(super) fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    pub(super) fn skip(&mut self, skip: Skip) {
        self.skipped.push(skip);
    }

    pub(super) fn fail(&mut self, planned: &PlannedCandidate, error: &Error, elapsed: Duration) {
        // A router that could ask nobody has tried nothing.
        if !asked_nobody(planned, error) {
            add_failed(&mut self.attempts, planned, error, elapsed);
        }
        let inner_skips = error.skipped().iter().cloned().map(|mut skip| {
            skip.candidate = inner_name(planned, &skip.candidate);
            skip
        });
        self.skipped.extend(inner_skips);
        self.phase = self.phase.max(Some(error.phase()));
    }

    /// An answer came and is none: the last of its stack's own tries did not serve after all.
    pub(super) fn doubt(
        &mut self,
        planned: &PlannedCandidate,
        error: &Error,
        elapsed: Duration,
        mut inner_log: Vec<Attempt>,
    ) {
        match inner_log.iter_mut().rfind(|one| one.failure.is_none()) {
            Some(served) => {
                let took = Duration::from_millis(served.elapsed_ms);
                *served = Attempt::failed(&served.candidate, served.model.clone(), took, error);
                add_inner(&mut self.attempts, planned, inner_log);
                self.phase = self.phase.max(Some(error.phase()));
            }
            None => self.fail(planned, error, elapsed),
        }
    }

    pub(super) fn remember(&mut self, planned: &'p PlannedCandidate, error: Error) {
        self.failures.push(Failure { planned, error });
    }

    /// The plan ends with this error, though others were left.
    pub(super) fn stopped(self, error: Error) -> Error {
        let phase = error.phase();
        error
            .with_phase(self.phase.map_or(phase, |furthest| furthest.max(phase)))
            .with_attempts(self.attempts)
            .with_skipped(self.skipped)
    }

    /// The plan is over, or nobody else may be asked.
    pub(super) fn nobody_left(self) -> Error {
        if self.failures.is_empty() && self.skipped.is_empty() {
            let message = "the time that was left for this router was over before anybody was asked";
            return Error::new(ErrorKind::Timeout, message).with_scope(Scope::Vendor);
        }
        let error = outcome::of(&self.failures, &self.skipped);
        trace_exhausted(&self, &error);
        self.stopped(error)
    }
}

/// Did a router below find none of its candidates available?
pub(super) fn asked_nobody(planned: &PlannedCandidate, error: &Error) -> bool {
    planned.stack().info().is_router && error.attempts().is_empty() && !error.skipped().is_empty()
}

/// Adds a failed attempt, or what the candidate's stack logged of it.
pub(super) fn add_failed(
    attempts: &mut Vec<Attempt>,
    planned: &PlannedCandidate,
    error: &Error,
    elapsed: Duration,
) {
    if error.attempts().is_empty() {
        let model = planned.model_for_log().cloned();
        attempts.push(Attempt::failed(planned.id(), model, elapsed, error));
    } else {
        add_inner(attempts, planned, error.attempts().to_vec());
    }
}

/// Adds the attempt that served, or what the candidate's stack logged of it.
pub(super) fn add_served(
    attempts: &mut Vec<Attempt>,
    planned: &PlannedCandidate,
    elapsed: Duration,
    inner_log: Vec<Attempt>,
) {
    if inner_log.is_empty() {
        attempts.push(Attempt::served(
            planned.id(),
            planned.model_for_log().cloned(),
            elapsed,
        ));
    } else {
        add_inner(attempts, planned, inner_log);
    }
}

fn add_inner(attempts: &mut Vec<Attempt>, planned: &PlannedCandidate, inner_log: Vec<Attempt>) {
    attempts.extend(inner_log.into_iter().map(|mut attempt| {
        attempt.candidate = inner_name(planned, &attempt.candidate);
        attempt
    }));
}

/// A layer logs its tries under the driver's id, which is the same target as this candidate; a router logs
/// candidates of its own.
fn inner_name(planned: &PlannedCandidate, inner: &str) -> String {
    if planned.stack().info().is_router {
        format!("{}/{inner}", planned.id())
    } else {
        planned.id().to_owned()
    }
}

pub(super) fn trace_skip(skip: &Skip) {
    tracing::info!(
        name: "llm.routing.candidate_skipped",
        candidate = skip.candidate,
        reason = skip.reason.as_str(),
        available_in_ms = skip.available_in_ms,
        "a candidate is not available at its turn"
    );
}

pub(super) fn trace_passed_over(planned: &PlannedCandidate) {
    tracing::info!(
        name: "llm.routing.candidate_passed_over",
        candidate = planned.id(),
        context_window = planned.context_window(),
        "the input was too long for another, and this one takes no more"
    );
}

/// Without the message: a vendor's may repeat what was sent.
pub(super) fn trace_failure(planned: &PlannedCandidate, error: &Error, elapsed: Duration) {
    tracing::warn!(
        name: "llm.routing.candidate_failed",
        candidate = planned.id(),
        model = planned.model_for_log().map(|model| model.as_str()),
        kind = error.kind().as_str(),
        status = error.vendor().status,
        vendor_request_id = error.vendor().request_id,
        elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        "a candidate failed"
    );
}

fn trace_exhausted(log: &AttemptLog<'_>, error: &Error) {
    tracing::error!(
        name: "llm.routing.plan_exhausted",
        kind = error.kind().as_str(),
        attempts = log.attempts.len(),
        skipped = log.skipped.len(),
        retry_after_ms = error.retry_after().map(|hint| u64::try_from(hint.as_millis()).unwrap_or(u64::MAX)),
        "no candidate of the plan is left"
    );
}
