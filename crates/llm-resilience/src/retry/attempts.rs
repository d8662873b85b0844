//! The log of one call: what was tried, how each try ended and how long was waited before it.

use crate::policy::Target;
use llm_core::{Attempt, CallContext, Clock, Error, ModelId, Phase};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The log of tries one after the other.
#[derive(Debug, Clone)]
pub(crate) struct AttemptLog {
    clock: Arc<dyn Clock>,
    candidate: String,
    model: Option<ModelId>,
    /// The tries that failed.
    failed: Vec<Attempt>,
    /// The present try.
    started: Instant,
    wait: Duration,
}

impl AttemptLog {
    /// The first try begins now.
    pub(crate) fn begin(cx: &CallContext, target: &Target<'_>) -> Self {
        AttemptLog::begin_as(cx, target.driver.id.as_str().to_owned(), target.model)
    }

    /// The first try begins now, under this name.
    pub(crate) fn begin_as(cx: &CallContext, candidate: String, model: Option<&ModelId>) -> Self {
        AttemptLog {
            clock: Arc::clone(cx.clock()),
            candidate,
            model: model.cloned(),
            failed: Vec::new(),
            started: cx.clock().now(),
            wait: Duration::ZERO,
        }
    }

    /// The next try begins now, after this wait.
    pub(crate) fn begin_next(&mut self, wait: Duration) {
        self.started = self.clock.now();
        self.wait = wait;
    }

    /// The next try begins now, under another name.
    pub(crate) fn begin_next_as(&mut self, candidate: String) {
        self.candidate = candidate;
        self.begin_next(Duration::ZERO);
    }

    /// The present try failed.
    pub(crate) fn add_failure(&mut self, error: &Error) {
        if error.attempts().is_empty() {
            let failed = Attempt::failed(&self.candidate, self.model.clone(), self.elapsed(), error);
            self.failed.push(failed.with_wait(self.wait));
        } else {
            self.add_inner(error.attempts());
        }
    }

    /// The present try served; `inner` is what the answer itself says was tried for it.
    pub(crate) fn into_served(mut self, inner: &[Attempt]) -> Vec<Attempt> {
        if inner.is_empty() {
            let served = Attempt::served(&self.candidate, self.model.clone(), self.elapsed());
            self.failed.push(served.with_wait(self.wait));
        } else {
            self.add_inner(inner);
        }
        self.failed
    }

    /// The error that a committed answer broke off with, with the log on it. It is never replayed, which its
    /// phase says to whoever sees it next.
    pub(crate) fn into_late_error(mut self, error: Error) -> Error {
        let error = error.with_phase(Phase::Streaming);
        self.add_failure(&error);
        error.with_attempts(self.failed)
    }

    /// The error that the call is given up with, with the log on it.
    pub(crate) fn into_error(self, error: Error) -> Error {
        error.with_attempts(self.failed)
    }

    /// What is inside kept a log of its own (a router): its lines say more than one of ours. Our wait was before
    /// the first of them.
    fn add_inner(&mut self, inner: &[Attempt]) {
        let first = self.failed.len();
        self.failed.extend_from_slice(inner);
        if let Some(first) = self.failed.get_mut(first) {
            let inner_wait = Duration::from_millis(first.wait_ms);
            *first = first.clone().with_wait(self.wait.saturating_add(inner_wait));
        }
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().saturating_duration_since(self.started)
    }
}
