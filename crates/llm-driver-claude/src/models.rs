//! Which of Anthropic's models there are and what this endpoint takes of them.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How families of
//! models are asked (thought, sampling, forced calls) stands in the wire format's dialect.

#[cfg(test)]
mod tests;

use crate::config::ClaudeConfig;
use llm_core::model::{Knob, ShippedCatalog};
use llm_core::{ModelTable, ReasoningEffort, ResolvedModel, Result};
use llm_wire::messages::Dialect;
use llm_wire::messages::dialect::ThinkingOff;

/// The model of requests that name none, at Anthropic: the cheapest current one with a published price. Of its
/// generation it is also the one that takes every wish: it can be made to call a tool and to stop thinking.
const DEFAULT_MODEL: &str = "claude-haiku-5-5";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// What a driver of this configuration knows.
pub(crate) fn models(config: &ClaudeConfig, dialect: &Dialect) -> Result<ModelTable> {
    config.models(&SHIPPED, DEFAULT_MODEL, |model| with_rule(model, dialect))
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
