//! A stream that tells somebody of its end before its reader hears of it.

use futures_core::Stream;
use llm_core::{ChatEvent, Error, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

type Events = Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>;

/// Passes events through. The last one, a finish or an error, is held until what it leads to is done, because a
/// reader who has it may never ask again.
pub(super) struct Ending<F, Fut> {
    // Dropped before the rest: what that stands for is over only then.
    events: Events,
    /// Absent after the end.
    tell: Option<F>,
    telling: Option<(Pin<Box<Fut>>, Result<ChatEvent>)>,
}

impl<F, Fut> Ending<F, Fut> {
    pub(super) fn new(events: Events, tell: F) -> Self {
        Ending {
            events,
            tell: Some(tell),
            telling: None,
        }
    }
}

// Nothing in it is pinned in place: what has to be is pinned in a box of its own.
impl<F, Fut> Unpin for Ending<F, Fut> {}

impl<F, Fut> Stream for Ending<F, Fut>
where
    F: FnOnce(Option<&Error>) -> Fut,
    Fut: Future<Output = ()>,
{
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.telling.is_none() {
            let event = match ready!(this.events.as_mut().poll_next(task)) {
                Some(event) => event,
                None => {
                    this.tell = None;
                    return Poll::Ready(None);
                }
            };
            let error = match &event {
                Ok(ChatEvent::Finish { .. }) => None,
                Err(error) => Some(error),
                Ok(_) => return Poll::Ready(Some(event)),
            };
            match this.tell.take() {
                Some(tell) => this.telling = Some((Box::pin(tell(error)), event)),
                None => return Poll::Ready(Some(event)),
            }
        }
        if let Some((told, _)) = &mut this.telling {
            ready!(told.as_mut().poll(task));
        }
        Poll::Ready(this.telling.take().map(|(_, event)| event))
    }
}
