//! The form the answer must have.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The form the answer must have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputFormat {
    /// Free text.
    #[default]
    Text,
    /// Some JSON value.
    Json,
    /// JSON that fits a schema.
    JsonSchema {
        /// A short name for the schema; vendors ask for one.
        name: String,
        /// What the value is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The JSON schema; the order of properties is kept, models write in that order.
        schema: Value,
        /// Must the vendor guarantee the fit? Absent: the vendor's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
    },
}

impl OutputFormat {
    /// JSON that fits a schema, guaranteed where the vendor can.
    pub fn json_schema(name: impl Into<String>, schema: Value) -> Self {
        OutputFormat::JsonSchema {
            name: name.into(),
            description: None,
            schema,
            strict: Some(true),
        }
    }

    /// Free text?
    pub fn is_text(&self) -> bool {
        *self == OutputFormat::Text
    }
}
