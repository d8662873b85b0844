//! A stream whose waits are bounded.

use super::TimeoutPolicy;
use super::limit::{Limit, earliest};
use crate::clock::Alarm;
use futures_core::Stream;
use llm_core::{CallContext, ChatEvent, Clock, Error, Phase, Result, VendorFacts};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

type Events = Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>;

/// Passes events through until one takes too long.
pub(super) struct Limited {
    /// Absent after the end: a connection is closed as soon as nobody wants it.
    events: Option<Events>,
    clock: Arc<dyn Clock>,
    /// Whose call it is, for an error.
    facts: VendorFacts,
    deadline: Option<Instant>,
    /// Absent as soon as it is kept.
    first_event: Option<(Limit, Instant)>,
    /// Absent as soon as it is kept.
    first_content: Option<(Limit, Instant)>,
    idle: Option<Duration>,
    content_seen: bool,
    finished: bool,
    /// Since when the reader waits for the present event. Time between two reads is the reader's own.
    waiting_since: Option<Instant>,
    alarm: Alarm,
}

impl Limited {
    pub(super) fn new(
        policy: &TimeoutPolicy,
        cx: &CallContext,
        facts: VendorFacts,
        started: Instant,
        events: Events,
    ) -> Self {
        // A limit beyond what an instant holds is none.
        let until = |limit: Option<Duration>, name: fn(Duration) -> Limit| {
            limit.and_then(|limit| Some((name(limit), started.checked_add(limit)?)))
        };
        Limited {
            events: Some(events),
            clock: Arc::clone(cx.clock()),
            facts,
            deadline: cx.deadline(),
            first_event: until(policy.first_event, Limit::FirstEvent),
            first_content: until(policy.first_content, Limit::FirstContent),
            idle: policy.idle,
            content_seen: false,
            finished: false,
            waiting_since: None,
            alarm: Alarm::default(),
        }
    }

    /// An event came: which limits has it kept?
    fn note(&mut self, event: &ChatEvent) {
        self.waiting_since = None;
        if !matches!(event, ChatEvent::KeepAlive) {
            self.first_event = None;
        }
        if event.is_content() {
            self.content_seen = true;
            self.first_content = None;
        }
        self.finished |= matches!(event, ChatEvent::Finish { .. });
    }

    /// Nothing came: which limit passes next?
    fn next_limit(&self, waiting_since: Instant) -> Option<(Limit, Instant)> {
        let deadline = self.deadline.map(|deadline| (Limit::Deadline, deadline));
        let idle = match (self.first_event, self.idle) {
            // Before the first event there is no gap yet.
            (Some(_), _) | (_, None) => None,
            (None, Some(idle)) => waiting_since.checked_add(idle).map(|at| (Limit::Idle(idle), at)),
        };
        earliest([deadline, self.first_event, self.first_content, idle])
    }

    fn poll_limits(&mut self, task: &mut Context<'_>) -> Poll<Limit> {
        loop {
            let now = self.clock.now();
            let since = *self.waiting_since.get_or_insert(now);
            let Some((limit, at)) = self.next_limit(since) else {
                return Poll::Pending;
            };
            if at <= now {
                return Poll::Ready(limit);
            }
            ready!(self.alarm.poll_at(now, at, task));
        }
    }

    fn passed(&mut self, limit: Limit) -> Option<Result<ChatEvent>> {
        self.events = None;
        if self.finished {
            // The answer is complete, only the stream does not end. Nothing may follow a finish.
            return None;
        }
        let phase = if self.content_seen {
            Phase::Streaming
        } else {
            Phase::Sent
        };
        let error: Error = limit.passed(phase).with_vendor(self.facts.clone());
        Some(Err(error))
    }
}

impl Stream for Limited {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(events) = &mut this.events else {
            return Poll::Ready(None);
        };
        match events.as_mut().poll_next(task) {
            Poll::Ready(Some(Ok(event))) => {
                this.note(&event);
                // A vendor that never pauses must not outlive the deadline either; a finish that is there is not
                // thrown away.
                let late = this.deadline.is_some_and(|deadline| deadline < this.clock.now());
                if late && !this.finished {
                    return Poll::Ready(this.passed(Limit::Deadline));
                }
                Poll::Ready(Some(Ok(event)))
            }
            Poll::Ready(end) => {
                this.events = None;
                Poll::Ready(end)
            }
            Poll::Pending => {
                let limit = ready!(this.poll_limits(task));
                Poll::Ready(this.passed(limit))
            }
        }
    }
}
