//! The JSON of answers, minimal. A whole answer and a line of a stream are one type.

use crate::lenient::{Count, Document, Presence, Rare, Text};
use serde::Deserialize;
use serde_json::Value;

/// A whole answer, or one line of a stream. Every field may be missing or null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer<'a> {
    #[serde(borrow)]
    pub(crate) model: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) created_at: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) message: Option<WireMessage<'a>>,
    pub(crate) done: Option<bool>,
    #[serde(borrow)]
    pub(crate) done_reason: Option<Text<'a>>,
    pub(crate) prompt_eval_count: Option<Count>,
    pub(crate) eval_count: Option<Count>,
    pub(crate) total_duration: Rare<Value>,
    pub(crate) load_duration: Rare<Value>,
    pub(crate) prompt_eval_duration: Rare<Value>,
    pub(crate) eval_duration: Rare<Value>,
    pub(crate) remote_model: Rare<Value>,
    pub(crate) remote_host: Rare<Value>,
    pub(crate) logprobs: Rare<Value>,
    pub(crate) error: Option<Presence>,
    /// Without a message, it marks an error object of a gateway's.
    pub(crate) detail: Option<Presence>,
}

pub(crate) struct AnswerDocument;

impl Document for AnswerDocument {
    type Of<'a> = Answer<'a>;
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireMessage<'a> {
    #[serde(borrow)]
    pub(crate) content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) thinking: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) tool_calls: Option<Vec<WireToolCall<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireToolCall<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) function: Option<WireFunction<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireFunction<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Text<'a>>,
    /// An object; hosts that only speak this format write text.
    pub(crate) arguments: Rare<Value>,
}
