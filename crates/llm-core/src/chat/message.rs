//! Messages and who speaks.

use super::content::ContentPart;
use super::tool::ToolResult;
use serde::{Deserialize, Serialize};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<ContentPart>,
    /// A name that tells several speakers of one role apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Message {
    /// A message of these parts.
    pub fn new(role: Role, content: Vec<ContentPart>) -> Self {
        Message {
            role,
            content,
            name: None,
        }
    }

    /// Instructions that stand above the conversation.
    pub fn system(text: impl Into<String>) -> Self {
        Message::new(Role::System, vec![ContentPart::text(text)])
    }

    /// What the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Message::new(Role::User, vec![ContentPart::text(text)])
    }

    /// What the model said.
    pub fn assistant(text: impl Into<String>) -> Self {
        Message::new(Role::Assistant, vec![ContentPart::text(text)])
    }

    /// What tools answered. The answers to one turn's calls belong into one message.
    pub fn tool_results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Message::new(
            Role::Tool,
            results.into_iter().map(ContentPart::ToolResult).collect(),
        )
    }

    /// A name that tells several speakers of one role apart.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// All text parts, joined.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentPart::as_text).collect()
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Instructions above the conversation (a vendor's `developer` role included).
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// Tools, answering.
    Tool,
}
