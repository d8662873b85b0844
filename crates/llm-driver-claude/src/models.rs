//! Which of Anthropic's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How families of
//! models are asked (thought, sampling, forced calls) stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::ClaudeConfig;
use llm_core::model::{Knob, ShippedCatalog};
use llm_core::{ModelId, ModelTable, ReasoningEffort, ResolvedModel, Result, UnknownModels};
use llm_wire::messages::Dialect;
use llm_wire::messages::dialect::ThinkingOff;

/// The model of requests that name none, at Anthropic: the cheapest current one with a published price. Of its
/// generation it is also the one that takes every wish: it can be made to call a tool and to stop thinking.
const DEFAULT_MODEL: &str = "claude-haiku-5-5";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// What a driver of this configuration knows.
pub(crate) fn models(config: &ClaudeConfig, dialect: &Dialect) -> Result<ModelTable> {
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
            table = match shipped.why_not_chat() {
                Some(why) => table.with_refused(shipped.model.id.clone(), why),
                None => table.with_model(with_rule(shipped.model.clone(), dialect)),
            };
        }
    }
    Ok(table.with_entries(&config.models, |model| with_rule(model, dialect)))
}

/// Adds what the wire format's rule knows of this model where the catalogue is silent, so that a router sees it before a
/// request is made.
fn with_rule(mut model: ResolvedModel, dialect: &Dialect) -> ResolvedModel {
    let rule = dialect.rule_of(&model);
    if model.efforts.is_none() && !rule.efforts.is_empty() {
        model.efforts = Some(rule.efforts.to_vec());
    }
    if rule.off == ThinkingOff::Disabled
        && !model.rejects(Knob::ThinkingOff)
        && let Some(efforts) = &mut model.efforts
        && !efforts.contains(&ReasoningEffort::None)
    {
        efforts.insert(0, ReasoningEffort::None);
    }
    let rejected = [
        (Knob::Sampling, !rule.sampling),
        (Knob::ForcedToolUse, !rule.forced_tool_use),
        (Knob::Prefill, !rule.prefill),
        (Knob::ThinkingOff, rule.off != ThinkingOff::Disabled),
    ];
    for (knob, rejected) in rejected {
        if rejected && !model.rejects(knob) {
            model.rejects.push(knob);
        }
    }
    model
}
