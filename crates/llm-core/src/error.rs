//! The one error of the workspace: what happened, what it says something about, and what to do next.
//!
//! Start with [`Error::kind`] (what), [`Error::verdict`] (what next) and [`Error::retry_after`] (when).
//! The decisions behind a verdict stand in [`verdict`], nowhere else.

mod chain;
mod kind;
pub mod verdict;

use crate::driver::DriverId;
use crate::model::ModelId;
use crate::rate_limit::RateLimitSnapshot;
use bytes::Bytes;
use serde::Serialize;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use chain::Chain;
pub use kind::{ErrorKind, Phase, Rejection, Scope};
pub use verdict::Verdict;

/// The result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure, one pointer wide, cheap to clone and to hand on.
///
/// `Display` prints kind and message and never the source (use [`Chain`] for that). Messages are
/// lower-case, one line, say what happened and what to do, and never hold prompts, completions or
/// credentials.
///
/// ```
/// use llm_core::{Error, ErrorKind};
/// use std::time::Duration;
/// let error = Error::new(ErrorKind::RateLimit, "too many requests").with_retry_after(Duration::from_secs(7));
/// assert!(error.retryable());
/// assert_eq!(error.status(), 429);
/// assert_eq!(error.to_string(), "rate_limit: too many requests");
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    scope: Scope,
    phase: Phase,
    message: String,
    retry_after: Option<Duration>,
    rejection: Option<Rejection>,
    exhausted: bool,
    status: Option<u16>,
    vendor: VendorFacts,
    attempts: Vec<Attempt>,
    skipped: Vec<Skip>,
    source: Option<Arc<dyn StdError + Send + Sync + 'static>>,
}

impl Error {
    /// A failure of this kind, with the kind's usual scope, sent nowhere yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            scope: kind.default_scope(),
            phase: Phase::NotSent,
            message: one_line(message.into()),
            retry_after: None,
            rejection: None,
            exhausted: false,
            status: None,
            vendor: VendorFacts::default(),
            attempts: Vec::new(),
            skipped: Vec::new(),
            source: None,
        }))
    }

    /// A refusal by one of our own layers.
    pub fn rejected(rejection: Rejection, message: impl Into<String>) -> Self {
        let mut error = Error::new(ErrorKind::Rejected, message);
        error.0.rejection = Some(rejection);
        error
    }

    /// The caller's own deadline has passed.
    pub fn deadline(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Timeout, message).with_scope(Scope::Request)
    }

    /// What happened.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
    /// What it says something about.
    pub fn scope(&self) -> Scope {
        self.0.scope
    }
    /// How far the call had come.
    pub fn phase(&self) -> Phase {
        self.0.phase
    }
    /// What happened, in words, without the kind.
    pub fn message(&self) -> &str {
        &self.0.message
    }
    /// What should happen next.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.0.kind, self.0.scope).told(self.0.kind, self.0.vendor.should_retry)
    }
    /// May the same request succeed later? (See [`Verdict::retryable`].)
    pub fn retryable(&self) -> bool {
        self.verdict().retryable()
    }
    /// The vendor's hint: do not come back before this long.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
    /// Which of our layers refused, if one did.
    pub fn rejection(&self) -> Option<Rejection> {
        self.0.rejection
    }
    /// True when a router has already tried every candidate: an outer retry must not multiply that.
    pub fn is_exhausted(&self) -> bool {
        self.0.exhausted
    }
    /// What the vendor said and which call it was.
    pub fn vendor(&self) -> &VendorFacts {
        &self.0.vendor
    }
    /// The same, to be filled in by whoever knows more.
    pub fn vendor_mut(&mut self) -> &mut VendorFacts {
        &mut self.0.vendor
    }
    /// What was tried, in order. Filled by executor and retry.
    pub fn attempts(&self) -> &[Attempt] {
        &self.0.attempts
    }
    /// Which candidates were not asked at their turn, and why.
    pub fn skipped(&self) -> &[Skip] {
        &self.0.skipped
    }

    /// The HTTP status a server face answers by default.
    ///
    /// The table's status, but 413 where the vendor said so, and 503 where a breaker, a bulkhead or a
    /// key pool refused.
    pub fn status(&self) -> u16 {
        if let Some(status) = self.0.status {
            return status;
        }
        match (self.0.kind, self.0.rejection) {
            (
                ErrorKind::Rejected,
                Some(Rejection::BreakerOpen | Rejection::BulkheadFull | Rejection::NoCredential),
            ) => 503,
            _ => self.verdict().status,
        }
    }

    /// Another scope than the kind's usual one.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.0.scope = scope;
        self
    }
    /// How far the call had come.
    #[must_use]
    pub fn with_phase(mut self, phase: Phase) -> Self {
        self.0.phase = phase;
        self
    }
    /// Another message; used by what scrubs or shortens one.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = one_line(message.into());
        self
    }
    /// The vendor's hint.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: impl Into<Option<Duration>>) -> Self {
        self.0.retry_after = retry_after.into();
        self
    }
    /// Another default status for server faces than the table's.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }
    /// Marks that every candidate of a plan was tried.
    #[must_use]
    pub fn with_exhausted(mut self) -> Self {
        self.0.exhausted = true;
        self
    }
    /// The facts of the call, whole.
    #[must_use]
    pub fn with_vendor(mut self, vendor: VendorFacts) -> Self {
        self.0.vendor = vendor;
        self
    }
    /// What was tried.
    #[must_use]
    pub fn with_attempts(mut self, attempts: Vec<Attempt>) -> Self {
        self.0.attempts = attempts;
        self
    }
    /// What was skipped.
    #[must_use]
    pub fn with_skipped(mut self, skipped: Vec<Skip>) -> Self {
        self.0.skipped = skipped;
        self
    }
    /// The error of another library that lies beneath.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind, self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            scope,
            phase,
            message,
            retry_after,
            ..
        } = &*self.0;
        let mut out = f.debug_struct("Error");
        out.field("kind", kind)
            .field("scope", scope)
            .field("phase", phase)
            .field("message", message);
        if let Some(hint) = retry_after {
            out.field("retry_after", hint);
        }
        if let Some(rejection) = &self.0.rejection {
            out.field("rejection", rejection);
        }
        out.field("vendor", &self.0.vendor);
        if !self.0.attempts.is_empty() || !self.0.skipped.is_empty() {
            out.field("attempts", &self.0.attempts)
                .field("skipped", &self.0.skipped);
        }
        if let Some(source) = &self.0.source {
            out.field("source", &format_args!("{source}"));
        }
        out.finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn StdError + 'static))
    }
}

/// What is known of the call that failed. Every field is absent until somebody knows it.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct VendorFacts {
    /// The driver that made the call.
    pub driver: Option<DriverId>,
    /// The model that was asked.
    pub model: Option<ModelId>,
    /// The HTTP status the vendor answered.
    pub status: Option<u16>,
    /// The vendor's own code or type for the failure.
    pub code: Option<String>,
    /// The request field at fault, where the vendor names it.
    pub param: Option<String>,
    /// The vendor's id of the request: quote it to their support.
    pub request_id: Option<String>,
    /// The vendor's own word on whether the same request may succeed later; it goes before the usual verdict, see
    /// [`Verdict::told`].
    pub should_retry: Option<bool>,
    /// What the headers said of limits.
    pub rate_limits: Option<Box<RateLimitSnapshot>>,
    /// The vendor's answer, shortened. Never printed: it may hold content.
    pub body: Option<Bytes>,
}

impl fmt::Debug for VendorFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VendorFacts {
            driver,
            model,
            status,
            code,
            param,
            request_id,
            should_retry,
            rate_limits,
            body,
        } = self;
        let mut out = f.debug_struct("VendorFacts");
        if let Some(driver) = driver {
            out.field("driver", driver);
        }
        if let Some(model) = model {
            out.field("model", model);
        }
        if let Some(status) = status {
            out.field("status", status);
        }
        if let Some(code) = code {
            out.field("code", code);
        }
        if let Some(param) = param {
            out.field("param", param);
        }
        if let Some(request_id) = request_id {
            out.field("request_id", request_id);
        }
        if let Some(should_retry) = should_retry {
            out.field("should_retry", should_retry);
        }
        if let Some(rate_limits) = rate_limits {
            out.field("rate_limits", rate_limits);
        }
        if let Some(body) = body {
            out.field("body", &format_args!("[{} bytes]", body.len()));
        }
        out.finish()
    }
}

/// One try against one target, as it stands on responses and on errors.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The candidate's id, or the driver's where no router is involved.
    pub candidate: String,
    /// The model it was asked for.
    pub model: Option<ModelId>,
    /// How it ended; absent: it served the answer.
    pub failure: Option<AttemptFailure>,
    /// From the start of the try to its outcome (for a stream that served: to the commit point).
    pub elapsed_ms: u64,
    /// How long was waited before it.
    pub wait_ms: u64,
}

impl Attempt {
    /// A try that served the answer.
    pub fn served(candidate: impl Into<String>, model: Option<ModelId>, elapsed: Duration) -> Self {
        Attempt {
            candidate: candidate.into(),
            model,
            failure: None,
            elapsed_ms: millis(elapsed),
            wait_ms: 0,
        }
    }

    /// A try that failed.
    pub fn failed(
        candidate: impl Into<String>,
        model: Option<ModelId>,
        elapsed: Duration,
        error: &Error,
    ) -> Self {
        Attempt {
            failure: Some(AttemptFailure::from(error)),
            ..Attempt::served(candidate, model, elapsed)
        }
    }

    /// How long was waited before the try.
    #[must_use]
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait_ms = millis(wait);
        self
    }
}

/// What an attempt log keeps of a failure.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AttemptFailure {
    /// What happened.
    pub kind: ErrorKind,
    /// What it says something about.
    pub scope: Scope,
    /// In words, without content or credentials.
    pub message: String,
    /// The vendor's HTTP status.
    pub status: Option<u16>,
    /// The vendor's hint.
    pub retry_after_ms: Option<u64>,
    /// The vendor's request id.
    pub request_id: Option<String>,
}

impl From<&Error> for AttemptFailure {
    fn from(error: &Error) -> Self {
        AttemptFailure {
            kind: error.kind(),
            scope: error.scope(),
            message: error.message().to_owned(),
            status: error.vendor().status,
            retry_after_ms: error.retry_after().map(millis),
            request_id: error.vendor().request_id.clone(),
        }
    }
}

/// A candidate that was not asked at its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Skip {
    /// The candidate's id.
    pub candidate: String,
    /// Why.
    pub reason: crate::health::UnavailableReason,
    /// For how long, where known.
    pub available_in_ms: Option<u64>,
}

impl Skip {
    /// A candidate that was unavailable for this reason.
    pub fn new(
        candidate: impl Into<String>,
        reason: crate::health::UnavailableReason,
        available_in: Option<Duration>,
    ) -> Self {
        Skip {
            candidate: candidate.into(),
            reason,
            available_in_ms: available_in.map(millis),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Keeps a message to one line: control characters (line breaks of a vendor's text) become spaces.
fn one_line(message: String) -> String {
    if message.chars().any(char::is_control) {
        message
            .split(char::is_control)
            .filter(|piece| !piece.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    } else {
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_prints_the_body() {
        let mut error = Error::new(ErrorKind::Server, "it broke");
        error.vendor_mut().body = Some(Bytes::from_static(b"the caller's prompt"));
        let printed = format!("{error:?} {error}");
        assert!(!printed.contains("prompt"), "{printed}");
        assert!(printed.contains("[19 bytes]"));
    }

    #[test]
    fn a_vendors_word_on_trying_again_goes_before_the_verdict_and_stays() {
        let told = |kind, word| {
            let mut error = Error::new(kind, "no");
            error.vendor_mut().should_retry = Some(word);
            error
        };
        let overloaded = told(ErrorKind::Overloaded, false)
            .with_message("m")
            .with_phase(Phase::Sent)
            .with_retry_after(Duration::from_secs(1))
            .with_exhausted();
        assert!(!overloaded.retryable() && !overloaded.clone().retryable());
        assert!(format!("{overloaded:?}").contains("should_retry: false"));
        let conflict = told(ErrorKind::InvalidRequest, true).with_status(409);
        assert!(conflict.retryable());
        assert_eq!(conflict.status(), 409);
        let mut late = Error::deadline("too late");
        late.vendor_mut().should_retry = Some(true);
        assert!(!late.retryable() && !told(ErrorKind::Cancelled, true).retryable());
    }

    #[test]
    fn rejections_answer_429_or_503() {
        assert_eq!(Error::rejected(Rejection::RateLimit, "full").status(), 429);
        assert_eq!(Error::rejected(Rejection::Budget, "spent").status(), 429);
        assert_eq!(Error::rejected(Rejection::BreakerOpen, "open").status(), 503);
        assert_eq!(Error::rejected(Rejection::BulkheadFull, "full").status(), 503);
    }

    #[test]
    fn messages_are_one_line() {
        let error = Error::new(ErrorKind::Server, "502 Bad\r\nGateway\n");
        assert_eq!(error.message(), "502 Bad Gateway");
    }

    #[test]
    fn an_error_is_one_pointer_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
