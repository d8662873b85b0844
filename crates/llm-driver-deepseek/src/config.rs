//! What the driver is set up with.

use crate::{DRIVER_ID, VENDOR};
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// The beta endpoint: it also continues an assistant message, and guarantees the arguments of strict tools.
pub const BETA_BASE_URL: &str = "https://api.deepseek.com/beta";

/// What a [`DeepSeekDriver`](crate::DeepSeekDriver) is set up with: a key is enough.
///
/// From code, start at [`HostConfig::new`]; from the environment, [`HostConfig::from_env`] reads `DEEPSEEK_API_KEY` and `DEEPSEEK_BASE_URL`;
/// from a file, every field has the name it has in [`HostConfig`], and any other key is refused.
///
/// ```
/// use llm_driver_deepseek::DeepSeekConfig;
/// use llm_driver_deepseek::BETA_BASE_URL;
/// let config = DeepSeekConfig::new("an invented key").with_base_url(BETA_BASE_URL);
/// assert!(config.is_own_host());
/// ```
pub type DeepSeekConfig = HostConfig<DeepSeek>;

/// DeepSeek, as a type: it tells this driver's configuration from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeepSeek {}

impl HostedVendor for DeepSeek {
    const HOST: VendorHost = VendorHost::new(DRIVER_ID, VENDOR, "https://api.deepseek.com")
        .with_domains(&["api.deepseek.com"])
        .with_variables(&["DEEPSEEK_API_KEY"], "DEEPSEEK_BASE_URL")
        .with_think_tags();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_and_the_hosts_are_the_vendors() {
        let variable = |name: &str| (name == "DEEPSEEK_API_KEY").then(|| "an invented key".to_owned());
        let config = DeepSeekConfig::from_variables(variable).unwrap();
        assert!(config.is_own_host() && config.has_catalog());
        assert_eq!(config.base_url, "https://api.deepseek.com");
        assert!(DeepSeekConfig::compatible(BETA_BASE_URL).is_own_host());
    }
}
