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
}

/// The form of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonForm {
    /// `true` or `false`
    Bool,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// A string.
    Text,
    /// A list.
    List,
    /// An object.
    Object,
    /// Anything: where a field takes several forms.
    Any,
}

impl JsonForm {
    /// Has the value this form?
    pub fn fits(self, value: &Value) -> bool {
        match self {
            JsonForm::Bool => value.is_boolean(),
            JsonForm::Integer => value.is_i64() || value.is_u64(),
            JsonForm::Number => value.is_number(),
            JsonForm::Text => value.is_string(),
            JsonForm::List => value.is_array(),
            JsonForm::Object => value.is_object(),
            JsonForm::Any => true,
        }
    }

    /// In words, for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            JsonForm::Bool => "true or false",
            JsonForm::Integer => "a whole number",
            JsonForm::Number => "a number",
            JsonForm::Text => "a string",
            JsonForm::List => "a list",
            JsonForm::Object => "an object",
            JsonForm::Any => "any value",
        }
    }
}
