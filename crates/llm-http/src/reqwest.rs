//! The usual transport, on reqwest.

mod addresses;
mod builder;
mod failure;
mod reuse;
#[cfg(not(feature = "rustls"))]
#[path = "reqwest/no_tls.rs"]
mod tls;
#[cfg(feature = "rustls")]
mod tls;

use self::addresses::{Address, Addresses};
pub use self::builder::ReqwestTransportBuilder;
use self::failure::{body_failure, send_failure};
use self::reuse::{ConnectionId, UsedConnections};
use crate::deadline::{bound_body, require_runtime, within_deadline};
use crate::request::HttpRequest;
use crate::transport::{Body, HttpResponse, Transport};
use bytes::Bytes;
use futures_core::Stream;
use http_body::Body as _;
use llm_core::{CallContext, Clock, Error, ErrorKind, Phase, Result, async_trait};
use std::fmt::{self, Debug};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The usual transport: connections are pooled and kept, TLS is rustls with the machine's own certificates.
///
/// It follows no redirect (that could carry a credential to another host; a 3xx is handed back), asks no proxy
/// unless told to, and sets no limit on a whole call: the call's deadline is that. One instance serves all
/// drivers of a program, see [`shared`](ReqwestTransport::shared). Needs a tokio runtime.
///
/// # Closed connections
///
/// A server may close a kept connection at any moment, also in the one in which the next request is on its way: some
/// promise to keep it and close it after every answer. Such a request is sent once more, on a new connection, within
/// the same deadline. Only then: when it went out on a connection that had answered before, and that one was closed or
/// reset before anything of an answer came. What fails on a new connection, by a time limit or while connecting is
/// never sent twice, and what is sent the second time is not sent a third.
///
/// That is right for requests that change nothing at the other side, as a chat call's: if the server had worked on the
/// first one after all, it has worked once too often. A request that must not arrive twice at any price says so
/// ([`HttpRequest::with_once`]); [`with_resend`](ReqwestTransportBuilder::with_resend) switches it off for all.
/// A status line that is cut off counts as no answer, since hyper does not tell them apart.
#[derive(Clone)]
pub struct ReqwestTransport {
    client: ::reqwest::Client,
    resend: Option<Resend>,
    connect_timeout: Duration,
    addresses: Arc<Addresses>,
    /// Why an `https` address cannot be called, if it cannot.
    no_https: Option<Arc<str>>,
}

/// What it takes to send a request once more.
#[derive(Clone)]
struct Resend {
    /// A client that keeps no connection, so that each request has a new one.
    fresh: ::reqwest::Client,
    used: Arc<UsedConnections>,
}

impl ReqwestTransport {
    /// Settings to build one from.
    pub fn builder() -> ReqwestTransportBuilder {
        ReqwestTransportBuilder::default()
    }

    /// The one transport of the process, with the default settings. Its connections belong to the runtime that
    /// opened them: with several runtimes in turn (one a test), build one each.
    ///
    /// # Errors
    /// `Config`, when it cannot be built.
    pub fn shared() -> Result<Arc<dyn Transport>> {
        static SHARED: OnceLock<Arc<ReqwestTransport>> = OnceLock::new();
        if let Some(shared) = SHARED.get() {
            return Ok(shared.clone());
        }
        let built = Arc::new(ReqwestTransport::builder().build()?);
        Ok(SHARED.get_or_init(|| built).clone())
    }
}

impl ReqwestTransport {
    /// Sends a request, and once more where its connection was closed under it.
    async fn execute(
        &self,
        cx: &CallContext,
        outgoing: ::reqwest::Request,
        once: bool,
        host: &str,
    ) -> Result<::reqwest::Response> {
        let failure = |error| send_failure(error, host, self.connect_timeout);
        let Some(resend) = self.resend.as_ref().filter(|_| !once) else {
            return self.client.execute(outgoing).await.map_err(failure);
        };
        let copy = outgoing.try_clone();
        let error = match self.client.execute(outgoing).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        let closed = resend.used.closed_on_reuse(&error, cx.clock().now());
        let Some(copy) = copy.filter(|_| closed) else {
            return Err(failure(error));
        };
        let sent = resend.fresh.execute(copy).await;
        // The first of the two may have arrived, however the second failed.
        sent.map_err(|error| failure(error).with_phase(Phase::Sent))
    }

    /// The connection of an answer, where a further request may go out on it. HTTP/2 says itself which requests it
    /// refused, and reqwest listens.
    fn kept(&self, cx: &CallContext, head: &http::response::Parts) -> Option<Kept> {
        let resend = self.resend.as_ref()?;
        let connection = ConnectionId::of(&head.extensions)?;
        (head.version < http::Version::HTTP_2).then(|| {
            let kept = Kept {
                connection,
                used: resend.used.clone(),
                clock: cx.clock().clone(),
            };
            kept.note();
            kept
        })
    }
}

#[async_trait]
impl Transport for ReqwestTransport {
    async fn send(&self, cx: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        cx.check_deadline()?;
        require_runtime()?;
        let Address { url, host } = self.addresses.read(&request.url)?;
        if let Some(reason) = self.no_https.as_deref().filter(|_| url.scheme() == "https") {
            return Err(Error::new(ErrorKind::Config, reason));
        }
        let mut outgoing = ::reqwest::Request::new(request.method, url);
        *outgoing.headers_mut() = request.headers;
        if !request.body.is_empty() {
            *outgoing.body_mut() = Some(request.body.into());
        }
        // Whether the request had left when the deadline passed cannot be told, so it counts as sent.
        let response = {
            // Pinned where it is: it is large, and would be moved from one future into the next.
            let sending = pin!(self.execute(cx, outgoing, request.once, &host));
            within_deadline(cx, Phase::Sent, sending).await?
        };
        let (head, body) = http::Response::from(response).into_parts();
        let mut pieces = Pieces {
            body: Some(body),
            host,
            kept: self.kept(cx, &head),
        };
        pieces.note_end();
        let pieces = Body::new(pieces);
        Ok(HttpResponse::new(
            head.status.as_u16(),
            head.headers,
            bound_body(cx, pieces)?,
        ))
    }
}

impl Debug for ReqwestTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestTransport")
            .field("connect_timeout", &self.connect_timeout)
            .field("https", &self.no_https.is_none())
            .field("resend", &self.resend.is_some())
            .finish_non_exhaustive()
    }
}

/// The pieces of a body. Read frame by frame: reqwest's own stream would cost two more crates.
struct Pieces {
    /// Absent after the end, so that the connection is free at once.
    body: Option<::reqwest::Body>,
    host: Arc<str>,
    kept: Option<Kept>,
}

/// A connection that may be used again once its answer has ended.
struct Kept {
    connection: ConnectionId,
    used: Arc<UsedConnections>,
    clock: Arc<dyn Clock>,
}

impl Kept {
    fn note(&self) {
        self.used.answered(self.connection, self.clock.now());
    }
}

impl Pieces {
    /// At the body's end, which is also known of a body of known length before it is asked for more: from now on its
    /// connection idles.
    fn note_end(&mut self) {
        if self.body.as_ref().is_none_or(|body| body.is_end_stream())
            && let Some(kept) = self.kept.take()
        {
            kept.note();
        }
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while let Some(body) = &mut self.body {
            match ready!(Pin::new(body).poll_frame(task)) {
                // What is no data is trailers, which no vendor uses.
                Some(Ok(frame)) => {
                    self.note_end();
                    match frame.into_data() {
                        Ok(piece) if !piece.is_empty() => return Poll::Ready(Some(Ok(piece))),
                        _ => {}
                    }
                }
                Some(Err(error)) => {
                    self.body = None;
                    return Poll::Ready(Some(Err(body_failure(error, &self.host))));
                }
                None => {
                    self.body = None;
                    self.note_end();
                }
            }
        }
        Poll::Ready(None)
    }
}
