//! A stream that tells of its first content.

use futures_core::Stream;
use llm_core::{ChatEvent, Result};
use std::pin::Pin;
use std::task::{Context, Poll};

type Events = Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>;

/// Passes events through, and tells when the first with content passes.
pub(super) struct FirstContent<F> {
    events: Events,
    /// Absent after that.
    tell: Option<F>,
}

impl<F> FirstContent<F> {
    pub(super) fn new(events: Events, tell: F) -> Self {
        FirstContent {
            events,
            tell: Some(tell),
        }
    }
}

// Nothing in it is pinned in place: the events are pinned in a box of their own.
impl<F> Unpin for FirstContent<F> {}

impl<F: FnOnce()> Stream for FirstContent<F> {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.events.as_mut().poll_next(task);
        if let Poll::Ready(Some(Ok(event))) = &polled
            && event.is_content()
            && let Some(tell) = self.tell.take()
        {
            tell();
        }
        polled
    }
}
