//! A request to send, and how it shows itself in logs.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use llm_core::codec::percent_encode;
use llm_core::{Error, ErrorKind, Result};
use std::fmt;

/// A request to send. `Debug` shows method, host and path, and the names of headers, never a value, a query or
/// the body.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// The headers. Values of credentials are marked sensitive.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// Must it never be sent twice, not even when the kept connection it went out on turns out closed? For what
    /// changes something at the other side; see [`ReqwestTransport`](crate::ReqwestTransport).
    pub once: bool,
}

/// Room for those of a usual call and what the transport adds, so that the map is not laid out twice.
const USUAL_HEADERS: usize = 8;

impl HttpRequest {
    /// A GET of this address.
    pub fn get(url: impl Into<String>) -> Self {
        HttpRequest {
            method: Method::GET,
            url: url.into(),
            headers: HeaderMap::with_capacity(USUAL_HEADERS),
            body: Bytes::new(),
            once: false,
        }
    }

    /// A POST of JSON to this address.
    pub fn post_json(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let mut request = HttpRequest {
            method: Method::POST,
            body: body.into(),
            ..HttpRequest::get(url)
        };
        request.headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        request
    }

    /// Never to be sent twice: for what changes something at the other side.
    #[must_use]
    pub fn with_once(mut self) -> Self {
        self.once = true;
        self
    }

    /// One more header, in place of an earlier one of the same name.
    ///
    /// # Errors
    /// `Config`, when name or value cannot be a header; the message holds neither.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self> {
        let (name, value) = header(name, value)?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// One more header whose value is a credential: nothing that knows of sensitive headers shows it.
    ///
    /// # Errors
    /// `Config`, when name or value cannot be a header; the message holds neither.
    pub fn with_secret_header(mut self, name: &str, value: &str) -> Result<Self> {
        let (name, value) = secret_header(name, value)?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// One more query parameter; name and value are encoded.
    ///
    /// ```
    /// use llm_http::HttpRequest;
    /// let request = HttpRequest::get("https://api.example/v1/models?limit=5").with_query("after", "a b");
    /// assert_eq!(request.url, "https://api.example/v1/models?limit=5&after=a%20b");
    /// ```
    #[must_use]
    pub fn with_query(mut self, name: &str, value: &str) -> Self {
        let parameter = format!("{}={}", percent_encode(name), percent_encode(value));
        self.url = crate::url::with_query(&self.url, &parameter);
        self
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok();
    name.zip(HeaderValue::from_str(value).ok()).ok_or_else(|| {
        let message = "a header has characters that no header can hold; check the configured headers and key";
        Error::new(ErrorKind::Config, message)
    })
}

/// A header whose value is a credential.
pub(crate) fn secret_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue)> {
    let (name, mut value) = header(name, value)?;
    value.set_sensitive(true);
    Ok((name, value))
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.url.split(['?', '#']).next().unwrap_or_default();
        let names: Vec<_> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &crate::redact::without_user_info(address))
            .field("headers", &names)
            .field("body", &format_args!("[{} bytes]", self.body.len()))
            .finish()
    }
}
