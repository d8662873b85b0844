//! What this process's own decisions last saw: for questions that must cost nothing, and for the log.

use super::decision::{BreakerReply, BreakerScope, Standing};
use super::keys::{BreakerKeys, Place};
use super::state::{BreakerState, Reason};
use llm_core::{Availability, Clock, UnavailableReason};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many records that are not simply closed are remembered.
const MOST_SEEN: usize = 4_096;

/// What was seen last, of records that are not simply closed. It is as old as the last decision of this process about
/// the target, and what it says of an end passes with that end: so it is wrong for one open period at most.
#[derive(Debug, Default)]
pub(super) struct View {
    /// How many there are: mostly none, and then nothing is locked.
    count: AtomicUsize,
    seen: Mutex<HashMap<(Arc<str>, Place), Seen>>,
}

#[derive(Debug, Clone)]
struct Seen {
    standing: Standing,
    until: Instant,
    /// The clock that `until` is of.
    clock: Arc<dyn Clock>,
}

/// A record that stands otherwise than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) scope: BreakerScope,
    pub(super) before: BreakerState,
    pub(super) standing: Standing,
}

impl View {
    /// Notes what a decision saw. Gives back what is new.
    pub(super) fn note(
        &self,
        keys: &BreakerKeys,
        reply: &BreakerReply,
        clock: &Arc<dyn Clock>,
    ) -> Vec<Change> {
        let calm = |standing: &Standing| standing.state == BreakerState::Closed && standing.left_ms == 0;
        if reply.standings.iter().all(calm) && self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let now = clock.now();
        let mut changes = Vec::new();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (scope, standing) in BreakerScope::ALL.into_iter().zip(reply.standings) {
            let key = (Arc::clone(keys.shared_stack()), keys.place(scope));
            let before = if calm(&standing) {
                seen.remove(&key)
            } else {
                if seen.len() >= MOST_SEEN && !seen.contains_key(&key) {
                    seen.retain(|_, seen| seen.until > seen.clock.now());
                    if seen.len() >= MOST_SEEN {
                        continue;
                    }
                }
                let left = Duration::from_millis(standing.left_ms);
                let now_seen = Seen {
                    standing,
                    until: now.checked_add(left).unwrap_or(now),
                    clock: Arc::clone(clock),
                };
                seen.insert(key, now_seen)
            };
            let before = before.map(|seen| seen.standing).unwrap_or_default();
            if before.state != standing.state || (before.reason == 0) != (standing.reason == 0) {
                changes.push(Change {
                    scope,
                    before: before.state,
                    standing,
                });
            }
        }
        self.count.store(seen.len(), Ordering::Release);
        changes
    }

    /// Forgets a target.
    pub(super) fn forget(&self, keys: &BreakerKeys) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for scope in BreakerScope::ALL {
            seen.remove(&(Arc::clone(keys.shared_stack()), keys.place(scope)));
        }
        self.count.store(seen.len(), Ordering::Release);
    }

    /// May a call pass, as far as is known here? That a credential was refused says nothing `anew`.
    pub(super) fn availability(
        &self,
        keys: &BreakerKeys,
        scopes: &[BreakerScope],
        anew: bool,
    ) -> Availability {
        let shut = |seen: Seen| match seen.is_shut() {
            true => Availability::unavailable(unavailable(seen.standing.why()), seen.until),
            false => Availability::Available,
        };
        let counts = |seen: &Seen| !(anew && seen.standing.why() == Reason::Credential);
        let seen = self.look(keys, scopes).into_iter().map(|(_, seen)| seen);
        let each = seen.filter(counts).map(shut);
        each.fold(Availability::Available, Availability::and)
    }

    /// Where the breaker stands, as far as is known here: the worst of the scopes.
    pub(super) fn state(&self, keys: &BreakerKeys) -> BreakerState {
        let states: Vec<BreakerState> = self
            .look(keys, &BreakerScope::ALL)
            .into_iter()
            .map(|(_, seen)| seen.state())
            .collect();
        [BreakerState::Open, BreakerState::HalfOpen]
            .into_iter()
            .find(|state| states.contains(state))
            .unwrap_or_default()
    }

    fn look(&self, keys: &BreakerKeys, scopes: &[BreakerScope]) -> Vec<(BreakerScope, Seen)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |scope: &BreakerScope| {
            let key = (Arc::clone(keys.shared_stack()), keys.place(*scope));
            seen.get(&key).map(|seen| (*scope, seen.clone()))
        };
        scopes.iter().filter_map(find).collect()
    }
}

impl Seen {
    fn is_shut(&self) -> bool {
        self.standing.left_ms > 0 && self.clock.now() < self.until
    }

    fn state(&self) -> BreakerState {
        match self.standing.state {
            BreakerState::HalfOpen => BreakerState::HalfOpen,
            _ if self.is_shut() => BreakerState::Open,
            // Its time is over: the next call is a probe.
            BreakerState::Open => BreakerState::HalfOpen,
            BreakerState::Closed => BreakerState::Closed,
        }
    }
}

fn unavailable(reason: Reason) -> UnavailableReason {
    match reason {
        Reason::Health => UnavailableReason::BreakerOpen,
        Reason::RateLimit => UnavailableReason::RateLimit,
        Reason::Quota => UnavailableReason::Quota,
        Reason::Credential => UnavailableReason::Credential,
        Reason::Model => UnavailableReason::Model,
    }
}
