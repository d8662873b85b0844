//! Watching decisions and plans from outside.

use crate::decision::{PlannedCandidate, RoutingDecision};
use llm_core::{CallContext, Error, Skip};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Is told what a router decided and how its plan went: for logs, metrics and demos.
///
/// Observers stand outside the decision path: they return nothing, and one that panics is reported
/// (`llm.routing.panicked`) and changes nothing. They are called in line, so they must not block.
/// Which call it was is in the context ([`CallContext::request_id`]).
pub trait PlanObserver: Debug + Send + Sync + 'static {
    /// A router has decided.
    fn on_decision(&self, cx: &CallContext, decision: &RoutingDecision) {
        let _ = (cx, decision);
    }

    /// A router has found nobody who can serve; the error carries every evaluation
    /// ([`Evaluations::of`](crate::Evaluations::of)).
    fn on_no_candidate(&self, cx: &CallContext, error: &Error) {
        let _ = (cx, error);
    }

    /// A candidate was not available at its turn.
    fn on_skipped(&self, cx: &CallContext, candidate: &PlannedCandidate, skip: &Skip) {
        let _ = (cx, candidate, skip);
    }

    /// A candidate is about to be asked. What comes of it is told by one of the others; by none when the caller
    /// leaves meanwhile, or when its failure ends the call at once.
    fn on_asked(&self, cx: &CallContext, candidate: &PlannedCandidate) {
        let _ = (cx, candidate);
    }

    /// A candidate failed in a way that lets the plan go on (whether or not anybody is left). Failures that
    /// end the call at once are the caller's to see.
    fn on_failed(&self, cx: &CallContext, candidate: &PlannedCandidate, error: &Error, elapsed: Duration) {
        let _ = (cx, candidate, error, elapsed);
    }

    /// A candidate served: once a call at most, for a stream when its last event was handed out. `elapsed` is
    /// the time to the answer, for a stream to its commit point.
    fn on_served(&self, cx: &CallContext, candidate: &PlannedCandidate, elapsed: Duration) {
        let _ = (cx, candidate, elapsed);
    }

    /// A candidate's stream broke after its commit point: the caller has part of an answer.
    fn on_interrupted(&self, cx: &CallContext, candidate: &PlannedCandidate, error: &Error) {
        let _ = (cx, candidate, error);
    }
}

/// The observers of an executor, which cannot do it any harm.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observers(Vec<Arc<dyn PlanObserver>>);

impl Observers {
    pub(crate) fn add(&mut self, observer: Arc<dyn PlanObserver>) {
        self.0.push(observer);
    }

    pub(crate) fn tell(&self, tell: impl Fn(&dyn PlanObserver)) {
        for observer in &self.0 {
            guarded("an observer", || tell(&**observer));
        }
    }
}

/// What the code of somebody else says; `None`, and a line in the log, where it panics.
pub(crate) fn guarded<T>(what: &str, call: impl FnOnce() -> T) -> Option<T> {
    // nothing of ours is touched inside, so nothing can be left half done
    let said = catch_unwind(AssertUnwindSafe(call)).ok();
    if said.is_none() {
        tracing::error!(name: "llm.routing.panicked", what, "it panicked; the call goes on");
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Panics;
    impl PlanObserver for Panics {}

    #[test]
    fn a_panic_reaches_neither_the_caller_nor_the_next_observer() {
        let mut observers = Observers::default();
        observers.add(Arc::new(Panics));
        observers.add(Arc::new(Panics));
        let told = std::sync::atomic::AtomicUsize::new(0);
        observers.tell(|_| {
            told.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            panic!("not the caller's business");
        });
        assert_eq!(told.into_inner(), 2);
    }
}
