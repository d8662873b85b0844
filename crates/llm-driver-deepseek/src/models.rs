//! Which of DeepSeek's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::DeepSeekConfig;
use llm_core::model::ShippedCatalog;
use llm_core::{Capability, ModelTable, ResolvedModel, Result, Support};
use llm_wire::chat_completions::Dialect;

/// The model of requests that name none: the vendor's alias of its current small one.
const DEFAULT_MODEL: &str = "deepseek-flash";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// The models that read files. The catalogue does not have them. (Wire notes, `deepseek.md`, state of 2026-11-29.)
const READ_FILES: [&str; 2] = ["deepseek-flash", "deepseek-v4-flash-vision-exp"];

/// What a driver of this configuration knows.
pub(crate) fn models(config: &DeepSeekConfig, dialect: &Dialect) -> Result<ModelTable> {
    config.models(&SHIPPED, DEFAULT_MODEL, |model| {
        with_documents(dialect.with_endpoint_facts(model))
    })
}

fn with_documents(mut model: ResolvedModel) -> ResolvedModel {
    if READ_FILES.contains(&model.id.as_str()) {
        model.capabilities = model.capabilities.with(Capability::Documents, Support::Yes);
    }
    model
}
