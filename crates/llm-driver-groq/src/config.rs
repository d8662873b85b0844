//! What the driver is set up with.

use crate::{DRIVER_ID, VENDOR};
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// What a [`GroqDriver`](crate::GroqDriver) is set up with: a key is enough.
///
/// From code, start at [`HostConfig::new`]; from the environment, [`HostConfig::from_env`] reads `GROQ_API_KEY` and `GROQ_BASE_URL`;
/// from a file, every field has the name it has in [`HostConfig`], and any other key is refused.
///
/// ```
/// use llm_driver_groq::GroqConfig;
/// let config = GroqConfig::new("an invented key");
/// assert_eq!(config.base_url, "https://api.groq.com/openai/v1");
/// ```
pub type GroqConfig = HostConfig<Groq>;

/// Groq, as a type: it tells this driver's configuration from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Groq {}

impl HostedVendor for Groq {
    const HOST: VendorHost = VendorHost::new(DRIVER_ID, VENDOR, "https://api.groq.com/openai/v1")
        .with_domains(&["api.groq.com"])
        .with_variables(&["GROQ_API_KEY"], "GROQ_BASE_URL")
        .with_think_tags();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_and_the_hosts_are_the_vendors() {
        let variable = |name: &str| (name == "GROQ_API_KEY").then(|| "an invented key".to_owned());
        let config = GroqConfig::from_variables(variable).unwrap();
        assert!(config.is_own_host() && config.has_catalog());
        assert_eq!(config.base_url, "https://api.groq.com/openai/v1");
    }
}
