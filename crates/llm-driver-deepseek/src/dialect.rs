//! This vendor's dialect of the wire format.

use crate::config::DeepSeekConfig;
use llm_wire::chat_completions::Dialect;

/// The dialect of a configuration: the beta endpoint takes more than the usual one. Another vendor's name keeps what
/// the vendor sends apart from what a host of the same format sends.
pub(crate) fn dialect_of(config: &DeepSeekConfig) -> Dialect {
    let mut dialect = Dialect::deepseek();
    if usual_base_url(&config.base_url).is_some() {
        dialect = dialect.with_deepseek_beta();
    }
    dialect.vendor = config.vendor.clone();
    dialect.extract_think_tags = config.extract_think_tags;
    dialect
}

/// The base URL of the usual endpoint beside this one, if this is the beta endpoint.
pub(crate) fn usual_base_url(base_url: &str) -> Option<&str> {
    base_url.trim().trim_end_matches('/').strip_suffix("/beta")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BETA_BASE_URL;
    use llm_wire::chat_completions::dialect::StrictTools;

    #[test]
    fn the_beta_endpoint_takes_more() {
        let strict = |config: DeepSeekConfig| dialect_of(&config).tools.strict;
        let config = || DeepSeekConfig::new("k");
        assert_eq!(strict(config()), StrictTools::No);
        assert_eq!(
            strict(config().with_base_url(BETA_BASE_URL)),
            StrictTools::AllOrNone
        );
        assert_eq!(usual_base_url(" https://h/beta/ "), Some("https://h"));
        assert_eq!(usual_base_url("https://h/v1"), None);
    }
}
