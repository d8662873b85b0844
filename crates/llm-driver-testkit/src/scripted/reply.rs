//! What a scripted driver answers to one call.

use llm_core::stream::events_of;
use llm_core::{
    Block, ChatEvent, ChatResponse, Error, FinishKind, FinishReason, ResponseMeta, TextPart, Usage,
};
use std::time::Duration;

/// What a [`ScriptedDriver`](crate::ScriptedDriver) does for one call. Plain calls and streams agree: a plain
/// call folds what a stream would hand out.
///
/// ```
/// use llm_core::{Error, ErrorKind};
/// use llm_driver_testkit::Reply;
/// use std::time::Duration;
///
/// let slow = Reply::text("hello").with_pause(Duration::from_secs(2));
/// let broken = Reply::text("hello").broken_after(3, Error::new(ErrorKind::Interrupted, "cut"));
/// # let _ = (slow, broken);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Reply {
    pub(super) pause: Duration,
    pub(super) start: Start,
}

/// How a call begins.
#[derive(Debug, Clone)]
pub(super) enum Start {
    Stream(Vec<Step>),
    Fail(Error),
    Hang,
}

/// One step of a scripted stream.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Step {
    /// This event.
    Event(ChatEvent),
    /// Nothing, for this long.
    Delay(Duration),
    /// This error; the stream is over.
    Fail(Error),
    /// Nothing, for ever.
    Hang,
}

impl From<ChatEvent> for Step {
    fn from(event: ChatEvent) -> Self {
        Step::Event(event)
    }
}

impl From<Duration> for Step {
    fn from(delay: Duration) -> Self {
        Step::Delay(delay)
    }
}

impl From<Error> for Step {
    fn from(error: Error) -> Self {
        Step::Fail(error)
    }
}

impl Reply {
    /// This response.
    pub fn response(response: ChatResponse) -> Self {
        Reply::steps(events_of(response))
    }

    /// This text, finished with `stop`, with one token in and one out.
    pub fn text(text: impl Into<String>) -> Self {
        let mut response = ChatResponse::new(ResponseMeta::default());
        response.blocks = vec![Block::Text(TextPart::new(text))];
        response.finish = FinishReason::new(FinishKind::Stop, Some("stop".to_owned()));
        response.usage = Usage::new(1, 1);
        Reply::response(response)
    }

    /// This error, before any event.
    pub fn error(error: Error) -> Self {
        Reply::starting(Start::Fail(error))
    }

    /// These steps of a stream.
    pub fn steps<S: Into<Step>>(steps: impl IntoIterator<Item = S>) -> Self {
        Reply::starting(Start::Stream(steps.into_iter().map(Into::into).collect()))
    }

    /// Nothing, for ever: the call itself hangs, before any event.
    pub fn hang() -> Self {
        Reply::starting(Start::Hang)
    }

    fn starting(start: Start) -> Self {
        Reply {
            pause: Duration::ZERO,
            start,
        }
    }

    /// A pause before the first event, or before the error.
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// A pause before each event.
    pub fn with_event_pause(mut self, pause: Duration) -> Self {
        if let Start::Stream(steps) = &mut self.start {
            *steps = std::mem::take(steps)
                .into_iter()
                .flat_map(|step| [Step::Delay(pause), step])
                .collect();
        }
        self
    }

    /// The stream breaks with this error after so many events.
    pub fn broken_after(self, events: usize, error: Error) -> Self {
        self.ended_after(events, Step::Fail(error))
    }

    /// The stream hangs for ever after so many events.
    pub fn hanging_after(self, events: usize) -> Self {
        self.ended_after(events, Step::Hang)
    }

    fn ended_after(mut self, events: usize, end: Step) -> Self {
        if let Start::Stream(steps) = &mut self.start {
            let mut seen = 0;
            let keep = steps
                .iter()
                .position(|step| {
                    let full = seen == events;
                    seen += usize::from(matches!(step, Step::Event(_)));
                    full
                })
                .unwrap_or(steps.len());
            steps.truncate(keep);
            steps.push(end);
        }
        self
    }
}
