//! The circumstances of a call: clock, deadline, which attempt it is, and what else travels inwards.

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::extensions::Extensions;
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The circumstances of a call, handed through every layer to the driver. Cheap to clone.
///
/// It flows inwards only: a layer clones it with something changed. What comes out travels in the
/// response's meta data, in the error and in the stream.
#[derive(Debug, Clone)]
pub struct CallContext {
    inner: Arc<Inner>,
}

#[derive(Debug, Clone)]
struct Inner {
    clock: Arc<dyn Clock>,
    deadline: Option<Instant>,
    attempt: u32,
    attempt_limit: Option<Instant>,
    max_queue_wait: Option<Duration>,
    idempotency_key: Option<Arc<str>>,
    request_id: Option<Arc<str>>,
    prefer_quality: bool,
    raw: Option<RawRequest>,
    keeps_raw: bool,
    extensions: Extensions,
}

impl CallContext {
    /// A first attempt without a deadline.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        CallContext {
            inner: Arc::new(Inner {
                clock,
                deadline: None,
                attempt: 1,
                attempt_limit: None,
                max_queue_wait: None,
                idempotency_key: None,
                request_id: None,
                prefer_quality: false,
                raw: None,
                keeps_raw: false,
                extensions: Extensions::default(),
            }),
        }
    }

    /// Where the time comes from.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// The moment after which the caller no longer wants the answer.
    pub fn deadline(&self) -> Option<Instant> {
        self.inner.deadline
    }

    /// How long is left; `None`: as long as it takes. Zero when the deadline has passed.
    pub fn remaining(&self) -> Option<Duration> {
        self.inner
            .deadline
            .map(|deadline| deadline.saturating_duration_since(self.inner.clock.now()))
    }

    /// Is there time left?
    ///
    /// # Errors
    /// `Timeout` with scope `Request`, when the deadline has passed.
    pub fn check_deadline(&self) -> Result<()> {
        match self.remaining() {
            Some(left) if left.is_zero() => Err(Error::deadline(
                "the call's deadline passed before it was sent; allow more time",
            )),
            _ => Ok(()),
        }
    }

    /// Which attempt of the logical call this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.inner.attempt
    }

    /// Until when this attempt must have shown content; `None`: no limit but the deadline. Who set it, a router, drops the
    /// attempt then and asks somebody else: a drop at that moment or later, before the first content, is a vendor that was
    /// too slow and no caller who left.
    pub fn attempt_limit(&self) -> Option<Instant> {
        self.inner.attempt_limit
    }

    /// How long a layer may queue this attempt; `None`: the layer's own setting holds.
    pub fn max_queue_wait(&self) -> Option<Duration> {
        self.inner.max_queue_wait
    }

    /// The one key of all attempts of this logical call, for hosts that take one.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.inner.idempotency_key.as_deref()
    }

    /// The caller's id of the logical call, for logs.
    pub fn request_id(&self) -> Option<&str> {
        self.inner.request_id.as_deref()
    }

    /// Does the caller prefer quality over price and speed? Read by routers only.
    pub fn prefers_quality(&self) -> bool {
        self.inner.prefer_quality
    }

    /// The request in a wire format the caller already holds, when it wants the answer in the same.
    pub fn raw(&self) -> Option<&RawRequest> {
        self.inner.raw.as_ref()
    }

    /// Typed values of layers and applications.
    pub fn extensions(&self) -> &Extensions {
        &self.inner.extensions
    }

    /// The same, wanted until this moment, or until the present deadline where that is earlier.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        let earlier = self
            .inner
            .deadline
            .map_or(deadline, |present| present.min(deadline));
        self.change(|inner| inner.deadline = Some(earlier))
    }

    /// The same, wanted for this long from now.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        match self.inner.clock.now().checked_add(timeout) {
            Some(deadline) => self.with_deadline(deadline),
            None => self,
        }
    }

    /// The same, as this attempt (from 1).
    #[must_use]
    pub fn with_attempt(self, attempt: u32) -> Self {
        self.change(|inner| inner.attempt = attempt)
    }

    /// The same, with a limit to this attempt's first content, or the present one where that is earlier; see
    /// [`attempt_limit`](Self::attempt_limit). Whoever sets it drops the attempt at that moment, and not before.
    #[must_use]
    pub fn with_attempt_limit(self, limit: Instant) -> Self {
        let earlier = self
            .inner
            .attempt_limit
            .map_or(limit, |present| present.min(limit));
        self.change(|inner| inner.attempt_limit = Some(earlier))
    }

    /// The same without a limit to this attempt: who drops it leaves, and says nothing about its vendor.
    #[must_use]
    pub fn without_attempt_limit(self) -> Self {
        self.change(|inner| inner.attempt_limit = None)
    }

    /// The same, queued this long at most.
    #[must_use]
    pub fn with_max_queue_wait(self, wait: Duration) -> Self {
        self.change(|inner| inner.max_queue_wait = Some(wait))
    }

    /// The same, with one key for all attempts.
    #[must_use]
    pub fn with_idempotency_key(self, key: impl Into<Arc<str>>) -> Self {
        self.change(|inner| inner.idempotency_key = Some(key.into()))
    }

    /// The same, with the caller's id of the call.
    #[must_use]
    pub fn with_request_id(self, id: impl Into<Arc<str>>) -> Self {
        self.change(|inner| inner.request_id = Some(id.into()))
    }

    /// The same, preferring quality.
    #[must_use]
    pub fn with_prefer_quality(self, prefer: bool) -> Self {
        self.change(|inner| inner.prefer_quality = prefer)
    }

    /// The same, and whether the vendor's answer is kept as it came, beside what was read from it.
    ///
    /// A whole answer then has its body in [`ChatResponse::raw`](crate::ChatResponse::raw). A stream has a
    /// [`Raw`](crate::ChatEvent::Raw) event without content for each piece of its body, and folds to a response whose `raw` is
    /// all of them. For looking at what a vendor really said; no by default.
    #[must_use]
    pub fn with_kept_raw(self, keep: bool) -> Self {
        self.change(|inner| inner.keeps_raw = keep)
    }

    /// Is the vendor's answer kept as it came?
    pub fn keeps_raw(&self) -> bool {
        self.inner.keeps_raw
    }

    /// The same, in raw mode (see [`RawRequest`]), or out of it.
    #[must_use]
    pub fn with_raw(self, raw: Option<RawRequest>) -> Self {
        self.change(|inner| inner.raw = raw)
    }

    /// The same, with one more typed value.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.change(|inner| inner.extensions.insert(value))
    }

    fn change(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.inner));
        self
    }
}

/// A request as bytes of a wire format, whose answer is wanted in the same format.
///
/// A driver that speaks the format sends the bytes with only the named fields patched, and its stream then
/// has no block events: `Start`, `Raw` frames, `Usage`, `Finish` or one error. A driver of another format
/// ignores it. A layer that edits the request must drop it, and one that has to read the answer refuses it: a stack
/// with such a layer says so ([`DriverInfo::needs_content`](crate::DriverInfo::needs_content)).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawRequest {
    /// Which format.
    pub format: WireFormatId,
    /// The body.
    pub body: Bytes,
}

impl RawRequest {
    /// A body of a format.
    pub fn new(format: WireFormatId, body: Bytes) -> Self {
        RawRequest { format, body }
    }
}

impl fmt::Debug for RawRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawRequest({}, [{} bytes])", self.format, self.body.len())
    }
}

/// Which wire format. Opaque here: core names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WireFormatId(&'static str);

impl WireFormatId {
    /// A format, by the name its codec gives it.
    pub const fn new(name: &'static str) -> Self {
        WireFormatId(name)
    }
}

impl fmt::Display for WireFormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
