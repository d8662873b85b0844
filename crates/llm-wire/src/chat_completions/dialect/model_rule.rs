//! What families of models do differently inside this format.
//!
//! Source: `openai-chat.md` of the project's wire notes (Request, Reasoning, Prompt caching), state of
//! 2026-11-29.

use super::Dialect;
use llm_core::ReasoningEffort::{self, High, Low, Medium, None as Off, XHigh};
use llm_core::{Capability, ResolvedModel, Support};

/// What one family of models does differently. What a catalogue says of a model (abilities, effort levels,
/// rejected features) stands in its [`ResolvedModel`]; here stands what only this format's endpoint adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRule {
    /// Does it think? Such models take another field for the cap on output.
    pub reasons: bool,
    /// The effort levels it takes at this endpoint; absent: those of the catalogue.
    pub efforts: Option<&'static [ReasoningEffort]>,
    /// How an effort is said.
    pub effort_form: EffortForm,
    /// Does it think not at all when no effort is sent?
    pub default_effort_is_none: bool,
    /// The `reasoning_format` it is asked for while it thinks, unless the options bag says how thoughts are shown.
    pub reasoning_format: Option<&'static str>,
    /// Does it take temperature, top-p and top-k at all?
    pub sampling: bool,
    /// Does it take temperature, top-p, penalties and log-probabilities while it thinks?
    pub sampling_with_reasoning: bool,
    /// Does it take penalties and token biases?
    pub penalties: bool,
    /// Does it take the number of log-probabilities?
    pub top_logprobs: bool,
    /// Does it take stop sequences?
    pub stop: bool,
    /// Can it be told to call any tool? Where not, it can still be told to call a certain one.
    pub required_choice: bool,
    /// Does it take tools while it thinks? Where not, effort must be `none`, and must be sent unless it is the
    /// model's default.
    pub tools_with_reasoning: bool,
    /// Does it take marks for the prompt cache inside messages?
    pub cache_breakpoints: bool,
}

/// How an effort is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EffortForm {
    /// `reasoning_effort` with the level's word.
    Word,
    /// `reasoning_effort`, which is `none` or `default`.
    NoneOrDefault,
    /// `thinking`, which is enabled or disabled, and `reasoning_effort` beside it where it is enabled.
    ThinkingAndWord,
    /// `thinking` alone, which is enabled or disabled.
    Thinking,
}

impl ModelRule {
    /// Nothing special: everything is sent, and the host decides.
    pub const PLAIN: ModelRule = ModelRule {
        reasons: false,
        efforts: None,
        effort_form: EffortForm::Word,
        default_effort_is_none: false,
        reasoning_format: None,
        sampling: true,
        sampling_with_reasoning: true,
        penalties: true,
        top_logprobs: true,
        stop: true,
        required_choice: true,
        tools_with_reasoning: true,
        cache_breakpoints: false,
    };

    /// A model that thinks, and nothing special else.
    pub const REASONING: ModelRule = ModelRule {
        reasons: true,
        ..ModelRule::PLAIN
    };

    /// A reasoning model of OpenAI's that no row names.
    pub const OPENAI_REASONING: ModelRule = ModelRule {
        reasons: true,
        sampling_with_reasoning: false,
        penalties: false,
        top_logprobs: false,
        stop: false,
        ..ModelRule::PLAIN
    };

    /// From gpt-5.6 on.
    const RECENT: ModelRule = ModelRule {
        tools_with_reasoning: false,
        cache_breakpoints: true,
        ..ModelRule::OPENAI_REASONING
    };

    /// This rule with these effort levels.
    pub const fn with_efforts(self, efforts: &'static [ReasoningEffort]) -> ModelRule {
        ModelRule {
            efforts: Some(efforts),
            ..self
        }
    }

    const fn thinking_only_on_request(self) -> ModelRule {
        ModelRule {
            default_effort_is_none: true,
            ..self
        }
    }

    /// OpenAI's models, by the beginning of their name. `max` is an effort of the Responses API only, so no
    /// row has it.
    pub const OPENAI: &[(&str, ModelRule)] = &[
        (
            "o1",
            ModelRule {
                stop: true,
                ..ModelRule::OPENAI_REASONING
            }
            .with_efforts(&[Low, Medium, High]),
        ),
        (
            "o3",
            ModelRule::OPENAI_REASONING.with_efforts(&[Low, Medium, High]),
        ),
        (
            "o4-mini",
            ModelRule::OPENAI_REASONING.with_efforts(&[Low, Medium, High]),
        ),
        (
            "gpt-5",
            ModelRule::OPENAI_REASONING.with_efforts(&[Low, Medium, High]),
        ),
        (
            "gpt-5.1",
            ModelRule::OPENAI_REASONING
                .with_efforts(&[Off, Low, Medium, High])
                .thinking_only_on_request(),
        ),
        (
            "gpt-5.2",
            ModelRule::OPENAI_REASONING
                .with_efforts(&[Off, Low, Medium, High, XHigh])
                .thinking_only_on_request(),
        ),
        (
            "gpt-5.3",
            ModelRule::OPENAI_REASONING
                .with_efforts(&[Off, Low, Medium, High, XHigh])
                .thinking_only_on_request(),
        ),
        (
            "gpt-5.4",
            ModelRule {
                tools_with_reasoning: false,
                ..ModelRule::OPENAI_REASONING
            }
            .with_efforts(&[Off, Low, Medium, High, XHigh])
            .thinking_only_on_request(),
        ),
        (
            "gpt-5.5",
            ModelRule {
                tools_with_reasoning: false,
                ..ModelRule::OPENAI_REASONING
            }
            .with_efforts(&[Off, Low, Medium, High, XHigh]),
        ),
        (
            "gpt-5.6",
            ModelRule::RECENT.with_efforts(&[Off, Low, Medium, High, XHigh]),
        ),
        (
            "gpt-6",
            ModelRule::RECENT.with_efforts(&[Off, Low, Medium, High, XHigh]),
        ),
        (
            "gpt-6-astra",
            ModelRule::RECENT.with_efforts(&[Low, Medium, High, XHigh]),
        ),
        (
            "gpt-6.1",
            ModelRule::RECENT.with_efforts(&[Off, Low, Medium, High, XHigh]),
        ),
        (
            "gpt-6.1-sol",
            ModelRule::RECENT.with_efforts(&[Low, Medium, High, XHigh]),
        ),
        (
            "gpt-6.2",
            ModelRule::RECENT.with_efforts(&[Low, Medium, High, XHigh]),
        ),
    ];
}

impl Dialect {
    /// The rule for a model: the row whose name it begins with (the longest such row), else the rule for
    /// models that are known to reason, else nothing special. A model that is known not to reason is plain
    /// whatever its name.
    ///
    /// ```
    /// use llm_core::{ModelId, ResolvedModel};
    /// use llm_wire::chat_completions::Dialect;
    /// let rule = |name| Dialect::openai().rule_of(&ResolvedModel::unknown(ModelId::new(name).unwrap()));
    /// assert!(!rule("gpt-6-luna").tools_with_reasoning);
    /// assert!(rule("gpt-5-mini-2025-08-07").reasons);
    /// assert!(!rule("gpt-4o").reasons);
    /// ```
    pub fn rule_of(&self, model: &ResolvedModel) -> ModelRule {
        let reasons = model.capabilities.support(Capability::Reasoning);
        if reasons == Support::No {
            return ModelRule::PLAIN;
        }
        let name = model.id.as_str();
        let named = self
            .model_rules
            .iter()
            .filter(|(prefix, _)| {
                let rest = name.strip_prefix(prefix);
                rest.is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('-'))
            })
            .max_by_key(|(prefix, _)| prefix.len());
        match named {
            Some((_, rule)) => *rule,
            None if reasons == Support::Yes => ModelRule {
                reasons: true,
                ..self.reasoning_rule
            },
            None => ModelRule::PLAIN,
        }
    }
}
