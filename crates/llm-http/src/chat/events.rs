//! The stream of an answer's events: reads the body, and lets the answer say what it means.

use super::answer::Answer;
use super::reading::Answered;
use crate::deadline::bound_body;
use crate::transport::Body;
use futures_core::Stream;
use llm_core::{CallContext, ChatEvent, ChatStream, Framing, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// How long the end of a body is waited for once the answer is complete, so that its connection can be used
/// again. Usually it is there already.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// How much of what follows a complete answer is read for the same purpose.
const DRAIN_BYTES: usize = 16 * 1024;

pub(super) struct Events {
    cx: CallContext,
    answer: Answer,
    /// Absent once its end came or is no longer waited for.
    body: Option<Body>,
    /// How much was read after the end; set once the body is being drained.
    drained: Option<usize>,
}

impl Events {
    /// The answer to a call as a stream.
    pub(super) fn start(cx: &CallContext, call: Answered, framing: Framing, body: Body) -> ChatStream {
        let answer = Answer::new(call, framing);
        let meta = answer.meta();
        let events = Events {
            cx: cx.clone(),
            answer,
            body: Some(body),
            drained: None,
        };
        ChatStream::new(meta, events)
    }

    /// Reads what follows a complete answer, as far as it comes in time. `Pending`: it may still come.
    fn poll_drained(&mut self, task: &mut Context<'_>) -> Poll<()> {
        while let Some(mut body) = self.body.take() {
            let read = match self.drained {
                Some(read) => read,
                None => {
                    // Outside of a runtime there is no timer: then nothing is waited for.
                    let Ok(bounded) = bound_body(&self.cx.clone().with_timeout(DRAIN_TIME), body) else {
                        return Poll::Ready(());
                    };
                    body = bounded;
                    0
                }
            };
            match Pin::new(&mut body).poll_next(task) {
                Poll::Ready(Some(Ok(piece))) if read + piece.len() <= DRAIN_BYTES => {
                    self.drained = Some(read + piece.len());
                    self.body = Some(body);
                }
                Poll::Ready(_) => {}
                Poll::Pending => {
                    self.drained = Some(read);
                    self.body = Some(body);
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(())
    }
}

impl Stream for Events {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let events = &mut *self;
        loop {
            if let Some(event) = events.answer.next() {
                return Poll::Ready(Some(event));
            }
            if events.answer.is_over() {
                ready!(events.poll_drained(task));
                return Poll::Ready(None);
            }
            let Some(body) = &mut events.body else {
                return Poll::Ready(None);
            };
            match ready!(Pin::new(body).poll_next(task)) {
                Some(Ok(piece)) => {
                    events.answer.push(&piece);
                    if events.answer.has_failed() {
                        events.body = None;
                    } else if events.answer.is_over() {
                        // Now already: whoever stops reading at the finish frees the connection too.
                        let _ = events.poll_drained(task);
                    }
                }
                Some(Err(error)) => {
                    events.body = None;
                    events.answer.broke(error);
                }
                None => {
                    events.body = None;
                    events.answer.end();
                }
            }
        }
    }
}
