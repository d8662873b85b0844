//! This vendor's dialect of the wire format.

use crate::config::KimiConfig;
use llm_wire::chat_completions::Dialect;

/// The dialect of a configuration. Another vendor's name keeps what the vendor sends apart from what a host of the
/// same format sends.
pub(crate) fn dialect_of(config: &KimiConfig) -> Dialect {
    let mut dialect = Dialect::kimi();
    dialect.vendor = config.vendor.clone();
    dialect.extract_think_tags = config.extract_think_tags;
    dialect
}
