//! This vendor's dialect of the wire format: what it does otherwise than most, as data.

use crate::config::AcmeConfig;
use llm_wire::chat_completions::Dialect;

pub(crate) fn dialect_of(config: &AcmeConfig) -> Dialect {
    let mut dialect = Dialect::compatible();
    dialect.vendor = config.vendor.clone();
    dialect.options.top_k = false;
    dialect
}
