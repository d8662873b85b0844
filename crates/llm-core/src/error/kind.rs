//! What can go wrong, in one list, and what each failure says something about.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What happened. Decides, together with [`Scope`], everything in the verdict table
/// ([`verdict`](crate::error::verdict)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program is set up wrongly: a missing key, a malformed URL, an unknown driver id.
    Config,
    /// A defect of this workspace.
    Internal,
    /// The request is at fault and will fail everywhere, a body that is too large included.
    InvalidRequest,
    /// The request asks for something that this driver or model cannot do; nothing was sent.
    Unsupported,
    /// The named model is not one that this driver knows; nothing was sent.
    UnknownModel,
    /// No candidate can serve what the request needs.
    NoEligibleCandidate,
    /// The input, alone or with the output asked for, does not fit the model's window.
    ContextLength,
    /// The input or the output was filtered.
    ContentFilter,
    /// The model or deployment does not exist at the vendor.
    NotFound,
    /// The vendor does not accept our credential.
    Auth,
    /// The credential is known but may not do this.
    Permission,
    /// Credit, billing or a long-term quota is used up.
    QuotaExhausted,
    /// Too many requests or tokens for the time.
    RateLimit,
    /// The vendor has no capacity at the moment.
    Overloaded,
    /// Any other failure on the vendor's side.
    Server,
    /// No connection, or it broke before the answer began.
    Connection,
    /// A time limit passed: the vendor's, ours on one attempt, or the caller's deadline (see the scope).
    Timeout,
    /// An answer came that cannot be understood.
    Protocol,
    /// The answer was cut off before its end.
    Interrupted,
    /// One of our own layers refused: a breaker is open, a bulkhead full, a budget used up.
    Rejected,
    /// The caller went away.
    Cancelled,
}

impl ErrorKind {
    /// Every kind, in the order of the verdict table. For tests, reference pages and metrics.
    pub const ALL: [ErrorKind; 21] = [
        ErrorKind::Config,
        ErrorKind::Internal,
        ErrorKind::InvalidRequest,
        ErrorKind::Unsupported,
        ErrorKind::UnknownModel,
        ErrorKind::NoEligibleCandidate,
        ErrorKind::ContextLength,
        ErrorKind::ContentFilter,
        ErrorKind::NotFound,
        ErrorKind::Auth,
        ErrorKind::Permission,
        ErrorKind::QuotaExhausted,
        ErrorKind::RateLimit,
        ErrorKind::Overloaded,
        ErrorKind::Server,
        ErrorKind::Connection,
        ErrorKind::Timeout,
        ErrorKind::Protocol,
        ErrorKind::Interrupted,
        ErrorKind::Rejected,
        ErrorKind::Cancelled,
    ];

    /// What a failure of this kind says something about when nobody knows better.
    pub fn default_scope(self) -> Scope {
        match self {
            ErrorKind::Config
            | ErrorKind::Internal
            | ErrorKind::InvalidRequest
            | ErrorKind::Unsupported
            | ErrorKind::UnknownModel
            | ErrorKind::NoEligibleCandidate
            | ErrorKind::ContextLength
            | ErrorKind::ContentFilter
            | ErrorKind::Rejected
            | ErrorKind::Cancelled => Scope::Request,
            ErrorKind::NotFound | ErrorKind::Overloaded => Scope::Model,
            ErrorKind::Auth | ErrorKind::Permission | ErrorKind::QuotaExhausted | ErrorKind::RateLimit => {
                Scope::Credential
            }
            ErrorKind::Server
            | ErrorKind::Connection
            | ErrorKind::Timeout
            | ErrorKind::Protocol
            | ErrorKind::Interrupted => Scope::Vendor,
        }
    }

    /// The kind of an HTTP status, for when the body says nothing better. Also reads the three-digit codes
    /// that some hosts put into errors inside a 200.
    ///
    /// 409 is a lock that clears by itself at the vendors who send it, so it is `Server`; 413 can never
    /// succeed unchanged, so it is `InvalidRequest`.
    pub fn of_status(status: u16) -> ErrorKind {
        match status {
            401 => ErrorKind::Auth,
            402 => ErrorKind::QuotaExhausted,
            403 => ErrorKind::Permission,
            404 => ErrorKind::NotFound,
            408 | 499 | 504 | 524 => ErrorKind::Timeout,
            409 | 425 => ErrorKind::Server,
            429 => ErrorKind::RateLimit,
            501 => ErrorKind::Unsupported,
            503 | 529 => ErrorKind::Overloaded,
            400..=498 => ErrorKind::InvalidRequest,
            500..=599 => ErrorKind::Server,
            _ => ErrorKind::Protocol,
        }
    }

    /// The stable word for logs, metrics and JSON: `rate_limit`, `context_length`, …
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Config => "config",
            ErrorKind::Internal => "internal",
            ErrorKind::InvalidRequest => "invalid_request",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::UnknownModel => "unknown_model",
            ErrorKind::NoEligibleCandidate => "no_eligible_candidate",
            ErrorKind::ContextLength => "context_length",
            ErrorKind::ContentFilter => "content_filter",
            ErrorKind::NotFound => "not_found",
            ErrorKind::Auth => "auth",
            ErrorKind::Permission => "permission",
            ErrorKind::QuotaExhausted => "quota_exhausted",
            ErrorKind::RateLimit => "rate_limit",
            ErrorKind::Overloaded => "overloaded",
            ErrorKind::Server => "server",
            ErrorKind::Connection => "connection",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Protocol => "protocol",
            ErrorKind::Interrupted => "interrupted",
            ErrorKind::Rejected => "rejected",
            ErrorKind::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a failure says something about. A breaker, a key pool and a router act on exactly this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// This request only. For a timeout: the caller's own deadline.
    Request,
    /// The model at this vendor.
    Model,
    /// The credential that was used.
    Credential,
    /// The vendor as a whole.
    Vendor,
}

/// How far the call had come. Answers "may it have been billed?".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// Nothing left this process: not billed.
    NotSent,
    /// The request was sent; it may have been billed.
    Sent,
    /// Content had reached the caller; it was billed at least in part, and is never replayed.
    Streaming,
}

/// Which of our own layers said no. Goes with [`ErrorKind::Rejected`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rejection {
    /// A rate limiter has no room.
    RateLimit,
    /// A budget is used up.
    Budget,
    /// A circuit breaker is open.
    BreakerOpen,
    /// A bulkhead and its queue are full.
    BulkheadFull,
    /// No credential of a key pool is usable.
    NoCredential,
}
