//! The driver: the only file of this crate that waits for anything.

use crate::codec::{MessagesCodec, counted_body, next_page, read_count};
use crate::config::ClaudeConfig;
use crate::dialect::{COMMON_VERSION, dialect_of};
use crate::models::models;
use llm_core::driver::CatalogModel;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Driver, DriverInfo,
    HealthStatus, ModelCatalog, ModelId, ModelTable, ResolvedModel, Result, TokenCounter, async_trait,
};
use llm_http::redact::request_texts;
use llm_http::{
    ChatCall, EncodedChat, HttpRequest, ReqwestTransport, Transport, VendorApi, parse_model_list,
    path_segment,
};
use llm_wire::messages::{Dialect, EncodedRequest, decode_error, encode_request};
use serde_json::Value;
use std::sync::Arc;

/// Speaks Anthropic Messages with Anthropic or any host of the same format. One value serves any number of calls at
/// once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
#[derive(Debug)]
pub struct ClaudeDriver {
    info: DriverInfo,
    api: VendorApi,
    /// The same host, for what is no call of a model and has no version of its own.
    lists: VendorApi,
    dialect: Dialect,
    models: ModelTable,
    betas: Vec<String>,
    /// Is the version of the format that of each request? Else it is the one that all hosts know.
    picks_version: bool,
}

impl ClaudeDriver {
    /// A driver on the transport that all drivers of the process share. Does no I/O.
    ///
    /// ```
    /// use llm_driver_claude::{ClaudeConfig, ClaudeDriver};
    /// let driver = ClaudeDriver::new(ClaudeConfig::compatible("http://127.0.0.1:8080/v1"))?;
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Config`, when something in the configuration cannot be used: no key for Anthropic, a base URL that is none,
    /// a header that cannot be sent.
    pub fn new(config: ClaudeConfig) -> Result<Self> {
        ClaudeDriver::with_transport(config, ReqwestTransport::shared()?)
    }

    /// A driver on a transport of your own.
    ///
    /// # Errors
    /// `Config`, as [`ClaudeDriver::new`].
    pub fn with_transport(config: ClaudeConfig, transport: Arc<dyn Transport>) -> Result<Self> {
        let dialect = dialect_of(&config);
        let (config, betas) = without_betas(config);
        let api = config.api(transport.clone())?;
        // Built for a look at the names alone: what cannot be a header is told now.
        with_betas(api.get("")?, betas.clone())?;
        Ok(ClaudeDriver {
            info: config.info("Anthropic Messages"),
            models: models(&config, &dialect)?,
            picks_version: config.is_own_host(),
            lists: with_version(config).api(transport)?,
            api,
            dialect,
            betas,
        })
    }

    /// A driver of the environment's configuration: see [`ClaudeConfig::from_env`].
    ///
    /// # Errors
    /// `Config`, as [`ClaudeConfig::from_env`] and [`ClaudeDriver::new`].
    pub fn from_env() -> Result<Self> {
        ClaudeDriver::new(ClaudeConfig::from_env()?)
    }

    fn call<'c>(&'c self, cx: &'c CallContext, request: &'c ChatRequest) -> Result<ChatCall<'c>> {
        let model = self.resolve(request.model.as_ref())?;
        Ok(ChatCall::new(&self.api, cx, request, model))
    }

    fn encode(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let mut encoded = encode_request(&self.dialect, model, request, stream)?;
        let body = std::mem::take(&mut encoded.body);
        let http = self.post("/messages", body, &encoded)?;
        let codec = MessagesCodec::new(&self.dialect, request, encoded.tool_names);
        let chat = EncodedChat::new(http, codec).with_warnings(encoded.warnings);
        Ok(if self.has_own_price(request) {
            chat.with_price(None)
        } else {
            chat
        })
    }

    fn encode_count(&self, request: &ChatRequest, model: &ResolvedModel) -> Result<HttpRequest> {
        let encoded = encode_request(&self.dialect, model, request, false)?;
        let body = counted_body(&encoded.body)?;
        self.post("/messages/count_tokens", body, &encoded)
    }

    /// A POST with the headers that belong to an encoded request.
    fn post(&self, path: &str, body: Vec<u8>, encoded: &EncodedRequest) -> Result<HttpRequest> {
        let version = if self.picks_version {
            encoded.version
        } else {
            COMMON_VERSION
        };
        let http = self
            .api
            .post_json(path, body)?
            .with_header("anthropic-version", version)?;
        let betas = self.betas.iter().chain(&encoded.betas).cloned();
        with_betas(http, betas.collect())
    }

    /// Does it ask for what costs more than the price that is published: speed, or a place of its choice?
    fn has_own_price(&self, request: &ChatRequest) -> bool {
        let bag = request.vendor.of(self.dialect.vendor.as_str());
        let asks = |key: &str, usual: &str| {
            let value = bag.and_then(|bag| bag.get(key)).and_then(Value::as_str);
            value.is_some_and(|value| value != usual)
        };
        asks("speed", "standard") || asks("inference_geo", "global")
    }
}

/// Names of betas as one header, each once; without any, no header.
fn with_betas(http: HttpRequest, mut betas: Vec<String>) -> Result<HttpRequest> {
    let mut seen = std::collections::HashSet::new();
    betas.retain(|name| seen.insert(name.clone()));
    if betas.is_empty() {
        return Ok(http);
    }
    http.with_header("anthropic-beta", &betas.join(","))
}

/// Takes the header out of a configuration whose value joins what each request needs.
fn without_betas(mut config: ClaudeConfig) -> (ClaudeConfig, Vec<String>) {
    let mut betas = Vec::new();
    config.headers.retain(|name, value| {
        let is_betas = name.eq_ignore_ascii_case("anthropic-beta");
        if is_betas {
            let names = value.expose().split(',').map(str::trim);
            betas.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        }
        !is_betas
    });
    (config, betas)
}

/// With the version that all hosts know, unless another is configured.
fn with_version(config: ClaudeConfig) -> ClaudeConfig {
    let is_version = |name: &String| name.eq_ignore_ascii_case("anthropic-version");
    if config.headers.keys().any(is_version) {
        return config;
    }
    config.with_header("anthropic-version", COMMON_VERSION.to_owned())
}

#[async_trait]
impl ChatDriver for ClaudeDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.models
            .resolve(model)
            .map_err(|error| self.api.identify(error, model))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.lists.probe(cx, "/models").await
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let call = self.call(cx, request)?;
        call.plain(|model, stream| self.encode(request, model, stream))
            .await
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let call = self.call(cx, request)?;
        call.stream(|model, stream| self.encode(request, model, stream))
            .await
    }
}

impl Driver for ClaudeDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn as_chat(self: Arc<Self>) -> Option<Arc<dyn ChatDriver>> {
        Some(self)
    }

    fn as_catalog(self: Arc<Self>) -> Option<Arc<dyn ModelCatalog>> {
        Some(self)
    }

    fn as_token_counter(self: Arc<Self>) -> Option<Arc<dyn TokenCounter>> {
        Some(self)
    }
}

#[async_trait]
impl ModelCatalog for ClaudeDriver {
    fn known(&self) -> Vec<Arc<ResolvedModel>> {
        self.models.known()
    }

    /// Reads all pages of the list (wire notes, `anthropic.md`, "Counting and models").
    async fn list(&self, cx: &CallContext) -> Result<Vec<CatalogModel>> {
        let mut listed = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let path = match &after {
                None => "/models?limit=1000".to_owned(),
                Some(id) => format!("/models?limit=1000&after_id={}", path_segment(id)),
            };
            let mut next = None;
            let decode_error = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
            let page = self.lists.list_models(cx, &path, decode_error, |body| {
                next = next_page(body);
                parse_model_list(body, "data", "id")
            });
            listed.extend(page.await?);
            if next.is_none() || next == after {
                break;
            }
            after = next;
        }
        Ok(listed)
    }

    async fn refresh(&self, cx: &CallContext) -> Result<()> {
        let listed = self.list(cx).await?;
        self.models.remember(listed.into_iter().map(|model| model.id));
        Ok(())
    }
}

#[async_trait]
impl TokenCounter for ClaudeDriver {
    /// Asks Anthropic, which generates nothing and charges nothing for it. Other hosts of the format may not know
    /// this.
    async fn count_tokens(&self, cx: &CallContext, request: &ChatRequest) -> Result<u64> {
        let model = self.resolve(request.model.as_ref())?;
        let http = self
            .encode_count(request, &model)
            .map_err(|error| self.api.identify(error, Some(&model.id)))?;
        let exchange = self.api.send(cx, Some(&model.id), http).await?;
        let decode_error = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
        let (facts, body) = exchange
            .success(request_texts(request), decode_error)
            .await?
            .read()
            .await?;
        read_count(&body).map_err(|error| facts.annotate(error, &body, request_texts(request)))
    }
}

/// How many pages of a list are read at most: no host has so many models, but one may say that there is always more.
const MOST_PAGES: usize = 50;
