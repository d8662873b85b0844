//! Which of Groq's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::GroqConfig;
use llm_core::model::ShippedCatalog;
use llm_core::{ModelTable, Result};
use llm_wire::chat_completions::Dialect;

/// The model of requests that name none: the cheapest.
const DEFAULT_MODEL: &str = "openai/gpt-oss-20b";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// What a driver of this configuration knows.
pub(crate) fn models(config: &GroqConfig, dialect: &Dialect) -> Result<ModelTable> {
    config.models(&SHIPPED, DEFAULT_MODEL, |model| {
        dialect.with_endpoint_facts(model)
    })
}
