//! Which of Google's models there are.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How families of
//! models are asked stands in the wire format's dialect.

use crate::config::GeminiConfig;
use llm_core::model::{Knob, ShippedCatalog};
use llm_core::{ModelTable, ResolvedModel, Result};
use llm_wire::generate_content::Dialect;
use llm_wire::generate_content::dialect::Thinking;

/// The model of requests that name none, at Google: the cheapest of the current generation, with a published price
/// and no announced end.
const DEFAULT_MODEL: &str = "gemini-3.5-flash-lite";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

/// What a driver of this configuration knows.
pub(crate) fn models(config: &GeminiConfig, dialect: &Dialect) -> Result<ModelTable> {
    config.models(&SHIPPED, DEFAULT_MODEL, |model| with_rule(model, dialect))
}

/// Adds what the wire format's rule knows of this model where the catalogue is silent, so that a router sees it before a
/// request is made.
fn with_rule(mut model: ResolvedModel, dialect: &Dialect) -> ResolvedModel {
    let rule = dialect.rule_of(&model);
    if let (Thinking::Level { efforts, .. }, None) = (rule.thinking, &model.efforts) {
        model.efforts = Some(efforts.to_vec());
    }
    let stops = !matches!(
        rule.thinking,
        Thinking::Level { .. } | Thinking::Budget { off: false, .. }
    );
    if !stops && !model.rejects(Knob::ThinkingOff) {
        model.rejects.push(Knob::ThinkingOff);
    }
    if rule.ignores_sampling && !model.ignores.contains(&Knob::Sampling) {
        model.ignores.push(Knob::Sampling);
    }
    model
}
