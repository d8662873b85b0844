//! The driver: the only file of this crate that waits for anything.

use crate::codec::{GenerateContentCodec, method_path, read_page};
use crate::config::GeminiConfig;
use crate::dialect::dialect_of;
use crate::models::models;
use llm_core::driver::CatalogModel;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Driver, DriverInfo,
    HealthStatus, ModelCatalog, ModelId, ModelTable, ResolvedModel, Result, async_trait,
};
use llm_http::{ChatCall, EncodedChat, ReqwestTransport, Transport, VendorApi, path_segment};
use llm_wire::generate_content::{Dialect, decode_error, encode_request};
use std::sync::Arc;

/// Speaks generateContent with Google or any host of the same format. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
#[derive(Debug)]
pub struct GeminiDriver {
    info: DriverInfo,
    api: VendorApi,
    dialect: Dialect,
    models: ModelTable,
}

impl GeminiDriver {
    /// A driver on the transport that all drivers of the process share. Does no I/O.
    ///
    /// ```
    /// use llm_driver_gemini::{GeminiConfig, GeminiDriver};
    /// let driver = GeminiDriver::new(GeminiConfig::new("an invented key"))?;
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Config`, when something in the configuration cannot be used: no key for Google, a base URL that is none, a
    /// header that cannot be sent.
    pub fn new(config: GeminiConfig) -> Result<Self> {
        GeminiDriver::with_transport(config, ReqwestTransport::shared()?)
    }

    /// A driver on a transport of your own.
    ///
    /// # Errors
    /// `Config`, as [`GeminiDriver::new`].
    pub fn with_transport(config: GeminiConfig, transport: Arc<dyn Transport>) -> Result<Self> {
        let dialect = dialect_of(&config);
        Ok(GeminiDriver {
            info: config.info("Google generateContent"),
            api: config.api(transport)?,
            models: models(&config, &dialect)?,
            dialect,
        })
    }

    /// A driver of the environment's configuration: see [`GeminiConfig::from_env`].
    ///
    /// # Errors
    /// `Config`, as [`GeminiConfig::from_env`] and [`GeminiDriver::new`].
    pub fn from_env() -> Result<Self> {
        GeminiDriver::new(GeminiConfig::from_env()?)
    }

    fn call<'c>(&'c self, cx: &'c CallContext, request: &'c ChatRequest) -> Result<ChatCall<'c>> {
        let model = self.resolve(request.model.as_ref())?;
        Ok(ChatCall::new(&self.api, cx, request, model))
    }

    fn encode(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let encoded = encode_request(&self.dialect, model, request)?;
        // Without `alt=sse` a stream is one JSON array (wire notes, `gemini.md`, "Endpoint and auth").
        let method = if stream {
            "streamGenerateContent?alt=sse"
        } else {
            "generateContent"
        };
        let http = self
            .api
            .post_json(&method_path(&model.id, method), encoded.body)?;
        let codec = GenerateContentCodec::new(&self.dialect, request, encoded.tool_names);
        Ok(EncodedChat::new(http, codec).with_warnings(encoded.warnings))
    }
}

#[async_trait]
impl ChatDriver for GeminiDriver {
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

impl Driver for GeminiDriver {
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
impl ModelCatalog for GeminiDriver {
    fn known(&self) -> Vec<Arc<ResolvedModel>> {
        self.models.known()
    }

    /// Reads all pages of the list (wire notes, `gemini.md`, "Counting and models").
    async fn list(&self, cx: &CallContext) -> Result<Vec<CatalogModel>> {
        let mut listed = Vec::new();
        let mut token: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let path = match &token {
                None => "/models?pageSize=1000".to_owned(),
                Some(token) => format!("/models?pageSize=1000&pageToken={}", path_segment(token)),
            };
            let mut next = None;
            let decode_error = |status, body: &[u8]| decode_error(&self.dialect, Some(status), body);
            let page = self.api.list_models(cx, &path, decode_error, |body| {
                let (models, after) = read_page(body)?;
                next = after;
                Ok(models)
            });
            listed.extend(page.await?);
            if next.is_none() || next == token {
                break;
            }
            token = next;
        }
        Ok(listed)
    }

    async fn refresh(&self, cx: &CallContext) -> Result<()> {
        let listed = self.list(cx).await?;
        self.models.remember(listed.into_iter().map(|model| model.id));
        Ok(())
    }
}

/// How many pages of a list are read at most: no host has so many models, but one may say that there is always more.
const MOST_PAGES: usize = 50;
