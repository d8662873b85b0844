//! Answers as they come: the stream, its events, their grammar, and folding them to a response.

mod collect;
mod event;
mod grammar;

use crate::chat::ResponseMeta;
use crate::error::{Attempt, Result};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use collect::{Collector, collect, events_of, replay};
pub use event::{BlockKind, ChatEvent, Delta, RawFrame};
pub use grammar::Grammar;

/// An answer as it comes. Dropping it stops the call and frees its connection.
///
/// The events follow the [`Grammar`]; after an error nothing follows.
#[must_use = "a stream does nothing until it is read"]
pub struct ChatStream {
    meta: ResponseMeta,
    attempts: Vec<Attempt>,
    inner: Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>,
}

impl ChatStream {
    /// From any stream of events, with what is known of the call so far.
    pub fn new(meta: ResponseMeta, events: impl Stream<Item = Result<ChatEvent>> + Send + 'static) -> Self {
        ChatStream {
            meta,
            attempts: Vec::new(),
            inner: Box::pin(events),
        }
    }

    /// What is known of the call now, before any event was read.
    pub fn meta(&self) -> &ResponseMeta {
        &self.meta
    }

    /// What was tried before and including this stream; empty where nobody kept a log.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// With a log of what was tried.
    pub fn with_attempts(mut self, attempts: Vec<Attempt>) -> Self {
        self.attempts = attempts;
        self
    }

    /// With the events passed through another stream; meta data and attempts stay.
    pub fn map_events<S>(
        self,
        map: impl FnOnce(Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>) -> S,
    ) -> Self
    where
        S: Stream<Item = Result<ChatEvent>> + Send + 'static,
    {
        ChatStream {
            meta: self.meta,
            attempts: self.attempts,
            inner: Box::pin(map(self.inner)),
        }
    }

    /// The next event; `None` after the last.
    pub async fn next_event(&mut self) -> Option<Result<ChatEvent>> {
        poll_fn(|cx| self.inner.as_mut().poll_next(cx)).await
    }

    /// The next piece of answer text; `None` after the last. Everything else is passed over: read events to
    /// see it.
    ///
    /// # Errors
    /// What ended the stream early.
    pub async fn next_text(&mut self) -> Result<Option<String>> {
        while let Some(event) = self.next_event().await {
            if let ChatEvent::BlockDelta {
                delta: Delta::Text(text),
                ..
            } = event?
            {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

impl Stream for ChatStream {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inner.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for ChatStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatStream")
            .field("meta", &self.meta)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}
