//! What the driver is set up with.

use crate::{DRIVER_ID, VENDOR};
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// What a [`ClaudeDriver`](crate::ClaudeDriver) is set up with: for Anthropic itself a key is enough, for another
/// host its base URL.
///
/// From code, start at [`HostConfig::new`] or [`HostConfig::compatible`]; from the environment,
/// [`HostConfig::from_env`] reads `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`, which may come without its `/v1`:
/// Anthropic's own client wants it so. From a file, every field has the name it has in [`HostConfig`], and any other
/// key is refused.
///
/// The header `anthropic-beta` is special: what a request needs is added to what is configured.
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
///     "headers": { "anthropic-beta": "context-management-2025-06-27" },
/// })).unwrap();
/// assert_eq!(bearer.auth, AuthScheme::Bearer);
/// ```
pub type ClaudeConfig = HostConfig<Anthropic>;

/// Anthropic, as a type: it tells this driver's configuration from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Anthropic {}

impl HostedVendor for Anthropic {
    const HOST: VendorHost = VendorHost::new(DRIVER_ID, VENDOR, "https://api.anthropic.com/v1")
        .with_domains(&["api.anthropic.com"])
        .with_variables(&["ANTHROPIC_API_KEY"], "ANTHROPIC_BASE_URL")
        .with_version_path("/v1")
        .with_key_header("x-api-key");
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::Result;
    use llm_http::AuthScheme;

    fn from_variables(variables: &[(&str, &str)]) -> Result<ClaudeConfig> {
        ClaudeConfig::from_variables(|name| {
            let (_, value) = variables.iter().find(|(key, _)| *key == name)?;
            Some((*value).to_owned())
        })
    }

    #[test]
    fn the_environment_and_the_hosts_are_the_vendors() {
        let own = from_variables(&[("ANTHROPIC_API_KEY", "k")]).unwrap();
        assert!(own.is_own_host() && own.has_catalog());
        assert_eq!(own.auth, AuthScheme::Header("x-api-key".to_owned()));
        let error = from_variables(&[("ANTHROPIC_BASE_URL", "https://api.anthropic.com")]).unwrap_err();
        assert!(error.message().contains("ANTHROPIC_API_KEY"), "{error}");
        for (given, used) in [
            ("https://api.anthropic.com", "https://api.anthropic.com/v1"),
            ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/"),
            ("https://host.example/claude/", "https://host.example/claude/v1"),
            ("https://host.example/v1?a=b", "https://host.example/v1?a=b"),
        ] {
            let config =
                from_variables(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", given)]).unwrap();
            assert_eq!(config.base_url, used);
        }
    }
}
