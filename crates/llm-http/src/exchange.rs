//! From the head of an answer to its body or an [`Error`] that says everything known of the call.

use crate::credential::Credential;
use crate::deadline::bound_body;
use crate::limits::Limits;
use crate::redact::{Said, scrub, scrub_contents};
use crate::retry_after::HeaderFacts;
use crate::transport::{Body, HttpResponse};
use bytes::Bytes;
use http::HeaderMap;
use llm_core::{CallContext, DriverId, Error, ErrorKind, ModelId, Phase, ResponseMeta, Result};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// How much of an error's body is kept on the error.
const KEPT_BODY: usize = 2048;

/// How long a vendor's message may be, in characters.
const KEPT_MESSAGE: usize = 1000;

/// How long the body of an error is waited for: its status is known, and is worth more than the rest of its
/// text.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(10);

/// An answer whose head is there and whose body is not read yet. From [`VendorApi::send`](crate::VendorApi::send).
///
/// Ask [`success`](Exchange::success) first, then [`read`](Exchange::read) the body or take it as a
/// [`stream`](Exchange::stream).
#[derive(Debug)]
#[must_use = "the body is not read yet"]
pub struct Exchange {
    facts: CallFacts,
    headers: HeaderMap,
    body: Body,
    limits: Limits,
}

impl Exchange {
    pub(crate) fn new(
        cx: &CallContext,
        response: HttpResponse,
        facts: CallFacts,
        limits: Limits,
    ) -> Result<Self> {
        Ok(Exchange {
            facts,
            headers: response.headers,
            body: bound_body(cx, response.body)?,
            limits,
        })
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.facts.status
    }

    /// What is known of the call.
    pub fn facts(&self) -> &CallFacts {
        &self.facts
    }

    /// A header as text; absent when it is missing or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The media type of the body in lower case, without parameters; empty when it is not said. A stream that
    /// was asked for and comes as `application/json` is a whole answer or an error: read it as such.
    pub fn media_type(&self) -> Cow<'_, str> {
        let value = self
            .headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let media_type = value.split(';').next().unwrap_or_default().trim();
        if media_type.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(media_type.to_ascii_lowercase())
        } else {
            Cow::Borrowed(media_type)
        }
    }

    /// This exchange again when its status is 2xx. Else the error that `decode_error` makes of status and body
    /// (shortened to [`Limits::max_error_body_bytes`]; what came of it, where it was cut off), with all facts
    /// on it (see [`CallFacts::annotate`]). `texts` are those of the request.
    ///
    /// # Errors
    /// What `decode_error` says.
    pub async fn success<'t>(
        self,
        texts: impl IntoIterator<Item = &'t str>,
        decode_error: impl FnOnce(u16, &[u8]) -> Error,
    ) -> Result<Exchange> {
        if self.is_success() {
            Ok(self)
        } else {
            Err(self.failure(texts, decode_error).await)
        }
    }

    /// Is the status 2xx?
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.facts.status)
    }

    /// The error that an answer is which is no success; see [`success`](Exchange::success).
    pub(crate) async fn failure<'t>(
        self,
        texts: impl IntoIterator<Item = &'t str>,
        decode_error: impl FnOnce(u16, &[u8]) -> Error,
    ) -> Error {
        let status = self.facts.status;
        let body = self
            .body
            .read_start(self.limits.max_error_body_bytes, ERROR_BODY_WAIT)
            .await;
        let mut error = decode_error(status, &body);
        if (300..400).contains(&status) {
            error = error.with_message(
                "the host answered with a redirect, which is never followed: it could carry the credential \
                 elsewhere; set the base URL to where it leads",
            );
        }
        self.facts.annotate(error, &body, texts)
    }

    /// The whole body, up to [`Limits::max_body_bytes`], and the facts to judge it with.
    ///
    /// # Errors
    /// `Connection` when it was cut off, `Protocol` when it is too long, `Timeout` with scope `Request` when
    /// the deadline passed; all with the facts.
    pub async fn read(self) -> Result<(CallFacts, Bytes)> {
        let Exchange { facts, body, .. } = self;
        match body.read_all(self.limits.max_body_bytes).await {
            Ok(body) => Ok((facts, body)),
            Err(error) => Err(facts.annotate(error, &[], [])),
        }
    }

    /// The body as it comes, up to [`Limits::max_stream_bytes`], and the facts for the stream's events and its
    /// error. What the body fails with has no facts yet: [`annotate`](CallFacts::annotate) it.
    pub fn stream(self) -> (CallFacts, Body) {
        (self.facts, self.body.capped(self.limits.max_stream_bytes))
    }
}

/// What is known of a call once the head of its answer is there: who was asked, what the headers said.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallFacts {
    /// The driver that made the call.
    pub driver: DriverId,
    /// The model that was asked.
    pub model: Option<ModelId>,
    /// The status.
    pub status: u16,
    /// What the headers said.
    pub headers: HeaderFacts,
    credential: Option<Arc<Credential>>,
}

impl CallFacts {
    /// These facts. For what does not come through [`VendorApi`](crate::VendorApi).
    pub fn new(driver: DriverId, model: Option<ModelId>, status: u16, headers: HeaderFacts) -> Self {
        CallFacts {
            driver,
            model,
            status,
            headers,
            credential: None,
        }
    }

    /// The credential that was sent, so that no error shows it.
    #[must_use]
    pub fn with_credential(mut self, credential: Arc<Credential>) -> Self {
        self.credential = Some(credential);
        self
    }

    /// Puts the facts on an error: who was asked, status, request id, limits, whether
    /// trying again makes sense (of an answer that is no success), the wait that the headers ask for
    /// (it goes before a hint from the body, unless it is zero), the start of the body. Takes credentials out of
    /// that start and of the message, and quoted content (`texts`: those of the request) out of the message. What
    /// the error says already stays.
    ///
    /// ```
    /// use llm_core::{DriverId, Error, ErrorKind};
    /// use llm_http::{CallFacts, HeaderFacts};
    /// let facts = CallFacts::new(DriverId::from_static("mine"), None, 400, HeaderFacts::default());
    /// let error = Error::new(ErrorKind::InvalidRequest, "cannot parse 'What I asked in confidence'");
    /// let error = facts.annotate(error, b"{}", ["What I asked in confidence"]);
    /// assert_eq!(error.message(), "cannot parse '[content]'");
    /// assert_eq!(error.vendor().status, Some(400));
    /// ```
    #[must_use]
    pub fn annotate<'t>(
        &self,
        mut error: Error,
        body: &[u8],
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Error {
        let secrets: Vec<&str> = self.credential.iter().flat_map(|shown| shown.secrets()).collect();
        let [message, code, param] = self
            .without_content(&error, texts)
            .map(|said| scrub(&said, &secrets));
        let vendor = error.vendor_mut();
        vendor.driver.get_or_insert_with(|| self.driver.clone());
        vendor.model = vendor.model.take().or_else(|| self.model.clone());
        vendor.status = vendor.status.or(Some(self.status));
        vendor.request_id = vendor
            .request_id
            .take()
            .or_else(|| self.headers.request_id.clone());
        vendor.rate_limits = vendor
            .rate_limits
            .take()
            .or_else(|| self.headers.rate_limits.clone());
        if !(200..300).contains(&self.status) {
            vendor.should_retry = vendor.should_retry.or(self.headers.should_retry);
        }
        for (said, shown) in [(&mut vendor.code, code), (&mut vendor.param, param)] {
            if let Some(said) = said {
                *said = shown;
            }
        }
        let kept = vendor.body.take().unwrap_or_default();
        // A decoder keeps the body as it came, and shortened. Scrubbed before it is cut: half a key would not be
        // recognised.
        let whole = if body.is_empty() { &kept[..] } else { body };
        if !whole.is_empty() {
            let scrubbed = scrub(&String::from_utf8_lossy(whole), &secrets);
            vendor.body = Some(start_of(scrubbed, KEPT_BODY).into());
        }
        let hint = match (self.headers.retry_after, error.retry_after()) {
            (Some(Duration::ZERO) | None, Some(body_hint)) => Some(body_hint),
            (header_hint, _) => header_hint,
        };
        let message = shorten(message);
        let phase = error.phase().max(Phase::Sent);
        error
            .with_retry_after(hint)
            .with_phase(phase)
            .with_message(message)
    }

    /// Message, code and field of an error without quoted content. Before keys are taken out: with one taken out of
    /// its middle it would not be recognised.
    fn without_content<'t>(&self, error: &Error, texts: impl IntoIterator<Item = &'t str>) -> [String; 3] {
        let model = self.model.as_ref().map(ModelId::as_str);
        let vendor = error.vendor();
        let said = [
            Said::message(error.message(), model),
            Said::code(vendor.code.as_deref().unwrap_or_default()),
            Said::param(vendor.param.as_deref().unwrap_or_default(), model),
        ];
        scrub_contents(said, texts)
    }

    /// Puts the facts on the meta data of an answer; what it says already stays.
    pub fn fill(&self, meta: &mut ResponseMeta) {
        meta.driver.get_or_insert_with(|| self.driver.clone());
        meta.requested_model = meta.requested_model.take().or_else(|| self.model.clone());
        meta.request_id = meta.request_id.take().or_else(|| self.headers.request_id.clone());
        meta.rate_limits = meta
            .rate_limits
            .take()
            .or_else(|| self.headers.rate_limits.clone());
    }
}

/// The error of a status, for where no wire format has more to say (a model list, a probe). Fits as
/// [`Exchange::success`]'s `decode_error`.
pub fn status_error(status: u16, _body: &[u8]) -> Error {
    Error::new(
        ErrorKind::of_status(status),
        format!("the vendor answered with status {status}"),
    )
}

/// At most this many bytes, cut between characters.
fn start_of(mut text: String, bytes: usize) -> String {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

fn shorten(message: String) -> String {
    match message.char_indices().nth(KEPT_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

#[cfg(test)]
mod tests;
