//! The JSON of answers, minimal. Items are kept as they came: they go back on the next turn.

use crate::lenient::{Count, Document, Index, Presence, Text};
use serde::Deserialize;
use serde_json::{Map, Value};

/// One event of a stream. Every field may be missing or null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'a>>,
    pub(crate) output_index: Option<Index>,
    pub(crate) content_index: Option<Index>,
    pub(crate) summary_index: Option<Index>,
    #[serde(borrow)]
    pub(crate) delta: Option<Text<'a>>,
    pub(crate) item: Option<Map<String, Value>>,
    #[serde(borrow)]
    pub(crate) response: Option<Response<'a>>,
    pub(crate) error: Option<Presence>,
}

pub(crate) struct EventDocument;

impl Document for EventDocument {
    type Of<'a> = Event<'a>;
}

/// A response: a plain answer, or how a stream begins and ends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Response<'a> {
    #[serde(borrow)]
    pub(crate) object: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) model: Option<Text<'a>>,
    pub(crate) created_at: Option<Count>,
    #[serde(borrow)]
    pub(crate) status: Option<Text<'a>>,
    pub(crate) output: Option<Vec<Value>>,
    #[serde(borrow)]
    pub(crate) incomplete_details: Option<IncompleteDetails<'a>>,
    pub(crate) error: Option<Presence>,
    pub(crate) usage: Option<WireUsage>,
    #[serde(borrow)]
    pub(crate) service_tier: Option<Text<'a>>,
    pub(crate) input_transformations: Option<Value>,
    pub(crate) tool_usage: Option<Value>,
    pub(crate) prompt_cache_diagnostics: Option<Value>,
    pub(crate) moderation: Option<Value>,
    /// With neither output nor status, these mark an error object that stands alone.
    pub(crate) message: Option<Presence>,
    pub(crate) detail: Option<Presence>,
}

impl Response<'_> {
    /// Does it say that the vendor failed?
    pub(crate) fn failed(&self) -> bool {
        let error = self.error.as_ref().is_some_and(|error| error.0);
        error || self.status.as_deref() == Some("failed")
    }
}

pub(crate) struct ResponseDocument;

impl Document for ResponseDocument {
    type Of<'a> = Response<'a>;
}

/// Why an answer is not complete.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct IncompleteDetails<'a> {
    #[serde(borrow)]
    pub(crate) reason: Option<Text<'a>>,
}

/// What was used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireUsage {
    pub(crate) input_tokens: Option<Count>,
    pub(crate) input_tokens_details: Option<InputDetails>,
    pub(crate) output_tokens: Option<Count>,
    pub(crate) output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InputDetails {
    pub(crate) cached_tokens: Option<Count>,
    pub(crate) cache_write_tokens: Option<Count>,
    pub(crate) cache_write_tokens_details: Option<CacheWrites>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CacheWrites {
    pub(crate) ttl_30m_tokens: Option<Count>,
    pub(crate) ttl_12h_tokens: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OutputDetails {
    pub(crate) reasoning_tokens: Option<Count>,
}
