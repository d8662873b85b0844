//! The driver: the only file of this crate that waits for anything.

use crate::config::KimiConfig;
use crate::dialect::dialect_of;
use crate::models::models;
use crate::tokens::{counted_body, read_count};
use llm_core::driver::CatalogModel;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Driver, DriverInfo,
    HealthStatus, ModelCatalog, ModelId, ModelTable, ResolvedModel, Result, TokenCounter, async_trait,
};
use llm_http::redact::request_texts;
use llm_http::{ChatCall, EncodedChat, ReqwestTransport, Transport, VendorApi, parse_model_list};
use llm_wire::chat_completions::{ChatCompletionsCodec, Dialect, decode_error, encode_request};
use std::sync::Arc;

/// Speaks with Kimi. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
#[derive(Debug)]
pub struct KimiDriver {
    info: DriverInfo,
    api: VendorApi,
    dialect: Dialect,
    models: ModelTable,
}

impl KimiDriver {
    /// A driver on the transport that all drivers of the process share. Does no I/O.
    ///
    /// ```
    /// use llm_driver_kimi::{KimiConfig, KimiDriver};
    /// let driver = KimiDriver::new(KimiConfig::new("an invented key"))?;
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Config`, when something in the configuration cannot be used: no key, a base URL that is none, a header that
    /// cannot be sent.
    pub fn new(config: KimiConfig) -> Result<Self> {
        KimiDriver::with_transport(config, ReqwestTransport::shared()?)
    }

    /// A driver on a transport of your own.
    ///
    /// # Errors
    /// `Config`, as [`KimiDriver::new`].
    pub fn with_transport(config: KimiConfig, transport: Arc<dyn Transport>) -> Result<Self> {
        let dialect = dialect_of(&config);
        Ok(KimiDriver {
            info: config.info("Kimi"),
            models: models(&config, &dialect)?,
            api: config.api(transport)?,
            dialect,
        })
    }

    /// A driver of the environment's configuration: see [`KimiConfig`] for the variables.
    ///
    /// # Errors
    /// `Config`, when there is no key, and as [`KimiDriver::new`].
    pub fn from_env() -> Result<Self> {
        KimiDriver::new(KimiConfig::from_env()?)
    }

    fn call<'c>(&'c self, cx: &'c CallContext, request: &'c ChatRequest) -> Result<ChatCall<'c>> {
        let model = self.resolve(request.model.as_ref())?;
        Ok(ChatCall::new(&self.api, cx, request, model))
    }

    fn encode(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let encoded = encode_request(&self.dialect, model, request, stream)?;
        let http = self.api.post_json("/chat/completions", encoded.body)?;
        let codec = ChatCompletionsCodec::new(&self.dialect, request);
        Ok(EncodedChat::new(http, codec).with_warnings(encoded.warnings))
    }
}

#[async_trait]
impl ChatDriver for KimiDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let resolved = self.models.resolve(model);
        resolved.map_err(|error| self.api.identify(error, model))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.api.probe(cx, "/models").await
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

impl Driver for KimiDriver {
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

/// The vendor estimates; nothing is generated.
#[async_trait]
impl TokenCounter for KimiDriver {
    async fn count_tokens(&self, cx: &CallContext, request: &ChatRequest) -> Result<u64> {
        let model = self.resolve(request.model.as_ref())?;
        let encoded = encode_request(&self.dialect, &model, request, false);
        let encoded = encoded.map_err(|error| self.api.identify(error, Some(&model.id)))?;
        let body = counted_body(&encoded.body)?;
        let http = self.api.post_json("/tokenizers/estimate-token-count", body)?;
        let exchange = self.api.send(cx, Some(&model.id), http).await?;
        let decode_error = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
        let exchange = exchange.success(request_texts(request), decode_error).await?;
        let (facts, body) = exchange.read().await?;
        read_count(&body).map_err(|error| facts.annotate(error, &body, request_texts(request)))
    }
}

#[async_trait]
impl ModelCatalog for KimiDriver {
    fn known(&self) -> Vec<Arc<ResolvedModel>> {
        self.models.known()
    }

    async fn list(&self, cx: &CallContext) -> Result<Vec<CatalogModel>> {
        let decode_error = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
        let read = |body: &[u8]| parse_model_list(body, "data", "id");
        self.api.list_models(cx, "/models", decode_error, read).await
    }

    async fn refresh(&self, cx: &CallContext) -> Result<()> {
        let listed = self.list(cx).await?;
        self.models.remember(listed.into_iter().map(|model| model.id));
        Ok(())
    }
}
