//! One call, from when it was let in to its end, and what becomes of its place when nobody waits for it any more.

use super::Shared;
use super::decision::{Asked, BreakerScope, Report, Standing, Ticket};
use super::keys::BreakerKeys;
use super::state::Reason;
use llm_core::{CallContext, Clock, Error, Rejection, Result, Scope};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A call that was let in. Dropped before its end, it gives back the place that it takes as a probe.
pub(super) struct Call {
    shared: Arc<Shared>,
    keys: BreakerKeys,
    clock: Arc<dyn Clock>,
    /// Absent when the store was down: then nobody knows how it was let in, and its end says nothing.
    ticket: Option<Ticket>,
}

impl Call {
    /// Lets a call in, or refuses it.
    pub(super) async fn enter(shared: &Arc<Shared>, cx: &CallContext, keys: BreakerKeys) -> Result<Call> {
        Call::settle(shared, cx).await;
        let id = new_id();
        let mut call = Call {
            shared: Arc::clone(shared),
            keys,
            clock: Arc::clone(cx.clock()),
            // Dropped while it asks, it may take a place all the same.
            ticket: Some(Ticket::asking(id)),
        };
        let reply = shared.decide(&call.keys, Asked::MayPass(id), cx.clock(), cx.remaining());
        let Some(reply) = reply.await else {
            // It may have been let in before the store failed; whoever asks next gives back what it took.
            call.give_back();
            return Ok(call);
        };
        call.ticket = reply.passed.then_some(reply.ticket);
        match reply.refusal() {
            Some((scope, standing)) => Err(refusal(scope, standing)),
            None => Ok(call),
        }
    }

    /// Tells how the call ended. When this is dropped on its way, only the place is given back.
    pub(super) fn ended(self, error: Option<&Error>) -> impl Future<Output = ()> + Send + use<> {
        let report = match error {
            None => Report::of_success(),
            Some(error) => Report::of_error(&self.shared.policy, error),
        };
        // An end is told even when the caller's time is over: the store's own limits are short.
        self.tell(report, None)
    }

    async fn tell(mut self, report: Report, time_left: Option<Duration>) {
        let Some(ticket) = self.ticket else {
            return;
        };
        if report.says_nothing() && !ticket.is_probe() {
            return;
        }
        let asked = Asked::Ended(&ticket, &report);
        let told = self.shared.decide(&self.keys, asked, &self.clock, time_left);
        if told.await.is_some() {
            self.ticket = None;
        }
    }

    /// Tells the store of the places that were given back without waiting.
    async fn settle(shared: &Arc<Shared>, cx: &CallContext) {
        while !shared.outage.holds(cx.clock().now())
            && let Some((keys, ticket)) = shared.given_back.pop()
        {
            let dropped = Call {
                shared: Arc::clone(shared),
                keys,
                clock: Arc::clone(cx.clock()),
                ticket: Some(ticket),
            };
            // Given back once more, if this call is itself dropped here.
            dropped.tell(Report::default(), cx.remaining()).await;
        }
    }
}

impl Call {
    /// Gives back the place that it takes, if any, without waiting.
    fn give_back(&mut self) {
        let Some(ticket) = self.ticket.take().filter(Ticket::is_probe) else {
            return;
        };
        let nothing = Report::default();
        let question = self.shared.question(Asked::Ended(&ticket, &nothing));
        let now = self.clock.now();
        match self.shared.store.decide_at_once(&self.keys, &question, now) {
            Some(reply) => drop(self.shared.view.note(&self.keys, &reply, &self.clock)),
            None => self.shared.given_back.push(self.keys.clone(), ticket),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// So many places wait to be given back. What does not find room heals when its lease ends.
const MOST_WAITING: usize = 1_024;

/// Places of probes that were dropped, which a shared store has not been told of: nothing can be waited for in a
/// drop. The next call through the layer tells it, before it asks for itself.
#[derive(Debug, Default)]
pub(super) struct GivenBack {
    count: AtomicUsize,
    waiting: Mutex<VecDeque<(BreakerKeys, Ticket)>>,
}

impl GivenBack {
    pub(super) fn push(&self, keys: BreakerKeys, ticket: Ticket) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_WAITING {
            waiting.push_back((keys, ticket));
        }
        self.count.store(waiting.len(), Ordering::Release);
    }

    pub(super) fn pop(&self) -> Option<(BreakerKeys, Ticket)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = waiting.pop_front();
        self.count.store(waiting.len(), Ordering::Release);
        next
    }
}

/// An id that no other call has, and that a script's numbers hold.
fn new_id() -> u64 {
    fastrand::u64(1..1 << 53)
}

fn refusal(scope: BreakerScope, standing: Standing) -> Error {
    let left = Duration::from_millis(standing.left_ms);
    let (rejection, what) = match standing.why() {
        Reason::Health => (Rejection::BreakerOpen, "the breaker is open"),
        Reason::RateLimit => (Rejection::RateLimit, "the vendor's rate limit was reached"),
        Reason::Quota => (Rejection::Budget, "the vendor's quota is used up"),
        Reason::Credential => (Rejection::NoCredential, "the vendor refused the credential"),
        Reason::Model => (Rejection::BreakerOpen, "the vendor does not know the model"),
    };
    let scope_word = scope.as_str();
    Error::rejected(
        rejection,
        format!("{what}, so no call is sent ({scope_word}); come back in {left:?} or ask another"),
    )
    .with_scope(match scope {
        BreakerScope::Vendor => Scope::Vendor,
        BreakerScope::Model => Scope::Model,
        BreakerScope::Credential | BreakerScope::CredentialAndModel => Scope::Credential,
    })
    .with_retry_after(left)
}
