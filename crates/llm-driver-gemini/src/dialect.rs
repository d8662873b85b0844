//! Which differences of the wire format hold for the configured host.

use crate::config::GeminiConfig;
use llm_wire::generate_content::Dialect;

/// The dialect of a configuration: state goes back to the configured vendor alone.
pub(crate) fn dialect_of(config: &GeminiConfig) -> Dialect {
    let mut dialect = Dialect::gemini();
    dialect.vendor = config.vendor.clone();
    dialect
}
