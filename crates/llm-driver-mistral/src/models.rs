//! Which of Mistral's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::MistralConfig;
use llm_core::model::ShippedCatalog;
use llm_core::{Capability, ModelTable, ResolvedModel, Result, Support};
use llm_wire::chat_completions::Dialect;

/// The model of requests that name none: current, cheap, with tools, pictures and thought on request.
const DEFAULT_MODEL: &str = "mistral-small-latest";

/// Mistral prices its moving aliases.
static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json")).with_priced_aliases();

/// What a driver of this configuration knows.
pub(crate) fn models(config: &MistralConfig, dialect: &Dialect) -> Result<ModelTable> {
    config.models(&SHIPPED, DEFAULT_MODEL, |model| {
        with_documents(dialect.with_endpoint_facts(model))
    })
}

/// The endpoint takes documents, but the catalogue does not say for which models: nobody knows.
fn with_documents(mut model: ResolvedModel) -> ResolvedModel {
    model.capabilities = model.capabilities.with(Capability::Documents, Support::Unknown);
    model
}
