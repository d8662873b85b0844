//! Neutral → wire, for plain answers.

use crate::custom::{self, CustomCall};
use crate::json_text::{is_whole, write_json};
use llm_core::{
    Block, ChatResponse, FinishKind, ResponseMeta, ToolCall, Usage, VendorMetadata, VendorOptions,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// What an answer must have and the one who answers may not know.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// The id of an answer whose vendor gave none.
    pub id: String,
    /// The time of an answer whose vendor gave none, in seconds since 1970. (There is no clock in here.)
    pub created: u64,
    /// The model of an answer that names none.
    pub model: String,
    /// Was usage asked for at the end of a stream? A plain answer always has it, where it is known.
    pub include_usage: bool,
}

impl EncodeOptions {
    /// With these for what is not known; without usage at the end of a stream.
    pub fn new(id: impl Into<String>, created: u64, model: impl Into<String>) -> Self {
        EncodeOptions {
            id: id.into(),
            created,
            model: model.into(),
            include_usage: false,
        }
    }

    /// Was usage asked for at the end of a stream?
    #[must_use]
    pub fn with_include_usage(mut self, include_usage: bool) -> Self {
        self.include_usage = include_usage;
        self
    }
}

/// Encodes an answer.
///
/// What this format cannot say:
///
/// | neutral | on the wire |
/// |---|---|
/// | shown reasoning | `reasoning_content`, as many hosts send it |
/// | a call of a custom tool of OpenAI's | as it is |
/// | vendor state for the next turn, other vendor pieces | left out; a caller that needs them uses that vendor's own format |
/// | a call that was cut off | sent as far as it came, as OpenAI does, unless what came would parse: then nothing tells it from a whole call |
/// | finish reasons | OpenAI's words only, because typed clients refuse others: paused, malformed and unknown ends are `stop`, and so is one for calls of which none can be shown; a refusal is `stop` with its text, without text `content_filter` |
/// | usage of which input or output is unknown | left out: both are required fields |
/// | what it cost, warnings, the attempt log | left out; a face has headers for them |
///
/// ```
/// use llm_core::{Block, ChatResponse, FinishKind, FinishReason, ResponseMeta, TextPart};
/// use llm_wire::chat_completions::{EncodeOptions, encode_response};
/// let mut response = ChatResponse::new(ResponseMeta::default());
/// response.blocks.push(Block::Text(TextPart::new("Seven.")));
/// response.finish = FinishReason::new(FinishKind::Stop, None);
/// let body = encode_response(&EncodeOptions::new("chatcmpl-1", 1_795_000_000, "demo"), &response);
/// let body = String::from_utf8(body).unwrap();
/// assert!(body.contains(r#""content":"Seven.""#), "{body}");
/// ```
pub fn encode_response(options: &EncodeOptions, response: &ChatResponse) -> Vec<u8> {
    let metadata = own_metadata(&response.metadata);
    let envelope = Envelope::new("chat.completion", options, &response.meta, metadata);
    let message = message(response, metadata);
    let refused = message.refusal.is_some();
    let calls = !message.tool_calls.is_empty();
    let answer = Answer {
        envelope,
        choices: [Choice {
            index: 0,
            message,
            logprobs: metadata.and_then(logprobs),
            finish_reason: finish_word(response.finish.kind, refused, calls),
            content_filter_results: metadata.and_then(|metadata| metadata.get("content_filter_results")),
        }],
        usage: WireUsage::of(&response.usage),
        extra: Extra::of(metadata),
    };
    let mut body = Vec::with_capacity(512 + response.text().len());
    write_json(&answer, &mut body);
    body
}

/// What the answer's vendor reports in OpenAI's own words.
pub(super) fn own_metadata(metadata: &VendorMetadata) -> Option<&Map<String, Value>> {
    VendorOptions::of(metadata, "openai")
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    envelope: Envelope<'a>,
    choices: [Choice<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<WireUsage>,
    #[serde(flatten)]
    extra: Extra<'a>,
}

/// What every answer and every chunk begins with.
#[derive(Serialize)]
pub(super) struct Envelope<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_fingerprint: Option<&'a str>,
}

impl<'a> Envelope<'a> {
    pub(super) fn new(
        object: &'static str,
        options: &'a EncodeOptions,
        meta: &'a ResponseMeta,
        metadata: Option<&'a Map<String, Value>>,
    ) -> Self {
        let requested = meta.requested_model.as_ref().map(|model| model.as_str());
        Envelope {
            id: meta.id.as_deref().unwrap_or(&options.id),
            object,
            created: meta.created.unwrap_or(options.created),
            model: meta.model.as_deref().or(requested).unwrap_or(&options.model),
            service_tier: meta.service_tier.as_deref(),
            system_fingerprint: metadata
                .and_then(|metadata| metadata.get("system_fingerprint"))
                .and_then(Value::as_str),
        }
    }
}

/// Fields of whole answers that hosts of this format add.
#[derive(Serialize)]
struct Extra<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_filter_results: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moderation: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    citations: Option<&'a Value>,
}

impl<'a> Extra<'a> {
    fn of(metadata: Option<&'a Map<String, Value>>) -> Self {
        let field = |name| metadata.and_then(|metadata| metadata.get(name));
        Extra {
            prompt_filter_results: field("prompt_filter_results"),
            moderation: field("moderation"),
            citations: field("citations"),
        }
    }
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: WireMessage<'a>,
    logprobs: Option<Map<String, Value>>,
    finish_reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_filter_results: Option<&'a Value>,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Option<String>,
    refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireToolCall<'a>>,
}

#[derive(Serialize)]
struct WireToolCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<WireFunction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom: Option<CustomCall<'a>>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

fn message<'a>(response: &'a ChatResponse, metadata: Option<&'a Map<String, Value>>) -> WireMessage<'a> {
    let call = |id, name, arguments| WireToolCall {
        id,
        kind: "function",
        function: Some(WireFunction { name, arguments }),
        custom: None,
    };
    let whole = response.blocks.iter().filter_map(|block| match block {
        Block::ToolCall(ToolCall {
            id, name, arguments, ..
        }) => Some(call(id, name, arguments)),
        Block::Opaque(piece) => {
            custom::call(&piece.kind, &piece.replay.data).map(|(id, custom)| WireToolCall {
                id,
                kind: "custom",
                function: None,
                custom: Some(custom),
            })
        }
        _ => None,
    });
    let cut = response.incomplete_tool_calls.iter();
    let cut = cut.filter(|cut| !is_whole(&cut.arguments));
    let cut = cut.map(|cut| call(&cut.id, &cut.name, &cut.arguments));
    let tool_calls: Vec<_> = whole.chain(cut).collect();
    let text = response.text();
    let refusal = response.refusal();
    let reasoning = response.reasoning();
    // null only where something else is said
    let silent = text.is_empty() && (!tool_calls.is_empty() || refusal.is_some());
    WireMessage {
        role: "assistant",
        content: (!silent).then_some(text),
        refusal,
        reasoning_content: (!reasoning.is_empty()).then_some(reasoning),
        annotations: metadata.and_then(|metadata| metadata.get("annotations")),
        tool_calls,
    }
}

/// The log-probabilities, which are reported as `logprobs_content` and `logprobs_refusal`.
pub(super) fn logprobs(metadata: &Map<String, Value>) -> Option<Map<String, Value>> {
    let fields = metadata.iter().filter_map(|(key, value)| {
        let name = key.strip_prefix("logprobs_")?;
        Some((name.to_owned(), value.clone()))
    });
    let logprobs: Map<_, _> = fields.collect();
    (!logprobs.is_empty()).then_some(logprobs)
}

/// The format's word for the end of an answer, which shows a refusal, or calls.
pub(super) fn finish_word(kind: FinishKind, refused: bool, calls: bool) -> &'static str {
    match kind {
        FinishKind::Length => "length",
        FinishKind::ToolCalls if calls => "tool_calls",
        FinishKind::ContentFilter => "content_filter",
        FinishKind::Refusal if !refused => "content_filter",
        _ => "stop",
    }
}

/// What was used, where input and output are both known.
#[derive(Serialize)]
pub(super) struct WireUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Serialize)]
struct PromptDetails {
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

impl WireUsage {
    pub(super) fn of(usage: &Usage) -> Option<Self> {
        let (cached, written) = (usage.cached_input_tokens, usage.cache_write_input_tokens);
        Some(WireUsage {
            prompt_tokens: usage.input_tokens?,
            completion_tokens: usage.output_tokens?,
            total_tokens: usage.total_tokens()?,
            prompt_tokens_details: (cached.is_some() || written.is_some()).then_some(PromptDetails {
                cached_tokens: cached,
                cache_write_tokens: written,
            }),
            completion_tokens_details: usage
                .reasoning_tokens
                .map(|reasoning_tokens| CompletionDetails { reasoning_tokens }),
        })
    }
}

#[cfg(test)]
mod tests;
