//! Answers as they come: the stream, its events, their grammar, and folding them to a response.

mod collect;
mod event;
mod grammar;

use crate::chat::{FinishReason, ResponseMeta, Usage};
use crate::error::{Attempt, Result};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pub use collect::{Collector, collect, events_of, replay};
pub use event::{BlockKind, ChatEvent, Delta, RawFrame};
pub use grammar::Grammar;

/// An answer as it comes. Dropping it stops the call and frees its connection.
///
/// The events follow the [`Grammar`]; after an error nothing follows.
#[must_use = "a stream does nothing until it is read"]
pub struct ChatStream {
    meta: ResponseMeta,
    usage: Usage,
    finish: Option<FinishReason>,
    attempts: Vec<Attempt>,
    inner: Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>,
}

impl ChatStream {
    /// From any stream of events, with what is known of the call so far.
    pub fn new(meta: ResponseMeta, events: impl Stream<Item = Result<ChatEvent>> + Send + 'static) -> Self {
        ChatStream {
            meta,
            usage: Usage::default(),
            finish: None,
            attempts: Vec::new(),
            inner: Box::pin(events),
        }
    }

    /// What is known of the call now: what the head of the answer said, and after the first event all of it.
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
            inner: Box::pin(map(self.inner)),
            ..self
        }
    }

    /// What was used, as far as it was reported in the events read so far.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Why the answer ended; absent until its last event was read.
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.finish.as_ref()
    }

    /// The next event; `None` after the last.
    pub async fn next_event(&mut self) -> Option<Result<ChatEvent>> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<ChatEvent>>> {
        let event = ready!(self.inner.as_mut().poll_next(cx));
        match &event {
            Some(Ok(ChatEvent::Start(meta))) => self.meta = ResponseMeta::clone(meta),
            Some(Ok(ChatEvent::Usage(usage))) => self.usage.merge(usage),
            Some(Ok(ChatEvent::Finish { reason, usage })) => {
                self.usage.merge(usage);
                self.finish = Some(reason.clone());
            }
            _ => {}
        }
        Poll::Ready(event)
    }

    /// The next piece of answer text; `None` after the last. [`usage`](Self::usage),
    /// [`finish_reason`](Self::finish_reason) and [`meta`](Self::meta) tell the rest afterwards; tool calls and
    /// reasoning are passed over: read events to see them.
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
        self.poll_event(cx)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Block, ChatResponse, FinishKind, TextPart};
    use std::pin::pin;
    use std::task::Waker;

    fn ready<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("a replayed stream never waits"),
        }
    }

    #[test]
    fn a_stream_read_for_its_text_tells_the_rest_afterwards() {
        let mut response = ChatResponse::new(ResponseMeta {
            id: Some("c-1".into()),
            ..ResponseMeta::default()
        });
        response.blocks.push(Block::Text(TextPart::new("Seven.")));
        response.usage = Usage::new(3, 1);
        response.finish = FinishReason::new(FinishKind::Stop, "stop".to_owned());
        let ChatStream { inner, .. } = replay(response);
        let mut stream = ChatStream::new(ResponseMeta::default(), inner);
        assert_eq!(
            (stream.meta().id.as_deref(), stream.finish_reason()),
            (None, None)
        );
        assert_eq!(ready(stream.next_text()).unwrap().as_deref(), Some("Seven."));
        assert_eq!(ready(stream.next_text()).unwrap(), None);
        assert_eq!(stream.meta().id.as_deref(), Some("c-1"));
        assert_eq!(stream.usage(), &Usage::new(3, 1));
        assert_eq!(
            stream.finish_reason().map(|reason| reason.kind),
            Some(FinishKind::Stop)
        );
    }
}
