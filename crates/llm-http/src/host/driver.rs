//! The driver of a vendor's own API: everything that such drivers do alike.

use super::{HostConfig, HostedVendor};
use crate::api::VendorApi;
use crate::chat::{ChatCall, EncodedChat};
use crate::redact::request_texts;
use crate::request::HttpRequest;
use crate::reqwest::ReqwestTransport;
use crate::transport::Transport;
use llm_core::driver::CatalogModel;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatFormat, ChatRequest, ChatResponse, ChatStream, Driver,
    DriverInfo, EncodedPost, Error, HealthStatus, ModelCatalog, ModelId, ModelTable, ResolvedModel, Result,
    TokenCounter, async_trait,
};
use std::fmt::Debug;
use std::sync::Arc;

/// How many pages of a list are read at most: no host has so many models, but one may say that there is always more.
const MOST_PAGES: usize = 50;

/// A vendor whose API is nothing but a [`HostConfig`], a wire format and a list of models: what [`HostDriver`] needs to
/// know of it. All of it is data, made once when a driver is built. The drivers of this workspace but OpenAI's are
/// examples of it, each a page long.
pub trait ChatVendor: HostedVendor {
    /// Its wire format, with its differences.
    type Format: ChatFormat;

    /// What the driver is called, for people.
    const NAME: &'static str;

    /// What a driver of this configuration consists of.
    ///
    /// # Errors
    /// `Config`, when something in the configuration cannot be used.
    fn parts(config: HostConfig<Self>) -> Result<HostParts<Self>>;
}

/// What a [`HostDriver`] consists of.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct HostParts<V: ChatVendor> {
    /// Where it answers, and what it is shown.
    pub config: HostConfig<V>,
    /// The same for lists of models and probes, where they are asked otherwise.
    pub lists: Option<HostConfig<V>>,
    /// How it is asked.
    pub format: V::Format,
    /// What is known of its models.
    pub models: ModelTable,
}

impl<V: ChatVendor> HostParts<V> {
    /// The parts, with lists where everything is.
    pub fn new(config: HostConfig<V>, format: V::Format, models: ModelTable) -> Self {
        HostParts {
            config,
            lists: None,
            format,
            models,
        }
    }

    /// Another configuration for lists of models and probes.
    pub fn with_lists(mut self, lists: HostConfig<V>) -> Self {
        self.lists = Some(lists);
        self
    }
}

/// Speaks with one vendor, or a host of the same format. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. A driver crate names its own (`pub type GroqDriver = HostDriver<Groq>`);
/// see [`ChatVendor`] for all that it writes. One that has more to do than this has a driver of its own, from
/// [`VendorApi`] and [`ChatCall`].
#[derive(Debug)]
pub struct HostDriver<V: ChatVendor> {
    info: DriverInfo,
    api: VendorApi,
    lists: VendorApi,
    format: V::Format,
    models: ModelTable,
}

impl<V: ChatVendor> HostDriver<V> {
    /// A driver on the transport that all drivers of the process share. Does no I/O.
    ///
    /// # Errors
    /// `Config`, when something in the configuration cannot be used: no key for the vendor itself, a base URL that is
    /// none, a header that cannot be sent.
    pub fn new(config: HostConfig<V>) -> Result<Self> {
        HostDriver::with_transport(config, ReqwestTransport::shared()?)
    }

    /// A driver on a transport of your own.
    ///
    /// # Errors
    /// `Config`, as [`HostDriver::new`].
    pub fn with_transport(config: HostConfig<V>, transport: Arc<dyn Transport>) -> Result<Self> {
        let parts = V::parts(config)?;
        let api = parts.config.api(transport.clone())?;
        let lists = match parts.lists {
            Some(lists) => lists.api(transport)?,
            None => api.clone(),
        };
        Ok(HostDriver {
            info: parts.config.info(V::NAME),
            api,
            lists,
            format: parts.format,
            models: parts.models,
        })
    }

    /// A driver of the environment's configuration: see [`HostConfig::from_env`].
    ///
    /// # Errors
    /// `Config`, when there is no key, and as [`HostDriver::new`].
    pub fn from_env() -> Result<Self> {
        HostDriver::new(HostConfig::from_env()?)
    }

    fn call<'c>(&'c self, cx: &'c CallContext, request: &'c ChatRequest) -> Result<ChatCall<'c>> {
        let model = self.resolve(request.model.as_ref())?;
        Ok(ChatCall::new(&self.api, cx, request, model))
    }

    fn encode(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let call = self.format.encode_call(model, request, stream)?;
        let mut chat =
            EncodedChat::of(Self::http(&self.api, call.post)?, call.codec).with_warnings(call.warnings);
        if !call.usual_price {
            chat = chat.with_price(None);
        }
        Ok(chat)
    }

    fn http(api: &VendorApi, post: EncodedPost) -> Result<HttpRequest> {
        let mut http = api.post_json(&post.path, post.body)?;
        for (name, value) in &post.headers {
            http = http.with_header(name, value)?;
        }
        Ok(http)
    }

    /// What the host says of a model that it listed; what it does not say, or will not, is left as it was. Only a host
    /// that cannot be reached fails.
    async fn with_details(&self, cx: &CallContext, model: CatalogModel) -> Result<CatalogModel> {
        let Some(post) = self.format.encode_details(&model.id) else {
            return Ok(model);
        };
        let http = Self::http(&self.lists, post)?;
        let exchange = self.lists.send(cx, Some(&model.id), http).await?;
        if exchange.status() != 200 {
            return Ok(model);
        }
        let (_, body) = exchange.read().await?;
        Ok(self.format.decode_details(&body, model))
    }
}

#[async_trait]
impl<V: ChatVendor> ChatDriver for HostDriver<V> {
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
        let path = self.format.models_path(None);
        let path = path.split('?').next().unwrap_or_default();
        self.lists.probe(cx, path).await
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

impl<V: ChatVendor> Driver for HostDriver<V> {
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
        let counts = self.format.counts_tokens();
        counts.then_some(self as Arc<dyn TokenCounter>)
    }
}

#[async_trait]
impl<V: ChatVendor> ModelCatalog for HostDriver<V> {
    fn known(&self) -> Vec<Arc<ResolvedModel>> {
        self.models.known()
    }

    /// Reads all pages of the list.
    async fn list(&self, cx: &CallContext) -> Result<Vec<CatalogModel>> {
        let mut listed = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let path = self.format.models_path(after.as_deref());
            let mut next = None;
            let decode_error = |status, body: &[u8]| self.format.decode_error(status, body);
            let page = self.lists.list_models(cx, &path, decode_error, |body| {
                let (models, mark) = self.format.decode_models(body)?;
                next = mark;
                Ok(models)
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
        let mut models = Vec::new();
        for model in self.list(cx).await? {
            models.push(self.with_details(cx, model).await?);
        }
        self.models.remember(models);
        Ok(())
    }
}

/// Nothing is generated, and nothing is charged. Formats that cannot ask answer `Unsupported`.
#[async_trait]
impl<V: ChatVendor> TokenCounter for HostDriver<V> {
    async fn count_tokens(&self, cx: &CallContext, request: &ChatRequest) -> Result<u64> {
        let model = self.resolve(request.model.as_ref())?;
        let encoded = self.format.encode_count(&model, request);
        let http = encoded
            .and_then(|post| Self::http(&self.api, post))
            .map_err(|error: Error| self.api.identify(error, Some(&model.id)))?;
        let exchange = self.api.send(cx, Some(&model.id), http).await?;
        let decode_error = |status, body: &[u8]| self.format.decode_error(status, body);
        let exchange = exchange.success(request_texts(request), decode_error).await?;
        let (facts, body) = exchange.read().await?;
        let count = self.format.decode_count(&body);
        count.map_err(|error| facts.annotate(error, &body, request_texts(request)))
    }
}
