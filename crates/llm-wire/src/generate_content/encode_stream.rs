//! Events → frames.

mod failure;
mod usage;

use super::finish::word_of;
use crate::frame::{encode_sse, encode_sse_comment};
use crate::json_text::{is_whole, write_json};
use failure::write_failure;
use llm_core::{
    BlockKind, ChatEvent, Delta, Error, FinishReason, Replay, ResponseMeta, Usage, VendorMetadata,
};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use usage::WireUsage;

/// Whose replay state and metadata this format can say.
const VENDOR: &str = "gemini";

/// What a stream must have and the one who answers may not know.
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

/// Turns the events of an answer into the bytes of an event stream.
///
/// Text goes out as it comes; a call goes out when it is whole, and one that was cut off never does. The finish reason
/// stands in the last chunk and in no other, with the usage. A failed stream ends with an error and without a finish
/// reason.
///
/// What this format cannot say: a refusal is text, an id of ours goes out as if the vendor had given it, and a
/// signature on a text comes behind it, on an empty text of its own, because the text is long gone when it is known.
///
/// ```
/// use llm_core::{BlockKind, ChatEvent, Delta, FinishKind, FinishReason, Usage};
/// use llm_wire::generate_content::{EncodeOptions, StreamEncoder};
/// let mut encoder = StreamEncoder::new(EncodeOptions::new("r-1", "demo"));
/// let mut out = Vec::new();
/// for event in [
///     ChatEvent::Start(Default::default()),
///     ChatEvent::BlockStart { index: 0, kind: BlockKind::Text },
///     ChatEvent::BlockDelta { index: 0, delta: Delta::Text("Seven.".into()) },
///     ChatEvent::BlockEnd { index: 0, complete: true },
///     ChatEvent::Finish { reason: FinishReason::new(FinishKind::Stop, None), usage: Usage::new(3, 2) },
/// ] {
///     encoder.push(&event, &mut out);
/// }
/// let out = String::from_utf8(out).unwrap();
/// assert!(out.starts_with(r#"data: {"candidates":[{"content":{"parts":[{"text":"Seven."}],"role":"model"}"#));
/// assert_eq!(out.matches("finishReason").count(), 1);
/// ```
#[derive(Debug)]
pub struct StreamEncoder {
    options: EncodeOptions,
    meta: ResponseMeta,
    metadata: VendorMetadata,
    /// Blocks that are not over, without those of text.
    open: Vec<OpenBlock>,
    usage: Usage,
    begun: bool,
    raw: bool,
    over: bool,
}

/// A block that goes out whole.
#[derive(Debug)]
struct OpenBlock {
    index: u32,
    kind: BlockKind,
    arguments: String,
    replay: Option<Replay>,
}

impl StreamEncoder {
    /// An encoder for one answer.
    pub fn new(options: EncodeOptions) -> Self {
        StreamEncoder {
            options,
            meta: ResponseMeta::default(),
            metadata: VendorMetadata::default(),
            open: Vec::new(),
            usage: Usage::default(),
            begun: false,
            raw: false,
            over: false,
        }
    }

    /// Writes what an event says, if this format can say it. Raw frames are written as they are; a stream of
    /// them brings its own end. After the end nothing is written.
    pub fn push(&mut self, event: &ChatEvent, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        match event {
            ChatEvent::Start(meta) => self.meta = (**meta).clone(),
            ChatEvent::BlockStart { index, kind } => self.open.push(OpenBlock {
                index: *index,
                kind: kind.clone(),
                arguments: String::new(),
                replay: None,
            }),
            ChatEvent::BlockDelta { index, delta } => self.delta(*index, delta, out),
            ChatEvent::BlockEnd { index, complete } => self.end_block(*index, *complete, out),
            ChatEvent::Usage(usage) => self.usage.merge(usage),
            ChatEvent::Metadata(metadata) => self.metadata.merge(metadata.clone()),
            ChatEvent::KeepAlive => encode_sse_comment("keep-alive", out),
            ChatEvent::Raw(frame) => {
                self.raw = true;
                out.extend_from_slice(&frame.bytes);
            }
            ChatEvent::Finish { reason, usage } => {
                self.usage.merge(usage);
                self.finish(reason, out);
            }
            // warnings have no place here
            _ => {}
        }
    }

    /// Writes the failure that ended the stream, as its last chunk.
    pub fn error(&mut self, error: &Error, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.over, true) {
            let mut data = Vec::with_capacity(256);
            write_failure(error, &mut data);
            write_event(&data, out);
        }
    }

    fn delta(&mut self, index: u32, delta: &Delta, out: &mut Vec<u8>) {
        let part = match delta {
            Delta::Text(text) | Delta::Refusal(text) if !text.is_empty() => Part::text(text),
            Delta::Reasoning(text) if !text.is_empty() => Part {
                thought: true,
                ..Part::text(text)
            },
            Delta::Name(more) => {
                if let Some(BlockKind::ToolCall { name, .. }) = self.block(index).map(|block| &mut block.kind)
                {
                    name.push_str(more);
                }
                return;
            }
            Delta::Arguments(text) => {
                if let Some(block) = self.block(index) {
                    block.arguments.push_str(text);
                }
                return;
            }
            Delta::Replay(later) if later.origin.vendor.as_str() == VENDOR => {
                if let Some(block) = self.block(index) {
                    match &mut block.replay {
                        Some(replay) => replay.merge(later.clone()),
                        None => block.replay = Some(later.clone()),
                    }
                }
                return;
            }
            _ => return,
        };
        self.chunk(&part, out);
    }

    fn block(&mut self, index: u32) -> Option<&mut OpenBlock> {
        self.open.iter_mut().rfind(|block| block.index == index)
    }

    fn end_block(&mut self, index: u32, complete: bool, out: &mut Vec<u8>) {
        let Some(at) = self.open.iter().rposition(|block| block.index == index) else {
            return;
        };
        let OpenBlock {
            kind,
            arguments,
            replay,
            ..
        } = self.open.remove(at);
        let state = replay.as_ref().and_then(|replay| replay.data.as_object());
        let text = |key: &str| state.and_then(|state| state.get(key)?.as_str());
        let signature = text("thoughtSignature").filter(|signature| !signature.is_empty());
        match kind {
            BlockKind::ToolCall { id, name } => {
                if !complete || !is_whole(&arguments) {
                    return;
                }
                // with state of the vendor's own the id is the vendor's, or there is none
                let id = match state {
                    Some(_) => text("id"),
                    None => Some(id.as_str()),
                };
                let args = serde_json::from_str(&arguments).map_or(Args::Empty {}, Args::Raw);
                let call = Call {
                    id,
                    name: &name,
                    args,
                };
                let part = Part {
                    function_call: Some(call),
                    thought_signature: signature,
                    ..Part::default()
                };
                self.chunk(&part, out);
            }
            BlockKind::Opaque { .. } => {
                if let Some(state) = state {
                    self.chunk(state, out);
                }
            }
            kind => {
                if let Some(signature) = signature {
                    let part = Part {
                        thought: kind == BlockKind::Reasoning,
                        thought_signature: Some(signature),
                        ..Part::text("")
                    };
                    self.chunk(&part, out);
                }
            }
        }
    }

    fn finish(&mut self, reason: &FinishReason, out: &mut Vec<u8>) {
        self.over = true;
        if self.raw {
            return;
        }
        let own = self.metadata.of(VENDOR);
        let (of_answer, of_candidate): (Vec<_>, Vec<_>) = own
            .into_iter()
            .flatten()
            .partition(|(key, _)| ["promptFeedback", "createTime", "modelStatus"].contains(&key.as_str()));
        let candidate = Last {
            finish_reason: word_of(reason),
            index: 0,
            own: Own(of_candidate),
        };
        let usage = WireUsage::of(&self.usage, self.meta.service_tier.as_deref());
        write_event(&self.answer(&candidate, usage, Own(of_answer)), out);
    }

    /// A chunk with one part.
    fn chunk(&mut self, part: &impl Serialize, out: &mut Vec<u8>) {
        let candidate = Candidate {
            content: Content {
                parts: [part],
                role: "model",
            },
            index: 0,
        };
        // the class of service is read where the answer begins
        let first = !std::mem::replace(&mut self.begun, true);
        let tier = self.meta.service_tier.as_deref().filter(|_| first);
        let usage = tier.and_then(|tier| WireUsage::of(&Usage::default(), Some(tier)));
        write_event(&self.answer(&candidate, usage, Own(Vec::new())), out);
    }

    fn answer(&self, candidate: &impl Serialize, usage: Option<WireUsage<'_>>, own: Own<'_>) -> Vec<u8> {
        let ResponseMeta {
            id,
            model,
            requested_model,
            ..
        } = &self.meta;
        let requested = requested_model.as_ref().map(|model| model.as_str());
        let answer = Answer {
            candidates: [candidate],
            usage_metadata: usage,
            own,
            model_version: model.as_deref().or(requested).unwrap_or(&self.options.model),
            response_id: id.as_deref().unwrap_or(&self.options.id),
        };
        let mut data = Vec::with_capacity(256);
        write_json(&answer, &mut data);
        data
    }
}

/// Arguments may hold line breaks, which are no part of a line.
fn write_event(data: &[u8], out: &mut Vec<u8>) {
    encode_sse(None, &String::from_utf8_lossy(data), out);
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a, C> {
    candidates: [&'a C; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<WireUsage<'a>>,
    #[serde(flatten)]
    own: Own<'a>,
    model_version: &'a str,
    response_id: &'a str,
}

/// Fields that only this vendor reports.
struct Own<'a>(Vec<(&'a String, &'a Value)>);

impl Serialize for Own<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

#[derive(Serialize)]
struct Candidate<'a, P> {
    content: Content<'a, P>,
    index: u32,
}

#[derive(Serialize)]
struct Content<'a, P> {
    parts: [&'a P; 1],
    role: &'static str,
}

/// The candidate of the last chunk.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Last<'a> {
    finish_reason: &'a str,
    index: u32,
    #[serde(flatten)]
    own: Own<'a>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

impl<'a> Part<'a> {
    fn text(text: &'a str) -> Self {
        Part {
            text: Some(text),
            ..Part::default()
        }
    }
}

#[derive(Serialize)]
struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Args<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Args<'a> {
    Raw(&'a RawValue),
    Empty {},
}

#[cfg(test)]
mod tests;
