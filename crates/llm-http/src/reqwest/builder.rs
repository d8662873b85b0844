//! How a [`ReqwestTransport`] is set up.

use super::failure::setup_failure;
use super::reuse::UsedConnections;
use super::tls::{self, Tls};
use super::{ReqwestTransport, Resend};
use llm_core::Result;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

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
    resend: bool,
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
            resend: true,
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

    /// Sends a request once more, on a new connection, when the kept one it went out on was closed before an answer
    /// began (see [`ReqwestTransport`]). Default: it does.
    pub fn with_resend(mut self, resend: bool) -> Self {
        self.resend = resend;
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
        let tls = tls::configure(&self.root_certificates, self.http1_only)?;
        let client = self.client(&tls, self.max_idle_per_host)?;
        let resend = if self.resend {
            Some(Resend {
                fresh: self.client(&tls, 0)?,
                used: Arc::new(UsedConnections::new(self.idle_timeout)),
            })
        } else {
            None
        };
        Ok(ReqwestTransport {
            client,
            resend,
            connect_timeout: self.connect_timeout,
            addresses: Arc::default(),
            no_https: tls.no_https,
        })
    }

    fn client(&self, tls: &Tls, max_idle_per_host: usize) -> Result<::reqwest::Client> {
        let mut client = ::reqwest::Client::builder()
            .user_agent(concat!("llm-suite/", env!("CARGO_PKG_VERSION")))
            .redirect(::reqwest::redirect::Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .connect_timeout(self.connect_timeout)
            .pool_idle_timeout(self.idle_timeout)
            .pool_max_idle_per_host(max_idle_per_host);
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
        tls.apply(client)
            .build()
            .map_err(|error| setup_failure(error, "the HTTP client cannot be built"))
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
            .field("resend", &self.resend)
            .finish()
    }
}
