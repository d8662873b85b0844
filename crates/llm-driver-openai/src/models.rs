//! Which of OpenAI's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::OpenAiConfig;
use llm_core::model::{Knob, ShippedCatalog};
use llm_core::{
    Capability, ModelId, ModelTable, ReasoningEffort, ResolvedModel, Result, Support, UnknownModels,
};
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
                None => table.with_model(with_endpoint(shipped.model.clone(), dialect)),
            };
        }
    }
    Ok(table.with_entries(&config.models, |model| with_endpoint(model, dialect)))
}

/// Adds what the endpoint takes of this model, so that a router sees it before a request is made.
fn with_endpoint(mut model: ResolvedModel, dialect: &Dialect) -> ResolvedModel {
    let rule = dialect.rule_of(&model);
    if let Some(efforts) = rule.efforts {
        model.efforts = Some(efforts.to_vec());
    }
    let efforts = model.efforts.as_deref();
    let always_thinks =
        rule.reasons && efforts.is_some_and(|efforts| !efforts.contains(&ReasoningEffort::None));
    if always_thinks {
        model.rejects.push(Knob::ThinkingOff);
        if !rule.sampling_with_reasoning {
            model.rejects.push(Knob::Sampling);
        }
        if !rule.tools_with_reasoning && model.capabilities.support(Capability::Tools) != Support::No {
            model.capabilities = without_tools(model.capabilities);
        }
    }
    model
}

/// A model that never stops thinking, at an endpoint that takes tools only without thought.
fn without_tools(capabilities: llm_core::Capabilities) -> llm_core::Capabilities {
    capabilities
        .with(Capability::Tools, false)
        .with(Capability::ParallelTools, false)
}
