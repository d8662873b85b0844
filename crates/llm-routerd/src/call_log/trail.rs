//! What a call has tried so far, told while it runs: an answer and an error bring their own log, but a caller that
//! leaves in the middle gets neither, and what was tried for it must still be recorded.

use llm_suite::core::{Attempt, CallContext, Error, ModelId};
use llm_suite::routing::{PlanObserver, PlannedCandidate};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Travels in the context of one call. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail(Arc<Mutex<Steps>>);

/// What a call has tried so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    /// What failed, in order.
    pub(super) failed: Vec<Attempt>,
    /// Who is being asked.
    pub(super) asked: Option<Asked>,
}

/// A candidate that was asked and has not answered yet.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    candidate: String,
    model: Option<ModelId>,
    since: Instant,
}

impl Trail {
    pub(super) fn steps(&self) -> Steps {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(cx: &CallContext, change: impl FnOnce(&mut Steps)) {
        if let Some(Trail(steps)) = cx.extensions().find() {
            change(&mut steps.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl Asked {
    /// As an attempt without a failure, which is how it stands at this moment.
    pub(super) fn attempt(self, now: Instant) -> Attempt {
        let elapsed = now.saturating_duration_since(self.since);
        Attempt::served(self.candidate, self.model, elapsed)
    }
}

/// Writes the steps of each plan into the trail of its call.
#[derive(Debug)]
pub(crate) struct Trails;

impl PlanObserver for Trails {
    fn on_asked(&self, cx: &CallContext, candidate: &PlannedCandidate) {
        let resolved = candidate.resolved().map(|resolved| &resolved.id);
        let asked = Asked {
            candidate: candidate.id().to_owned(),
            model: candidate.model().or(resolved).cloned(),
            since: cx.clock().now(),
        };
        Trail::change(cx, |steps| steps.asked = Some(asked));
    }

    fn on_failed(&self, cx: &CallContext, candidate: &PlannedCandidate, error: &Error, elapsed: Duration) {
        Trail::change(cx, |steps| {
            let model = steps.asked.take().and_then(|asked| asked.model);
            let tries = error.attempts();
            if tries.is_empty() {
                steps
                    .failed
                    .push(Attempt::failed(candidate.id(), model, elapsed, error));
            }
            // the tries of a retry layer, which stand under the driver's id
            steps.failed.extend(tries.iter().cloned().map(|mut attempt| {
                attempt.candidate = candidate.id().to_owned();
                attempt
            }));
        });
    }
}
