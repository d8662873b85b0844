//! What families of models do differently. Facts that a catalogue states ([`ResolvedModel`]: efforts, limits, what is
//! rejected) come first; these rows say how a wish is written, and fill in where the catalogue is silent.
//!
//! Source: `anthropic.md` of the project's wire notes ("Models now", "Thinking"), state of 2026-11-29.

use super::Dialect;
use llm_core::ReasoningEffort::{self, High, Low, Max, Medium, XHigh};
use llm_core::ResolvedModel;

/// What a family of models does differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRule {
    /// How thought is asked for.
    pub thinking: Thinking,
    /// Does it think when nothing is sent?
    pub thinks_by_default: bool,
    /// How thought is switched off.
    pub off: ThinkingOff,
    /// The levels it takes as `output_config.effort`; empty: it does not take the field.
    pub efforts: &'static [ReasoningEffort],
    /// Does it take temperature, top-p and top-k?
    pub sampling: bool,
    /// Does it take temperature and top-p together?
    pub temperature_with_top_p: bool,
    /// Does it take temperature and its like while it thinks?
    pub sampling_with_thinking: bool,
    /// Can it be made to call a tool?
    pub forced_tool_use: bool,
    /// Does it continue an assistant turn at the end?
    pub prefill: bool,
    /// Does it take thinking blocks of earlier turns when it is not to think?
    pub thinking_blocks_when_off: bool,
    /// Does it take system messages in the middle of a conversation?
    pub system_messages: bool,
    /// Does it take a schema for its answer?
    pub schemas: bool,
}

/// How thought is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// `adaptive`: the model decides, the effort says how much.
    Adaptive,
    /// `enabled` with a budget of tokens.
    Budget,
}

/// How thought is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingOff {
    /// `disabled`.
    Disabled,
    /// `between_tools`, which is the nearest to it: short notes between calls.
    BetweenTools,
    /// It cannot be: the lowest effort is the nearest to it.
    Never,
}

impl ModelRule {
    /// Nothing special: everything is sent, and the host decides.
    pub const PLAIN: ModelRule = ModelRule {
        thinking: Thinking::Budget,
        thinks_by_default: false,
        off: ThinkingOff::Disabled,
        efforts: &[],
        sampling: true,
        temperature_with_top_p: true,
        sampling_with_thinking: true,
        forced_tool_use: true,
        prefill: true,
        thinking_blocks_when_off: true,
        system_messages: false,
        schemas: true,
    };

    /// Before 4.5.
    const OLD: ModelRule = ModelRule {
        schemas: false,
        ..ModelRule::FOUR_FIVE
    };

    const FOUR_FIVE: ModelRule = ModelRule {
        temperature_with_top_p: false,
        sampling_with_thinking: false,
        thinking_blocks_when_off: false,
        ..ModelRule::PLAIN
    };

    const FOUR_SIX: ModelRule = ModelRule {
        thinking: Thinking::Adaptive,
        efforts: &[Low, Medium, High, Max],
        prefill: false,
        thinking_blocks_when_off: true,
        ..ModelRule::FOUR_FIVE
    };

    const FOUR_SEVEN: ModelRule = ModelRule {
        efforts: &[Low, Medium, High, XHigh, Max],
        sampling: false,
        ..ModelRule::FOUR_SIX
    };

    const FOUR_EIGHT: ModelRule = ModelRule {
        system_messages: true,
        ..ModelRule::FOUR_SEVEN
    };

    const FIVE: ModelRule = ModelRule {
        thinks_by_default: true,
        ..ModelRule::FOUR_EIGHT
    };

    const ALWAYS: ModelRule = ModelRule {
        off: ThinkingOff::Never,
        ..ModelRule::FIVE
    };

    const ALWAYS_UNFORCED: ModelRule = ModelRule {
        forced_tool_use: false,
        ..ModelRule::ALWAYS
    };

    const BETWEEN_TOOLS: ModelRule = ModelRule {
        off: ThinkingOff::BetweenTools,
        ..ModelRule::ALWAYS_UNFORCED
    };

    /// A Claude model that no row names.
    pub const NEWEST: ModelRule = ModelRule {
        forced_tool_use: false,
        ..ModelRule::FIVE
    };

    /// Anthropic's models, by the beginning of their name.
    pub const ANTHROPIC: &[(&str, ModelRule)] = &[
        ("claude-fable-5-2", ModelRule::ALWAYS_UNFORCED),
        ("claude-fable-5-1", ModelRule::ALWAYS_UNFORCED),
        ("claude-mythos-5-2", ModelRule::ALWAYS_UNFORCED),
        ("claude-mythos-5-1", ModelRule::ALWAYS_UNFORCED),
        ("claude-opus-5-5", ModelRule::ALWAYS_UNFORCED),
        ("claude-sonnet-5-5", ModelRule::BETWEEN_TOOLS),
        ("claude-haiku-5-5", ModelRule::FIVE),
        ("claude-fable-5", ModelRule::ALWAYS),
        ("claude-mythos-5", ModelRule::ALWAYS),
        ("claude-mythos-preview", ModelRule::ALWAYS),
        ("claude-opus-5", ModelRule::FIVE),
        ("claude-sonnet-5", ModelRule::FIVE),
        ("claude-opus-4-8", ModelRule::FOUR_EIGHT),
        ("claude-opus-4-7", ModelRule::FOUR_SEVEN),
        ("claude-opus-4-6", ModelRule::FOUR_SIX),
        ("claude-sonnet-4-6", ModelRule::FOUR_SIX),
        (
            "claude-opus-4-5",
            ModelRule {
                efforts: &[Low, Medium, High],
                ..ModelRule::FOUR_FIVE
            },
        ),
        ("claude-sonnet-4-5", ModelRule::FOUR_FIVE),
        ("claude-haiku-4-5", ModelRule::FOUR_FIVE),
        ("claude-opus-4-1", ModelRule::OLD),
        ("claude-opus-4", ModelRule::OLD),
        ("claude-sonnet-4", ModelRule::OLD),
        ("claude-3", ModelRule::OLD),
        ("claude-2", ModelRule::OLD),
    ];
}

impl Dialect {
    /// The rule for a model: its row; for a Claude model without one the newest models' rule; else nothing special. A
    /// prefix of the host's own (`us.anthropic.`) and a date or version behind the name make no difference.
    ///
    /// ```
    /// use llm_core::{ModelId, ResolvedModel};
    /// use llm_wire::messages::Dialect;
    /// let rule = |name| Dialect::bedrock().rule_of(&ResolvedModel::unknown(ModelId::new(name).unwrap()));
    /// assert!(rule("us.anthropic.claude-haiku-4-5-20251001-v1:0").sampling);
    /// assert!(!rule("claude-opus-5-9").sampling, "a model of the future is like the newest");
    /// assert!(rule("demo").sampling);
    /// ```
    pub fn rule_of(&self, model: &ResolvedModel) -> ModelRule {
        let Some(name) = family_name(model.id.as_str()) else {
            return self.other_rule;
        };
        let row = self.model_rules.iter().find(|(family, _)| is_of(name, family));
        row.map_or(self.newest_rule, |(_, rule)| *rule)
    }

    /// Does this model take `strict` and schemas here?
    pub(crate) fn takes_schemas(&self, model: &ResolvedModel) -> bool {
        let name = family_name(model.id.as_str()).unwrap_or_default();
        !self
            .no_schema_models
            .iter()
            .any(|prefix| name.starts_with(prefix))
    }
}

/// A Claude model's name without what a host puts before it.
fn family_name(name: &str) -> Option<&str> {
    name.rfind("claude-").map(|at| &name[at..])
}

/// Is the name one of this family: it itself, or with a date or a word behind it? Another number is another model,
/// except in the oldest names, whose families are told by their first number.
fn is_of(name: &str, family: &str) -> bool {
    let Some(rest) = name.strip_prefix(family) else {
        return false;
    };
    let oldest = matches!(family, "claude-3" | "claude-2");
    let behind = rest.strip_prefix('-').map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits == 0 || digits >= 6
    });
    rest.is_empty() || rest.starts_with(['@', ':']) || behind == Some(true) || (oldest && !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::ModelId;

    fn rule(name: &str) -> ModelRule {
        Dialect::anthropic().rule_of(&ResolvedModel::unknown(ModelId::new(name).unwrap()))
    }

    #[test]
    fn names_find_their_row() {
        for (name, expected) in [
            ("claude-opus-5-5", ModelRule::ALWAYS_UNFORCED),
            ("claude-opus-5", ModelRule::FIVE),
            ("claude-opus-5-20260101", ModelRule::FIVE),
            ("claude-opus-5@20260101", ModelRule::FIVE),
            ("anthropic.claude-opus-4-6-v1", ModelRule::FOUR_SIX),
            (
                "global.anthropic.claude-haiku-4-5-20251001-v1:0",
                ModelRule::FOUR_FIVE,
            ),
            ("claude-sonnet-4-5-latest", ModelRule::FOUR_FIVE),
            ("claude-opus-4-20250514", ModelRule::OLD),
            ("claude-3-7-sonnet-20250219", ModelRule::OLD),
            ("claude-3.5-sonnet", ModelRule::OLD),
            ("claude-opus-6", ModelRule::NEWEST),
            ("claude-sonnet-5-7", ModelRule::NEWEST),
            ("claude-saga-1", ModelRule::NEWEST),
            ("demo", ModelRule::PLAIN),
        ] {
            assert_eq!(rule(name), expected, "{name}");
        }
    }

    #[test]
    fn what_bedrock_does_not_take_goes_by_family() {
        let bedrock = Dialect::bedrock();
        let takes = |name| bedrock.takes_schemas(&ResolvedModel::unknown(ModelId::new(name).unwrap()));
        assert!(takes("anthropic.claude-haiku-4-5-20251001-v1:0"));
        assert!(!takes("us.anthropic.claude-opus-5-5"));
    }
}
