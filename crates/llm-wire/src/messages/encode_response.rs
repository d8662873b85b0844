//! Neutral → wire, for plain answers.

use super::ANTHROPIC;
use super::decode_stream::kind_of_word;
use super::request_types::{BlockBody, WireBlock, WireInput};
use crate::json_text::write_json;
use llm_core::{
    Block, ChatResponse, FinishKind, FinishReason, Replay, ResponseMeta, Usage, VendorMetadata, VendorOptions,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// What an answer must have and the one who answers may not know.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// The id of an answer whose vendor gave none.
    pub id: String,
    /// The model of an answer that names none.
    pub model: String,
}

impl EncodeOptions {
    /// With these for what is not known.
    pub fn new(id: impl Into<String>, model: impl Into<String>) -> Self {
        EncodeOptions {
            id: id.into(),
            model: model.into(),
        }
    }
}

/// Encodes an answer.
///
/// What this format cannot say:
///
/// | neutral | on the wire |
/// |---|---|
/// | a refusal | text, and the stop reason `refusal` |
/// | shown reasoning that Anthropic did not sign | a thought with an empty signature |
/// | vendor state and pieces of other vendors | left out; a caller that needs them uses that vendor's own format |
/// | a call that was cut off | left out: its input would be no JSON. (A stream shows it as far as it came, as Anthropic does) |
/// | finish reasons | Anthropic's words: the one that came where it means the same, else filtered is `refusal`; malformed and unknown ends are `end_turn`, and so is one for calls of which none can be shown |
/// | unknown counts of input and output | 0: both are required fields |
/// | when it was made, what it cost, warnings, the attempt log | left out; a face has headers for them |
///
/// ```
/// use llm_core::{Block, ChatResponse, FinishKind, FinishReason, ResponseMeta, TextPart, Usage};
/// use llm_wire::messages::{EncodeOptions, encode_response};
/// let mut response = ChatResponse::new(ResponseMeta::default());
/// response.blocks.push(Block::Text(TextPart::new("Seven.")));
/// response.finish = FinishReason::new(FinishKind::Stop, None);
/// response.usage = Usage::new(9, 2);
/// let body = encode_response(&EncodeOptions::new("msg_1", "demo"), &response);
/// let body = String::from_utf8(body).unwrap();
/// assert!(body.contains(r#""content":[{"type":"text","text":"Seven."}],"stop_reason":"end_turn""#), "{body}");
/// ```
pub fn encode_response(options: &EncodeOptions, response: &ChatResponse) -> Vec<u8> {
    let metadata = own_metadata(&response.metadata);
    let content: Vec<_> = response.blocks.iter().filter_map(block).collect();
    let calls = content.iter().any(is_call);
    let message = WireMessage {
        envelope: Envelope::new(options, &response.meta),
        content,
        end: End::new(&response.finish, calls, metadata),
        usage: WireUsage::new(&response.usage, &response.meta, metadata),
    };
    let mut body = Vec::with_capacity(512 + response.text().len());
    write_json(&message, &mut body);
    body
}

/// What the answer's vendor reports in Anthropic's own words.
pub(super) fn own_metadata(metadata: &VendorMetadata) -> Option<&Map<String, Value>> {
    VendorOptions::of(metadata, ANTHROPIC.as_str())
}

/// What Anthropic wants back, if it is Anthropic's.
pub(super) fn own_fields(replay: Option<&Replay>) -> Option<&Map<String, Value>> {
    let replay = replay.filter(|replay| replay.origin.vendor == ANTHROPIC)?;
    replay.data.as_object()
}

/// The same, of a whole block.
pub(super) fn own_block(replay: Option<&Replay>) -> Option<&Map<String, Value>> {
    own_fields(replay).filter(|fields| fields.get("type").is_some_and(Value::is_string))
}

fn block(block: &Block) -> Option<WireBlock<'_>> {
    let body = match block {
        Block::Text(part) if part.text.is_empty() && part.replay.is_none() => return None,
        Block::Text(part) => BlockBody::Text {
            text: part.text.as_str().into(),
            own: own_fields(part.replay.as_ref()),
        },
        Block::Refusal(part) => return (!part.text.is_empty()).then(|| WireBlock::text(part.text.as_str())),
        Block::Reasoning(part) => match own_block(part.replay.as_ref()) {
            Some(block) => BlockBody::Own(block),
            None if part.text.is_empty() => return None,
            None => BlockBody::Thought(&part.text),
        },
        Block::ToolCall(call) => BlockBody::ToolUse {
            id: call.id.as_str().into(),
            name: &call.name,
            input: serde_json::from_str(&call.arguments).map_or(WireInput::Empty, WireInput::Raw),
            own: own_fields(call.replay.as_ref()),
        },
        Block::Opaque(piece) => BlockBody::Own(own_block(Some(&piece.replay))?),
        _ => return None,
    };
    Some(body.into())
}

/// Is it a call, in the format's words or in a block of the vendor's own?
pub(super) fn is_call(block: &WireBlock<'_>) -> bool {
    let own = block.own_kind().is_some_and(|kind| kind.ends_with("tool_use"));
    own || matches!(block.body, BlockBody::ToolUse { .. })
}

#[derive(Serialize)]
struct WireMessage<'a> {
    #[serde(flatten)]
    envelope: Envelope<'a>,
    content: Vec<WireBlock<'a>>,
    #[serde(flatten)]
    end: End<'a>,
    usage: WireUsage<'a>,
}

/// What every answer begins with.
#[derive(Serialize)]
pub(super) struct Envelope<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
}

impl<'a> Envelope<'a> {
    pub(super) fn new(options: &'a EncodeOptions, meta: &'a ResponseMeta) -> Self {
        let requested = meta.requested_model.as_ref().map(|model| model.as_str());
        Envelope {
            id: meta.id.as_deref().unwrap_or(&options.id),
            kind: "message",
            role: "assistant",
            model: meta.model.as_deref().or(requested).unwrap_or(&options.model),
        }
    }
}

/// Why an answer ended, and what else is known of it then.
#[derive(Serialize)]
pub(super) struct End<'a> {
    pub(super) stop_reason: Option<&'a str>,
    pub(super) stop_sequence: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_details: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) container: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_management: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_transformations: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diagnostics: Option<&'a Value>,
}

impl<'a> End<'a> {
    /// `calls`: whether the answer shows a call.
    pub(super) fn new(
        finish: &'a FinishReason,
        calls: bool,
        metadata: Option<&'a Map<String, Value>>,
    ) -> Self {
        let field = |name| metadata.and_then(|metadata| metadata.get(name));
        End {
            stop_reason: Some(stop_word(finish, calls)),
            stop_sequence: field("stop_sequence"),
            stop_details: field("stop_details"),
            container: field("container"),
            context_management: field("context_management"),
            input_transformations: field("input_transformations"),
            diagnostics: field("diagnostics"),
        }
    }
}

/// The format's word for the end of an answer.
fn stop_word(finish: &FinishReason, calls: bool) -> &str {
    let word = match finish.kind {
        // who is told of calls and sees none waits for nothing
        FinishKind::ToolCalls if !calls => return "end_turn",
        FinishKind::Length => "max_tokens",
        FinishKind::ToolCalls => "tool_use",
        FinishKind::Refusal | FinishKind::ContentFilter => "refusal",
        FinishKind::Pause => "pause_turn",
        _ => "end_turn",
    };
    match &finish.raw {
        // it came from this format, and says more exactly the same
        Some(raw) if kind_of_word(raw) == finish.kind && finish.kind != FinishKind::Other => raw,
        _ => word,
    }
}

/// What was used. The format counts cached and cache-written tokens beside the input, we count them in it.
#[derive(Serialize)]
pub(super) struct WireUsage<'a> {
    input_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation: Option<CacheCreation>,
    output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens_details: Option<OutputDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_tool_use: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inference_geo: Option<&'a Value>,
}

#[derive(Serialize)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

#[derive(Serialize)]
struct OutputDetails {
    thinking_tokens: u64,
}

impl<'a> WireUsage<'a> {
    pub(super) fn new(
        usage: &Usage,
        meta: &'a ResponseMeta,
        metadata: Option<&'a Map<String, Value>>,
    ) -> Self {
        let (read, written) = (usage.cached_input_tokens, usage.cache_write_input_tokens);
        let beside = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
        let field = |name| metadata.and_then(|metadata| metadata.get(name));
        WireUsage {
            input_tokens: usage.input_tokens.unwrap_or(0).saturating_sub(beside),
            cache_creation_input_tokens: written,
            cache_read_input_tokens: read,
            cache_creation: usage.cache_write_long_input_tokens.map(|long| CacheCreation {
                ephemeral_5m_input_tokens: written.unwrap_or(0).saturating_sub(long),
                ephemeral_1h_input_tokens: long,
            }),
            output_tokens: usage.output_tokens.unwrap_or(0),
            output_tokens_details: usage
                .reasoning_tokens
                .map(|thinking_tokens| OutputDetails { thinking_tokens }),
            service_tier: meta.service_tier.as_deref(),
            server_tool_use: field("server_tool_use"),
            speed: field("speed"),
            inference_geo: field("inference_geo"),
        }
    }
}

#[cfg(test)]
mod tests;
