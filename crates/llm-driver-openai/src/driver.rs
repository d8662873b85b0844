//! The driver: the only file of this crate that waits for anything.

mod answer;
mod call;
mod events;

use crate::config::OpenAiConfig;
use crate::dialect::dialect_of;
use crate::models::Models;
use answer::parse_model_list;
use call::Call;
use events::Events;
use llm_core::driver::CatalogModel;
use llm_core::stream::{collect, replay};
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Driver, DriverInfo, Error,
    ErrorKind, HealthStatus, ModelCatalog, ModelId, ResolvedModel, Result, async_trait,
};
use llm_http::redact::request_texts;
use llm_http::{AuthScheme, Body, Credential, Exchange, ReqwestTransport, Transport, VendorApi};
use llm_wire::chat_completions::{Dialect, decode_error};
use std::sync::Arc;
use std::time::Duration;

/// How long a health probe may take.
const PROBE_TIME: Duration = Duration::from_secs(4);

/// Speaks Chat Completions with OpenAI or any compatible host. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
#[derive(Debug)]
pub struct OpenAiDriver {
    info: DriverInfo,
    api: VendorApi,
    dialect: Dialect,
    models: Models,
    idempotency_header: Option<String>,
}

impl OpenAiDriver {
    /// A driver on the transport that all drivers of the process share. Does no I/O.
    ///
    /// ```
    /// use llm_driver_openai::{OpenAiConfig, OpenAiDriver};
    /// let driver = OpenAiDriver::new(OpenAiConfig::compatible("http://127.0.0.1:8080/v1"))?;
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Config`, when something in the configuration cannot be used: no key for OpenAI, a base URL that is none,
    /// a header that cannot be sent.
    pub fn new(config: OpenAiConfig) -> Result<Self> {
        OpenAiDriver::with_transport(config, ReqwestTransport::shared()?)
    }

    /// A driver on a transport of your own.
    ///
    /// # Errors
    /// `Config`, as [`OpenAiDriver::new`].
    pub fn with_transport(config: OpenAiConfig, transport: Arc<dyn Transport>) -> Result<Self> {
        let dialect = dialect_of(&config);
        let api = VendorApi::new(config.id.clone(), &config.base_url, transport)?
            .with_credential(credential_of(&config)?)?
            .with_limits(config.limits);
        if let Some(name) = &config.idempotency_header {
            api.get("")?.with_header(name, "key")?;
        }
        let shown = config.base_url.split(['?', '#']).next().unwrap_or_default();
        let info = DriverInfo::new(
            config.id.clone(),
            config.vendor.clone(),
            "OpenAI Chat Completions",
        )
        .with_base_url(shown.trim_end_matches('/'));
        Ok(OpenAiDriver {
            info,
            api,
            models: Models::new(&config, &dialect)?,
            dialect,
            idempotency_header: config.idempotency_header,
        })
    }

    /// A driver of the environment's configuration: see [`OpenAiConfig::from_env`].
    ///
    /// # Errors
    /// `Config`, as [`OpenAiConfig::from_env`] and [`OpenAiDriver::new`].
    pub fn from_env() -> Result<Self> {
        OpenAiDriver::new(OpenAiConfig::from_env()?)
    }

    /// Everything about a call that is decided before anything is sent.
    fn prepare(&self, cx: &CallContext, request: &ChatRequest, stream: bool) -> Result<Call> {
        let model = self.models.resolve(request.model.as_ref());
        let model = model.map_err(|error| self.identify(error, request.model.as_ref()))?;
        let asked = model.id.clone();
        Call::new(&self.dialect, model, request, cx.clock().wall(), stream)
            .map_err(|error| self.identify(error, Some(&asked)))
    }

    /// Sends the call and waits for the head of its answer; anything but 2xx is an error.
    async fn send(&self, cx: &CallContext, request: &ChatRequest, call: &Call) -> Result<Exchange> {
        let model = Some(&call.model.id);
        let accept = if call.stream {
            "text/event-stream"
        } else {
            "application/json"
        };
        let mut http = self
            .api
            .post_json("/chat/completions", call.body.clone())?
            .with_header("accept", accept)?;
        if let (Some(name), Some(key)) = (&self.idempotency_header, cx.idempotency_key()) {
            http = http.with_header(name, key)?;
        }
        let exchange = self.api.send(cx, model, http).await?;
        let decode = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
        exchange.success(request_texts(request), decode).await
    }

    /// Asks the host for its models, and waits for the head of the answer.
    async fn ask_for_models(&self, cx: &CallContext) -> Result<Exchange> {
        let request = self
            .api
            .get("/models")?
            .with_header("accept", "application/json")?;
        self.api.send(cx, None, request).await
    }

    fn identify(&self, mut error: Error, model: Option<&ModelId>) -> Error {
        let vendor = error.vendor_mut();
        vendor.driver = Some(self.info.id.clone());
        vendor.model = vendor.model.take().or_else(|| model.cloned());
        error
    }
}

fn credential_of(config: &OpenAiConfig) -> Result<Credential> {
    let key = config
        .api_key
        .clone()
        .filter(|key| !key.expose().trim().is_empty());
    let scheme = match (&config.auth, &key) {
        // A host of one's own often wants no key; OpenAI always does.
        (AuthScheme::Bearer, None) if !config.is_openai() => AuthScheme::None,
        (scheme, _) => scheme.clone(),
    };
    if key.is_none() && scheme != AuthScheme::None {
        let message = "there is no API key; set `api_key`, or `auth: none` for a host that wants none";
        return Err(Error::new(ErrorKind::Config, message));
    }
    let mut credential = Credential::new(scheme, key)?;
    let account = [
        ("openai-organization", &config.organization),
        ("openai-project", &config.project),
    ];
    for (name, value) in account {
        if let Some(value) = value {
            credential = credential.with_header(name, value.as_str());
        }
    }
    for (name, value) in &config.headers {
        credential = credential.with_header(name, value.clone());
    }
    for (name, value) in &config.query {
        credential = credential.with_query(name, value.clone());
    }
    Ok(credential)
}

#[async_trait]
impl ChatDriver for OpenAiDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.models
            .resolve(model)
            .map_err(|error| self.identify(error, model))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        let clock = cx.clock();
        let cx = cx.clone().with_timeout(PROBE_TIME);
        let began = clock.now();
        let probe = async {
            let exchange = self.ask_for_models(&cx).await?;
            let status = exchange.status();
            if status == 200 {
                // Read, so that the connection can be used again; what the list says does not matter.
                exchange.read().await?;
            }
            Ok::<_, Error>(status)
        };
        let outcome = probe.await;
        let latency = clock.now().saturating_duration_since(began);
        let checked_at = clock.wall();
        match outcome {
            Ok(200) => HealthStatus::healthy(checked_at, latency),
            Ok(status) => {
                let message = format!("the model list was answered with status {status}");
                HealthStatus::unhealthy(checked_at, message).with_latency(latency)
            }
            Err(error) if error.kind() == ErrorKind::Timeout => {
                HealthStatus::unhealthy(checked_at, "the model list was not answered in time")
                    .with_latency(latency)
            }
            Err(error) => HealthStatus::unhealthy(checked_at, error.message()).with_latency(latency),
        }
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let call = self.prepare(cx, request, false)?;
        let exchange = self.send(cx, request, &call).await?;
        if is_event_stream(&exchange) {
            let (facts, body) = exchange.stream();
            return collect(Events::start(cx, call, facts, body, self.api.limits())).await;
        }
        let (facts, body) = exchange.read().await?;
        call.decode(&facts, &body, self.api.limits())
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let call = self.prepare(cx, request, true)?;
        let exchange = self.send(cx, request, &call).await?;
        if is_event_stream(&exchange) {
            let (facts, body) = exchange.stream();
            return Ok(Events::start(cx, call, facts, body, self.api.limits()));
        }
        if is_json(&exchange) {
            let (facts, body) = exchange.read().await?;
            return call.decode(&facts, &body, self.api.limits()).map(replay);
        }
        // The host does not say what it sends: the first bytes do.
        let (facts, mut body) = exchange.stream();
        let first = loop {
            match body.next_piece().await {
                Ok(Some(piece)) if piece.trim_ascii().is_empty() => {}
                Ok(piece) => break piece.unwrap_or_default(),
                Err(error) => return Err(facts.annotate(error, &[], [])),
            }
        };
        let body = Body::new(events::Joined::new(first.clone(), body));
        if call::looks_like_events(&first) {
            return Ok(Events::start(cx, call, facts, body, self.api.limits()));
        }
        let read = body.read_all(self.api.limits().max_body_bytes).await;
        let body = read.map_err(|error| facts.annotate(error, &[], []))?;
        call.decode(&facts, &body, self.api.limits()).map(replay)
    }
}

fn is_event_stream(exchange: &Exchange) -> bool {
    exchange.media_type() == "text/event-stream"
}

fn is_json(exchange: &Exchange) -> bool {
    let media_type = exchange.media_type();
    media_type == "application/json" || media_type.ends_with("+json")
}

impl Driver for OpenAiDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn as_chat(self: Arc<Self>) -> Option<Arc<dyn ChatDriver>> {
        Some(self)
    }

    fn as_catalog(self: Arc<Self>) -> Option<Arc<dyn ModelCatalog>> {
        Some(self)
    }
}

#[async_trait]
impl ModelCatalog for OpenAiDriver {
    fn known(&self) -> Vec<Arc<ResolvedModel>> {
        self.models.known()
    }

    async fn list(&self, cx: &CallContext) -> Result<Vec<CatalogModel>> {
        let exchange = self.ask_for_models(cx).await?;
        let decode = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
        let (facts, body) = exchange.success([], decode).await?.read().await?;
        parse_model_list(&body).map_err(|error| facts.annotate(error, &body, []))
    }

    async fn refresh(&self, cx: &CallContext) -> Result<()> {
        let listed = self.list(cx).await?;
        self.models.remember(listed.into_iter().map(|model| model.id));
        Ok(())
    }
}
