//! The JSON of answers, minimal. A plain answer and the message of a stream's first event are read as one type.
//! Content blocks are kept as they came: they go back on the next turn.

use crate::lenient::{Content, Count, Document, Presence, Rare, Text};
use serde::Deserialize;
use serde_json::{Map, Value};

/// One event of a stream. Every field may be missing or null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'a>>,
    pub(crate) index: Option<Count>,
    #[serde(borrow)]
    pub(crate) message: Rare<Message<'a>>,
    pub(crate) content_block: Rare<Map<String, Value>>,
    #[serde(borrow)]
    pub(crate) delta: Option<WireDelta<'a>>,
    pub(crate) usage: Rare<WireUsage>,
    pub(crate) context_management: Rare<Value>,
    pub(crate) input_transformations: Rare<Value>,
    pub(crate) error: Option<Presence>,
    #[serde(rename = "amazon-bedrock-invocationMetrics")]
    pub(crate) metrics: Rare<InvocationMetrics>,
    #[serde(borrow, rename = "amazon-bedrock-guardrailAction")]
    pub(crate) guardrail: Option<Text<'a>>,
}

pub(crate) struct EventDocument;

impl Document for EventDocument {
    type Of<'a> = Event<'a>;
}

/// A message: a plain answer, or how a stream begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) model: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) content: Content<'a, Value>,
    #[serde(borrow)]
    pub(crate) stop_reason: Option<Text<'a>>,
    pub(crate) stop_sequence: Rare<Value>,
    pub(crate) stop_details: Rare<Value>,
    pub(crate) usage: Rare<WireUsage>,
    pub(crate) container: Rare<Value>,
    pub(crate) context_management: Rare<Value>,
    pub(crate) input_transformations: Rare<Value>,
    pub(crate) diagnostics: Rare<Value>,
    pub(crate) error: Option<Presence>,
    /// With neither type nor content, these mark an error object that stands alone.
    pub(crate) message: Option<Presence>,
    pub(crate) detail: Option<Presence>,
    #[serde(borrow, rename = "amazon-bedrock-guardrailAction")]
    pub(crate) guardrail: Option<Text<'a>>,
}

pub(crate) struct MessageDocument;

impl Document for MessageDocument {
    type Of<'a> = Message<'a>;
}

/// What is added: to a block, or to the message as a whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireDelta<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) text: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) thinking: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) signature: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) partial_json: Option<Text<'a>>,
    pub(crate) citation: Rare<Value>,
    /// Of a summary that takes the place of older turns.
    pub(crate) content: Rare<Value>,
    pub(crate) encrypted_content: Rare<Value>,
    #[serde(borrow)]
    pub(crate) stop_reason: Option<Text<'a>>,
    pub(crate) stop_sequence: Rare<Value>,
    pub(crate) stop_details: Rare<Value>,
    pub(crate) container: Rare<Value>,
}

/// What was used, or how much of it one step used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireUsage {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) input_tokens: Option<Count>,
    pub(crate) cache_read_input_tokens: Option<Count>,
    pub(crate) cache_creation_input_tokens: Option<Count>,
    pub(crate) cache_creation: Option<CacheCreation>,
    pub(crate) output_tokens: Option<Count>,
    pub(crate) output_tokens_details: Option<OutputDetails>,
    pub(crate) iterations: Option<Vec<WireUsage>>,
    pub(crate) service_tier: Option<String>,
    pub(crate) server_tool_use: Rare<Value>,
    pub(crate) speed: Rare<Value>,
    pub(crate) inference_geo: Rare<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CacheCreation {
    pub(crate) ephemeral_5m_input_tokens: Option<Count>,
    pub(crate) ephemeral_1h_input_tokens: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OutputDetails {
    pub(crate) thinking_tokens: Option<Count>,
}

/// What Bedrock adds to the last event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InvocationMetrics {
    #[serde(rename = "inputTokenCount")]
    pub(crate) input: Option<Count>,
    #[serde(rename = "outputTokenCount")]
    pub(crate) output: Option<Count>,
}
