//! Events → frames.

use super::encode_error::write_error;
use super::encode_response::{EncodeOptions, Envelope, WireUsage, finish_word, logprobs, own_metadata};
use crate::custom::{self, CUSTOM_CALL, CustomCall};
use crate::frame::encode_sse_comment;
use crate::json_text::write_json;
use llm_core::{BlockKind, ChatEvent, Delta, Error, FinishReason, ResponseMeta, Usage, VendorMetadata};
use serde::Serialize;
use serde_json::{Map, Value};

/// Turns the events of an answer into the bytes of an event stream.
///
/// A call is shown with its first piece of arguments (or its end, or whatever else comes next), so that its id
/// and its whole name stand in one chunk and in no other. A failed stream ends with an error event and without an
/// end mark. What this format cannot say is told at [`encode_response`](super::encode_response()).
///
/// ```
/// use llm_core::{BlockKind, ChatEvent, Delta, FinishKind, FinishReason, Usage};
/// use llm_wire::chat_completions::{EncodeOptions, StreamEncoder};
/// let mut encoder = StreamEncoder::new(EncodeOptions::new("chatcmpl-1", 1_795_000_000, "demo"));
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
/// assert!(out.starts_with(b"data: {") && out.ends_with(b"data: [DONE]\n\n"));
/// ```
#[derive(Debug)]
pub struct StreamEncoder {
    options: EncodeOptions,
    meta: ResponseMeta,
    metadata: VendorMetadata,
    /// Every chunk up to its choices. Empty: the first chunk was not written yet.
    head: Vec<u8>,
    /// Calls that were shown: their blocks and whether any arguments came.
    shown: Vec<ShownCall>,
    /// Calls that wait for what makes them be shown, in order.
    waiting: Vec<WaitingCall>,
    /// Blocks of calls of custom tools: what they are comes in one piece.
    custom: Vec<u32>,
    usage: Usage,
    refused: bool,
    raw: bool,
    over: bool,
}

#[derive(Debug)]
struct ShownCall {
    block: u32,
    has_arguments: bool,
}

#[derive(Debug)]
struct WaitingCall {
    block: u32,
    id: String,
    name: String,
}

impl StreamEncoder {
    /// An encoder for one answer.
    pub fn new(options: EncodeOptions) -> Self {
        StreamEncoder {
            options,
            meta: ResponseMeta::default(),
            metadata: VendorMetadata::default(),
            head: Vec::new(),
            shown: Vec::new(),
            waiting: Vec::new(),
            custom: Vec::new(),
            usage: Usage::default(),
            refused: false,
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
            ChatEvent::BlockStart {
                index,
                kind: BlockKind::ToolCall { id, name },
            } => {
                self.begin(out);
                self.waiting.push(WaitingCall {
                    block: *index,
                    id: id.clone(),
                    name: name.clone(),
                });
            }
            ChatEvent::BlockStart {
                index,
                kind: BlockKind::Opaque { kind },
            } if kind == CUSTOM_CALL => self.custom.push(*index),
            ChatEvent::BlockDelta { index, delta } => self.delta(*index, delta, out),
            ChatEvent::BlockEnd { index, complete } => self.end_block(*index, *complete, out),
            ChatEvent::Usage(usage) => self.usage.merge(usage),
            ChatEvent::Metadata(metadata) => self.note_metadata(metadata, out),
            ChatEvent::KeepAlive => encode_sse_comment("keep-alive", out),
            ChatEvent::Raw(frame) => {
                self.raw = true;
                out.extend_from_slice(&frame.bytes);
            }
            ChatEvent::Finish { reason, usage } => {
                self.usage.merge(usage);
                self.finish(reason, out);
            }
            // other blocks are known by their deltas; warnings have no place here
            _ => {}
        }
    }

    /// Writes the failure that ended the stream, as its last event.
    pub fn error(&mut self, error: &Error, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        out.extend_from_slice(b"data: ");
        write_error(error, out);
        out.extend_from_slice(b"\n\n");
    }

    /// Writes the first chunk, which names the role, as soon as it is known that events follow.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.head.is_empty() {
            self.write_head();
            let first = TextDelta {
                role: Some("assistant"),
                content: Some(""),
                ..TextDelta::default()
            };
            self.chunk(&first, None, out);
        }
    }

    fn write_head(&mut self) {
        let envelope = Envelope::new(
            "chat.completion.chunk",
            &self.options,
            &self.meta,
            own_metadata(&self.metadata),
        );
        self.head.clear();
        self.head.extend_from_slice(b"data: ");
        write_json(&envelope, &mut self.head);
        // the object goes on with its choices
        self.head.pop();
    }

    fn delta(&mut self, block: u32, delta: &Delta, out: &mut Vec<u8>) {
        let text = match delta {
            Delta::Text(text) => TextDelta {
                content: Some(text),
                ..TextDelta::default()
            },
            Delta::Reasoning(text) => TextDelta {
                reasoning_content: Some(text),
                ..TextDelta::default()
            },
            Delta::Refusal(text) => {
                self.refused |= !text.is_empty();
                TextDelta {
                    refusal: Some(text),
                    ..TextDelta::default()
                }
            }
            Delta::Name(more) => return self.add_name(block, more, out),
            Delta::Replay(replay) if self.custom.contains(&block) => {
                if let Some((id, custom)) = custom::call(CUSTOM_CALL, &replay.data) {
                    self.show_custom(block, id, custom, out);
                }
                return;
            }
            Delta::Arguments(text) => return self.add_arguments(block, text, out),
            _ => return,
        };
        self.begin(out);
        self.show_waiting(out);
        self.chunk(&text, None, out);
    }

    /// More of a name: it waits with its call; where the call was shown already, it can only be appended.
    fn add_name(&mut self, block: u32, more: &str, out: &mut Vec<u8>) {
        if let Some(call) = self.waiting.iter_mut().find(|call| call.block == block) {
            call.name.push_str(more);
        } else if let Some(index) = self.shown.iter().position(|call| call.block == block) {
            let function = WireFunction {
                name: Some(more),
                arguments: "",
            };
            self.call_chunk(index, None, function, out);
        }
    }

    fn add_arguments(&mut self, block: u32, text: &str, out: &mut Vec<u8>) {
        if let Some(at) = self.waiting.iter().position(|call| call.block == block) {
            self.show(at, text, out);
        } else if let Some(index) = self.shown.iter().position(|call| call.block == block)
            && !text.is_empty()
        {
            self.shown[index].has_arguments = true;
            let function = WireFunction {
                name: None,
                arguments: text,
            };
            self.call_chunk(index, None, function, out);
        }
    }

    fn end_block(&mut self, block: u32, complete: bool, out: &mut Vec<u8>) {
        if let Some(at) = self.waiting.iter().position(|call| call.block == block) {
            if complete {
                self.show(at, "{}", out);
            } else {
                // nothing of it was shown, and it must never be run
                self.waiting.remove(at);
            }
        } else if let Some(call) = self.shown.iter().find(|call| call.block == block)
            && complete
            && !call.has_arguments
        {
            self.add_arguments(block, "{}", out);
        }
    }

    /// Shows a waiting call with its first arguments, and before it all that wait longer.
    fn show(&mut self, at: usize, arguments: &str, out: &mut Vec<u8>) {
        let mut calls: Vec<_> = self.waiting.drain(..=at).collect();
        let Some(last) = calls.pop() else { return };
        for call in calls {
            self.show_call(call, "", out);
        }
        self.show_call(last, arguments, out);
    }

    fn show_waiting(&mut self, out: &mut Vec<u8>) {
        for call in std::mem::take(&mut self.waiting) {
            self.show_call(call, "", out);
        }
    }

    fn show_call(&mut self, call: WaitingCall, arguments: &str, out: &mut Vec<u8>) {
        let index = self.shown.len();
        self.shown.push(ShownCall {
            block: call.block,
            has_arguments: !arguments.is_empty(),
        });
        let function = WireFunction {
            name: Some(&call.name),
            arguments,
        };
        self.call_chunk(index, Some(&call.id), function, out);
    }

    /// Shows the call of a custom tool, all in one chunk.
    fn show_custom(&mut self, block: u32, id: &str, custom: CustomCall<'_>, out: &mut Vec<u8>) {
        self.begin(out);
        let delta = CallDelta {
            tool_calls: [WireToolCall {
                index: self.shown.len(),
                id: Some(id),
                kind: Some("custom"),
                function: None,
                custom: Some(custom),
            }],
        };
        self.shown.push(ShownCall {
            block,
            has_arguments: true,
        });
        self.chunk(&delta, None, out);
    }

    fn call_chunk(&self, index: usize, id: Option<&str>, function: WireFunction<'_>, out: &mut Vec<u8>) {
        let delta = CallDelta {
            tool_calls: [WireToolCall {
                index,
                id,
                kind: id.map(|_| "function"),
                function: Some(function),
                custom: None,
            }],
        };
        self.chunk(&delta, None, out);
    }

    /// What only OpenAI reports: a fingerprint goes into every later chunk, the rest into one of its own.
    fn note_metadata(&mut self, metadata: &VendorMetadata, out: &mut Vec<u8>) {
        let Some(fields) = own_metadata(metadata) else {
            return;
        };
        if fields.contains_key("system_fingerprint") {
            self.metadata = metadata.clone();
            if !self.head.is_empty() {
                self.write_head();
            }
        }
        let logprobs = logprobs(fields);
        let annotations = fields.get("annotations");
        let extra = ["prompt_filter_results", "moderation", "citations"];
        let extra: Vec<_> = extra
            .iter()
            .filter_map(|key| fields.get_key_value(*key))
            .collect();
        if logprobs.is_none() && annotations.is_none() && extra.is_empty() {
            return;
        }
        self.begin(out);
        self.show_waiting(out);
        let delta = TextDelta {
            annotations,
            ..TextDelta::default()
        };
        self.write_chunk(&delta, None, logprobs.as_ref(), &extra, out);
    }

    fn finish(&mut self, reason: &FinishReason, out: &mut Vec<u8>) {
        self.over = true;
        if self.raw {
            return;
        }
        self.begin(out);
        self.show_waiting(out);
        let word = finish_word(reason.kind, self.refused, !self.shown.is_empty());
        self.chunk(&TextDelta::default(), Some(word), out);
        if self.options.include_usage
            && let Some(usage) = WireUsage::of(&self.usage)
        {
            out.extend_from_slice(&self.head);
            out.extend_from_slice(b",\"choices\":[],\"usage\":");
            write_json(&usage, out);
            out.extend_from_slice(b"}\n\n");
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn chunk(&self, delta: &impl Serialize, finish: Option<&str>, out: &mut Vec<u8>) {
        self.write_chunk(delta, finish, None, &[], out);
    }

    /// A chunk is put together from ready pieces: most of them differ in nothing but their delta.
    fn write_chunk(
        &self,
        delta: &impl Serialize,
        finish: Option<&str>,
        logprobs: Option<&Map<String, Value>>,
        extra: &[(&String, &Value)],
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(&self.head);
        for (name, value) in extra {
            out.push(b',');
            write_json(name, out);
            out.push(b':');
            write_json(value, out);
        }
        out.extend_from_slice(b",\"choices\":[{\"index\":0,\"delta\":");
        write_json(delta, out);
        if let Some(logprobs) = logprobs {
            out.extend_from_slice(b",\"logprobs\":");
            write_json(logprobs, out);
        }
        out.extend_from_slice(b",\"finish_reason\":");
        write_json(&finish, out);
        out.extend_from_slice(b"}]");
        if self.options.include_usage {
            out.extend_from_slice(b",\"usage\":null");
        }
        out.extend_from_slice(b"}\n\n");
    }
}

#[derive(Default, Serialize)]
struct TextDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a Value>,
}

#[derive(Serialize)]
struct CallDelta<'a> {
    tool_calls: [WireToolCall<'a>; 1],
}

#[derive(Serialize)]
struct WireToolCall<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<WireFunction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom: Option<CustomCall<'a>>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

#[cfg(test)]
mod tests;
