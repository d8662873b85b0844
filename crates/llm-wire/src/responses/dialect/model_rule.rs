//! What families of models do differently inside this format.
//!
//! Sources: `openai-responses.md` and `openai-chat.md` ("Reasoning", "Prompt caching") of the project's wire notes, state
//! of 2026-11-29.

use llm_core::ReasoningEffort::{self, High, Low, Max, Medium, None as Off, XHigh};

/// What one family of models does differently. What a catalogue says of a model (abilities, effort levels, rejected
/// features) stands in its [`ResolvedModel`](llm_core::ResolvedModel); here stands what only this format's endpoint adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRule {
    /// Does it think?
    pub reasons: bool,
    /// The effort levels it takes at this endpoint; absent: those of the catalogue.
    pub efforts: Option<&'static [ReasoningEffort]>,
    /// Does it think not at all when no effort is sent?
    pub default_effort_is_none: bool,
    /// Does it take temperature, top-p and log-probabilities while it thinks?
    pub sampling_with_reasoning: bool,
    /// Does it take marks for the prompt cache inside messages?
    pub cache_breakpoints: bool,
}

impl ModelRule {
    /// Nothing special: everything is sent, and the host decides.
    pub const PLAIN: ModelRule = ModelRule {
        reasons: false,
        efforts: None,
        default_effort_is_none: false,
        sampling_with_reasoning: true,
        cache_breakpoints: false,
    };

    /// A model that thinks, and nothing special else.
    pub const REASONING: ModelRule = ModelRule {
        reasons: true,
        ..ModelRule::PLAIN
    };

    /// A reasoning model of OpenAI's that no row names.
    pub const OPENAI_REASONING: ModelRule = ModelRule {
        sampling_with_reasoning: false,
        ..ModelRule::REASONING
    };

    /// From gpt-5.6 on.
    const RECENT: ModelRule = ModelRule {
        cache_breakpoints: true,
        ..ModelRule::OPENAI_REASONING
    };

    const fn with_efforts(self, efforts: &'static [ReasoningEffort]) -> ModelRule {
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

    /// OpenAI's models, by the beginning of their name. `minimal` is no word of ours: it goes through the options bag.
    pub const OPENAI: &[(&str, ModelRule)] = &[
        (
            "o1",
            ModelRule::OPENAI_REASONING.with_efforts(&[Low, Medium, High]),
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
        ("gpt-5.2", UP_TO_XHIGH.thinking_only_on_request()),
        ("gpt-5.3", UP_TO_XHIGH.thinking_only_on_request()),
        ("gpt-5.4", UP_TO_XHIGH.thinking_only_on_request()),
        ("gpt-5.5", UP_TO_XHIGH),
        ("gpt-5.6", UP_TO_MAX),
        ("gpt-6", UP_TO_MAX),
        ("gpt-6-astra", ALWAYS_ON),
        ("gpt-6.1", UP_TO_MAX),
        ("gpt-6.1-sol", ALWAYS_ON),
        ("gpt-6.2", ALWAYS_ON),
    ];
}

const UP_TO_XHIGH: ModelRule = ModelRule::OPENAI_REASONING.with_efforts(&[Off, Low, Medium, High, XHigh]);
const UP_TO_MAX: ModelRule = ModelRule::RECENT.with_efforts(&[Off, Low, Medium, High, XHigh, Max]);
const ALWAYS_ON: ModelRule = ModelRule::RECENT.with_efforts(&[Low, Medium, High, XHigh, Max]);
