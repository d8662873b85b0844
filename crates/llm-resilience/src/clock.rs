//! The one place of this crate that waits for the time. What time it *is*, every call's own clock says.
//!
//! Waits run on tokio's timer and lengths are measured on the call's clock, so both follow tokio's time where
//! the clock does (the system's clock of `llm-http` and the test kit's both do): a paused runtime pauses all
//! of it. A clock that goes its own way still gets right decisions, only later or earlier wake-ups.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// Waits this long.
pub(crate) async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// What the future gives, or `None` when it takes longer than this. What is ready in the same instant wins
/// over the limit: a result that is there is never thrown away.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, future).await.ok()
}

/// A timer that is set again and again. Asking it costs a registration only when the moment comes nearer.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    set: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Alarm {
    /// Ready when `at` may have come: the caller asks its clock then, and calls again if it has not.
    pub(crate) fn poll_at(&mut self, now: Instant, at: Instant, task: &mut Context<'_>) -> Poll<()> {
        let wait = at.saturating_duration_since(now);
        match &mut self.set {
            // An alarm for an earlier moment stays: it goes off too early at most once, which is cheaper than
            // setting it anew for each event of a stream.
            Some((set_for, _)) if *set_for <= at => {}
            Some((set_for, sleep)) => {
                sleep.set(tokio::time::sleep(wait));
                *set_for = at;
            }
            None => self.set = Some((at, Box::pin(tokio::time::sleep(wait)))),
        }
        let Some((_, sleep)) = &mut self.set else {
            return Poll::Pending;
        };
        let woken = sleep.as_mut().poll(task);
        if woken.is_ready() {
            self.set = None;
        }
        woken
    }
}
