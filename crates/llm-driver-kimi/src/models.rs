//! Which of Kimi's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::KimiConfig;
use llm_core::model::ShippedCatalog;
use llm_core::{ModelTable, ResolvedModel, Result};
use llm_wire::chat_completions::Dialect;

/// The model of requests that name none: the cheapest one without an announced end.
const DEFAULT_MODEL: &str = "kimi-k3.1-pro";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// When the K2 series ends. The catalogue does not have it. (Wire notes, `kimi.md`, state of 2026-11-29.)
const END_OF_K2: &str = "2026-12-31";

/// What a driver of this configuration knows.
pub(crate) fn models(config: &KimiConfig, dialect: &Dialect) -> Result<ModelTable> {
    config.models(&SHIPPED, DEFAULT_MODEL, |model| {
        with_end(dialect.with_endpoint_facts(model))
    })
}

fn with_end(mut model: ResolvedModel) -> ResolvedModel {
    if model.id.as_str().starts_with("kimi-k2.") {
        model.deprecated_on.get_or_insert_with(|| END_OF_K2.to_owned());
    }
    model
}
