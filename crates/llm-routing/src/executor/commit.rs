//! Streams up to their commit point and after it.

use super::log;
use super::response::{Doubt, Doubted, ResponseCheck};
use super::{Observers, Served};
use crate::decision::PlannedCandidate;
use crate::metrics::CallInFlight;
use futures_core::Stream;
use llm_core::{
    Attempt, CallContext, ChatDriver, ChatEvent, ChatRequest, ChatStream, Error, ErrorKind, Phase,
    RateLimitSnapshot, Result, Usage,
};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A stream at its commit point.
#[derive(Debug)]
pub(super) struct Opened {
    /// What came up to and including the committing event.
    held: VecDeque<ChatEvent>,
    rest: ChatStream,
}

impl Opened {
    /// Did it finish without any content, where that is no answer?
    pub(super) fn doubt(&self, check: &ResponseCheck) -> Option<Doubted> {
        let is_empty = !self.held.iter().any(ChatEvent::is_content);
        let usage = self.held.iter().rev().find_map(|event| match event {
            ChatEvent::Finish { usage, .. } => Some(*usage),
            _ => None,
        });
        let stated = self.held.iter().find_map(|event| match event {
            ChatEvent::Start(meta) => meta.rate_limits.clone(),
            _ => None,
        });
        Some(Doubted {
            doubt: check.doubt_opened(is_empty)?,
            usage: usage.unwrap_or_default(),
            limits: stated.or_else(|| self.rest.meta().rate_limits.clone()),
            attempts: self.rest.attempts().to_vec(),
        })
    }
}

/// Asks for a stream and reads it to its commit point: the first event with content, or the finish of an
/// answer without any.
///
/// What fails before that is this attempt's failure, whether it came as the call's error or in the stream.
pub(super) async fn open(stack: &dyn ChatDriver, cx: &CallContext, request: &ChatRequest) -> Result<Opened> {
    let mut rest = stack.chat_stream(cx, request).await?;
    let mut held = VecDeque::new();
    while let Some(event) = rest.next_event().await {
        match event? {
            // it proves life to whoever waits, and nobody does yet
            ChatEvent::KeepAlive => {}
            event => {
                let commits = event.is_content() || matches!(event, ChatEvent::Finish { .. });
                held.push_back(event);
                if commits {
                    return Ok(Opened { held, rest });
                }
            }
        }
    }
    let message = "the stream ended before its finish and without an error";
    Err(Error::new(ErrorKind::Interrupted, message).with_phase(Phase::Sent))
}

/// The rest of a committed stream. Failures go to the caller: nothing is replayed.
pub(super) struct Committed {
    held: VecDeque<ChatEvent>,
    rest: Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>,
    /// Absent once the end was seen.
    end: Option<End>,
}

/// What is needed to report how it ended.
struct End {
    cx: CallContext,
    observers: Observers,
    planned: PlannedCandidate,
    /// What was tried, the attempt that serves included, as its last.
    attempts: Vec<Attempt>,
    /// How many of these came before this candidate.
    earlier: usize,
    elapsed: Duration,
    committed_at: Instant,
    call: Option<CallInFlight>,
    /// What was used so far, and what the headers said of limits.
    usage: Usage,
    /// Has the answer ended, though nobody has read that far?
    finished: bool,
    limits: Option<Box<RateLimitSnapshot>>,
    doubt: Option<Doubt>,
}

impl Committed {
    pub(super) fn stream(served: Served<'_, Opened>, observers: Observers, cx: CallContext) -> ChatStream {
        let Served {
            value: Opened { held, rest },
            candidate,
            elapsed,
            mut attempts,
            call,
            doubt,
            mut later,
            ..
        } = served;
        let earlier = attempts.len();
        log::add_served(&mut attempts, candidate, elapsed, rest.attempts().to_vec());
        attempts.append(&mut later);
        let committed_at = cx.clock().now();
        let (mut usage, mut finished) = (Usage::default(), false);
        for event in &held {
            match event {
                ChatEvent::Usage(used) => usage = *used,
                ChatEvent::Finish { usage: used, .. } => (usage, finished) = (*used, true),
                _ => {}
            }
        }
        let end = End {
            cx,
            observers,
            planned: candidate.clone(),
            attempts: attempts.clone(),
            earlier,
            elapsed,
            committed_at,
            call,
            usage,
            finished,
            limits: rest.meta().rate_limits.clone(),
            doubt,
        };
        rest.map_events(|rest| Committed {
            held,
            rest,
            end: Some(end),
        })
        .with_attempts(attempts)
    }

    fn pass(&mut self, event: ChatEvent) -> Poll<Option<Result<ChatEvent>>> {
        match (&event, &mut self.end) {
            (ChatEvent::Start(meta), Some(end)) => end.limits = meta.rate_limits.clone(),
            (ChatEvent::Usage(usage), Some(end)) => end.usage = *usage,
            _ => {}
        }
        if let ChatEvent::Finish { usage, .. } = &event
            && let Some(mut end) = self.end.take()
        {
            let warning = end.doubt.take().map(|doubt| ChatEvent::Warning(doubt.warning()));
            end.served(usage);
            if let Some(warning) = warning {
                self.held.push_front(event);
                return Poll::Ready(Some(Ok(warning)));
            }
        }
        Poll::Ready(Some(Ok(event)))
    }
}

impl End {
    fn served(mut self, usage: &Usage) {
        if let Some(call) = self.call.take() {
            let now = self.cx.clock().now();
            call.succeeded(self.committed_at, now, usage, self.limits.as_deref());
        }
        let (cx, planned, elapsed) = (&self.cx, &self.planned, self.elapsed);
        self.observers
            .tell(|observer| observer.on_served(cx, planned, elapsed));
    }

    /// An error in the stream, with what was tried, this attempt included.
    fn interrupted(mut self, error: Error) -> Error {
        let since_commit = self.cx.clock().now().saturating_duration_since(self.committed_at);
        let error = error.with_phase(Phase::Streaming);
        if let Some(call) = self.call.take() {
            let now = self.cx.clock().now();
            call.used(&self.usage, self.limits.as_deref(), now);
            call.failed(&error, now);
        }
        if error.attempts().is_empty() {
            // its last try did not serve after all
            self.attempts.pop();
        } else {
            // the stack's own log knows how it went on
            self.attempts.truncate(self.earlier);
        }
        log::add_failed(
            &mut self.attempts,
            &self.planned,
            &error,
            self.elapsed + since_commit,
        );
        let error = error.with_attempts(std::mem::take(&mut self.attempts));
        let (cx, planned) = (&self.cx, &self.planned);
        self.observers
            .tell(|observer| observer.on_interrupted(cx, planned, &error));
        error
    }
}

impl Drop for End {
    /// The caller has left: what was used until then was used all the same.
    fn drop(&mut self) {
        let (now, limits) = (self.cx.clock().now(), self.limits.as_deref());
        match self.call.take() {
            Some(call) if self.finished => call.succeeded(self.committed_at, now, &self.usage, limits),
            Some(call) => call.used(&self.usage, limits, now),
            None => {}
        }
    }
}

impl Stream for Committed {
    type Item = Result<ChatEvent>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(event) = self.held.pop_front() {
            return self.pass(event);
        }
        if self.end.is_none() {
            return Poll::Ready(None);
        }
        match self.rest.as_mut().poll_next(task) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(event))) => self.pass(event),
            Poll::Ready(Some(Err(error))) => {
                let error = match self.end.take() {
                    Some(end) => end.interrupted(error),
                    None => error,
                };
                Poll::Ready(Some(Err(error)))
            }
            // A stream says why it ended; one that does not was cut off.
            Poll::Ready(None) => Poll::Ready(self.end.take().map(|end| {
                let message = "the stream ended without saying why; the answer is cut off";
                Err(end.interrupted(Error::new(ErrorKind::Interrupted, message)))
            })),
        }
    }
}

impl fmt::Debug for Committed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committed")
            .field("held", &self.held.len())
            .field("over", &self.end.is_none())
            .finish_non_exhaustive()
    }
}
