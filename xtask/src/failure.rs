//! How a command fails: a sentence for the person at the terminal and an exit code for scripts.

use std::fmt::Display;

/// What every command returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Why a command stopped. An empty message means that a child process has already said it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Failure {
    /// Something is wrong with the workspace or the machine.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 1,
        }
    }

    /// The command line itself is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 2,
        }
    }

    /// A child process failed and has printed why; only its exit code is handed on.
    pub(crate) fn already_told(code: u8) -> Self {
        Self {
            message: String::new(),
            code,
        }
    }
}

/// Adds what was being done to an error that only says what happened.
pub(crate) trait Context<T> {
    /// Turns the error into a [`Failure`] that begins with `doing`.
    fn while_doing(self, doing: impl Display) -> Outcome<T>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn while_doing(self, doing: impl Display) -> Outcome<T> {
        self.map_err(|error| Failure::new(format!("{doing}: {error}")))
    }
}
