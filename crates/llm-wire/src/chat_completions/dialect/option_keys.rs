//! The keys of the options bags of this format's vendors.

use crate::option_key::{JsonForm, OptionKey};

impl OptionKey {
    /// OpenAI's own (wire notes, `openai-chat.md`, state of 2026-11-29). `reasoning_effort` and `tool_choice`
    /// are here for words and forms that the neutral request does not have (`minimal`, `allowed_tools`), and
    /// `custom_tools` holds tools of other kinds than functions, which are added to `tools`; like
    /// every key of the bag they win over the neutral field.
    pub const OPENAI: &[OptionKey] = &[
        OptionKey::new("verbosity", JsonForm::Text),
        OptionKey::new("store", JsonForm::Bool),
        OptionKey::new("metadata", JsonForm::Object),
        OptionKey::new("logit_bias", JsonForm::Object),
        OptionKey::new("logprobs", JsonForm::Bool),
        OptionKey::new("top_logprobs", JsonForm::Integer),
        OptionKey::new("prediction", JsonForm::Object),
        OptionKey::new("prompt_cache_key", JsonForm::Text),
        OptionKey::new("prompt_cache_options", JsonForm::Object),
        OptionKey::new("prompt_cache_retention", JsonForm::Text),
        OptionKey::new("safety_identifier", JsonForm::Text),
        OptionKey::new("user", JsonForm::Text),
        OptionKey::new("modalities", JsonForm::List),
        OptionKey::new("audio", JsonForm::Object),
        OptionKey::new("web_search_options", JsonForm::Object),
        OptionKey::new("moderation", JsonForm::Object),
        OptionKey::new("reasoning_effort", JsonForm::Text),
        OptionKey::new("tool_choice", JsonForm::Object),
        OptionKey::new("custom_tools", JsonForm::List),
    ];
}
