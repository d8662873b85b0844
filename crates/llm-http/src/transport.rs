//! Sending one request: the trait that everything above is written against.

use crate::request::HttpRequest;
use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use llm_core::{CallContext, Error, ErrorKind, Phase, Result, async_trait};
use std::fmt::{self, Debug};
use std::future::poll_fn;
use std::pin::Pin;

/// Sends a request and gives back status, headers and the body as it comes.
///
/// An answer with any status is `Ok`: what a status means is the driver's business. Implement it for tests, for
/// unusual platforms, or to use an HTTP stack of your own.
///
/// # Errors
/// `Connection` when there is no answer, `Timeout` with scope `Request` when the call's deadline passes.
///
/// # Cancellation
/// Dropping the future or the body closes the exchange.
#[async_trait]
pub trait Transport: Debug + Send + Sync + 'static {
    /// Sends a request.
    async fn send(&self, cx: &CallContext, request: HttpRequest) -> Result<HttpResponse>;
}

/// An answer whose body has not been read yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct HttpResponse {
    /// The status, whatever it is.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

impl HttpResponse {
    /// An answer.
    pub fn new(status: u16, headers: HeaderMap, body: Body) -> Self {
        HttpResponse {
            status,
            headers,
            body,
        }
    }

    /// Is the status 2xx?
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header as text; absent when it is missing or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The bytes of an answer, as they come. Dropping it closes the exchange.
pub struct Body(Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>);

impl Body {
    /// From any stream of pieces.
    pub fn new(pieces: impl Stream<Item = Result<Bytes>> + Send + 'static) -> Self {
        Body(Box::pin(pieces))
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// `Connection` with phase `Sent`, when the connection breaks.
    pub async fn next_piece(&mut self) -> Result<Option<Bytes>> {
        poll_fn(|cx| self.0.as_mut().poll_next(cx)).await.transpose()
    }

    /// Everything, up to a cap in bytes.
    ///
    /// # Errors
    /// As [`Body::next_piece`]; `Protocol`, when the body is longer than the cap.
    pub async fn read_all(mut self, cap: usize) -> Result<Bytes> {
        let mut whole: Option<Vec<u8>> = None;
        let mut first: Option<Bytes> = None;
        let mut length = 0;
        while let Some(piece) = self.next_piece().await? {
            length += piece.len();
            if length > cap {
                let message = format!(
                    "the answer is longer than the cap of {cap} bytes; raise the cap if it is wanted"
                );
                return Err(Error::new(ErrorKind::Protocol, message).with_phase(Phase::Sent));
            }
            match (&mut whole, &mut first) {
                (Some(whole), _) => whole.extend_from_slice(&piece),
                (None, None) => first = Some(piece),
                (None, Some(start)) => {
                    let mut joined = Vec::with_capacity(length.max(4096));
                    joined.extend_from_slice(start);
                    joined.extend_from_slice(&piece);
                    whole = Some(joined);
                }
            }
        }
        Ok(whole.map(Bytes::from).or(first).unwrap_or_default())
    }
}

impl Stream for Body {
    type Item = Result<Bytes>;
    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body")
    }
}
