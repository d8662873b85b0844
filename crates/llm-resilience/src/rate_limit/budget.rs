//! One budget: its window, who waits for it, and the shared store behind it, if there is one.

mod room;

use super::config::{RateLimitPolicy, StoreFailurePolicy};
use super::estimate::TokenEstimate;
use super::lease::Lease;
use super::pace::Pace;
use super::queue::Ticket;
use super::refusal::Refusal;
use super::settle::Settler;
use super::store::{Amount, LimitReason, Limits, Settlement, micros};
use super::window::{Micros, VendorSays};
use crate::clock;
use llm_core::estimate::TokenDemand;
use llm_core::{CallContext, Clock, Error, Usage};
use room::{Answer, State};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Somebody else may have given room back, of which a store tells nobody: after so long the first of the queue
/// asks again, although the store said that it takes longer.
const ASK_AGAIN: Micros = 1_000_000;

/// A budget. Calls hold it in an `Arc`, so that a lease finds its way back.
#[derive(Debug)]
pub(super) struct Budget {
    name: String,
    limits: Limits,
    max_wait: Option<Duration>,
    max_queue: usize,
    assumed_output: u64,
    pace: Option<Pace>,
    shared: Option<Shared>,
    /// The clock of the first call, and where time is counted from: its moment.
    time: OnceLock<(Arc<dyn Clock>, Instant)>,
    state: Mutex<State>,
}

/// What stands behind a budget that other processes use as well.
#[derive(Debug)]
struct Shared {
    settler: Arc<Settler>,
    /// What this process may use by itself when the store is down; absent: nothing.
    share: Option<Limits>,
}

/// What an admitted call holds of its budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grant {
    pub(super) amount: Amount,
    /// In the local window.
    pub(super) local: Micros,
    /// In the store, where that decided.
    pub(super) store: Option<u64>,
}

impl Budget {
    pub(super) fn new(name: String, policy: &RateLimitPolicy, settler: Option<Arc<Settler>>) -> Self {
        let limits = policy.limits();
        let window = Duration::from_micros(limits.window);
        let pace = |burst| Pace::new(burst, limits.requests?, window);
        Budget {
            name,
            limits,
            max_wait: policy.max_wait,
            max_queue: usize::try_from(policy.max_queue).unwrap_or(usize::MAX),
            assumed_output: u64::from(policy.assumed_output_tokens),
            pace: policy.smooth.and_then(pace),
            shared: settler.map(|settler| Shared {
                settler,
                share: match policy.when_store_fails {
                    StoreFailurePolicy::Closed => None,
                    StoreFailurePolicy::LocalShare(of) => Some(limits.share(u64::from(of))),
                },
            }),
            time: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Waits for room as long as the call may, and takes it.
    ///
    /// Dropping the future leaves the queue. One that a store was just asked for may lose what was granted in the
    /// same moment; the store has it back when it leaves the window.
    pub(super) async fn acquire(
        self: &Arc<Self>,
        cx: &CallContext,
        demand: &TokenDemand,
    ) -> Result<Lease, Error> {
        cx.check_deadline()?;
        let amount = self.amount(demand, cx.extensions().find());
        if let Err(reason) = self.limits.fits(amount) {
            return Err(self.too_large(reason, amount).into_error());
        }
        let own = cx.max_queue_wait().or(self.max_wait);
        let allowed = [own, cx.remaining()].into_iter().flatten().min();
        let grant = match self.try_at_once(cx, amount).await? {
            Answer::Granted(grant) => grant,
            Answer::Wait { .. } => {
                let place = self.join(cx.clock(), amount, allowed)?;
                self.wait(cx, amount, place).await?
            }
        };
        Ok(Lease::new(Arc::clone(self), cx, *demand, grant))
    }

    /// When there is room for the smallest call behind all that wait; `None`: now.
    pub(super) fn free_at(&self) -> Option<Instant> {
        // Nothing was admitted before the first call.
        let (clock, origin) = self.time.get()?;
        let mut state = self.lock();
        let now = self.now(clock);
        let (until, _) = self.planned(&mut state, now, Amount::new(1, 1), Micros::MAX)?;
        origin.checked_add(Duration::from_micros(until))
    }

    /// Puts what a call used in the place of what it reserved, here and in the store.
    pub(super) fn settle(
        self: &Arc<Self>,
        clock: &Arc<dyn Clock>,
        grant: &Grant,
        used: Amount,
        vendor: impl FnOnce(Settlement) -> Settlement,
    ) {
        let settlement = vendor(Settlement::new(grant.local, grant.amount, used));
        if settlement.is_idle() {
            return;
        }
        {
            let mut state = self.lock();
            let now = self.now(clock);
            state.window.settle(grant.local, grant.amount, used);
            let says = settlement.vendor_says();
            if says != VendorSays::default() {
                state.window.heed(now, &self.limits, &says);
            }
            state.queue.wake_first();
        }
        if let (Some(shared), Some(lease)) = (&self.shared, grant.store) {
            shared
                .settler
                .submit(Arc::clone(self), Settlement { lease, ..settlement });
        }
    }

    pub(super) fn learn(&self, demand: &TokenDemand, usage: &Usage) {
        self.lock().estimator.learn(demand, usage);
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// There may be room now that there was not before.
    pub(super) fn wake(&self) {
        let mut state = self.lock();
        state.store_says = None;
        state.queue.wake_first();
    }

    /// Is nothing in it that would be missed?
    pub(super) fn is_idle(&self) -> bool {
        let Some((clock, _)) = self.time.get() else {
            return true;
        };
        let mut state = self.lock();
        let now = self.now(clock);
        state.queue.is_empty() && state.window.is_empty(now, &self.limits)
    }

    fn amount(&self, demand: &TokenDemand, known: Option<&TokenEstimate>) -> Amount {
        let tokens = match self.limits.tokens {
            Some(_) => known.map_or_else(
                || self.lock().estimator.total(demand, self.assumed_output),
                |known| known.tokens,
            ),
            None => 0,
        };
        Amount::new(1, tokens)
    }

    fn too_large(&self, reason: LimitReason, amount: Amount) -> Refusal {
        let (needs, limit) = match reason {
            LimitReason::Tokens => (amount.tokens, self.limits.tokens),
            LimitReason::Requests | LimitReason::Vendor => (amount.requests, self.limits.requests),
        };
        Refusal::TooLarge {
            reason,
            needs,
            limit: limit.unwrap_or_default(),
        }
    }

    // Who asks a store finds its answer after the fact: calls that come in the same moment may pass each other
    // there, as they may on the way to the vendor. In the queue nobody is passed.
    async fn try_at_once(&self, cx: &CallContext, amount: Amount) -> Result<Answer, Error> {
        if let Some(shared) = &self.shared {
            if self.lock().queue.is_empty() {
                return self.ask_store(shared, cx, amount).await;
            }
            return Ok(Answer::Wait {
                until: 0,
                reason: LimitReason::Requests,
            });
        }
        let mut state = self.lock();
        let now = self.now(cx.clock());
        if state.queue.is_empty() {
            return Ok(self.ask_window(&mut state, now, amount));
        }
        Ok(Answer::Wait {
            until: 0,
            reason: LimitReason::Requests,
        })
    }

    /// Takes the last place in the queue, unless waiting there is known to be of no use.
    fn join<'a>(
        &'a self,
        clock: &Arc<dyn Clock>,
        amount: Amount,
        allowed: Option<Duration>,
    ) -> Result<Place<'a>, Error> {
        let mut state = self.lock();
        let now = self.now(clock);
        let longest = allowed.map_or(Micros::MAX, |allowed| now.saturating_add(micros(allowed)));
        let planned = self.planned(&mut state, now, amount, longest);
        // There may be room by now: then the first look at it finds it.
        let (until, reason) = planned.unwrap_or((now, LimitReason::Requests));
        let free_in = Duration::from_micros(until.saturating_sub(now));
        if until > longest {
            return Err(Refusal::NoRoom { reason, free_in }.into_error());
        }
        if state.queue.len() >= self.max_queue {
            return Err(Refusal::QueueFull { free_in }.into_error());
        }
        let (ticket, wake) = state.queue.join(amount);
        Ok(Place {
            budget: self,
            ticket,
            wake,
            until,
            reason,
            longest,
        })
    }

    async fn wait(&self, cx: &CallContext, amount: Amount, mut place: Place<'_>) -> Result<Grant, Error> {
        let clock = cx.clock();
        loop {
            let first = self.lock().queue.is_first(place.ticket);
            if first {
                match self.try_first(cx, amount, place.ticket).await? {
                    Answer::Granted(grant) => return Ok(grant),
                    Answer::Wait { until, reason } => (place.until, place.reason) = (until, reason),
                }
            }
            let now = self.now(clock);
            if place.longest <= now {
                return Err(self.too_late(cx, &place, now));
            }
            let next = match (first, &self.shared) {
                (false, _) => place.longest,
                (true, None) => place.until,
                (true, Some(_)) => place.until.min(now.saturating_add(ASK_AGAIN)),
            };
            // Never before the moment itself: a timer that counts in whole milliseconds comes after it.
            let sleep = Duration::from_micros(next.min(place.longest).saturating_sub(now));
            clock::within(sleep, place.wake.notified()).await;
        }
    }

    fn too_late(&self, cx: &CallContext, place: &Place<'_>, now: Micros) -> Error {
        if cx.remaining() == Some(Duration::ZERO) {
            let message =
                "the call's deadline passed while it waited for its turn at a rate limit; allow more time";
            return Error::deadline(message);
        }
        let free_in = Duration::from_micros(place.until.saturating_sub(now));
        let reason = place.reason;
        Refusal::NoRoom { reason, free_in }.into_error()
    }

    /// The first of the queue looks for room; admitted, it leaves in the same step.
    async fn try_first(&self, cx: &CallContext, amount: Amount, ticket: Ticket) -> Result<Answer, Error> {
        if let Some(shared) = &self.shared {
            let answer = self.ask_store(shared, cx, amount).await?;
            if let Answer::Granted(_) = answer {
                self.lock().queue.leave(ticket);
            }
            return Ok(answer);
        }
        let mut state = self.lock();
        let now = self.now(cx.clock());
        let answer = self.ask_window(&mut state, now, amount);
        if let Answer::Granted(_) = answer {
            state.queue.leave(ticket);
        }
        Ok(answer)
    }

    fn now(&self, clock: &Arc<dyn Clock>) -> Micros {
        let now = clock.now();
        let (_, origin) = self.time.get_or_init(|| (Arc::clone(clock), now));
        micros(now.saturating_duration_since(*origin))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue. Dropping it, for whatever reason, lets the next one move up.
struct Place<'a> {
    budget: &'a Budget,
    ticket: Ticket,
    wake: Arc<Notify>,
    /// When there may be room, as it was seen last.
    until: Micros,
    reason: LimitReason,
    /// How long the call may wait.
    longest: Micros,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.budget.lock().queue.leave(self.ticket);
    }
}
