//! The configuration, and the only file of this crate that reads the environment.

use super::HostedVendor;
use crate::credential::AuthScheme;
use crate::limits::Limits;
use llm_core::{DriverId, Error, ErrorKind, ModelEntry, ModelId, Result, Secret, UnknownModels, VendorId};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// What a driver of one vendor's own API is set up with: a key is enough.
///
/// From code, start at [`HostConfig::new`], [`HostConfig::compatible`] or [`HostConfig::from_env`] and go on with the
/// setters. From a file, every field has the name it has here; a key that is none of them is refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, bound = "")]
#[non_exhaustive]
pub struct HostConfig<V: HostedVendor> {
    /// The key. A host of your own may go without.
    pub api_key: Option<Secret<String>>,
    /// Where the API answers, with its version.
    pub base_url: String,
    /// How the key is sent: `bearer`, `header(NAME)`, `query(NAME)` or `none`. Absent: as the vendor wants it.
    pub auth: AuthScheme,
    /// More headers for every call. Values may be credentials, so they never show.
    pub headers: BTreeMap<String, Secret<String>>,
    /// More query parameters for every call. Values may be credentials, so they never show.
    pub query: BTreeMap<String, Secret<String>>,
    /// The model of requests that name none. Absent: the driver's own where the shipped catalogue holds, else none.
    pub default_model: Option<ModelId>,
    /// Does the shipped catalogue hold? Absent: at the vendor's own hosts alone. Switch it on for a gateway in front
    /// of the vendor.
    pub shipped_catalog: Option<bool>,
    /// What happens to a model that is not known. Absent: refused where the shipped catalogue holds, else allowed.
    pub unknown_models: Option<UnknownModels>,
    /// Facts and prices of models, merged field by field into the shipped ones.
    pub models: BTreeMap<ModelId, ModelEntry>,
    /// The header in which the call's idempotency key is sent. Absent: it is not.
    pub idempotency_header: Option<String>,
    /// Split `<think>` tags at the very start of the text off as reasoning? For hosts of one's own that leave them in.
    pub extract_think_tags: bool,
    /// How large answers may get.
    pub limits: Limits,
    /// The driver's id in responses, errors and stacks; change it where several hosts are set up.
    pub id: DriverId,
    /// Whose options bag of a request is read, and whose reasoning is sent back: give another host its own name, so
    /// that the vendor is never sent what that host returned.
    pub vendor: VendorId,
    #[serde(skip)]
    of: PhantomData<fn() -> V>,
}

impl<V: HostedVendor> Default for HostConfig<V> {
    /// The vendor itself, still without a key.
    fn default() -> Self {
        let host = V::HOST;
        HostConfig {
            api_key: None,
            base_url: host.base_url.to_owned(),
            auth: host.auth(),
            headers: BTreeMap::new(),
            query: BTreeMap::new(),
            default_model: None,
            shipped_catalog: None,
            unknown_models: None,
            models: BTreeMap::new(),
            idempotency_header: None,
            extract_think_tags: false,
            limits: Limits::default(),
            id: host.driver,
            vendor: host.vendor,
            of: PhantomData,
        }
    }
}

impl<V: HostedVendor> HostConfig<V> {
    /// The vendor itself, with this key.
    pub fn new(api_key: impl Into<Secret<String>>) -> Self {
        HostConfig::default().with_api_key(api_key)
    }

    /// A host that speaks the same format, without a key.
    pub fn compatible(base_url: impl Into<String>) -> Self {
        HostConfig::default().with_base_url(base_url)
    }

    /// From the vendor's variables ([`VendorHost`](super::VendorHost) names them); an empty variable counts as absent.
    ///
    /// # Errors
    /// `Config`, when there is no key and the base URL is the vendor's.
    #[expect(
        clippy::disallowed_methods,
        reason = "from_env is where the environment is read"
    )]
    pub fn from_env() -> Result<Self> {
        HostConfig::from_variables(|name| std::env::var(name).ok())
    }

    /// The same from any source of variables.
    ///
    /// # Errors
    /// As [`HostConfig::from_env`].
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let filled = |name: &str| {
            let value = variable(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let host = V::HOST;
        let key = host.key_variables.iter().find_map(|name| filled(name));
        let mut config = HostConfig {
            api_key: key.map(Secret::new),
            ..HostConfig::default()
        };
        if let Some(base_url) = filled(host.base_url_variable) {
            config.base_url = with_version(base_url, host.version_path);
        }
        if config.api_key.is_none() && config.is_own_host() {
            let message = format!(
                "there is no key; set {}, or {} for a host that wants none",
                host.key_variables.join(" or "),
                host.base_url_variable
            );
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

    /// Does the shipped catalogue hold?
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

    /// Split `<think>` tags at the very start of the text off as reasoning?
    #[must_use]
    pub fn with_extract_think_tags(mut self, extract: bool) -> Self {
        self.extract_think_tags = extract;
        self
    }

    /// How large answers may get.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The driver's id, and whose options bag and reasoning it reads and sends back.
    #[must_use]
    pub fn with_identity(mut self, id: DriverId, vendor: VendorId) -> Self {
        self.id = id;
        self.vendor = vendor;
        self
    }
}

/// The address with the API's version behind it.
fn with_version(base_url: String, version_path: Option<&str>) -> String {
    let bare = base_url.trim_end_matches('/');
    match version_path {
        Some(path) if !bare.ends_with(path) && !bare.contains('?') => format!("{bare}{path}"),
        _ => base_url,
    }
}
