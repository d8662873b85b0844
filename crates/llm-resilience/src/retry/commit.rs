//! Holds the events of a stream until the attempt is committed.
//!
//! As long as no content came, a stream that fails can be replaced by another without anybody noticing. So the
//! first events are held here, and with the first content (or the finish of an answer without any) all that was
//! held is handed on, and nothing is held back from then on.
//!
//! Keep-alives are dropped while events are held: they say that the vendor lives, which nobody downstream can
//! see yet, and a model that thinks for minutes would pile them up. They have done their work by then: the
//! time limits of an attempt are *inside* the retry layer and have seen them. Whoever waits for the stream to be
//! returned shows life to its own client by itself.

use futures_core::Stream;
use llm_core::{ChatEvent, ChatStream, Error, ErrorKind, Phase, Result};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The same stream, from its first event on, as soon as its attempt is committed.
///
/// # Errors
/// What ended the stream before that; `Interrupted`, when it just stopped.
pub(crate) async fn until_commit(mut stream: ChatStream) -> Result<ChatStream> {
    let mut held = VecDeque::new();
    loop {
        let event = match stream.next_event().await {
            Some(event) => event?,
            None => {
                let message = "the stream stopped before any content and without a finish";
                return Err(Error::new(ErrorKind::Interrupted, message).with_phase(Phase::Sent));
            }
        };
        if let ChatEvent::KeepAlive = event {
            continue;
        }
        let committed = event.is_content() || matches!(event, ChatEvent::Finish { .. });
        held.push_back(event);
        if committed {
            return Ok(stream.map_events(|rest| Held { held, rest }));
        }
    }
}

/// What was held, then the rest as it comes.
struct Held {
    held: VecDeque<ChatEvent>,
    rest: Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>,
}

impl Stream for Held {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.held.pop_front() {
            Some(event) => Poll::Ready(Some(Ok(event))),
            None => self.rest.as_mut().poll_next(task),
        }
    }
}

#[cfg(test)]
mod tests;
