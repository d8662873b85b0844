//! The usual transport, on reqwest.

mod failure;
#[cfg(feature = "rustls")]
mod tls;

use self::failure::{body_failure, send_failure, setup_failure};
use crate::deadline::{bound_body, require_runtime, within_deadline};
use crate::request::HttpRequest;
use crate::transport::{Body, HttpResponse, Transport};
use crate::url::parse_http;
use bytes::Bytes;
use futures_core::Stream;
use http_body::Body as _;
use llm_core::{CallContext, Error, ErrorKind, Phase, Result, async_trait};
use std::fmt::{self, Debug};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The usual transport: connections are pooled and kept, TLS is rustls with the machine's own certificates.
///
/// It follows no redirect (that could carry a credential to another host; a 3xx is handed back), asks no proxy
/// unless told to, and sets no limit on a whole call: the call's deadline is that. One instance serves all
/// drivers of a program, see [`shared`](ReqwestTransport::shared). Needs a tokio runtime.
#[derive(Clone)]
pub struct ReqwestTransport {
    client: ::reqwest::Client,
    connect_timeout: Duration,
    /// Why an `https` address cannot be called, if it cannot.
    no_https: Option<Arc<str>>,
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

#[async_trait]
impl Transport for ReqwestTransport {
    async fn send(&self, cx: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        cx.check_deadline()?;
        require_runtime()?;
        let url = parse_http(&request.url)?;
        if let Some(reason) = self.no_https.as_deref().filter(|_| url.scheme() == "https") {
            return Err(Error::new(ErrorKind::Config, reason));
        }
        // The authority is host and port alone: an address with a user name was refused.
        let host: Arc<str> = url.authority().into();
        let mut outgoing = ::reqwest::Request::new(request.method, url);
        *outgoing.headers_mut() = request.headers;
        if !request.body.is_empty() {
            *outgoing.body_mut() = Some(request.body.into());
        }
        let sending = async {
            let sent = self.client.execute(outgoing).await;
            sent.map_err(|error| send_failure(error, &host, self.connect_timeout))
        };
        // Whether the request had left when the deadline passed cannot be told, so it counts as sent.
        let response = within_deadline(cx, Phase::Sent, sending).await?;
        let (head, body) = http::Response::from(response).into_parts();
        let pieces = Body::new(Pieces {
            body: Some(body),
            host,
        });
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
            .finish_non_exhaustive()
    }
}

/// The pieces of a body. Read frame by frame: reqwest's own stream would cost two more crates.
struct Pieces {
    /// Absent after the end, so that the connection is free at once.
    body: Option<::reqwest::Body>,
    host: Arc<str>,
}

impl Stream for Pieces {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while let Some(body) = &mut self.body {
            match ready!(Pin::new(body).poll_frame(task)) {
                // What is no data is trailers, which no vendor uses.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) if !piece.is_empty() => return Poll::Ready(Some(Ok(piece))),
                    _ => {}
                },
                Some(Err(error)) => {
                    self.body = None;
                    return Poll::Ready(Some(Err(body_failure(error, &self.host))));
                }
                None => self.body = None,
            }
        }
        Poll::Ready(None)
    }
}

/// Settings of a [`ReqwestTransport`].
///
/// ```
/// # fn main() -> llm_core::Result<()> {
/// use std::time::Duration;
/// let transport = llm_http::ReqwestTransport::builder()
///     .with_connect_timeout(Duration::from_secs(3))
///     .with_max_idle_per_host(64)
///     .build()?;
/// # let _ = transport; Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "a transport is made by build()"]
pub struct ReqwestTransportBuilder {
    connect_timeout: Duration,
    idle_timeout: Option<Duration>,
    max_idle_per_host: usize,
    environment_proxy: bool,
    proxy: Option<String>,
    root_certificates: Vec<Vec<u8>>,
    http1_only: bool,
}

impl Default for ReqwestTransportBuilder {
    fn default() -> Self {
        ReqwestTransportBuilder {
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Some(Duration::from_secs(90)),
            max_idle_per_host: usize::MAX,
            environment_proxy: false,
            proxy: None,
            root_certificates: Vec::new(),
            http1_only: false,
        }
    }
}

impl ReqwestTransportBuilder {
    /// How long a connection may take to be made, TLS included. Default: 10 s.
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long an unused connection is kept; `None`: as long as the server keeps it. Default: 90 s.
    pub fn with_idle_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.idle_timeout = timeout.into();
        self
    }

    /// How many unused connections are kept for each host. Default: no limit.
    pub fn with_max_idle_per_host(mut self, connections: usize) -> Self {
        self.max_idle_per_host = connections;
        self
    }

    /// Goes through the proxies that `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name. Default: it does not.
    pub fn with_environment_proxy(mut self) -> Self {
        self.environment_proxy = true;
        self
    }

    /// Goes through this proxy, `http://user:password@host:port` for example. Default: none.
    pub fn with_proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Some(url.into());
        self
    }

    /// Trusts these certificates too, in PEM form, one or several: a company's own authority. Default: the
    /// machine's certificates only.
    pub fn with_root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Never speaks HTTP/2, also where the feature `http2` is on.
    pub fn with_http1_only(mut self) -> Self {
        self.http1_only = true;
        self
    }

    /// The transport.
    ///
    /// A machine without certificates can still be built on: plain `http` works there, and an `https` call says
    /// what is missing.
    ///
    /// # Errors
    /// `Config`, when proxy or certificates cannot be read, or certificates are given without the feature
    /// `rustls`.
    pub fn build(self) -> Result<ReqwestTransport> {
        let mut client = ::reqwest::Client::builder()
            .user_agent(concat!("llm-suite/", env!("CARGO_PKG_VERSION")))
            .redirect(::reqwest::redirect::Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .connect_timeout(self.connect_timeout)
            .pool_idle_timeout(self.idle_timeout)
            .pool_max_idle_per_host(self.max_idle_per_host);
        if !self.environment_proxy {
            client = client.no_proxy();
        }
        if let Some(proxy) = &self.proxy {
            let proxy = ::reqwest::Proxy::all(proxy)
                .map_err(|error| setup_failure(error, "the proxy's URL cannot be read; check it"))?;
            client = client.proxy(proxy);
        }
        if self.http1_only {
            client = client.http1_only();
        }
        let (client, no_https) = self.with_tls(client)?;
        let client = client
            .build()
            .map_err(|error| setup_failure(error, "the HTTP client cannot be built"))?;
        Ok(ReqwestTransport {
            client,
            connect_timeout: self.connect_timeout,
            no_https,
        })
    }

    #[cfg(feature = "rustls")]
    fn with_tls(
        &self,
        client: ::reqwest::ClientBuilder,
    ) -> Result<(::reqwest::ClientBuilder, Option<Arc<str>>)> {
        let tls = tls::configure(&self.root_certificates, self.http1_only)?;
        Ok((client.tls_backend_preconfigured(tls.config), tls.no_roots))
    }

    #[cfg(not(feature = "rustls"))]
    fn with_tls(
        &self,
        client: ::reqwest::ClientBuilder,
    ) -> Result<(::reqwest::ClientBuilder, Option<Arc<str>>)> {
        let reason = "https needs the feature `rustls` of llm-http (of llm-suite too); enable it, or bring a \
                      transport of your own";
        if self.root_certificates.is_empty() {
            Ok((client, Some(reason.into())))
        } else {
            Err(Error::new(ErrorKind::Config, reason))
        }
    }
}

impl Debug for ReqwestTransportBuilder {
    /// A proxy's address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReqwestTransportBuilder")
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_idle_per_host", &self.max_idle_per_host)
            .field("environment_proxy", &self.environment_proxy)
            .field("proxy", &self.proxy.as_deref().map(crate::url::shown))
            .field("root_certificates", &self.root_certificates.len())
            .field("http1_only", &self.http1_only)
            .finish()
    }
}
