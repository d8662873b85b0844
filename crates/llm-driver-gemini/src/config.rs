//! What the driver is set up with: a [`HostConfig`] whose key goes into Google's own header.

use crate::DRIVER_ID;
use llm_core::{ModelEntry, ModelId, Result, Secret, VendorId};
use llm_http::{AuthScheme, HostConfig, HostedVendor, VendorHost};
use serde_json::Value;

/// Where Google's developer API takes the key (wire notes, `gemini.md`, "Endpoint and auth", state of 2026-11-29).
/// It takes it in the query, too, from where it ends in logs.
const KEY_HEADER: &str = "x-goog-api-key";

/// Google, as a vendor whose own API is reached.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Google {}

impl HostedVendor for Google {
    const HOST: VendorHost = VendorHost {
        driver: DRIVER_ID,
        vendor: VendorId::from_static("gemini"),
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        domains: &["generativelanguage.googleapis.com"],
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_url_variable: "GEMINI_BASE_URL",
    };
}

/// What a [`GeminiDriver`](crate::GeminiDriver) is set up with: for Google a key is enough, for another host of the
/// format its base URL.
///
/// ```
/// use llm_driver_gemini::{AuthScheme, GeminiConfig};
/// let config = GeminiConfig::new("an invented key");
/// assert_eq!(config.host.auth, AuthScheme::Header("x-goog-api-key".to_owned()));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GeminiConfig {
    /// All of it; what has no setter here is set there.
    pub host: HostConfig<Google>,
}

impl Default for GeminiConfig {
    /// Google itself, still without a key.
    fn default() -> Self {
        GeminiConfig::of_host(HostConfig::default())
    }
}

impl GeminiConfig {
    /// Google itself, with this key.
    pub fn new(api_key: impl Into<Secret<String>>) -> Self {
        GeminiConfig::of_host(HostConfig::new(api_key))
    }

    /// A host that speaks the same format, without a key.
    pub fn compatible(base_url: impl Into<String>) -> Self {
        GeminiConfig::of_host(HostConfig::compatible(base_url))
    }

    /// From the variables `GEMINI_API_KEY` (else `GOOGLE_API_KEY`) and `GEMINI_BASE_URL`; an empty variable counts
    /// as absent.
    ///
    /// # Errors
    /// `Config`, when there is no key and the base URL is Google's.
    pub fn from_env() -> Result<Self> {
        HostConfig::from_env().map(GeminiConfig::of_host)
    }

    /// From a file's or a registry's value: the fields of [`HostConfig`], with Google's header as the default of
    /// `auth`.
    ///
    /// # Errors
    /// `Config`, naming the key at fault; never a value, since it may be a credential.
    pub fn from_value(mut value: Value) -> Result<Self> {
        if let Value::Object(fields) = &mut value {
            let auth = fields.entry("auth");
            auth.or_insert_with(|| format!("header({KEY_HEADER})").into());
        }
        let host = llm_http::config_from_value(value)?;
        Ok(GeminiConfig { host })
    }

    /// With the key in Google's header.
    fn of_host(host: HostConfig<Google>) -> Self {
        GeminiConfig {
            host: host.with_auth(key_header()),
        }
    }

    /// As it holds: a host of one's own often wants no key.
    pub(crate) fn effective(&self) -> HostConfig<Google> {
        let host = self.host.clone();
        let key = host.api_key.as_ref().map(|key| key.expose().trim());
        let keyless = key.unwrap_or_default().is_empty();
        if keyless && host.auth == key_header() && !host.is_own_host() {
            return host.with_auth(AuthScheme::None);
        }
        host
    }

    /// Changes what the host's configuration has a setter for.
    #[must_use]
    pub fn with_host(self, change: impl FnOnce(HostConfig<Google>) -> HostConfig<Google>) -> Self {
        GeminiConfig {
            host: change(self.host),
        }
    }

    /// Where the API answers, with its version.
    #[must_use]
    pub fn with_base_url(self, base_url: impl Into<String>) -> Self {
        self.with_host(|host| host.with_base_url(base_url))
    }

    /// The model of requests that name none.
    #[must_use]
    pub fn with_default_model(self, model: ModelId) -> Self {
        self.with_host(|host| host.with_default_model(model))
    }

    /// Does the shipped catalogue hold?
    #[must_use]
    pub fn with_shipped_catalog(self, holds: bool) -> Self {
        self.with_host(|host| host.with_shipped_catalog(holds))
    }

    /// Facts and prices of a model.
    #[must_use]
    pub fn with_model(self, model: ModelId, entry: ModelEntry) -> Self {
        self.with_host(|host| host.with_model(model, entry))
    }
}

fn key_header() -> AuthScheme {
    AuthScheme::Header(KEY_HEADER.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::ErrorKind;
    use serde_json::json;

    #[test]
    fn a_file_may_name_another_place_for_the_key() {
        let config = |value| GeminiConfig::from_value(value).unwrap().host.auth;
        assert_eq!(config(json!({ "api_key": "k" })), key_header());
        assert_eq!(
            config(json!({ "api_key": "k", "auth": "bearer" })),
            AuthScheme::Bearer
        );
        for wrong in [json!({ "api_kye": "k" }), json!(7)] {
            let error = GeminiConfig::from_value(wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
        }
    }

    #[test]
    fn only_a_host_of_ones_own_goes_without_a_key() {
        let auth = |config: GeminiConfig| config.effective().auth;
        assert_eq!(auth(GeminiConfig::default()), key_header());
        assert_eq!(
            auth(GeminiConfig::compatible("http://127.0.0.1:9")),
            AuthScheme::None
        );
        assert_eq!(
            auth(GeminiConfig::new("k").with_base_url("http://127.0.0.1:9")),
            key_header()
        );
    }

    #[test]
    fn the_second_variable_stands_in_for_the_first() {
        let from = |variables: &[(&str, &str)]| {
            HostConfig::<Google>::from_variables(|name| {
                let (_, value) = variables.iter().find(|(key, _)| *key == name)?;
                Some((*value).to_owned())
            })
        };
        let both = from(&[("GOOGLE_API_KEY", "b"), ("GEMINI_API_KEY", "a")]).unwrap();
        assert_eq!(both.api_key.unwrap().expose(), "a");
        let one = from(&[("GOOGLE_API_KEY", "b"), ("GEMINI_API_KEY", " ")]).unwrap();
        assert_eq!(one.api_key.unwrap().expose(), "b");
        let none = from(&[]).unwrap_err();
        assert!(none.message().contains("GEMINI_API_KEY"), "{none}");
    }
}
