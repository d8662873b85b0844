//! The driver: the only file of this crate that waits for anything.

use crate::api::{Api, ApiRule};
use crate::config::OpenAiConfig;
use crate::dialect::{dialect_of, responses_dialect_of};
use crate::models::{Models, models};
use llm_core::driver::CatalogModel;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, Driver, DriverInfo, Error,
    ErrorKind, HealthStatus, ModelCatalog, ModelId, ModelTable, ResolvedModel, Result, async_trait,
};
use llm_http::{
    AuthScheme, ChatCall, Credential, EncodedChat, ReqwestTransport, Transport, VendorApi, parse_model_list,
};
use llm_wire::chat_completions::{self, ChatCompletionsCodec};
use llm_wire::responses::{self, ResponsesCodec};
use std::sync::Arc;

/// Speaks Chat Completions and Responses with OpenAI or any compatible host. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
#[derive(Debug)]
pub struct OpenAiDriver {
    info: DriverInfo,
    api: VendorApi,
    /// Which of the two APIs serves a request.
    rule: ApiRule,
    chat: chat_completions::Dialect,
    responses: responses::Dialect,
    models: ModelTable,
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
        let (chat, responses) = (dialect_of(&config), responses_dialect_of(&config));
        let mut api = VendorApi::new(config.id.clone(), &config.base_url, transport)?
            .with_credential(credential_of(&config)?)?
            .with_limits(config.limits);
        if let Some(name) = &config.idempotency_header {
            api = api.with_idempotency_header(name)?;
        }
        let shown = config.base_url.split(['?', '#']).next().unwrap_or_default();
        let info = DriverInfo::new(config.id.clone(), config.vendor.clone(), "OpenAI")
            .with_base_url(shown.trim_end_matches('/'));
        let Models {
            table,
            responses_only,
        } = models(&config, &chat, &responses)?;
        let rule = ApiRule {
            choice: config.api,
            is_openai: config.is_openai(),
            vendor: config.vendor,
            responses_only,
        };
        Ok(OpenAiDriver {
            info,
            api,
            rule,
            chat,
            responses,
            models: table,
        })
    }

    /// A driver of the environment's configuration: see [`OpenAiConfig::from_env`].
    ///
    /// # Errors
    /// `Config`, as [`OpenAiConfig::from_env`] and [`OpenAiDriver::new`].
    pub fn from_env() -> Result<Self> {
        OpenAiDriver::new(OpenAiConfig::from_env()?)
    }

    fn call<'c>(&'c self, cx: &'c CallContext, request: &'c ChatRequest) -> Result<ChatCall<'c>> {
        let model = self.resolve(request.model.as_ref())?;
        Ok(ChatCall::new(&self.api, cx, request, model))
    }

    fn encode(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let api = self.rule.api_of(request, model, &self.chat, &self.responses)?;
        let request = self.rule.without_choice(request);
        match api {
            Api::ChatCompletions => self.chat_completions(&request, model, stream),
            Api::Responses => self.responses(&request, model, stream),
            Api::Either => {
                let encoded = self.chat_completions(&request, model, stream);
                let Err(refused) = encoded else { return encoded };
                if refused.kind() != ErrorKind::Unsupported {
                    return Err(refused);
                }
                // what the one cannot carry the other may
                self.responses(&request, model, stream).map_err(|_| refused)
            }
        }
    }

    fn chat_completions(
        &self,
        request: &ChatRequest,
        model: &ResolvedModel,
        stream: bool,
    ) -> Result<EncodedChat> {
        let encoded = chat_completions::encode_request(&self.chat, model, request, stream)?;
        let http = self.api.post_json("/chat/completions", encoded.body)?;
        let codec = ChatCompletionsCodec::new(&self.chat, request, encoded.tool_names);
        Ok(EncodedChat::new(http, codec).with_warnings(encoded.warnings))
    }

    fn responses(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let encoded = responses::encode_request(&self.responses, model, request, stream)?;
        let http = self.api.post_json("/responses", encoded.body)?;
        let codec = ResponsesCodec::new(&self.responses, request, encoded.tool_names);
        Ok(EncodedChat::new(http, codec).with_warnings(encoded.warnings))
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
        let decode_error =
            |status, body: &[u8]| chat_completions::decode_error(&self.chat, Some(status), body);
        let read = |body: &[u8]| parse_model_list(body, "data", "id");
        self.api.list_models(cx, "/models", decode_error, read).await
    }

    async fn refresh(&self, cx: &CallContext) -> Result<()> {
        let listed = self.list(cx).await?;
        self.models.remember(listed);
        Ok(())
    }
}
