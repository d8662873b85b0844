//! The driver: the only file of this crate that waits for anything.

use crate::codec::OllamaCodec;
use crate::config::{OllamaConfig, address_of};
use crate::dialect::dialect_of;
use crate::models::Models;
use llm_core::driver::CatalogModel;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Driver, DriverInfo,
    HealthStatus, ModelCatalog, ModelId, ResolvedModel, Result, async_trait,
};
use llm_http::{ChatCall, EncodedChat, ReqwestTransport, Transport, VendorApi, parse_model_list};
use llm_wire::ollama::{Dialect, decode_error, encode_request};
use std::sync::Arc;

/// Speaks Ollama's own chat format. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
#[derive(Debug)]
pub struct OllamaDriver {
    info: DriverInfo,
    api: VendorApi,
    dialect: Dialect,
    models: Models,
}

impl OllamaDriver {
    /// A driver on the transport that all drivers of the process share. Does no I/O.
    ///
    /// ```
    /// use llm_driver_ollama::{OllamaConfig, OllamaDriver};
    /// let driver = OllamaDriver::new(OllamaConfig::default())?;
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Config`, when something in the configuration cannot be used: a base URL that is none, a
    /// header that cannot be sent.
    pub fn new(config: OllamaConfig) -> Result<Self> {
        OllamaDriver::with_transport(config, ReqwestTransport::shared()?)
    }

    /// A driver on a transport of your own.
    ///
    /// # Errors
    /// `Config`, as [`OllamaDriver::new`].
    pub fn with_transport(config: OllamaConfig, transport: Arc<dyn Transport>) -> Result<Self> {
        let host = config.clone().with_base_url(address_of(&config.base_url));
        let dialect = dialect_of(&host);
        Ok(OllamaDriver {
            info: host.info("Ollama chat"),
            api: host.api(transport)?,
            models: Models::new(&host)?,
            dialect,
        })
    }

    /// A driver of the environment's configuration: see [`OllamaConfig::from_env`].
    ///
    /// # Errors
    /// `Config`, as [`OllamaConfig::from_env`] and [`OllamaDriver::new`].
    pub fn from_env() -> Result<Self> {
        OllamaDriver::new(OllamaConfig::from_env()?)
    }

    fn call<'c>(&'c self, cx: &'c CallContext, request: &'c ChatRequest) -> Result<ChatCall<'c>> {
        let model = self.resolve(request.model.as_ref())?;
        Ok(ChatCall::new(&self.api, cx, request, model))
    }

    fn encode(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let encoded = encode_request(&self.dialect, model, request, stream)?;
        let http = self.api.post_json("/api/chat", encoded.body)?;
        let codec = OllamaCodec::new(&self.dialect, request);
        Ok(EncodedChat::new(http, codec).with_warnings(encoded.warnings))
    }
}

#[async_trait]
impl ChatDriver for OllamaDriver {
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
        self.api.probe(cx, "/api/tags").await
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

impl Driver for OllamaDriver {
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
impl ModelCatalog for OllamaDriver {
    fn known(&self) -> Vec<Arc<ResolvedModel>> {
        self.models.known()
    }

    /// Reads the list (wire notes, `ollama.md`, "Models and capabilities").
    async fn list(&self, cx: &CallContext) -> Result<Vec<CatalogModel>> {
        let decode_error = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
        let read = |body: &[u8]| parse_model_list(body, "models", "name");
        self.api.list_models(cx, "/api/tags", decode_error, read).await
    }

    async fn refresh(&self, cx: &CallContext) -> Result<()> {
        let listed = self.list(cx).await?;
        self.models.remember(listed.into_iter().map(|model| model.id));
        Ok(())
    }
}
