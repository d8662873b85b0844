//! What an endpoint adds to what is known of a model, so that a router sees it before a request is made.

use super::{Dialect, ModelRule};
use llm_core::model::Knob;
use llm_core::{Capabilities, Capability, ReasoningEffort, ResolvedModel, Support};

impl Dialect {
    /// A model with what this endpoint takes of it: effort levels, what it rejects, what cannot be done here. For a
    /// driver's table of models.
    ///
    /// ```
    /// use llm_core::{Capability, ModelId, ResolvedModel, Support};
    /// use llm_wire::chat_completions::Dialect;
    /// let model = ResolvedModel::unknown(ModelId::new("deepseek-flash").unwrap());
    /// let here = Dialect::deepseek().with_endpoint_facts(model);
    /// assert_eq!(here.capabilities.support(Capability::JsonSchema), Support::No);
    /// assert_eq!(here.efforts.unwrap().len(), 4);
    /// ```
    pub fn with_endpoint_facts(&self, mut model: ResolvedModel) -> ResolvedModel {
        let rule = self.rule_of(&model);
        if let Some(efforts) = rule.efforts {
            model.efforts = Some(efforts.to_vec());
        }
        let efforts = model.efforts.as_deref();
        let always_thinks =
            rule.reasons && efforts.is_some_and(|efforts| !efforts.contains(&ReasoningEffort::None));
        let mut reject = |knob| {
            if !model.rejects.contains(&knob) {
                model.rejects.push(knob);
            }
        };
        if always_thinks {
            reject(Knob::ThinkingOff);
        }
        if !rule.sampling || (always_thinks && !rule.sampling_with_reasoning) {
            reject(Knob::Sampling);
        }
        model.capabilities = self.capabilities_of(rule, always_thinks, model.capabilities);
        model
    }

    fn capabilities_of(&self, rule: ModelRule, always_thinks: bool, known: Capabilities) -> Capabilities {
        let tools = rule.tools_with_reasoning || !always_thinks;
        let parts = self.parts;
        [
            (Capability::Tools, tools),
            (Capability::ParallelTools, tools),
            (Capability::Vision, parts.image_url || parts.image_bytes),
            (Capability::AudioInput, parts.audio),
            (Capability::Documents, parts.file),
            (Capability::JsonSchema, self.json_schema),
        ]
        .into_iter()
        .filter(|(_, here)| !here)
        .fold(known, |known, (capability, _)| {
            known.with(capability, Support::No)
        })
    }
}
