//! One vendor's HTTP API: where it is, what it is shown, how it is reached. What a driver holds.

use crate::credential::{Credential, CredentialSource, FixedCredential};
use crate::deadline::within_deadline;
use crate::exchange::{CallFacts, Exchange};
use crate::limits::Limits;
use crate::redact::scrub;
use crate::request::HttpRequest;
use crate::retry_after::header_facts;
use crate::transport::Transport;
use crate::url::{self, BaseUrl};
use bytes::Bytes;
use llm_core::{CallContext, DriverId, Error, ErrorKind, ModelId, Phase, Result};
use std::fmt;
use std::sync::Arc;

/// One vendor's HTTP API: where it is, what it is shown, how it is reached. A driver holds one and sends every
/// request through it.
///
/// See the crate's example for a whole call. Cheap to clone.
#[derive(Clone)]
pub struct VendorApi {
    driver: DriverId,
    base_url: BaseUrl,
    credentials: Arc<dyn CredentialSource>,
    transport: Arc<dyn Transport>,
    limits: Limits,
    idempotency_header: Option<Arc<str>>,
}

impl VendorApi {
    /// An API at this address, without a credential, with the usual limits.
    ///
    /// # Errors
    /// `Config`, when the base URL is not one (see [`join`](crate::url::join)).
    pub fn new(driver: DriverId, base_url: &str, transport: Arc<dyn Transport>) -> Result<Self> {
        Ok(VendorApi {
            driver,
            base_url: BaseUrl::parse(base_url)?,
            credentials: Arc::new(FixedCredential::new(Credential::none())),
            transport,
            limits: Limits::default(),
            idempotency_header: None,
        })
    }

    /// The same, showing this credential.
    ///
    /// # Errors
    /// `Config`, when the credential cannot be sent (see [`Credential::check`]).
    pub fn with_credential(self, credential: Credential) -> Result<Self> {
        credential.check()?;
        Ok(self.with_credential_source(Arc::new(FixedCredential::new(credential))))
    }

    /// The same, asking this source for a credential before every request.
    #[must_use]
    pub fn with_credential_source(mut self, credentials: Arc<dyn CredentialSource>) -> Self {
        self.credentials = credentials;
        self
    }

    /// The same, with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same, sending the call's idempotency key in this header, where a call has one. Chat calls do so.
    ///
    /// # Errors
    /// `Config`, when it cannot be the name of a header.
    pub fn with_idempotency_header(mut self, name: &str) -> Result<Self> {
        self.get("")?.with_header(name, "key")?;
        self.idempotency_header = Some(name.into());
        Ok(self)
    }

    pub(crate) fn idempotency_header(&self) -> Option<&str> {
        self.idempotency_header.as_deref()
    }

    /// How large answers may get.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// A GET of a path behind the base URL.
    ///
    /// # Errors
    /// `InvalidRequest`, when the path would leave the base (see [`join`](crate::url::join)).
    pub fn get(&self, path: &str) -> Result<HttpRequest> {
        self.base_url.join(path).map(HttpRequest::get)
    }

    /// A POST of JSON to a path behind the base URL.
    ///
    /// # Errors
    /// `InvalidRequest`, when the path would leave the base (see [`join`](crate::url::join)).
    pub fn post_json(&self, path: &str, body: impl Into<Bytes>) -> Result<HttpRequest> {
        let url = self.base_url.join(path)?;
        Ok(HttpRequest::post_json(url, body))
    }

    /// Sends a request, credential and all, and waits for the head of the answer, whatever its status.
    /// `model` is for the errors' facts.
    ///
    /// The deadline bounds this and every piece of the body, also where the transport does not.
    ///
    /// # Errors
    /// `Timeout` with scope `Request`, when the call's deadline passes; `Config`, when the request would carry
    /// the credential to another host than the base URL's; whatever the transport and the source of the
    /// credential fail with. All name driver and model.
    ///
    /// # Cancellation
    /// Dropping the future closes the exchange.
    pub async fn send(
        &self,
        cx: &CallContext,
        model: Option<&ModelId>,
        request: HttpRequest,
    ) -> Result<Exchange> {
        cx.check_deadline().map_err(|error| self.identify(error, model))?;
        let credential = within_deadline(cx, Phase::NotSent, self.credentials.credential(cx))
            .await
            .map_err(|error| self.identify(error, model))?;
        let identify = |error| self.identify(scrubbed(error, &credential.secrets()), model);
        let request = self.with_credential_on(request, &credential).map_err(identify)?;
        let response = within_deadline(cx, Phase::Sent, self.transport.send(cx, request)).await;
        let response = response.map_err(identify)?;
        let headers = header_facts(&response.headers, cx.clock().wall());
        let facts = CallFacts::new(self.driver.clone(), model.cloned(), response.status, headers)
            .with_credential(credential);
        Exchange::new(cx, response, facts, self.limits)
    }

    /// The request with the credential on it, where that may see it.
    fn with_credential_on(&self, request: HttpRequest, credential: &Credential) -> Result<HttpRequest> {
        if !self.base_url.is_origin_of(&request.url) {
            let message = "refused to send the credential to another host than the base URL names";
            return Err(Error::new(ErrorKind::Config, message));
        }
        credential.apply(request)
    }

    /// Says on an error which driver made the call and which model was asked; what it says already stays. For what
    /// goes wrong before anything is sent: everything else comes with its facts.
    #[must_use]
    pub fn identify(&self, error: Error, model: Option<&ModelId>) -> Error {
        let mut error = scrubbed(error, &[]);
        let vendor = error.vendor_mut();
        vendor.driver.get_or_insert_with(|| self.driver.clone());
        vendor.model = vendor.model.take().or_else(|| model.cloned());
        error
    }
}

fn scrubbed(error: Error, secrets: &[&str]) -> Error {
    let message = scrub(error.message(), secrets);
    error.with_message(message)
}

impl fmt::Debug for VendorApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VendorApi")
            .field("driver", &self.driver)
            .field("base_url", &url::shown(self.base_url.as_str()))
            .field("credentials", &self.credentials)
            .field("transport", &self.transport)
            .field("limits", &self.limits)
            .finish()
    }
}
