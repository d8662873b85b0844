//! Which differences of the wire format hold for the configured host.

use crate::config::ClaudeConfig;
use llm_wire::messages::Dialect;

/// The version of the API that every host of the format and every model knows (wire notes, `anthropic.md`, "Endpoint,
/// auth, version", state of 2026-11-29).
pub(crate) const COMMON_VERSION: &str = "2023-06-01";

/// The dialect of a configuration: Anthropic's, whose state goes back to the configured vendor alone.
pub(crate) fn dialect_of(config: &ClaudeConfig) -> Dialect {
    let mut dialect = Dialect::anthropic();
    dialect.vendor = config.vendor.clone();
    dialect
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DRIVER_ID;
    use llm_core::VendorId;

    #[test]
    fn the_vendor_of_the_configuration_is_that_of_the_wire() {
        let config = ClaudeConfig::compatible("http://127.0.0.1:8080/v1");
        assert_eq!(dialect_of(&config), Dialect::anthropic());
        let acme = VendorId::from_static("acme");
        let config = config.with_identity(DRIVER_ID, acme.clone());
        assert_eq!(dialect_of(&config).vendor, acme);
    }
}
