//! What the driver is set up with.

use crate::{DRIVER_ID, VENDOR};
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// The host for mainland China. It has keys of its own: one of the international host is not accepted there.
pub const MAINLAND_BASE_URL: &str = "https://api.moonshot.cn/v1";

/// What a [`KimiDriver`](crate::KimiDriver) is set up with: a key is enough.
///
/// From code, start at [`HostConfig::new`]; from the environment, [`HostConfig::from_env`] reads `MOONSHOT_API_KEY` (else `KIMI_API_KEY`) and `MOONSHOT_BASE_URL`;
/// from a file, every field has the name it has in [`HostConfig`], and any other key is refused.
///
/// ```
/// use llm_driver_kimi::KimiConfig;
/// use llm_driver_kimi::MAINLAND_BASE_URL;
/// let international = KimiConfig::new("an invented key");
/// let mainland = KimiConfig::new("another one").with_base_url(MAINLAND_BASE_URL);
/// assert!(international.is_own_host() && mainland.is_own_host());
/// ```
pub type KimiConfig = HostConfig<Kimi>;

/// Kimi, as a type: it tells this driver's configuration from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kimi {}

impl HostedVendor for Kimi {
    const HOST: VendorHost = VendorHost::new(DRIVER_ID, VENDOR, "https://api.moonshot.ai/v1")
        .with_domains(&["api.moonshot.ai", "api.moonshot.cn"])
        .with_variables(&["MOONSHOT_API_KEY", "KIMI_API_KEY"], "MOONSHOT_BASE_URL")
        .with_think_tags();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_and_the_hosts_are_the_vendors() {
        let variable = |name: &str| (name == "KIMI_API_KEY").then(|| "an invented key".to_owned());
        let config = KimiConfig::from_variables(variable).unwrap();
        assert!(config.is_own_host() && config.has_catalog());
        assert_eq!(config.base_url, "https://api.moonshot.ai/v1");
        assert!(KimiConfig::compatible(MAINLAND_BASE_URL).is_own_host());
    }
}
