//! What the vendors of this format do differently, as plain data.

mod deepseek;
mod endpoint;
mod groq;
mod kimi;
mod messages;
mod mistral;
mod model_rule;
mod option_keys;
mod parts;
mod tools;

use llm_core::{ErrorKind, ReasoningEffort, VendorId};

pub use crate::option_key::{JsonForm, OptionKey};
pub use crate::service_tiers::ServiceTiers;
pub use crate::strict_schema::StrictSchemas;
pub use messages::{CallIds, MessageForm, MissingReasoning, Prefill, PrefillMark};
pub use model_rule::{EffortForm, ModelRule};
pub use parts::{AudioForm, FileForm, PartSupport};
pub use tools::{JsonAnswers, Schemas, StrictTools, ToolForm};

/// One vendor's differences. Start from the vendor's own ([`Dialect::openai`], [`Dialect::mistral`],
/// [`Dialect::groq`], [`Dialect::deepseek`], [`Dialect::kimi`]) or, for any other host that speaks the format, from
/// [`Dialect::compatible`], and change fields.
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
    /// How messages are written.
    pub messages: MessageForm,
    /// Does it take image parts, audio parts, file parts?
    pub parts: PartSupport,
    /// What it takes of tools.
    pub tools: ToolForm,
    /// Does it take `parallel_tool_calls`?
    pub parallel_tool_calls: bool,
    /// Does it take `response_format` of type `json_schema`?
    pub json_schema: bool,
    /// What it takes of answers in JSON.
    pub json: JsonAnswers,
    /// Which schemas of tools and of answers it can be held to.
    pub strict_schemas: StrictSchemas,
    /// Where reasoning text comes back, tried in order; empty: it never does.
    pub reasoning_fields: &'static [&'static str],
    /// The field in which reasoning text of an assistant turn is sent back, to the vendor it came from or where no
    /// vendor's state came with it; absent: it is not.
    pub replay_reasoning_field: Option<&'static str>,
    /// Does reasoning come as parts of the content, and go back to the vendor it came from as such parts?
    pub replay_reasoning_parts: bool,
    /// What stands in the place of reasoning that a turn does not have.
    pub missing_reasoning: MissingReasoning,
    /// Does the host take `reasoning_effort`?
    pub reasoning_effort: bool,
    /// An effort that a model does not offer is lowered to the next one it offers; these are raised instead, where
    /// it offers the higher one.
    pub raised_efforts: &'static [(ReasoningEffort, ReasoningEffort)],
    /// Can reasoning text come back at all? Where not, asking for it is answered by a warning.
    pub shows_reasoning: bool,
    /// Split `<think>` tags at the very start of the text off as reasoning?
    pub extract_think_tags: bool,
    /// The most stop sequences it takes.
    pub max_stop_sequences: usize,
    /// The most bytes of a stop sequence.
    pub max_stop_bytes: usize,
    /// Does it take `seed`, penalties, `top_k`, `user`, and which classes of service?
    pub options: OptionSupport,
    /// Where the host estimates how many tokens a request has; absent: it cannot be asked.
    pub token_count_path: Option<&'static str>,
    /// The keys of the vendor's options bag that go into the body as they are.
    pub option_keys: &'static [OptionKey],
    /// Finish reasons that say that the vendor failed, and how.
    pub failures: &'static [(&'static str, ErrorKind)],
    /// What families of models do differently, by the beginning of their name; an empty beginning is that of all.
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

/// Which tuning options a host takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionSupport {
    /// The field for the seed; absent: none.
    pub seed: Option<&'static str>,
    /// `frequency_penalty` and `presence_penalty`
    pub penalties: bool,
    /// `top_k`
    pub top_k: bool,
    /// The field for the end user's id; absent: none.
    pub user: Option<&'static str>,
    /// Must that id be a word of letters, digits, `_` and `-`, up to 512 of them?
    pub user_is_word: bool,
    /// What it knows as `service_tier`.
    pub service_tiers: ServiceTiers,
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
            messages: MessageForm::OPENAI,
            parts: PartSupport::OPENAI,
            tools: ToolForm::OPENAI,
            parallel_tool_calls: true,
            json_schema: true,
            json: JsonAnswers::OPENAI,
            strict_schemas: StrictSchemas::Closed,
            reasoning_fields: &["reasoning_content", "reasoning"],
            replay_reasoning_field: None,
            replay_reasoning_parts: false,
            missing_reasoning: MissingReasoning::Nothing,
            reasoning_effort: true,
            raised_efforts: &[],
            shows_reasoning: false,
            extract_think_tags: false,
            max_stop_sequences: 4,
            max_stop_bytes: usize::MAX,
            options: OptionSupport {
                seed: Some("seed"),
                penalties: true,
                top_k: false,
                user: Some("safety_identifier"),
                user_is_word: false,
                service_tiers: ServiceTiers::Only(&["auto", "default", "flex", "scale", "priority", "fast"]),
            },
            token_count_path: None,
            option_keys: OptionKey::OPENAI,
            failures: &[],
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
            messages: MessageForm::COMPATIBLE,
            json: JsonAnswers::COMPATIBLE,
            options: OptionSupport {
                top_k: true,
                user: Some("user"),
                service_tiers: ServiceTiers::Any,
                ..Dialect::openai().options
            },
            strict_schemas: StrictSchemas::AsGiven,
            shows_reasoning: true,
            model_rules: &[],
            reasoning_rule: ModelRule::PLAIN,
            ..Dialect::openai()
        }
    }
}
