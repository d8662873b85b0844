//! What the vendors of this format do differently, as plain data.

mod model_rule;
mod option_keys;

use llm_core::VendorId;

pub use crate::option_key::{JsonForm, OptionKey};
pub use model_rule::ModelRule;

/// One vendor's differences. Start from [`Dialect::openai`] (OpenAI itself) or [`Dialect::compatible`] (any
/// host that speaks the format) and change fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// Whose options bag is read, and whose replay state is sent back.
    pub vendor: VendorId,
    /// The field that caps output, for models that do not reason.
    pub max_tokens_field: MaxTokensField,
    /// The same for models that reason.
    pub reasoning_max_tokens_field: MaxTokensField,
    /// Does the host take `stream_options.include_usage`?
    pub stream_usage: bool,
    /// Does the host know the `developer` role for models that reason? Else `system` is sent.
    pub developer_role: bool,
    /// Where reasoning text comes back, tried in order; empty: it never does.
    pub reasoning_fields: &'static [&'static str],
    /// The field in which reasoning text of an assistant turn is sent back to the vendor it came from;
    /// absent: it is not.
    pub replay_reasoning_field: Option<&'static str>,
    /// Does the host take `reasoning_effort`?
    pub reasoning_effort: bool,
    /// Split `<think>` tags at the very start of the text off as reasoning?
    pub extract_think_tags: bool,
    /// Does it take `parallel_tool_calls`?
    pub parallel_tool_calls: bool,
    /// Does it take `response_format` of type `json_schema`?
    pub json_schema: bool,
    /// Does it take image parts, audio parts, file parts?
    pub parts: PartSupport,
    /// The most stop sequences it takes.
    pub max_stop_sequences: usize,
    /// Does it take `seed`, penalties, `top_k`, `user`, `service_tier`?
    pub options: OptionSupport,
    /// Can reasoning text come back at all? Where not, asking for it is answered by a warning.
    pub shows_reasoning: bool,
    /// The keys of the vendor's options bag that go into the body as they are.
    pub option_keys: &'static [OptionKey],
    /// What families of models do differently, by the beginning of their name.
    pub model_rules: &'static [(&'static str, ModelRule)],
    /// The rule for models that are known to reason and that no row of `model_rules` names.
    pub reasoning_rule: ModelRule,
}

/// The name of the field that caps output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxTokensField {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// Which parts of user messages a host takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartSupport {
    /// Pictures by address.
    pub image_url: bool,
    /// Pictures as bytes.
    pub image_bytes: bool,
    /// Sound as bytes.
    pub audio: bool,
    /// Files as bytes or by the vendor's id.
    pub file: bool,
}

/// Which tuning options a host takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionSupport {
    /// `seed`
    pub seed: bool,
    /// `frequency_penalty` and `presence_penalty`
    pub penalties: bool,
    /// `top_k`
    pub top_k: bool,
    /// The field for the end user's id; absent: none.
    pub user: Option<&'static str>,
    /// `service_tier`
    pub service_tier: bool,
}

impl Dialect {
    /// OpenAI itself.
    pub fn openai() -> Self {
        Dialect {
            vendor: VendorId::from_static("openai"),
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            reasoning_max_tokens_field: MaxTokensField::MaxCompletionTokens,
            stream_usage: true,
            developer_role: true,
            reasoning_fields: &["reasoning_content", "reasoning"],
            replay_reasoning_field: None,
            reasoning_effort: true,
            extract_think_tags: false,
            parallel_tool_calls: true,
            json_schema: true,
            parts: PartSupport {
                image_url: true,
                image_bytes: true,
                audio: true,
                file: true,
            },
            max_stop_sequences: 4,
            options: OptionSupport {
                seed: true,
                penalties: true,
                top_k: false,
                user: Some("safety_identifier"),
                service_tier: true,
            },
            shows_reasoning: false,
            option_keys: OptionKey::OPENAI,
            model_rules: ModelRule::OPENAI,
            reasoning_rule: ModelRule::OPENAI_REASONING,
        }
    }

    /// Any host that speaks the format: what nearly all of them understand.
    pub fn compatible() -> Self {
        Dialect {
            max_tokens_field: MaxTokensField::MaxTokens,
            reasoning_max_tokens_field: MaxTokensField::MaxTokens,
            developer_role: false,
            options: OptionSupport {
                top_k: true,
                user: Some("user"),
                ..Dialect::openai().options
            },
            shows_reasoning: true,
            model_rules: &[],
            reasoning_rule: ModelRule::PLAIN,
            ..Dialect::openai()
        }
    }
}
