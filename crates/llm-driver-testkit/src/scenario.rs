//! The scenarios: what every driver is made to prove, one family a file.
//!
//! A scenario is a function that says what was found: proved, refused, skipped for a named reason, or an error in
//! words. It never panics by itself, so that the kit can test that it fails where it should.

pub(crate) mod cancel;
pub(crate) mod capability;
pub(crate) mod conduct;
pub(crate) mod errors;
pub(crate) mod fixtures;
pub(crate) mod limits;
pub(crate) mod mutation;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod reasoning;
pub(crate) mod secrets;
pub(crate) mod stream;
pub(crate) mod text;
pub(crate) mod tools;
pub(crate) mod url_safety;
pub(crate) mod usage;

/// What a scenario found, where it did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The driver does what it promises.
    Proved,
    /// The driver claims not to be able to, and says so before sending anything.
    Refused,
    /// Nothing was proved, for this reason.
    Skipped(String),
    /// It fails, as its author says it does for now: the issue and the reason.
    FailsAsExpected(String),
}

/// What a scenario found, or what is wrong in words.
pub type Finding = Result<Outcome, String>;

/// Fails the scenario, in words, unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}
pub(crate) use ensure;

/// Puts where it happened before what is wrong.
pub(crate) trait InContext<T> {
    fn context(self, place: impl FnOnce() -> String) -> Result<T, String>;
}

impl<T> InContext<T> for Result<T, String> {
    fn context(self, place: impl FnOnce() -> String) -> Result<T, String> {
        self.map_err(|what| format!("{}: {what}", place()))
    }
}
