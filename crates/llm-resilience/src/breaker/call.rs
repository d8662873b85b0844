//! One call, from when it was let in to its end, and what becomes of its place when nobody waits for it any more.

use super::decision::{Asked, BreakerScope, Report, Standing, Ticket};
use super::keys::BreakerKeys;
use super::state::Reason;
use super::{Shared, log};
use llm_core::{CallContext, Clock, Error, ErrorKind, Rejection, Result, Scope};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A call that was let in. Dropped before its end, it gives back the place that it takes as a probe, and tells of the
/// vendor's timeout if it was dropped for that.
pub(super) struct Call {
    shared: Arc<Shared>,
    keys: BreakerKeys,
    clock: Arc<dyn Clock>,
    /// Absent when the store was down: then nobody knows how it was let in, and its end says nothing.
    ticket: Option<Ticket>,
    /// Only while the vendor is waited for.
    limit: Option<Limit>,
}

/// When a router drops an attempt that has shown nothing.
struct Limit {
    at: Instant,
    /// There was content, and the limit is met.
    is_met: Arc<AtomicBool>,
}

impl Call {
    /// Lets a call in, or refuses it. `is_new`: nobody has asked yet with this credential as it is set up now.
    pub(super) async fn enter(
        shared: &Arc<Shared>,
        cx: &CallContext,
        keys: BreakerKeys,
        is_new: &AtomicBool,
    ) -> Result<Call> {
        Call::settle(shared, cx).await;
        let id = new_id();
        let mut call = Call {
            shared: Arc::clone(shared),
            keys,
            clock: Arc::clone(cx.clock()),
            // Dropped while it asks, it may take a place all the same.
            ticket: Some(Ticket::asking(id)),
            limit: None,
        };
        let asked = match is_new.load(Ordering::Acquire) {
            true => Asked::MayPassAnew(id),
            false => Asked::MayPass(id),
        };
        let reply = shared.decide(&call.keys, asked, cx.clock(), cx.remaining());
        let Some(reply) = reply.await else {
            // It may have been let in before the store failed; whoever asks next gives back what it took.
            call.give_back();
            return Ok(call);
        };
        is_new.store(false, Ordering::Release);
        call.ticket = reply.passed.then_some(reply.ticket);
        call.limit = cx.attempt_limit().map(|at| Limit {
            at,
            is_met: Arc::default(),
        });
        match reply.refusal() {
            Some((scope, standing)) => Err(refusal(scope, standing)),
            None => Ok(call),
        }
    }

    /// What to set when there is content; nothing, when nobody waits for it.
    pub(super) fn content_mark(&self) -> Option<Arc<AtomicBool>> {
        self.limit.as_ref().map(|limit| Arc::clone(&limit.is_met))
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
        self.limit = None;
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

    /// Tells the store of what was dropped without waiting, and not of any number: others wait to ask.
    async fn settle(shared: &Arc<Shared>, cx: &CallContext) {
        for _ in 0..MOST_TOLD_AT_ONCE {
            if shared.outage.holds(cx.clock().now()) {
                return;
            }
            let Some(GivenUp { keys, ticket, report }) = shared.given_back.pop() else {
                return;
            };
            let dropped = Call {
                shared: Arc::clone(shared),
                keys,
                clock: Arc::clone(cx.clock()),
                ticket: Some(ticket),
                limit: None,
            };
            // Its place is given back once more, if this call is itself dropped here.
            dropped.tell(report, cx.remaining()).await;
        }
    }
}

impl Call {
    /// Gives back the place that it takes, if any, and tells what being dropped says, without waiting.
    fn give_back(&mut self) {
        let Some(ticket) = self.ticket.take() else {
            return;
        };
        let now = self.clock.now();
        let is_late = |limit: &Limit| now >= limit.at && !limit.is_met.load(Ordering::Acquire);
        let report = match self.limit.take().filter(is_late) {
            Some(_) => Report::of_error(&self.shared.policy, &too_slow()),
            None => Report::default(),
        };
        if report.says_nothing() && !ticket.is_probe() {
            return;
        }
        let question = self.shared.question(Asked::Ended(&ticket, &report));
        match self.shared.store.decide_at_once(&self.keys, &question, now) {
            Some(reply) => {
                for change in self.shared.view.note(&self.keys, &reply, &self.clock) {
                    log(&self.keys, change);
                }
            }
            None => self.shared.given_back.push(GivenUp {
                keys: self.keys.clone(),
                ticket,
                report,
            }),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// So many dropped calls wait to be told. What does not find room says nothing, and its place heals when its lease ends.
const MOST_WAITING: usize = 1_024;

/// So many of them a call tells of, before it asks for itself.
const MOST_TOLD_AT_ONCE: usize = 32;

/// Dropped calls that a shared store has not been told of: nothing can be waited for in a drop. The next calls through
/// the layer tell it, before they ask for themselves.
#[derive(Debug, Default)]
pub(super) struct GivenBack {
    count: AtomicUsize,
    waiting: Mutex<VecDeque<GivenUp>>,
}

/// A call that was dropped, and what that says.
#[derive(Debug)]
pub(super) struct GivenUp {
    keys: BreakerKeys,
    ticket: Ticket,
    report: Report,
}

impl GivenBack {
    fn push(&self, given_up: GivenUp) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_WAITING {
            waiting.push_back(given_up);
        }
        self.count.store(waiting.len(), Ordering::Release);
    }

    fn pop(&self) -> Option<GivenUp> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = waiting.pop_front();
        self.count.store(waiting.len(), Ordering::Release);
        next
    }
}

/// What a router says of an attempt that it dropped at its limit.
fn too_slow() -> Error {
    Error::new(ErrorKind::Timeout, "no content within the time of the attempt").with_scope(Scope::Vendor)
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
