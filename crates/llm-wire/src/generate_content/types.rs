//! The JSON of answers, minimal. A whole answer and a chunk of a stream are one type.

mod part;

use crate::lenient::{Document, Presence, Rare, Text};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use serde_json::Value;
use std::fmt;

pub(crate) use part::{WireCall, WirePart};

/// A whole answer, or one chunk of a stream. Every field may be missing or null.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Answer<'a> {
    #[serde(borrow)]
    pub(crate) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    pub(crate) usage_metadata: Option<WireUsage<'a>>,
    #[serde(borrow)]
    pub(crate) model_version: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) response_id: Option<Text<'a>>,
    pub(crate) prompt_feedback: Rare<Value>,
    pub(crate) create_time: Rare<Value>,
    pub(crate) model_status: Rare<Value>,
    pub(crate) error: Option<Presence>,
    /// With nothing of an answer beside them, these mark an error object that stands alone.
    pub(crate) message: Option<Presence>,
    pub(crate) detail: Option<Presence>,
}

pub(crate) struct AnswerDocument;

impl Document for AnswerDocument {
    type Of<'a> = Answer<'a>;
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Candidate<'a> {
    pub(crate) index: Option<u32>,
    #[serde(borrow)]
    pub(crate) content: Option<WireContent<'a>>,
    #[serde(borrow)]
    pub(crate) finish_reason: Option<Text<'a>>,
    pub(crate) finish_message: Rare<Value>,
    pub(crate) continuation_token: Rare<Value>,
    pub(crate) safety_ratings: Rare<Value>,
    pub(crate) citation_metadata: Rare<Value>,
    pub(crate) grounding_metadata: Rare<Value>,
    pub(crate) url_context_metadata: Rare<Value>,
    pub(crate) logprobs_result: Rare<Value>,
    pub(crate) avg_logprobs: Rare<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireContent<'a> {
    #[serde(borrow)]
    pub(crate) parts: Option<Vec<WirePart<'a>>>,
}

/// What was used so far.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WireUsage<'a> {
    pub(crate) prompt_token_count: Option<WireCount>,
    pub(crate) tool_use_prompt_token_count: Option<WireCount>,
    pub(crate) cached_content_token_count: Option<WireCount>,
    pub(crate) candidates_token_count: Option<WireCount>,
    pub(crate) thoughts_token_count: Option<WireCount>,
    pub(crate) total_token_count: Option<WireCount>,
    #[serde(borrow)]
    pub(crate) service_tier: Option<Text<'a>>,
}

/// A count: a number or, as protobuf writes large ones, its digits as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WireCount(pub(crate) u64);

impl<'de> Deserialize<'de> for WireCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl Visitor<'_> for CountVisitor {
            type Value = WireCount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<WireCount, E> {
                Ok(WireCount(count))
            }
            fn visit_i64<E: de::Error>(self, _: i64) -> Result<WireCount, E> {
                // whole numbers that are not negative come as u64
                Err(E::custom("a negative count"))
            }
            fn visit_f64<E: de::Error>(self, count: f64) -> Result<WireCount, E> {
                if count >= 0.0 && count.fract() == 0.0 && count < 9e15 {
                    Ok(WireCount(count as u64))
                } else {
                    Err(E::custom("not a whole count"))
                }
            }
            fn visit_str<E: de::Error>(self, digits: &str) -> Result<WireCount, E> {
                digits.parse().map(WireCount).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}
