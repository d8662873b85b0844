//! The stream of an answer's events: reads the body, and lets the answer say what it means.

use super::answer::Answer;
use super::reading::Answered;
use crate::deadline::{bound_body, require_runtime};
use crate::transport::Body;
use bytes::Bytes;
use futures_core::Stream;
use llm_core::{CallContext, ChatEvent, ChatStream, Error, Framing, RawFrame, Result};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// How long the end of a body is waited for once the answer is complete, so that its connection can be used
/// again. Usually it is there already.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// How much of what follows a complete answer is read for the same purpose.
const DRAIN_BYTES: usize = 16 * 1024;

/// How long an answer whose finish reason was seen may be silent before its end: what follows (usage, the end mark)
/// comes at once where it comes at all, and a server that holds the connection open must not hold the answer.
const TAIL_TIME: Duration = Duration::from_secs(5);

pub(super) struct Events {
    cx: CallContext,
    answer: Answer,
    /// Absent once its end came or is no longer waited for.
    body: Option<Body>,
    /// How much was read after the end; set once the body is being drained.
    drained: Option<usize>,
    /// Runs while a complete answer waits for its end.
    tail: Option<Pin<Box<Sleep>>>,
    /// What came and is handed out as it came, where the call keeps it: once the stream has started.
    kept: VecDeque<Bytes>,
    started: bool,
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
            tail: None,
            kept: VecDeque::new(),
            started: false,
        };
        ChatStream::new(meta, events)
    }

    /// The next piece of the body, or that it is no longer waited for.
    fn poll_body(&mut self, task: &mut Context<'_>) -> Poll<Read> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(Read::End);
        };
        if let Poll::Ready(piece) = Pin::new(body).poll_next(task) {
            self.tail = None;
            return Poll::Ready(match piece {
                Some(Ok(piece)) => Read::Piece(piece),
                Some(Err(error)) => Read::Broken(error),
                None => Read::End,
            });
        }
        // Outside of a runtime there is no timer: then the end is waited for.
        if !self.answer.is_complete() || require_runtime().is_err() {
            return Poll::Pending;
        }
        let tail = self.tail.get_or_insert_with(|| Box::pin(sleep(TAIL_TIME)));
        tail.as_mut().poll(task).map(|()| Read::Silent)
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
            if let Some(bytes) = events.started.then(|| events.kept.pop_front()).flatten() {
                return Poll::Ready(Some(Ok(ChatEvent::Raw(RawFrame::new(bytes, false)))));
            }
            if let Some(event) = events.answer.next() {
                events.started |= matches!(event, Ok(ChatEvent::Start(_)));
                return Poll::Ready(Some(event));
            }
            if events.answer.is_over() {
                ready!(events.poll_drained(task));
                return Poll::Ready(None);
            }
            match ready!(events.poll_body(task)) {
                Read::Piece(piece) => {
                    if events.cx.keeps_raw() {
                        events.kept.push_back(piece.clone());
                    }
                    events.answer.push(&piece);
                    if events.answer.has_failed() {
                        events.body = None;
                    } else if events.answer.is_over() {
                        // Now already: whoever stops reading at the finish frees the connection too.
                        let _ = events.poll_drained(task);
                    }
                }
                Read::Broken(error) => {
                    events.body = None;
                    events.answer.broke(error);
                }
                Read::Silent => {
                    events.body = None;
                    events
                        .answer
                        .without_tail("the server fell silent after the finish reason");
                }
                Read::End => {
                    events.body = None;
                    events.answer.end();
                }
            }
        }
    }
}

/// What the body gives.
enum Read {
    Piece(Bytes),
    Broken(Error),
    /// Nothing more for a while, and the answer is complete.
    Silent,
    End,
}
