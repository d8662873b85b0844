//! Scripted stand-ins: a driver that answers what it was told, and a transport that plays bytes and pauses.

mod driver;
mod reply;
mod transport;

pub use driver::{RecordedCall, ScriptedDriver};
pub use reply::{Reply, Step};
pub use transport::ScriptedTransport;

/// What happens when a script has been played to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exhausted {
    /// The next call fails with an `Internal` error that says so.
    #[default]
    Fail,
    /// The last answer comes again, for ever.
    RepeatLast,
}

/// A list of answers that is played from front to back.
#[derive(Debug)]
pub(crate) struct Script<T> {
    waiting: std::collections::VecDeque<T>,
    last: Option<T>,
    pub(crate) exhausted: Exhausted,
}

impl<T: Clone> Script<T> {
    pub(crate) fn new(answers: impl IntoIterator<Item = T>) -> Self {
        Script {
            waiting: answers.into_iter().collect(),
            last: None,
            exhausted: Exhausted::default(),
        }
    }

    pub(crate) fn push(&mut self, answer: T) {
        self.waiting.push_back(answer);
    }

    pub(crate) fn next(&mut self) -> Option<T> {
        match self.waiting.pop_front() {
            Some(answer) => {
                if self.exhausted == Exhausted::RepeatLast {
                    self.last = Some(answer.clone());
                }
                Some(answer)
            }
            None => self.last.clone(),
        }
    }
}
