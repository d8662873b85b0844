//! Events → frames.

mod frames;

use super::encode_error::write_error;
use super::encode_response::{
    EncodeOptions, End, Envelope, WireUsage, is_call, own_block, own_fields, own_metadata,
};
use super::request_types::{BlockBody, WireBlock, WireInput};
use crate::frame::encode_sse_comment;
use frames::{
    BlockDelta, BlockStart, BlockStop, CitationsDelta, InputDelta, MessageDelta, MessageStart, Nothing,
    SignatureDelta, StartedMessage, TextDelta, ThinkingDelta, write_event,
};
use llm_core::{
    BlockKind, ChatEvent, Delta, Error, FinishReason, Replay, ResponseMeta, Usage, VendorMetadata,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Turns the events of an answer into the bytes of an event stream.
///
/// The format has one open block at a time: of blocks that interleave, one is passed on as it comes, and the others wait
/// until it ends. A call is shown with its first piece of arguments, or when it ends. A failed stream ends with an error
/// event and is not closed as a success; one that fails before any content has nothing but that event. Proof of life is
/// a comment: it also comes with each piece of the body that holds no whole event, and what a client sees of a stream
/// does not depend on how the network cut it. What this format cannot say is told at
/// [`encode_response`](super::encode_response()).
///
/// ```
/// use llm_core::{BlockKind, ChatEvent, Delta, FinishKind, FinishReason, Usage};
/// use llm_wire::messages::{EncodeOptions, StreamEncoder};
/// let mut encoder = StreamEncoder::new(EncodeOptions::new("msg_1", "demo"));
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
/// assert!(out.starts_with(b"event: message_start\n") && out.ends_with(b"data: {\"type\":\"message_stop\"}\n\n"));
/// ```
#[derive(Debug)]
pub struct StreamEncoder {
    options: EncodeOptions,
    meta: ResponseMeta,
    metadata: VendorMetadata,
    usage: Usage,
    begun: bool,
    /// Blocks that have not ended, in the order they began. The first one is passed on, the others wait.
    blocks: VecDeque<Pending>,
    /// The number of the next block on the wire.
    next: u32,
    /// Was a call shown?
    calls: bool,
    raw: bool,
    over: bool,
}

#[derive(Debug)]
struct Pending {
    block: u32,
    kind: BlockKind,
    /// Its number on the wire, once it was shown.
    shown: Option<u32>,
    /// Of a call that was not shown yet: what the vendor wants back.
    replay: Option<Replay>,
    waiting: Vec<Delta>,
    /// Whether it was complete, once it ended.
    ended: Option<bool>,
}

impl StreamEncoder {
    /// An encoder for one answer.
    pub fn new(options: EncodeOptions) -> Self {
        StreamEncoder {
            options,
            meta: ResponseMeta::default(),
            metadata: VendorMetadata::default(),
            usage: Usage::default(),
            begun: false,
            blocks: VecDeque::new(),
            next: 0,
            calls: false,
            raw: false,
            over: false,
        }
    }

    /// Writes what an event says, if this format can say it. Raw frames are written as they are; a stream of them
    /// brings its own end. After the end nothing is written.
    pub fn push(&mut self, event: &ChatEvent, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        match event {
            ChatEvent::Start(meta) => self.meta = (**meta).clone(),
            ChatEvent::BlockStart { index, kind } => self.blocks.push_back(Pending {
                block: *index,
                kind: kind.clone(),
                shown: None,
                replay: None,
                waiting: Vec::new(),
                ended: None,
            }),
            ChatEvent::BlockDelta { index, delta } => {
                match self.blocks.iter_mut().position(|pending| pending.block == *index) {
                    Some(0) => self.write(delta, out),
                    Some(at) => self.blocks[at].waiting.push(delta.clone()),
                    None => {}
                }
            }
            ChatEvent::BlockEnd { index, complete } => {
                if let Some(pending) = self.blocks.iter_mut().find(|pending| pending.block == *index) {
                    pending.ended = Some(*complete);
                }
                self.advance(out);
            }
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

    /// Writes the failure that ended the stream, as its last event.
    pub fn error(&mut self, error: &Error, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.over, true) {
            out.extend_from_slice(b"event: error\ndata: ");
            write_error(error, out);
            out.extend_from_slice(b"\n\n");
        }
    }

    /// Writes the beginning, as soon as it is known that something follows.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let start = MessageStart {
            message: StartedMessage {
                envelope: Envelope::new(&self.options, &self.meta),
                content: [],
                stop_reason: None,
                stop_sequence: None,
                usage: WireUsage::new(&self.usage, &self.meta, None),
            },
        };
        write_event("message_start", &start, out);
    }

    /// Passes on what is added to the first block.
    fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::Text(text) | Delta::Refusal(text) => {
                self.show(|| WireBlock::text(""), out);
                self.delta(
                    &TextDelta {
                        kind: "text_delta",
                        text,
                    },
                    out,
                );
            }
            Delta::Reasoning(thinking) => self.think(thinking, out),
            Delta::Name(more) => {
                if let Some(Pending {
                    kind: BlockKind::ToolCall { name, .. },
                    shown: None,
                    ..
                }) = self.blocks.front_mut()
                {
                    name.push_str(more);
                }
            }
            Delta::Arguments(partial_json) if !partial_json.is_empty() => {
                self.show_call(out);
                let kind = "input_json_delta";
                self.delta(&InputDelta { kind, partial_json }, out);
            }
            Delta::Replay(replay) => self.give_back(replay, out),
            _ => {}
        }
    }

    fn think(&mut self, thinking: &str, out: &mut Vec<u8>) {
        self.show(|| BlockBody::Thought("").into(), out);
        let kind = "thinking_delta";
        self.delta(&ThinkingDelta { kind, thinking }, out);
    }

    /// What the vendor wants back with the first block: the signature of a thought, citations of a text, a block that
    /// only the vendor can read.
    fn give_back(&mut self, replay: &Replay, out: &mut Vec<u8>) {
        let Some(pending) = self.blocks.front_mut() else {
            return;
        };
        match pending.kind {
            BlockKind::Text => {
                let cited = own_fields(Some(replay)).and_then(|own| own.get("citations"));
                for citation in cited.and_then(Value::as_array).into_iter().flatten() {
                    self.show(|| WireBlock::text(""), out);
                    let kind = "citations_delta";
                    self.delta(&CitationsDelta { kind, citation }, out);
                }
            }
            BlockKind::Reasoning => {
                let shown = pending.shown.is_some();
                let Some(block) = own_block(Some(replay)) else {
                    return;
                };
                let text = |name| block.get(name).and_then(Value::as_str).unwrap_or_default();
                if text("type") != "thinking" {
                    self.show(|| BlockBody::Own(block).into(), out);
                    return;
                }
                if !shown && !text("thinking").is_empty() {
                    self.think(text("thinking"), out);
                }
                self.show(|| BlockBody::Thought("").into(), out);
                let (kind, signature) = ("signature_delta", text("signature"));
                self.delta(&SignatureDelta { kind, signature }, out);
            }
            BlockKind::ToolCall { .. } => pending.replay = Some(replay.clone()),
            BlockKind::Opaque { .. } => {
                if let Some(block) = own_block(Some(replay)) {
                    self.show(|| BlockBody::Own(block).into(), out);
                }
            }
            _ => {}
        }
    }

    /// Shows the first block, if it was not shown.
    fn show<'b>(&mut self, block: impl FnOnce() -> WireBlock<'b>, out: &mut Vec<u8>) {
        self.begin(out);
        if let Some(pending) = self.blocks.front_mut()
            && pending.shown.is_none()
        {
            pending.shown = Some(self.next);
            let start = BlockStart {
                index: self.next,
                content_block: block(),
            };
            self.calls |= is_call(&start.content_block);
            self.next += 1;
            write_event("content_block_start", &start, out);
        }
    }

    fn show_call(&mut self, out: &mut Vec<u8>) {
        let Some(pending) = self.blocks.front() else {
            return;
        };
        if let (None, BlockKind::ToolCall { id, name }) = (pending.shown, &pending.kind) {
            let (id, name, replay) = (id.clone(), name.clone(), pending.replay.clone());
            let block = || BlockBody::ToolUse {
                id: id.into(),
                name: &name,
                input: WireInput::Empty,
                own: own_fields(replay.as_ref()),
            };
            self.show(|| block().into(), out);
        }
    }

    /// Writes one delta of the first block.
    fn delta(&self, delta: &impl Serialize, out: &mut Vec<u8>) {
        if let Some(index) = self.blocks.front().and_then(|pending| pending.shown) {
            write_event("content_block_delta", &BlockDelta { index, delta }, out);
        }
    }

    /// Ends the first block if it has ended, and passes on what waited for that.
    fn advance(&mut self, out: &mut Vec<u8>) {
        while let Some(Pending {
            ended: Some(complete),
            ..
        }) = self.blocks.front()
        {
            if *complete {
                // a call without arguments
                self.show_call(out);
            }
            if let Some(index) = self.blocks.pop_front().and_then(|ended| ended.shown) {
                write_event("content_block_stop", &BlockStop { index }, out);
            }
            let waiting = self
                .blocks
                .front_mut()
                .map(|next| std::mem::take(&mut next.waiting));
            for delta in waiting.into_iter().flatten() {
                self.write(&delta, out);
            }
        }
    }

    fn finish(&mut self, reason: &FinishReason, out: &mut Vec<u8>) {
        self.over = true;
        if self.raw {
            return;
        }
        for pending in &mut self.blocks {
            pending.ended = pending.ended.or(Some(false));
        }
        self.advance(out);
        self.begin(out);
        let metadata = own_metadata(&self.metadata);
        let field = |name| metadata.and_then(|metadata: &Map<String, Value>| metadata.get(name));
        let end = MessageDelta {
            delta: End {
                context_management: None,
                input_transformations: None,
                diagnostics: None,
                ..End::new(reason, self.calls, metadata)
            },
            usage: WireUsage::new(&self.usage, &self.meta, metadata),
            context_management: field("context_management"),
            input_transformations: field("input_transformations"),
        };
        write_event("message_delta", &end, out);
        write_event("message_stop", &Nothing {}, out);
    }
}

#[cfg(test)]
mod tests;
