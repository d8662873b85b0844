//! The keys of the options bag of this format's vendor.

use crate::option_key::{JsonForm, OptionKey};

impl OptionKey {
    /// OpenAI's own for Responses (wire notes, `openai-responses.md`, state of 2026-11-29). Those that Chat Completions
    /// has too have the same names: `verbosity` goes into `text`, `reasoning_effort` into `reasoning`, `logprobs` into
    /// `include`, and `custom_tools` holds tools of other kinds than functions, which are added to `tools`. The objects
    /// `reasoning` and `text` add to what is sent there anyway. Like every key of the bag they win over the neutral
    /// field.
    pub const OPENAI_RESPONSES: &[OptionKey] = &[
        OptionKey::new("verbosity", JsonForm::Text),
        OptionKey::new("store", JsonForm::Bool),
        OptionKey::new("metadata", JsonForm::Object),
        OptionKey::new("logprobs", JsonForm::Bool),
        OptionKey::new("top_logprobs", JsonForm::Integer),
        OptionKey::new("prompt_cache_key", JsonForm::Text),
        OptionKey::new("prompt_cache_options", JsonForm::Object),
        OptionKey::new("prompt_cache_retention", JsonForm::Text),
        OptionKey::new("safety_identifier", JsonForm::Text),
        OptionKey::new("user", JsonForm::Text),
        OptionKey::new("moderation", JsonForm::Object),
        OptionKey::new("reasoning_effort", JsonForm::Text),
        OptionKey::new("tool_choice", JsonForm::Object),
        OptionKey::new("custom_tools", JsonForm::List),
        OptionKey::new("reasoning", JsonForm::Object),
        OptionKey::new("text", JsonForm::Object),
        OptionKey::new("include", JsonForm::List),
        OptionKey::new("previous_response_id", JsonForm::Text),
        OptionKey::new("conversation", JsonForm::Any),
        OptionKey::new("truncation", JsonForm::Text),
        OptionKey::new("context_management", JsonForm::List),
        OptionKey::new("max_tool_calls", JsonForm::Integer),
    ];
}
