//! Sending one request: the trait that everything above is written against.

use crate::limits::{Capped, too_long};
use crate::request::HttpRequest;
use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use llm_core::{BuildContext, CallContext, Result, async_trait};
use std::fmt::{self, Debug};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

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

/// The transport that a driver built from configuration uses: the one the program put into the context (as
/// `Arc<dyn Transport>`), else the shared one. For the factories of drivers.
///
/// ```
/// # fn main() -> llm_core::Result<()> {
/// use llm_core::BuildContext;
/// use llm_http::{ReqwestTransport, Transport, transport_from};
/// use std::sync::Arc;
/// let own: Arc<dyn Transport> = Arc::new(ReqwestTransport::builder().with_environment_proxy().build()?);
/// let mut context = BuildContext::default();
/// context.insert(own.clone());
/// assert!(Arc::ptr_eq(&transport_from(&context)?, &own));
/// # Ok(()) }
/// ```
///
/// # Errors
/// `Config`, when the shared transport cannot be built.
pub fn transport_from(context: &BuildContext) -> Result<Arc<dyn Transport>> {
    match context.find::<Arc<dyn Transport>>() {
        Some(transport) => Ok(transport.clone()),
        None => crate::ReqwestTransport::shared(),
    }
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

/// The bytes of an answer, as they come. Dropping it closes the exchange, and so does its end: after the last piece
/// or an error the stream it was made from is dropped and never asked again, whatever its own manners.
pub struct Body(Option<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>>);

impl Body {
    /// From any stream of pieces.
    pub fn new(pieces: impl Stream<Item = Result<Bytes>> + Send + 'static) -> Self {
        Body(Some(Box::pin(pieces)))
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// `Connection` with phase `Sent`, when the connection breaks.
    pub async fn next_piece(&mut self) -> Result<Option<Bytes>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task))
            .await
            .transpose()
    }

    /// Everything, up to a cap in bytes.
    ///
    /// # Errors
    /// As [`Body::next_piece`]; `Protocol`, when the body is longer than the cap.
    pub async fn read_all(mut self, cap: usize) -> Result<Bytes> {
        let mut read = Joined::default();
        while let Some(piece) = self.next_piece().await? {
            if piece.len() > cap - read.length {
                return Err(too_long(cap as u64));
            }
            read.push(piece);
        }
        Ok(read.into_bytes())
    }

    /// The start of a body, up to a cap in bytes: what came until the end, the cap, a failure, or this long
    /// without the rest. For the bodies of errors, of which a part is better than nothing. Needs a tokio runtime.
    pub async fn read_start(mut self, cap: usize, wait: Duration) -> Bytes {
        let mut read = Joined::default();
        let reading = async {
            while read.length < cap
                && let Ok(Some(mut piece)) = self.next_piece().await
            {
                piece.truncate(cap - read.length);
                read.push(piece);
            }
        };
        // Whichever way it ended, what was read is what there is.
        let _ = tokio::time::timeout(wait, reading).await;
        read.into_bytes()
    }

    /// The same body, failing with `Protocol` once more than this many bytes came.
    #[must_use]
    pub fn capped(self, cap: u64) -> Self {
        Body::new(Capped::new(self, cap))
    }
}

impl From<Bytes> for Body {
    /// A body that is there already, in one piece.
    fn from(bytes: Bytes) -> Self {
        Body::new(Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }
}

impl Stream for Body {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(pieces) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let piece = ready!(pieces.as_mut().poll_next(task));
        if !matches!(piece, Some(Ok(_))) {
            self.0 = None;
        }
        Poll::Ready(piece)
    }
}

struct Whole(Option<Bytes>);

impl Stream for Whole {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// Pieces put together; a body of one piece, the usual case, is not copied.
#[derive(Default)]
struct Joined {
    first: Bytes,
    rest: Vec<u8>,
    length: usize,
}

impl Joined {
    fn push(&mut self, piece: Bytes) {
        if self.length == 0 {
            self.first = piece;
        } else {
            if self.rest.is_empty() {
                self.rest.extend_from_slice(&self.first);
            }
            self.rest.extend_from_slice(&piece);
        }
        self.length = self.rest.len().max(self.first.len());
    }

    fn into_bytes(self) -> Bytes {
        if self.rest.is_empty() {
            self.first
        } else {
            self.rest.into()
        }
    }
}

impl Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::{Error, ErrorKind};

    /// Panics when it is asked again after its end, as streams may.
    struct Brittle {
        last: Option<Result<Bytes>>,
        over: bool,
    }

    impl Stream for Brittle {
        type Item = Result<Bytes>;
        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            assert!(!self.over, "asked again after the end");
            let last = self.last.take();
            self.over = !matches!(last, Some(Ok(_)));
            Poll::Ready(last)
        }
    }

    #[tokio::test]
    async fn a_body_that_ended_may_be_asked_again() {
        let error = Error::new(ErrorKind::Connection, "cut");
        for last in [None, Some(Ok(Bytes::from_static(b"a"))), Some(Err(error))] {
            let mut body = Body::new(Brittle { last, over: false });
            while let Ok(Some(_)) = body.next_piece().await {}
            assert!(body.next_piece().await.unwrap().is_none());
            assert!(body.read_all(9).await.unwrap().is_empty());
        }
    }
}
