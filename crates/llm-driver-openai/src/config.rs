//! What the driver is set up with. The only file of this crate that reads the environment.

use crate::DRIVER_ID;
use llm_core::{DriverId, Error, ErrorKind, ModelEntry, ModelId, Result, Secret, UnknownModels, VendorId};
use llm_http::{AuthScheme, Limits};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Where OpenAI itself answers.
const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// What an [`OpenAiDriver`](crate::OpenAiDriver) is set up with: for OpenAI itself a key is enough, for another
/// host its base URL.
///
/// From code, start at [`OpenAiConfig::new`] or [`OpenAiConfig::compatible`] and go on with the setters. From a
/// file, every field has the name it has here; a key that is none of them is refused.
///
/// ```
/// use llm_core::ModelId;
/// use llm_driver_openai::{AuthScheme, OpenAiConfig};
///
/// let local = OpenAiConfig::compatible("http://127.0.0.1:8080/v1")
///     .with_default_model(ModelId::new("smollm2-135m-instruct")?);
/// assert_eq!(local.auth, AuthScheme::Bearer);
///
/// let azure: OpenAiConfig = serde_json::from_value(serde_json::json!({
///     "api_key": "an invented key",
///     "base_url": "https://unit.openai.azure.com/openai/v1",
///     "auth": "header(api-key)",
/// })).unwrap();
/// assert_eq!(azure.auth, AuthScheme::Header("api-key".to_owned()));
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct OpenAiConfig {
    /// The key. A host of your own may go without.
    pub api_key: Option<Secret<String>>,
    /// Where the API answers, with its version (`…/v1`).
    pub base_url: String,
    /// How the key is sent: `bearer`, `header(NAME)`, `query(NAME)` or `none`.
    pub auth: AuthScheme,
    /// The organisation that is billed.
    pub organization: Option<String>,
    /// The project that is billed.
    pub project: Option<String>,
    /// More headers for every call. Values may be credentials, so they never show.
    pub headers: BTreeMap<String, Secret<String>>,
    /// More query parameters for every call. Values may be credentials, so they never show.
    pub query: BTreeMap<String, Secret<String>>,
    /// The model of requests that name none. Absent: `gpt-6-luna` where the shipped catalogue holds, else none.
    pub default_model: Option<ModelId>,
    /// Does the shipped catalogue of OpenAI's models hold? Absent: at OpenAI's own hosts alone. Switch it on for a
    /// gateway in front of OpenAI.
    pub shipped_catalog: Option<bool>,
    /// What happens to a model that is not known. Absent: refused where the shipped catalogue holds, else allowed.
    pub unknown_models: Option<UnknownModels>,
    /// Facts and prices of models, merged field by field into the shipped ones.
    pub models: BTreeMap<ModelId, ModelEntry>,
    /// Which of the vendor's two APIs serves a request: by the rule on the crate's page, or always the same.
    pub api: ApiChoice,
    /// Which small differences of the wire format hold. Absent: OpenAI's at OpenAI and Azure, else what nearly
    /// all hosts understand.
    pub dialect: Option<DialectChoice>,
    /// Ask for the usage at the end of streams? Switch it off for a host that answers 400 to `stream_options`.
    pub stream_usage: bool,
    /// Split `<think>` tags at the start of the text off as reasoning? For hosts that leave them in.
    pub extract_think_tags: bool,
    /// The header in which the call's idempotency key is sent. Absent: it is not, as in OpenAI's own client.
    pub idempotency_header: Option<String>,
    /// How large answers may get.
    pub limits: Limits,
    /// The driver's id in responses, errors and stacks; change it where several hosts are set up.
    pub id: DriverId,
    /// Whose options bag of a request is read, and whose reasoning state is sent back: give another host its own
    /// name, so that OpenAI is never sent what that host returned.
    pub vendor: VendorId,
}

/// Which of the vendor's two APIs serves a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApiChoice {
    /// By the rule on the crate's page: at OpenAI's own hosts Responses where it is needed, everywhere else Chat
    /// Completions.
    #[default]
    Auto,
    /// Chat Completions.
    ChatCompletions,
    /// Responses.
    Responses,
}

impl ApiChoice {
    /// The word in configurations and options: `auto`, `chat_completions`, `responses`.
    pub fn as_str(self) -> &'static str {
        match self {
            ApiChoice::Auto => "auto",
            ApiChoice::ChatCompletions => "chat_completions",
            ApiChoice::Responses => "responses",
        }
    }
}

/// Which small differences of the wire format hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DialectChoice {
    /// OpenAI's own.
    #[serde(rename = "openai")]
    OpenAi,
    /// What nearly all hosts of the format understand.
    Compatible,
}

impl Default for OpenAiConfig {
    /// OpenAI itself, still without a key.
    fn default() -> Self {
        OpenAiConfig {
            api_key: None,
            base_url: OPENAI_BASE_URL.to_owned(),
            auth: AuthScheme::Bearer,
            organization: None,
            project: None,
            headers: BTreeMap::new(),
            query: BTreeMap::new(),
            default_model: None,
            shipped_catalog: None,
            unknown_models: None,
            models: BTreeMap::new(),
            api: ApiChoice::Auto,
            dialect: None,
            stream_usage: true,
            extract_think_tags: false,
            idempotency_header: None,
            limits: Limits::default(),
            id: DRIVER_ID,
            vendor: DRIVER_VENDOR,
        }
    }
}

/// Whose models it reaches where nothing else is configured.
const DRIVER_VENDOR: VendorId = VendorId::from_static("openai");

impl OpenAiConfig {
    /// OpenAI itself, with this key.
    pub fn new(api_key: impl Into<Secret<String>>) -> Self {
        OpenAiConfig {
            api_key: Some(api_key.into()),
            ..OpenAiConfig::default()
        }
    }

    /// A host that speaks the same format, without a key.
    pub fn compatible(base_url: impl Into<String>) -> Self {
        OpenAiConfig {
            base_url: base_url.into(),
            ..OpenAiConfig::default()
        }
    }

    /// From the variables `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`; an empty variable counts
    /// as absent.
    ///
    /// # Errors
    /// `Config`, when there is no key and the base URL is OpenAI's.
    #[expect(
        clippy::disallowed_methods,
        reason = "from_env is where the environment is read"
    )]
    pub fn from_env() -> Result<Self> {
        OpenAiConfig::from_variables(|name| std::env::var(name).ok())
    }

    /// The same from any source of variables, so that tests need not change the environment of their process.
    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let filled = |name: &str| {
            let value = variable(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let config = OpenAiConfig {
            api_key: filled("OPENAI_API_KEY").map(Secret::new),
            base_url: filled("OPENAI_BASE_URL").unwrap_or_else(|| OPENAI_BASE_URL.to_owned()),
            organization: filled("OPENAI_ORG_ID"),
            project: filled("OPENAI_PROJECT_ID"),
            ..OpenAiConfig::default()
        };
        if config.api_key.is_none() && config.is_openai() {
            let message = "there is no key for OpenAI; set OPENAI_API_KEY, or OPENAI_BASE_URL for a host that wants none";
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(config)
    }

    /// How the key is sent.
    #[must_use]
    pub fn with_auth(mut self, auth: AuthScheme) -> Self {
        self.auth = auth;
        self
    }

    /// The key.
    #[must_use]
    pub fn with_api_key(mut self, api_key: impl Into<Secret<String>>) -> Self {
        self.api_key = Some(api_key.into());
        self
    }

    /// Where the API answers, with its version.
    #[must_use]
    pub fn with_base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// One more header for every call.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret<String>>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// One more query parameter for every call.
    #[must_use]
    pub fn with_query(mut self, name: impl Into<String>, value: impl Into<Secret<String>>) -> Self {
        self.query.insert(name.into(), value.into());
        self
    }

    /// The model of requests that name none.
    #[must_use]
    pub fn with_default_model(mut self, model: ModelId) -> Self {
        self.default_model = Some(model);
        self
    }

    /// Does the shipped catalogue of OpenAI's models hold?
    #[must_use]
    pub fn with_shipped_catalog(mut self, holds: bool) -> Self {
        self.shipped_catalog = Some(holds);
        self
    }

    /// What happens to a model that is not known.
    #[must_use]
    pub fn with_unknown_models(mut self, unknown_models: UnknownModels) -> Self {
        self.unknown_models = Some(unknown_models);
        self
    }

    /// Facts and prices of a model.
    #[must_use]
    pub fn with_model(mut self, model: ModelId, entry: ModelEntry) -> Self {
        self.models.insert(model, entry);
        self
    }

    /// Which of the vendor's two APIs serves a request.
    #[must_use]
    pub fn with_api(mut self, api: ApiChoice) -> Self {
        self.api = api;
        self
    }

    /// Which small differences of the wire format hold.
    #[must_use]
    pub fn with_dialect(mut self, dialect: DialectChoice) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// The header in which the call's idempotency key is sent.
    #[must_use]
    pub fn with_idempotency_header(mut self, name: impl Into<String>) -> Self {
        self.idempotency_header = Some(name.into());
        self
    }

    /// How large answers may get.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The driver's id, and whose options bag and reasoning state it reads and sends back.
    #[must_use]
    pub fn with_identity(mut self, id: DriverId, vendor: VendorId) -> Self {
        self.id = id;
        self.vendor = vendor;
        self
    }

    /// Is it OpenAI itself that answers at the base URL? Its regional hosts are.
    pub fn is_openai(&self) -> bool {
        let host = host_of(&self.base_url);
        host == "api.openai.com" || host.ends_with(".api.openai.com")
    }

    /// The API of every request that does not choose for itself. Auto, where the request decides: at OpenAI alone.
    pub(crate) fn usual_api(&self) -> ApiChoice {
        match self.api {
            // another host speaks Chat Completions, unless it is said to speak the other
            ApiChoice::Auto if !self.is_openai() => ApiChoice::ChatCompletions,
            other => other,
        }
    }

    /// Does the shipped catalogue hold here?
    pub(crate) fn has_catalog(&self) -> bool {
        self.shipped_catalog.unwrap_or_else(|| self.is_openai())
    }

    /// Is it one of Azure's hosts? They serve OpenAI's models in OpenAI's dialect.
    pub(crate) fn is_azure(&self) -> bool {
        let host = host_of(&self.base_url);
        [
            ".openai.azure.com",
            ".services.ai.azure.com",
            ".cognitiveservices.azure.com",
        ]
        .iter()
        .any(|end| host.ends_with(end))
    }
}

/// The host of an address in lower case, without user name and port; empty where there is none. The transport
/// reads the address for itself: this only chooses defaults.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
