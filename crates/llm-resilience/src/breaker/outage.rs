//! A store that fails: calls pass, it is told once, and not every call waits to find out the same.

use super::decision::BreakerReply;
use super::keys::BreakerKeys;
use crate::store::StoreError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After a failure the store is left alone for this long. Each question to a store that is silent takes its whole
/// timeout, and every call asks.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether the store failed when it was last asked.
#[derive(Debug, Default)]
pub(super) struct Outage {
    is_down: AtomicBool,
    ask_again_at: Mutex<Option<Instant>>,
}

impl Outage {
    /// Would it be asked in vain?
    pub(super) fn holds(&self, now: Instant) -> bool {
        if !self.is_down.load(Ordering::Acquire) {
            return false;
        }
        let again = self.ask_again_at.lock().unwrap_or_else(PoisonError::into_inner);
        again.is_some_and(|again| now < again)
    }

    /// Notes what came of asking.
    pub(super) fn note(
        &self,
        now: Instant,
        keys: &BreakerKeys,
        decided: Result<BreakerReply, StoreError>,
    ) -> Option<BreakerReply> {
        let stack = keys.stack();
        match decided {
            Ok(reply) => {
                if self.is_down.swap(false, Ordering::AcqRel) {
                    tracing::info!(stack, "the breaker's store answers again");
                }
                Some(reply)
            }
            Err(error) => {
                *self.ask_again_at.lock().unwrap_or_else(PoisonError::into_inner) = now.checked_add(PAUSE);
                if self.is_down.swap(true, Ordering::AcqRel) {
                    tracing::debug!(stack, %error, "the breaker's store still fails");
                } else {
                    tracing::warn!(stack, %error, "the breaker's store fails: calls pass as if it were closed");
                }
                None
            }
        }
    }
}
