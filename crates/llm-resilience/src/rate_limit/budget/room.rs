//! Where a budget looks for room: in its own window, or in the store that others use as well.

use super::{Budget, Grant, Shared};
use crate::rate_limit::queue::Queue;
use crate::rate_limit::refusal::Refusal;
use crate::rate_limit::store::{Amount, LimitReason, Limits, Reserved, StoreFault, micros};
use crate::rate_limit::window::{Asked, Micros, Window};
use crate::store::{StoreError, StoreErrorKind};
use llm_core::estimate::TokenEstimator;
use llm_core::{CallContext, Error};
use std::time::Duration;

/// A store's word that there is room at once is not taken more often.
const SHORTEST_WAIT: Micros = 1_000;
/// A store that was down is left alone for so long by a limiter that can count by itself.
const LEAVE_ALONE: Micros = 1_000_000;

/// What changes of a budget, under its lock.
#[derive(Debug, Default)]
pub(super) struct State {
    /// What this process admitted. Without a store it decides; with one it is what the local share counts by.
    pub(super) window: Window,
    pub(super) queue: Queue,
    pub(super) estimator: TokenEstimator,
    /// What the store said last: no room before then.
    pub(super) store_says: Option<(Micros, LimitReason)>,
    /// The rhythm has no turn before then.
    pace_says: Micros,
    /// The store failed: it is not asked before then.
    store_alone_until: Micros,
    store_is_down: bool,
}

/// What asking for room gave.
pub(super) enum Answer {
    Granted(Grant),
    Wait { until: Micros, reason: LimitReason },
}

impl Budget {
    /// Asks what this process counts itself, by the limits or by its share of them.
    pub(super) fn ask_window(&self, state: &mut State, now: Micros, amount: Amount) -> Answer {
        let limits = self.own_limits(state, now);
        if let Some((until, reason)) = state.window.peek(now, &limits, amount) {
            return Answer::Wait { until, reason };
        }
        if let Some(wait) = self.take_turn(state, now) {
            return wait;
        }
        Answer::Granted(state.admit(now, &limits, amount, None))
    }

    /// Takes a turn in the rhythm; what comes back has to wait for one.
    fn take_turn(&self, state: &mut State, now: Micros) -> Option<Answer> {
        let wait = self.pace.as_ref()?.take(now).err()?;
        let until = now.saturating_add(micros_up(wait));
        state.pace_says = until;
        let reason = LimitReason::Requests;
        Some(Answer::Wait { until, reason })
    }

    pub(super) async fn ask_store(
        &self,
        shared: &Shared,
        cx: &CallContext,
        amount: Amount,
    ) -> Result<Answer, Error> {
        let clock = cx.clock();
        {
            let mut state = self.lock();
            let now = self.now(clock);
            if shared.share.is_some() && state.store_alone_until > now {
                self.fits_share(shared, amount, failed_lately)?;
                return Ok(self.ask_window(&mut state, now, amount));
            }
            if let Some(wait) = self.take_turn(&mut state, now) {
                return Ok(wait);
            }
        }
        let store = shared.settler.store();
        let answer = store
            .reserve(&self.name, &self.limits, amount, cx.remaining())
            .await;
        let mut state = self.lock();
        let now = self.now(clock);
        state.note_store(&self.name, answer.as_ref().err(), shared.share.is_some());
        match answer {
            Ok(Reserved::Granted { lease, .. }) => {
                state.store_says = None;
                Ok(Answer::Granted(state.admit(
                    now,
                    &self.limits,
                    amount,
                    Some(lease),
                )))
            }
            Ok(Reserved::Wait { wait, reason }) => {
                let until = now.saturating_add(micros_up(wait).max(SHORTEST_WAIT));
                state.store_says = Some((until, reason));
                Ok(Answer::Wait { until, reason })
            }
            Err(fault) => {
                state.store_alone_until = now.saturating_add(LEAVE_ALONE);
                let share = self.fits_share(shared, amount, || fault)?;
                // Its turn was taken already.
                Ok(match state.window.peek(now, &share, amount) {
                    Some((until, reason)) => Answer::Wait { until, reason },
                    None => Answer::Granted(state.admit(now, &share, amount, None)),
                })
            }
        }
    }

    /// What this process may count by itself while the store is down, if the call fits into that.
    fn fits_share(
        &self,
        shared: &Shared,
        amount: Amount,
        fault: impl FnOnce() -> StoreFault,
    ) -> Result<Limits, Error> {
        shared
            .share
            .filter(|share| share.fits(amount).is_ok())
            .ok_or_else(|| Refusal::Store(fault()).into_error())
    }

    /// When there is room behind all that wait, as far as this process sees it; `None`: now. Looks no further
    /// than `horizon`.
    pub(super) fn planned(
        &self,
        state: &mut State,
        now: Micros,
        amount: Amount,
        horizon: Micros,
    ) -> Option<(Micros, LimitReason)> {
        let limits = self.own_limits(state, now);
        let mut planned = state.store_says.filter(|(until, _)| *until > now);
        let mut later = |until: Micros, reason: LimitReason| {
            if until > now && planned.is_none_or(|(at, _)| at < until) {
                planned = Some((until, reason));
            }
        };
        let mut window = state.window.clone();
        let mut at = now;
        for ahead in state.queue.amounts().chain([amount]) {
            if let Asked::Wait { until, reason } = window.reserve(at, &limits, ahead) {
                at = until;
                later(until, reason);
                if at > horizon {
                    break;
                }
                window.reserve(at, &limits, ahead);
            }
        }
        if let Some(pace) = &self.pace {
            let turns = u64::try_from(state.queue.len()).unwrap_or(u64::MAX);
            let turns = micros(pace.interval()).saturating_mul(turns);
            later(
                state.pace_says.max(now).saturating_add(turns),
                LimitReason::Requests,
            );
        }
        planned
    }

    /// What this process counts by at the moment.
    fn own_limits(&self, state: &State, now: Micros) -> Limits {
        let share = self.shared.as_ref().and_then(|shared| shared.share);
        share
            .filter(|_| state.store_alone_until > now)
            .unwrap_or(self.limits)
    }
}

impl State {
    fn admit(&mut self, now: Micros, limits: &Limits, amount: Amount, store: Option<u64>) -> Grant {
        Grant {
            amount,
            local: self.window.record(now, limits, amount),
            store,
        }
    }

    /// Says once when a store goes down and once when it is back.
    fn note_store(&mut self, budget: &str, fault: Option<&StoreFault>, has_share: bool) {
        match fault {
            Some(fault) if !self.store_is_down => {
                let instead = if has_share {
                    "counting a local share"
                } else {
                    "refusing calls"
                };
                tracing::warn!(budget, %fault, "the rate limit's store failed: {instead}");
            }
            None if self.store_is_down => tracing::info!(budget, "the rate limit's store is back"),
            _ => {}
        }
        self.store_is_down = fault.is_some();
    }
}

fn failed_lately() -> StoreFault {
    StoreFault::Unavailable(StoreError::new(
        StoreErrorKind::Unreachable,
        "it failed a moment ago",
    ))
}

/// Whole microseconds, rounded up: who waits so long does not come too early.
fn micros_up(duration: Duration) -> Micros {
    u64::try_from(duration.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX)
}
