//! What the driver is set up with. The only file of this crate that reads the environment.

use crate::DRIVER_ID;
use llm_core::{DriverId, Error, ErrorKind, ModelEntry, ModelId, Result, Secret, UnknownModels, VendorId};
use llm_http::{AuthScheme, Limits, same_origin};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Where Anthropic itself answers.
const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com/v1";

/// Whose models it reaches where nothing else is configured.
const DRIVER_VENDOR: VendorId = VendorId::from_static("anthropic");

/// What a [`ClaudeDriver`](crate::ClaudeDriver) is set up with: for Anthropic itself a key is enough, for another
/// host its base URL.
///
/// From code, start at [`ClaudeConfig::new`] or [`ClaudeConfig::compatible`] and go on with the setters. From a
/// file, every field has the name it has here; a key that is none of them is refused.
///
/// ```
/// use llm_driver_claude::{AuthScheme, ClaudeConfig};
///
/// let local = ClaudeConfig::compatible("http://127.0.0.1:8080/v1");
/// assert!(local.api_key.is_none());
///
/// let bearer: ClaudeConfig = serde_json::from_value(serde_json::json!({
///     "api_key": "an invented key",
///     "auth": "bearer",
///     "betas": ["context-management-2025-06-27"],
/// })).unwrap();
/// assert_eq!(bearer.auth, AuthScheme::Bearer);
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ClaudeConfig {
    /// The key. A host of your own may go without.
    pub api_key: Option<Secret<String>>,
    /// Where the API answers, with its version (`…/v1`).
    pub base_url: String,
    /// How the key is sent: `header(x-api-key)`, `bearer`, another `header(NAME)`, `query(NAME)` or `none`.
    pub auth: AuthScheme,
    /// Names for the `anthropic-beta` header of every call. Those of a request are added.
    pub betas: Vec<String>,
    /// More headers for every call; they win over the driver's own. Values may be credentials, so they never show.
    pub headers: BTreeMap<String, Secret<String>>,
    /// More query parameters for every call. Values may be credentials, so they never show.
    pub query: BTreeMap<String, Secret<String>>,
    /// The model of requests that name none. Absent: `claude-haiku-5-5` where the shipped catalogue holds, else none.
    pub default_model: Option<ModelId>,
    /// Does the shipped catalogue of Anthropic's models hold? Absent: at Anthropic's own host alone. Switch it on for
    /// a gateway in front of Anthropic.
    pub shipped_catalog: Option<bool>,
    /// What happens to a model that is not known. Absent: refused where the shipped catalogue holds, else allowed.
    pub unknown_models: Option<UnknownModels>,
    /// Facts and prices of models, merged field by field into the shipped ones.
    pub models: BTreeMap<ModelId, ModelEntry>,
    /// The header in which the call's idempotency key is sent. Absent: it is not, as in Anthropic's own client.
    pub idempotency_header: Option<String>,
    /// How large answers may get.
    pub limits: Limits,
    /// The driver's id in responses, errors and stacks; change it where several hosts are set up.
    pub id: DriverId,
    /// Whose options bag of a request is read, and whose signatures are sent back: give another host its own name,
    /// so that Anthropic is never sent what that host returned.
    pub vendor: VendorId,
}

impl Default for ClaudeConfig {
    /// Anthropic itself, still without a key.
    fn default() -> Self {
        ClaudeConfig {
            api_key: None,
            base_url: ANTHROPIC_BASE_URL.to_owned(),
            auth: AuthScheme::Header("x-api-key".to_owned()),
            betas: Vec::new(),
            headers: BTreeMap::new(),
            query: BTreeMap::new(),
            default_model: None,
            shipped_catalog: None,
            unknown_models: None,
            models: BTreeMap::new(),
            idempotency_header: None,
            limits: Limits::default(),
            id: DRIVER_ID,
            vendor: DRIVER_VENDOR,
        }
    }
}

impl ClaudeConfig {
    /// Anthropic itself, with this key.
    pub fn new(api_key: impl Into<Secret<String>>) -> Self {
        ClaudeConfig::default().with_api_key(api_key)
    }

    /// A host that speaks the same format, without a key.
    pub fn compatible(base_url: impl Into<String>) -> Self {
        ClaudeConfig::default().with_base_url(base_url)
    }

    /// From the variables `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`; an empty variable counts as absent. The base
    /// URL is taken with or without its `/v1`: Anthropic's own client wants it without.
    ///
    /// # Errors
    /// `Config`, when there is no key and the base URL is Anthropic's.
    #[expect(
        clippy::disallowed_methods,
        reason = "from_env is where the environment is read"
    )]
    pub fn from_env() -> Result<Self> {
        ClaudeConfig::from_variables(|name| std::env::var(name).ok())
    }

    /// The same from any source of variables, so that tests need not change the environment of their process.
    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let filled = |name: &str| {
            let value = variable(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let mut config = ClaudeConfig::default();
        if let Some(base_url) = filled("ANTHROPIC_BASE_URL") {
            config.base_url = with_version(base_url);
        }
        config.api_key = filled("ANTHROPIC_API_KEY").map(Secret::new);
        if config.api_key.is_none() && config.is_anthropic() {
            let message = "there is no key for Anthropic; set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a host that \
                           wants none";
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(config)
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

    /// How the key is sent.
    #[must_use]
    pub fn with_auth(mut self, auth: AuthScheme) -> Self {
        self.auth = auth;
        self
    }

    /// One more name for the `anthropic-beta` header of every call.
    #[must_use]
    pub fn with_beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
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

    /// Does the shipped catalogue of Anthropic's models hold?
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

    /// The driver's id, and whose options bag and signatures it reads and sends back.
    #[must_use]
    pub fn with_identity(mut self, id: DriverId, vendor: VendorId) -> Self {
        self.id = id;
        self.vendor = vendor;
        self
    }

    /// Is it Anthropic itself that answers at the base URL?
    pub fn is_anthropic(&self) -> bool {
        same_origin(&self.base_url, ANTHROPIC_BASE_URL)
    }

    /// Does the shipped catalogue hold here?
    pub(crate) fn has_catalog(&self) -> bool {
        self.shipped_catalog.unwrap_or_else(|| self.is_anthropic())
    }
}

/// The address with the API's version behind it.
fn with_version(base_url: String) -> String {
    let bare = base_url.trim_end_matches('/');
    let has_version = bare.ends_with("/v1") || bare.contains('?');
    if has_version {
        base_url
    } else {
        format!("{bare}/v1")
    }
}

#[cfg(test)]
mod tests;
