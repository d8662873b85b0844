//! Credentials: how a vendor wants to be shown one, the value itself, and where fresh ones come from.

mod forms;

use crate::request::{HttpRequest, secret_header};
use http::{HeaderName, HeaderValue};
use llm_core::{CallContext, Error, ErrorKind, Result, Secret, async_trait};
use serde::Serialize;
use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock};

/// How a credential is shown to a vendor. In configuration: `bearer`, `none`, `header(api-key)`, `query(key)`, or
/// `{"header": "api-key"}`, `{"query": "key"}`.
///
/// ```
/// use llm_http::AuthScheme;
/// let scheme: AuthScheme = serde_json::from_str(r#""header(api-key)""#).unwrap();
/// assert_eq!(scheme, AuthScheme::Header("api-key".into()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuthScheme {
    /// Not at all: a local server.
    None,
    /// `Authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// A header of this name.
    Header(String),
    /// A query parameter of this name. Only where a vendor takes nothing else: addresses end up in logs.
    Query(String),
}

/// A credential and how it is shown, with headers and query parameters that go with every request.
///
/// `Debug` shows names, never values. Header values are marked sensitive.
///
/// ```
/// # fn main() -> llm_core::Result<()> {
/// use llm_http::{Credential, HttpRequest};
/// let credential = Credential::header("api-key", "sentinel".into()).with_query("api-version", "2026-11-01");
/// let request = credential.apply(HttpRequest::get("https://host/v1/models"))?;
/// assert_eq!(request.url, "https://host/v1/models?api-version=2026-11-01");
/// assert_eq!(request.headers["api-key"], "sentinel");
/// assert!(!format!("{credential:?} {request:?}").contains("sentinel"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Credential {
    scheme: AuthScheme,
    key: Secret<String>,
    headers: Vec<(String, Secret<String>)>,
    query: Vec<(String, Secret<String>)>,
    /// The headers as they are sent, made for the first request.
    ready: OnceLock<Vec<(HeaderName, HeaderValue)>>,
}

impl Credential {
    /// A key, shown in the way that a configuration says.
    ///
    /// # Errors
    /// `Config`, when the scheme wants a key and there is none, or name or key cannot be sent.
    pub fn new(scheme: AuthScheme, key: Option<Secret<String>>) -> Result<Self> {
        let key = key.unwrap_or_else(|| Secret::new(String::new()));
        let credential = Credential::shown_as(scheme, &key);
        credential.check()?;
        Ok(credential)
    }

    /// No credential.
    pub fn none() -> Self {
        Credential::shown_as(AuthScheme::None, &Secret::new(String::new()))
    }

    /// `Authorization: Bearer KEY`.
    pub fn bearer(key: Secret<String>) -> Self {
        Credential::shown_as(AuthScheme::Bearer, &key)
    }

    /// A header of this name.
    pub fn header(name: impl Into<String>, key: Secret<String>) -> Self {
        Credential::shown_as(AuthScheme::Header(name.into()), &key)
    }

    /// A query parameter of this name.
    pub fn query(name: impl Into<String>, key: Secret<String>) -> Self {
        Credential::shown_as(AuthScheme::Query(name.into()), &key)
    }

    fn shown_as(scheme: AuthScheme, key: &Secret<String>) -> Self {
        Credential {
            scheme,
            // A key from a file ends with a line end, which no header can hold.
            key: Secret::new(key.expose().trim().to_owned()),
            headers: Vec::new(),
            query: Vec::new(),
            ready: OnceLock::new(),
        }
    }

    /// One more header on every request, in place of one of the same name.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret<String>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self.ready = OnceLock::new();
        self
    }

    /// One more query parameter on every request.
    #[must_use]
    pub fn with_query(mut self, name: impl Into<String>, value: impl Into<Secret<String>>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Can it be sent? Asked when a driver is built, so that a missing key is told then and not at the first
    /// call.
    ///
    /// # Errors
    /// `Config`, when the key is missing, or a name or value cannot be sent; the message holds no value.
    pub fn check(&self) -> Result<()> {
        let message = match &self.scheme {
            AuthScheme::Query(name) | AuthScheme::Header(name) if name.is_empty() => {
                "the auth scheme names no header or query parameter; name it"
            }
            AuthScheme::None => return self.apply(HttpRequest::get("")).map(drop),
            _ if self.key.expose().is_empty() => {
                "there is no API key; set one, or set the auth scheme to none"
            }
            _ => return self.apply(HttpRequest::get("")).map(drop),
        };
        Err(Error::new(ErrorKind::Config, message))
    }

    /// How the key is shown.
    pub fn scheme(&self) -> &AuthScheme {
        &self.scheme
    }

    /// The same request, with the credential on it.
    ///
    /// # Errors
    /// `Config`, when something cannot be sent; the message holds no value.
    pub fn apply(&self, mut request: HttpRequest) -> Result<HttpRequest> {
        for (name, value) in &self.query {
            request = request.with_query(name, value.expose());
        }
        if let AuthScheme::Query(name) = &self.scheme {
            request = request.with_query(name, self.key.expose());
        }
        let ready = match self.ready.get() {
            Some(ready) => ready,
            None => {
                let headers = self.sent_headers()?;
                self.ready.get_or_init(|| headers)
            }
        };
        for (name, value) in ready {
            request.headers.insert(name, value.clone());
        }
        Ok(request)
    }

    fn sent_headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>> {
        let given = self.headers.iter();
        let mut headers: Vec<_> = given
            .map(|(name, value)| secret_header(name, value.expose()))
            .collect::<Result<_>>()?;
        let key = self.key.expose();
        match &self.scheme {
            AuthScheme::None | AuthScheme::Query(_) => {}
            AuthScheme::Bearer => headers.push(secret_header("authorization", &format!("Bearer {key}"))?),
            AuthScheme::Header(name) => headers.push(secret_header(name, key)?),
        }
        Ok(headers)
    }

    /// What must never be shown: the key, and the values of headers and parameters whose name says that they
    /// are one. For [`scrub`](crate::redact::scrub).
    pub fn secrets(&self) -> Vec<&str> {
        let named = self.headers.iter().chain(&self.query);
        let named = named.filter(|(name, _)| names_a_secret(name));
        let values = named.map(|(_, value)| value.expose().as_str());
        std::iter::once(self.key.expose().as_str())
            .chain(values)
            .filter(|secret| !secret.is_empty())
            .collect()
    }
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "auth",
        "key",
        "token",
        "secret",
        "cookie",
        "password",
        "signature",
    ]
    .iter()
    .any(|word| name.contains(word))
}

impl Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, Secret<String>)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        f.debug_struct("Credential")
            .field("scheme", &self.scheme)
            .field("headers", &names(&self.headers))
            .field("query", &names(&self.query))
            .finish_non_exhaustive()
    }
}

/// Where a credential comes from, asked before every request: a token that is refreshed, a key that is read
/// again when its file changes. Keep what is still good; a call waits for the answer.
#[async_trait]
pub trait CredentialSource: Debug + Send + Sync + 'static {
    /// The credential for the next request.
    ///
    /// # Errors
    /// `Auth`, when none can be had; the kind of what went wrong otherwise.
    async fn credential(&self, cx: &CallContext) -> Result<Arc<Credential>>;
}

/// A credential that never changes.
#[derive(Debug, Clone)]
pub struct FixedCredential(Arc<Credential>);

impl FixedCredential {
    /// Always this one.
    pub fn new(credential: Credential) -> Self {
        FixedCredential(Arc::new(credential))
    }
}

#[async_trait]
impl CredentialSource for FixedCredential {
    async fn credential(&self, _: &CallContext) -> Result<Arc<Credential>> {
        Ok(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTINEL: &str = "sentinel-7f3a";

    fn applied(credential: &Credential) -> HttpRequest {
        credential.apply(HttpRequest::get("https://h/v1?a=1")).unwrap()
    }

    #[test]
    fn each_scheme_shows_the_key_in_its_place_and_nowhere_else() {
        let key = || Secret::from(SENTINEL);
        let bearer = applied(&Credential::bearer(key()));
        assert_eq!(bearer.headers["authorization"], format!("Bearer {SENTINEL}"));
        assert!(bearer.headers["authorization"].is_sensitive());
        let header = applied(&Credential::header("x-api-key", key()));
        assert_eq!(header.headers["x-api-key"], SENTINEL);
        assert!(header.headers["x-api-key"].is_sensitive());
        let query = applied(&Credential::query("key", key()));
        assert_eq!(query.url, format!("https://h/v1?a=1&key={SENTINEL}"));
        assert!(query.headers.is_empty());
        let none = applied(&Credential::none());
        assert_eq!((none.url.as_str(), none.headers.len()), ("https://h/v1?a=1", 0));
        for request in [bearer, header, query] {
            assert!(!format!("{request:?}").contains(SENTINEL), "{request:?}");
        }
    }

    #[test]
    fn nothing_of_a_credential_shows() {
        let credential = Credential::bearer(SENTINEL.into())
            .with_header("x-gateway-token", SENTINEL)
            .with_query("q", SENTINEL);
        let shown = format!("{credential:?} {:?}", FixedCredential::new(credential.clone()));
        assert!(!shown.contains(SENTINEL), "{shown}");
        assert!(shown.contains("x-gateway-token"), "{shown}");
        assert_eq!(credential.secrets(), [SENTINEL, SENTINEL]);
    }

    #[test]
    fn what_cannot_be_sent_is_a_config_error_without_values() {
        let broken = format!("{SENTINEL}\nx");
        assert_eq!(
            Credential::new(AuthScheme::Bearer, None).unwrap_err().kind(),
            ErrorKind::Config
        );
        for credential in [
            Credential::bearer("".into()),
            Credential::bearer(" \n".into()),
            Credential::bearer(broken.as_str().into()),
            Credential::header("", SENTINEL.into()),
            Credential::header("not a name", SENTINEL.into()),
            Credential::header("x-key", broken.as_str().into()),
            Credential::query("", SENTINEL.into()),
            Credential::none().with_header("x", broken.as_str()),
        ] {
            let error = credential.check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(!format!("{error:?} {error}").contains(SENTINEL), "{error:?}");
        }
    }

    #[test]
    fn a_key_from_a_file_may_end_with_a_line_end() {
        let credential = Credential::bearer("abc\n".into());
        assert_eq!(applied(&credential).headers["authorization"], "Bearer abc");
    }

    #[test]
    fn a_header_that_is_added_after_a_check_is_sent_too() {
        let credential = Credential::bearer("abc".into());
        credential.check().unwrap();
        let credential = credential.with_header("x-team", "red");
        let request = applied(&credential);
        assert_eq!(
            (request.headers.len(), &request.headers["x-team"]),
            (2, &HeaderValue::from_static("red"))
        );
    }

    #[test]
    fn schemes_have_a_form_for_configuration() {
        for (scheme, text) in [
            (AuthScheme::None, r#""none""#),
            (AuthScheme::Bearer, r#""bearer""#),
            (AuthScheme::Header("api-key".into()), r#"{"header":"api-key"}"#),
            (AuthScheme::Query("key".into()), r#"{"query":"key"}"#),
        ] {
            assert_eq!(serde_json::to_string(&scheme).unwrap(), text);
            assert_eq!(serde_json::from_str::<AuthScheme>(text).unwrap(), scheme);
        }
    }
}
