//! What the hosts of this format do differently, as plain data.

mod model_rule;
mod option_keys;

use llm_core::model::Knob;
use llm_core::{Capability, ReasoningEffort, ResolvedModel, Support, VendorId};

pub use crate::option_key::{JsonForm, OptionKey};
pub use crate::service_tiers::ServiceTiers;
pub use crate::strict_schema::StrictSchemas;
pub use model_rule::ModelRule;

/// One host's differences. Start from [`Dialect::openai`] or, for any other host that speaks the format, from
/// [`Dialect::compatible`], and change fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// Whose options bag is read, and whose items and reasoning are sent back.
    pub vendor: VendorId,
    /// Does the host know the `developer` role for models that reason? Else `system` is sent.
    pub developer_role: bool,
    /// Does it take reasoning back in plain words, where it is not encrypted? Hosts of open models do.
    pub plain_reasoning: bool,
    /// Which schemas of tools and of answers it can be held to.
    pub strict_schemas: StrictSchemas,
    /// Must the word JSON stand in a message where an answer in JSON without a schema is asked for? Then a message is
    /// added to a request that does not hold it.
    pub wants_json_word: bool,
    /// The classes of service that it knows.
    pub service_tiers: ServiceTiers,
    /// The keys of the vendor's options bag.
    pub option_keys: &'static [OptionKey],
    /// What families of models do differently, by the beginning of their name.
    pub model_rules: &'static [(&'static str, ModelRule)],
    /// The rule for models that are known to reason and that no row of `model_rules` names.
    pub reasoning_rule: ModelRule,
}

impl Dialect {
    /// OpenAI itself.
    pub fn openai() -> Self {
        Dialect {
            vendor: VendorId::from_static("openai"),
            developer_role: true,
            plain_reasoning: false,
            wants_json_word: true,
            strict_schemas: StrictSchemas::Closed,
            service_tiers: ServiceTiers::Only(&[
                "auto",
                "default",
                "flex",
                "scale",
                "priority",
                "fast",
                "ultrafast",
            ]),
            option_keys: OptionKey::OPENAI_RESPONSES,
            model_rules: ModelRule::OPENAI,
            reasoning_rule: ModelRule::OPENAI_REASONING,
        }
    }

    /// Any host that speaks the format: what nearly all of them understand.
    pub fn compatible() -> Self {
        Dialect {
            developer_role: false,
            plain_reasoning: true,
            wants_json_word: false,
            strict_schemas: StrictSchemas::AsGiven,
            service_tiers: ServiceTiers::Any,
            model_rules: &[],
            reasoning_rule: ModelRule::REASONING,
            ..Dialect::openai()
        }
    }

    /// The rule for a model: the row whose name it begins with (the longest such row), else the rule for models that
    /// are known to reason, else nothing special. A model that is known not to reason is plain whatever its name.
    ///
    /// ```
    /// use llm_core::{ModelId, ResolvedModel};
    /// use llm_wire::responses::Dialect;
    /// let rule = |name| Dialect::openai().rule_of(&ResolvedModel::unknown(ModelId::new(name).unwrap()));
    /// assert!(rule("gpt-6-luna").reasons);
    /// assert!(!rule("gpt-4o").reasons);
    /// ```
    pub fn rule_of(&self, model: &ResolvedModel) -> ModelRule {
        let reasons = model.capabilities.support(Capability::Reasoning);
        if reasons == Support::No {
            return ModelRule::PLAIN;
        }
        let name = model.id.as_str();
        let named = self.model_rules.iter().filter(|(prefix, _)| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        match named.max_by_key(|(prefix, _)| prefix.len()) {
            Some((_, rule)) => *rule,
            None if reasons == Support::Yes => self.reasoning_rule,
            None => ModelRule::PLAIN,
        }
    }

    /// A model with what this endpoint takes of it: effort levels and what it rejects. For a driver's table of models.
    ///
    /// ```
    /// use llm_core::model::Knob;
    /// use llm_core::{ModelId, ResolvedModel};
    /// use llm_wire::responses::Dialect;
    /// let model = ResolvedModel::unknown(ModelId::new("gpt-6-astra").unwrap());
    /// assert!(Dialect::openai().with_endpoint_facts(model).rejects(Knob::ThinkingOff));
    /// ```
    pub fn with_endpoint_facts(&self, mut model: ResolvedModel) -> ResolvedModel {
        let rule = self.rule_of(&model);
        if let Some(efforts) = rule.efforts {
            model.efforts = Some(efforts.to_vec());
        }
        let efforts = model.efforts.as_deref();
        let can_be_off = |efforts: &[ReasoningEffort]| efforts.contains(&ReasoningEffort::None);
        let always_thinks = rule.reasons && efforts.is_some_and(|efforts| !can_be_off(efforts));
        let mut reject = |knob| {
            if !model.rejects.contains(&knob) {
                model.rejects.push(knob);
            }
        };
        if always_thinks {
            reject(Knob::ThinkingOff);
            if !rule.sampling_with_reasoning {
                reject(Knob::Sampling);
            }
        }
        model
    }
}
