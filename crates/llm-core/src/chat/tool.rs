//! Tools: what is offered, what the model calls, what comes back.

use super::content::{ContentPart, Replay};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name; vendors take letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON schema of its arguments; absent: it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// Must the vendor guarantee that arguments fit? Absent: the vendor's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

impl ToolSpec {
    /// A tool without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        ToolSpec {
            name: name.into(),
            description: None,
            parameters: None,
            strict: None,
        }
    }

    /// What it does.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// JSON schema of its arguments.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = Some(parameters);
        self
    }

    /// Must arguments be guaranteed to fit?
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }
}

/// May, must or must not the model call a tool?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// It must not.
    None,
    /// It must call one.
    Required,
    /// It must call this one.
    Tool(String),
}

/// A complete call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The call's id; generated where the vendor gave none. Never empty, unique within a response.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, just as the model wrote them. Empty arguments are `{}`.
    pub arguments: String,
    /// Vendor state tied to exactly this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

impl ToolCall {
    /// A call with arguments as JSON text.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            replay: None,
        }
    }

    /// With what the vendor wants back.
    #[must_use]
    pub fn with_replay(mut self, replay: Replay) -> Self {
        self.replay = Some(replay);
        self
    }

    /// The arguments, parsed.
    ///
    /// # Errors
    /// `Protocol`, when the model wrote something that is not JSON.
    pub fn parse_arguments<T: serde::de::DeserializeOwned>(&self) -> crate::Result<T> {
        serde_json::from_str(&self.arguments).map_err(|error| {
            let message = format!(
                "the arguments of a call of {} do not parse (line {}, column {})",
                self.name,
                error.line(),
                error.column()
            );
            crate::Error::new(crate::ErrorKind::Protocol, message)
        })
    }
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the call it answers.
    pub call_id: String,
    /// The tool's name, where it is known; some vendors ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it answered.
    pub content: Vec<ContentPart>,
    /// Did the tool fail?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolResult {
    /// A text answer to a call.
    pub fn new(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        ToolResult {
            call_id: call_id.into(),
            name: None,
            content: vec![ContentPart::text(text)],
            is_error: false,
        }
    }

    /// Other content than one text.
    #[must_use]
    pub fn with_content(mut self, content: Vec<ContentPart>) -> Self {
        self.content = content;
        self
    }

    /// The tool's name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Marks a failure of the tool.
    #[must_use]
    pub fn with_error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// All text parts, joined.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentPart::as_text).collect()
    }
}
