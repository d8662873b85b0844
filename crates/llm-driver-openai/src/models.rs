//! Which of OpenAI's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::OpenAiConfig;
use llm_core::model::ShippedCatalog;
use llm_core::{ModelId, ModelTable, Result, UnknownModels};
use llm_wire::chat_completions::Dialect;

/// The model of requests that name none, at OpenAI: the cheapest current one with a published price.
const DEFAULT_MODEL: &str = "gpt-6-luna";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// What a driver of this configuration knows.
pub(crate) fn models(config: &OpenAiConfig, dialect: &Dialect) -> Result<ModelTable> {
    let (mut default, mut unknown) = (config.default_model.clone(), UnknownModels::Allow);
    if config.has_catalog() {
        default = Some(default.map_or_else(|| ModelId::new(DEFAULT_MODEL), Ok)?);
        unknown = UnknownModels::Refuse;
    }
    let mut table = ModelTable::new(config.unknown_models.unwrap_or(unknown))
        .with_prefixes([config.id.to_string(), config.vendor.to_string()])
        .with_default(default);
    if config.has_catalog() {
        for shipped in SHIPPED.models()? {
            let responses_only = shipped.flag("responses_only").then_some(
                "is served by the Responses API alone, which this driver does not speak; name another model",
            );
            table = match shipped.why_not_chat().or(responses_only) {
                Some(why) => table.with_refused(shipped.model.id.clone(), why),
                None => table.with_model(dialect.with_endpoint_facts(shipped.model.clone())),
            };
        }
    }
    Ok(table.with_entries(&config.models, |model| dialect.with_endpoint_facts(model)))
}
