//! What the driver is set up with.

use crate::{DRIVER_ID, VENDOR};
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// What a [`GeminiDriver`](crate::GeminiDriver) is set up with: for Google a key is enough, for another host of the
/// format its base URL.
///
/// From code, start at [`HostConfig::new`] or [`HostConfig::compatible`]; from the environment,
/// [`HostConfig::from_env`] reads `GEMINI_API_KEY` (else `GOOGLE_API_KEY`) and `GEMINI_BASE_URL`; from a file, every
/// field has the name it has in [`HostConfig`], and any other key is refused.
///
/// ```
/// use llm_driver_gemini::{AuthScheme, GeminiConfig};
/// let config = GeminiConfig::new("an invented key");
/// assert_eq!(config.auth, AuthScheme::Header("x-goog-api-key".to_owned()));
/// ```
pub type GeminiConfig = HostConfig<Google>;

/// Google, as a type: it tells this driver's configuration from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Google {}

impl HostedVendor for Google {
    // The key may stand in the query, too, from where it ends in logs (wire notes, `gemini.md`, "Endpoint and auth",
    // state of 2026-11-29).
    const HOST: VendorHost = VendorHost::new(
        DRIVER_ID,
        VENDOR,
        "https://generativelanguage.googleapis.com/v1beta",
    )
    .with_domains(&["generativelanguage.googleapis.com"])
    .with_variables(&["GEMINI_API_KEY", "GOOGLE_API_KEY"], "GEMINI_BASE_URL")
    .with_key_header("x-goog-api-key");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_and_the_hosts_are_the_vendors() {
        let variable = |name: &str| (name == "GOOGLE_API_KEY").then(|| "an invented key".to_owned());
        let config = GeminiConfig::from_variables(variable).unwrap();
        assert!(config.is_own_host() && config.has_catalog());
        assert_eq!(
            config.base_url,
            "https://generativelanguage.googleapis.com/v1beta"
        );
    }
}
