//! Which differences of the wire format hold for the configured host.

use crate::config::OllamaConfig;
use llm_wire::ollama::Dialect;

/// The dialect of a configuration: state goes back to the configured vendor alone.
pub(crate) fn dialect_of(config: &OllamaConfig) -> Dialect {
    let mut dialect = Dialect::ollama();
    dialect.vendor = config.vendor.clone();
    dialect.extract_think_tags = config.extract_think_tags;
    dialect
}
