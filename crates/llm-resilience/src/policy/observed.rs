//! A stream that is watched.

use super::Observer;
use futures_core::Stream;
use llm_core::{ChatEvent, Result};
use std::pin::Pin;
use std::task::{Context, Poll};

type Events = Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>;

/// Passes events through, and shows an observer what it cares for. Lets it go at the end.
pub(super) struct Observed<O> {
    // Dropped before the observer: what it stands for is over only then.
    events: Events,
    /// Absent after the end.
    observer: Option<O>,
}

impl<O> Observed<O> {
    pub(super) fn new(events: Events, observer: O) -> Self {
        Observed {
            events,
            observer: Some(observer),
        }
    }
}

// Nothing in it is pinned in place: the events are pinned in a box of their own.
impl<O> Unpin for Observed<O> {}

impl<O: Observer> Stream for Observed<O> {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.events.as_mut().poll_next(task);
        if let (Poll::Ready(event), Some(observer)) = (&polled, &mut self.observer) {
            match event {
                Some(Ok(ChatEvent::Start(meta))) => observer.begun(meta),
                Some(Ok(ChatEvent::Usage(usage))) => observer.used(usage),
                Some(Ok(ChatEvent::Finish { usage, .. })) => {
                    observer.used(usage);
                    observer.finished();
                    self.observer = None;
                }
                Some(Err(error)) => {
                    observer.failed(error);
                    self.observer = None;
                }
                // An end without a finish is nobody's word for a good one.
                None => self.observer = None,
                Some(Ok(_)) => {}
            }
        }
        polled
    }
}
