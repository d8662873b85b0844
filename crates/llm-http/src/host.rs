//! Drivers of one vendor's own API that need a key, an address and a list of models, and nothing else: what they are set
//! up with, and what that gives them.

mod config;
mod driver;
#[cfg(test)]
mod tests;

pub use config::HostConfig;
pub use driver::{ChatVendor, HostDriver, HostParts};

use crate::api::VendorApi;
use crate::credential::{AuthScheme, Credential};
use crate::transport::Transport;
use crate::url;
use llm_core::model::ShippedCatalog;
use llm_core::{
    DriverId, DriverInfo, Error, ErrorKind, ModelId, ModelTable, ResolvedModel, Result, UnknownModels,
    VendorId,
};
use std::fmt::Debug;
use std::sync::Arc;

/// A vendor, as a type: it tells one driver's [`HostConfig`] from another's. All it has is data.
///
/// ```
/// use llm_core::{DriverId, VendorId};
/// use llm_http::{HostConfig, HostedVendor, VendorHost};
///
/// #[derive(Debug, Clone, Copy)]
/// pub enum Acme {}
///
/// impl HostedVendor for Acme {
///     const HOST: VendorHost = VendorHost::new(
///         DriverId::from_static("acme"),
///         VendorId::from_static("acme"),
///         "https://api.acme.example/v1",
///     )
///     .with_domains(&["api.acme.example"])
///     .with_variables(&["ACME_API_KEY"], "ACME_BASE_URL");
/// }
///
/// pub type AcmeConfig = HostConfig<Acme>;
/// assert!(AcmeConfig::new("an invented key").is_own_host());
/// ```
pub trait HostedVendor: Debug + Clone + Send + Sync + 'static {
    /// Where it answers, and what it is called.
    const HOST: VendorHost;
}

/// What is fixed about a vendor's own API. See [`HostedVendor`] for an example.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct VendorHost {
    /// The driver's usual id.
    pub driver: DriverId,
    /// Whose models it reaches.
    pub vendor: VendorId,
    /// Where it answers, with the version.
    pub base_url: &'static str,
    /// The vendor's own hosts: these, and those below them. The shipped catalogue holds there.
    pub domains: &'static [&'static str],
    /// The variables that hold the key, the usual one first.
    pub key_variables: &'static [&'static str],
    /// The variable that holds another base URL.
    pub base_url_variable: &'static str,
    /// The path of the version, where the variable's address may come without it: the vendor's own client wants it so.
    pub version_path: Option<&'static str>,
    /// The header of the vendor's own that takes the key. Absent: it is sent as `Authorization: Bearer`.
    pub key_header: Option<&'static str>,
    /// Can hosts of the format leave thoughts between `<think>` tags in the text?
    pub think_tags: bool,
}

impl VendorHost {
    /// A vendor that answers here, with the version. Nothing else holds: no host is its own, and no variable is read.
    pub const fn new(driver: DriverId, vendor: VendorId, base_url: &'static str) -> Self {
        VendorHost {
            driver,
            vendor,
            base_url,
            domains: &[],
            key_variables: &[],
            base_url_variable: "",
            version_path: None,
            key_header: None,
            think_tags: false,
        }
    }

    /// The vendor's own hosts: these, and those below them.
    pub const fn with_domains(mut self, domains: &'static [&'static str]) -> Self {
        self.domains = domains;
        self
    }

    /// The variables that hold the key, the usual one first, and the one that holds another base URL.
    pub const fn with_variables(mut self, key: &'static [&'static str], base_url: &'static str) -> Self {
        self.key_variables = key;
        self.base_url_variable = base_url;
        self
    }

    /// The path of the version, which the variable's address may leave out.
    pub const fn with_version_path(mut self, path: &'static str) -> Self {
        self.version_path = Some(path);
        self
    }

    /// The header that takes the key.
    pub const fn with_key_header(mut self, name: &'static str) -> Self {
        self.key_header = Some(name);
        self
    }

    /// Hosts of the format can leave thoughts between `<think>` tags in the text, and the driver can split them off.
    pub const fn with_think_tags(mut self) -> Self {
        self.think_tags = true;
        self
    }

    /// How the key is sent where nothing else is configured.
    pub fn auth(&self) -> AuthScheme {
        let header = self.key_header.map(|name| AuthScheme::Header(name.to_owned()));
        header.unwrap_or(AuthScheme::Bearer)
    }
}

impl<V: HostedVendor> HostConfig<V> {
    /// Is it the vendor itself that answers at the base URL?
    pub fn is_own_host(&self) -> bool {
        let Ok(url) = url::parse_http(self.base_url.trim()) else {
            return false;
        };
        let host = url.host_str().unwrap_or_default();
        V::HOST.domains.iter().any(|domain| {
            host.strip_suffix(domain)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }

    /// Does the shipped catalogue hold here?
    pub fn has_catalog(&self) -> bool {
        self.shipped_catalog.unwrap_or_else(|| self.is_own_host())
    }

    /// What a driver of this configuration calls itself. `name` is for people.
    pub fn info(&self, name: &'static str) -> DriverInfo {
        let shown = self.base_url.split(['?', '#']).next().unwrap_or_default();
        DriverInfo::new(self.id.clone(), self.vendor.clone(), name)
            .with_base_url(shown.trim().trim_end_matches('/'))
    }

    /// The API: its address, credential and limits, on this transport.
    ///
    /// # Errors
    /// `Config`, when something cannot be used: no key for the vendor's own host, a base URL that is none, a header
    /// that cannot be sent.
    pub fn api(&self, transport: Arc<dyn Transport>) -> Result<VendorApi> {
        if self.extract_think_tags && !V::HOST.think_tags {
            let message =
                "`extract_think_tags` has no use here: this format has a place of its own for thoughts";
            return Err(Error::new(ErrorKind::Config, message));
        }
        let mut api = VendorApi::new(self.id.clone(), &self.base_url, transport)?
            .with_credential(self.credential()?)?
            .with_limits(self.limits);
        if let Some(name) = &self.idempotency_header {
            api = api.with_idempotency_header(name)?;
        }
        Ok(api)
    }

    fn credential(&self) -> Result<Credential> {
        let key = self.api_key.clone().filter(|key| !key.expose().trim().is_empty());
        let scheme = match (&self.auth, &key) {
            // A host of one's own often wants no key; the vendor always does.
            (usual, None) if *usual == V::HOST.auth() && !self.is_own_host() => AuthScheme::None,
            (scheme, _) => scheme.clone(),
        };
        if key.is_none() && scheme != AuthScheme::None {
            let message = "there is no API key; set `api_key`, or `auth: none` for a host that wants none";
            return Err(Error::new(ErrorKind::Config, message));
        }
        let mut credential = Credential::new(scheme, key)?;
        for (name, value) in &self.headers {
            credential = credential.with_header(name, value.clone());
        }
        for (name, value) in &self.query {
            credential = credential.with_query(name, value.clone());
        }
        Ok(credential)
    }

    /// The models that a driver of this configuration knows: the shipped chat models where the catalogue holds, and the
    /// caller's entries over them. `default` serves requests that name no model, where the catalogue holds and the
    /// configuration names none; `facts` adds what the driver itself knows of a model.
    ///
    /// # Errors
    /// `Internal`, when the shipped catalogue is none.
    pub fn models(
        &self,
        shipped: &ShippedCatalog,
        default: &str,
        facts: impl Fn(ResolvedModel) -> ResolvedModel,
    ) -> Result<ModelTable> {
        let (mut named, mut unknown) = (self.default_model.clone(), UnknownModels::Allow);
        if self.has_catalog() {
            named = Some(named.map_or_else(|| ModelId::new(default), Ok)?);
            unknown = UnknownModels::Refuse;
        }
        let mut table = ModelTable::new(self.unknown_models.unwrap_or(unknown))
            .with_prefixes([self.id.to_string(), self.vendor.to_string()])
            .with_default(named);
        if self.has_catalog() {
            for shipped in shipped.models()? {
                table = match shipped.why_not_chat() {
                    Some(why) => table.with_refused(shipped.model.id.clone(), why),
                    None => table.with_model(facts(shipped.model.clone())),
                };
            }
        }
        Ok(table.with_entries(&self.models, facts))
    }
}
