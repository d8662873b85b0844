//! Which differences of the wire format hold for the configured host.

use crate::config::ClaudeConfig;
use llm_core::{Error, ErrorKind, Result};
use llm_wire::messages::Dialect;

/// The version of the API that every host of the format and every model knows (wire notes, `anthropic.md`, "Endpoint,
/// auth, version", state of 2026-11-29).
const COMMON_VERSION: &str = "2023-06-01";

/// The dialect of a configuration: Anthropic's, whose state goes back to the configured vendor alone. Anthropic is sent
/// the version that a request needs, any other host the one that all know.
pub(crate) fn dialect_of(config: &ClaudeConfig, betas: Vec<String>) -> Dialect {
    let mut dialect = Dialect::anthropic();
    dialect.vendor = config.vendor.clone();
    dialect.version = (!config.is_own_host()).then_some(COMMON_VERSION);
    dialect.betas = betas;
    dialect
}

/// Takes the header out of a configuration whose value joins what each request needs.
pub(crate) fn without_betas(mut config: ClaudeConfig) -> Result<(ClaudeConfig, Vec<String>)> {
    let mut betas = Vec::new();
    config.headers.retain(|name, value| {
        let is_betas = name.eq_ignore_ascii_case("anthropic-beta");
        if is_betas {
            let names = value.expose().split(',').map(str::trim);
            betas.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        }
        !is_betas
    });
    if !betas
        .iter()
        .flat_map(|name| name.bytes())
        .all(|byte| byte.is_ascii_graphic())
    {
        let message =
            "the header `anthropic-beta` holds what is no name of a beta; names are joined by commas";
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok((config, betas))
}

/// With the version that all hosts know, unless another is configured: for what is no call of a model.
pub(crate) fn with_version(config: ClaudeConfig) -> ClaudeConfig {
    let is_version = |name: &String| name.eq_ignore_ascii_case("anthropic-version");
    if config.headers.keys().any(is_version) {
        return config;
    }
    config.with_header("anthropic-version", COMMON_VERSION.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DRIVER_ID;
    use llm_core::VendorId;

    #[test]
    fn the_vendor_of_the_configuration_is_that_of_the_wire() {
        let acme = VendorId::from_static("acme");
        let config = ClaudeConfig::compatible("http://127.0.0.1:8080/v1");
        let config = config.with_identity(DRIVER_ID, acme.clone());
        assert_eq!(dialect_of(&config, Vec::new()).vendor, acme);
    }

    #[test]
    fn only_anthropic_is_sent_the_newest_version() {
        let version = |config: ClaudeConfig| dialect_of(&config, Vec::new()).version;
        assert_eq!(version(ClaudeConfig::new("k")), None);
        let elsewhere = ClaudeConfig::compatible("http://127.0.0.1:8080/v1");
        assert_eq!(version(elsewhere), Some(COMMON_VERSION));
    }
}
