//! The keys of a vendor's options bag that go into the body as they are.

use serde_json::Value;

/// One such key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionKey {
    /// Its name, in the bag and in the body.
    pub name: &'static str,
    /// What its value must be.
    pub form: JsonForm,
}

impl OptionKey {
    /// A key whose value has this form.
    pub const fn new(name: &'static str, form: JsonForm) -> Self {
        OptionKey { name, form }
    }

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

/// The form of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonForm {
    /// `true` or `false`
    Bool,
    /// A whole number.
    Integer,
    /// A string.
    Text,
    /// A list.
    List,
    /// An object.
    Object,
}

impl JsonForm {
    /// Has the value this form?
    pub fn fits(self, value: &Value) -> bool {
        match self {
            JsonForm::Bool => value.is_boolean(),
            JsonForm::Integer => value.is_i64() || value.is_u64(),
            JsonForm::Text => value.is_string(),
            JsonForm::List => value.is_array(),
            JsonForm::Object => value.is_object(),
        }
    }

    /// In words, for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            JsonForm::Bool => "true or false",
            JsonForm::Integer => "a whole number",
            JsonForm::Text => "a string",
            JsonForm::List => "a list",
            JsonForm::Object => "an object",
        }
    }
}
