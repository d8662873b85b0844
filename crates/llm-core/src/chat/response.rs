//! What is answered.

use super::content::{Block, ContentPart};
use super::message::{Message, Role};
use super::tool::ToolCall;
use super::usage::Usage;
use super::vendor::VendorMetadata;
use crate::driver::DriverId;
use crate::error::Attempt;
use crate::model::ModelId;
use crate::price::Cost;
use crate::rate_limit::RateLimitSnapshot;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is answered. A stream folds to exactly this.
///
/// Serialises for stores, whole but for what belongs to one call alone: its attempts and its raw bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChatResponse {
    /// Which call it was and who served it.
    pub meta: ResponseMeta,
    /// The answer, in order: text, reasoning, complete tool calls, vendor pieces.
    pub blocks: Vec<Block>,
    /// Calls that were cut off before their arguments were complete. Never run these.
    pub incomplete_tool_calls: Vec<IncompleteToolCall>,
    /// Why it ended.
    pub finish: FinishReason,
    /// What it used.
    pub usage: Usage,
    /// What could not be honoured or understood on the way.
    pub warnings: Vec<Warning>,
    /// What only this vendor reports.
    pub metadata: VendorMetadata,
    /// What was tried before and including this answer; empty where nobody kept a log.
    #[serde(skip)]
    pub attempts: Vec<Attempt>,
    /// The vendor's answer as it came: in raw mode, where there are no blocks, and where the call
    /// [keeps it](crate::CallContext::with_kept_raw), beside the blocks.
    #[serde(skip)]
    pub raw: Option<Bytes>,
}

impl ChatResponse {
    /// An empty answer.
    pub fn new(meta: ResponseMeta) -> Self {
        ChatResponse {
            meta,
            ..ChatResponse::default()
        }
    }

    /// All answer text, joined.
    pub fn text(&self) -> String {
        self.joined(|block| match block {
            Block::Text(part) => Some(&part.text),
            Block::Reasoning(_) | Block::Refusal(_) | Block::ToolCall(_) | Block::Opaque(_) => None,
        })
    }

    /// All reasoning text, joined.
    pub fn reasoning(&self) -> String {
        self.joined(|block| match block {
            Block::Reasoning(part) => Some(&part.text),
            Block::Text(_) | Block::Refusal(_) | Block::ToolCall(_) | Block::Opaque(_) => None,
        })
    }

    /// What the model said instead of an answer, if it did.
    pub fn refusal(&self) -> Option<String> {
        let text = self.joined(|block| match block {
            Block::Refusal(part) => Some(&part.text),
            Block::Text(_) | Block::Reasoning(_) | Block::ToolCall(_) | Block::Opaque(_) => None,
        });
        (!text.is_empty()).then_some(text)
    }

    /// The complete tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            Block::Text(_) | Block::Reasoning(_) | Block::Refusal(_) | Block::Opaque(_) => None,
        })
    }

    /// The answer as the next turn's history: text, calls and everything its vendor wants back.
    pub fn to_message(&self) -> Message {
        Message::new(
            Role::Assistant,
            self.blocks.iter().cloned().map(ContentPart::from).collect(),
        )
    }

    fn joined<'a>(&'a self, pick: impl Fn(&'a Block) -> Option<&'a String>) -> String {
        self.blocks.iter().filter_map(pick).map(String::as_str).collect()
    }
}

/// Which call it was and who served it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ResponseMeta {
    /// The vendor's id of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The driver that made the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverId>,
    /// The model that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_model: Option<ModelId>,
    /// The model that the vendor says served it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When the vendor made it, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<u64>,
    /// The vendor's id of the request: quote it to their support.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// What the headers said of limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limits: Option<Box<RateLimitSnapshot>>,
    /// The class of service that served it, in the vendor's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// True when it came from our own cache: it cost nothing now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
    /// What making it had cost when it was made, where that is known; only on an answer from our own cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_cost: Option<Cost>,
}

impl ResponseMeta {
    /// What is known before anything was answered.
    pub fn new(driver: DriverId, requested_model: Option<ModelId>) -> Self {
        ResponseMeta {
            driver: Some(driver),
            requested_model,
            ..ResponseMeta::default()
        }
    }
}

/// A call that was cut off, or whose arguments never parse. Never run it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IncompleteToolCall {
    /// The call's id.
    pub id: String,
    /// The tool's name, as far as it came.
    pub name: String,
    /// The arguments, as far as they came.
    pub arguments: String,
}

impl IncompleteToolCall {
    /// A call cut off here.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        IncompleteToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// Why an answer ended: our word for it, and the vendor's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FinishReason {
    /// Our word.
    pub kind: FinishKind,
    /// The vendor's word, just as it came; absent: it sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl FinishReason {
    /// A reason, with the vendor's word for it.
    pub fn new(kind: FinishKind, raw: impl Into<Option<String>>) -> Self {
        FinishReason {
            kind,
            raw: raw.into(),
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())
    }
}

/// Why an answer ended, in our words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishKind {
    /// It was finished, or hit a stop sequence.
    Stop,
    /// It hit a limit of length.
    Length,
    /// It waits for the results of tool calls.
    ToolCalls,
    /// It was filtered.
    ContentFilter,
    /// The model would not answer.
    Refusal,
    /// The vendor paused: send the answer back as it is to go on.
    Pause,
    /// The model made something malformed.
    ModelFault,
    /// Anything else, or not stated.
    #[default]
    Other,
}

impl FinishKind {
    /// The stable word for logs and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            FinishKind::Stop => "stop",
            FinishKind::Length => "length",
            FinishKind::ToolCalls => "tool_calls",
            FinishKind::ContentFilter => "content_filter",
            FinishKind::Refusal => "refusal",
            FinishKind::Pause => "pause",
            FinishKind::ModelFault => "model_fault",
            FinishKind::Other => "other",
        }
    }
}

/// Something that was not honoured or not understood, without harm to the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// What sort.
    pub kind: WarningKind,
    /// The field it is about, as the request or the wire names it.
    pub field: String,
    /// In words, without content.
    pub message: String,
}

impl Warning {
    /// An option of the request that was not sent or was changed.
    pub fn option(field: impl Into<String>, message: impl Into<String>) -> Self {
        Warning {
            kind: WarningKind::Option,
            field: field.into(),
            message: message.into(),
        }
    }

    /// A field of a wire message that could not be read and was left out.
    pub fn wire(field: impl Into<String>, message: impl Into<String>) -> Self {
        Warning {
            kind: WarningKind::Wire,
            field: field.into(),
            message: message.into(),
        }
    }

    /// History that could not be carried to this vendor.
    pub fn history(field: impl Into<String>, message: impl Into<String>) -> Self {
        Warning {
            kind: WarningKind::History,
            field: field.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// What sort of warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// An option of the request was not sent or was changed.
    Option,
    /// A field on the wire could not be read.
    Wire,
    /// Something of the history could not be carried over.
    History,
}
