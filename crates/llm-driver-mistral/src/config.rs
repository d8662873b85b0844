//! What the driver is set up with.

use crate::{DRIVER_ID, VENDOR};
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// What a [`MistralDriver`](crate::MistralDriver) is set up with: a key is enough.
///
/// From code, start at [`HostConfig::new`]; from the environment, [`HostConfig::from_env`] reads `MISTRAL_API_KEY` and `MISTRAL_BASE_URL`;
/// from a file, every field has the name it has in [`HostConfig`], and any other key is refused.
///
/// ```
/// use llm_driver_mistral::MistralConfig;
/// let config = MistralConfig::new("an invented key").with_base_url("https://api.eu.mistral.ai/v1");
/// assert!(config.is_own_host());
/// ```
pub type MistralConfig = HostConfig<Mistral>;

/// Mistral, as a type: it tells this driver's configuration from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistral {}

impl HostedVendor for Mistral {
    const HOST: VendorHost = VendorHost::new(DRIVER_ID, VENDOR, "https://api.mistral.ai/v1")
        .with_domains(&["api.mistral.ai", "api.eu.mistral.ai", "api.us.mistral.ai"])
        .with_variables(&["MISTRAL_API_KEY"], "MISTRAL_BASE_URL")
        .with_think_tags();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_and_the_hosts_are_the_vendors() {
        let variable = |name: &str| (name == "MISTRAL_API_KEY").then(|| "an invented key".to_owned());
        let config = MistralConfig::from_variables(variable).unwrap();
        assert!(config.is_own_host() && config.has_catalog());
        assert_eq!(config.base_url, "https://api.mistral.ai/v1");
        for host in ["https://api.eu.mistral.ai/v1", "https://api.us.mistral.ai/v1"] {
            assert!(MistralConfig::compatible(host).is_own_host(), "{host}");
        }
    }
}
