//! Why a store did not do what it was asked.

use std::fmt;

/// Why a store did not do what it was asked. Layers turn it into what their grade says: a warning, or a refusal.
///
/// The message is one line and holds no credential, no key and no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Nobody answers, or whoever answers cannot serve now: no connection, still loading, a cluster without a
    /// master for the key.
    Unreachable,
    /// No answer in time. A step that was asked for may have been taken all the same.
    Timeout,
    /// The store does not let us in, or does not let us do this: a wrong password, a missing permission.
    Refused,
    /// The key holds something of another type than the command works on.
    WrongType,
    /// A script failed: it has a defect, or found something that it does not expect.
    Script,
    /// The answer is none that the question can have.
    Corrupt,
    /// The value is larger than the store takes.
    TooLarge,
}

impl StoreErrorKind {
    /// The stable word for logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            StoreErrorKind::Unreachable => "unreachable",
            StoreErrorKind::Timeout => "timeout",
            StoreErrorKind::Refused => "refused",
            StoreErrorKind::WrongType => "wrong_type",
            StoreErrorKind::Script => "script",
            StoreErrorKind::Corrupt => "corrupt",
            StoreErrorKind::TooLarge => "too_large",
        }
    }
}

impl StoreError {
    /// A failure of this kind; the message is cut to one line.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if message.contains(['\n', '\r']) {
            message = message.split(['\n', '\r']).next().unwrap_or_default().to_owned();
        }
        StoreError { kind, message }
    }

    /// What kind of failure it was.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Did the store say nothing because it is away, rather than answer that it will not?
    pub fn is_outage(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unreachable | StoreErrorKind::Timeout)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store {}: {}", self.kind.as_str(), self.message)
    }
}

impl std::error::Error for StoreError {}
