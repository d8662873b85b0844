//! Which of OpenAI's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::{ApiChoice, OpenAiConfig};
use llm_core::model::ShippedCatalog;
use llm_core::{ModelId, ModelTable, ResolvedModel, Result, UnknownModels};
use llm_wire::{chat_completions, responses};
use std::collections::HashSet;

/// The model of requests that name none, at OpenAI: the cheapest current one with a published price.
const DEFAULT_MODEL: &str = "gpt-6-luna";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// What a driver of this configuration knows of models.
#[derive(Debug)]
pub(crate) struct Models {
    pub(crate) table: ModelTable,
    /// Those that Responses alone serves.
    pub(crate) responses_only: HashSet<ModelId>,
}

/// What a driver of this configuration knows.
pub(crate) fn models(
    config: &OpenAiConfig,
    chat: &chat_completions::Dialect,
    responses: &responses::Dialect,
) -> Result<Models> {
    let (mut default, mut unknown) = (config.default_model.clone(), UnknownModels::Allow);
    if config.has_catalog() {
        default = Some(default.map_or_else(|| ModelId::new(DEFAULT_MODEL), Ok)?);
        unknown = UnknownModels::Refuse;
    }
    let chat_only = config.usual_api() == ApiChoice::ChatCompletions;
    // where either API may serve it, what can be done is what can be done at one of them: Responses takes all that
    // Chat Completions takes, but for what the request decides (stop sequences)
    let facts = |model: ResolvedModel| match chat_only {
        true => chat.with_endpoint_facts(model),
        false => responses.with_endpoint_facts(model),
    };
    let mut table = ModelTable::new(config.unknown_models.unwrap_or(unknown))
        .with_prefixes([config.id.to_string(), config.vendor.to_string()])
        .with_default(default);
    let mut responses_only = HashSet::new();
    if config.has_catalog() {
        for shipped in SHIPPED.models()? {
            let there_alone = shipped.flag("responses_only");
            if there_alone {
                responses_only.insert(shipped.model.id.clone());
            }
            let not_here = (there_alone && chat_only).then_some(
                "is served by the Responses API alone; set `api: responses`, or name another model",
            );
            table = match shipped.why_not_chat().or(not_here) {
                Some(why) => table.with_refused(shipped.model.id.clone(), why),
                None => table.with_model(facts(shipped.model.clone())),
            };
        }
    }
    Ok(Models {
        table: table.with_entries(&config.models, facts),
        responses_only,
    })
}
