//! Thoughts that their vendor wants back.
//!
//! Most hosts send them in a field beside the text and want them back in one: they are kept whole and put into one
//! block of their own, without text, at the end. Where they come as parts of the content (Mistral), each goes back in
//! its place, with its signature.

use super::super::types::WirePart;
use super::{Run, StreamDecoder};
use crate::lenient::Content;
use llm_core::{BlockKind, ChatEvent, Delta, Origin, Replay};
use serde_json::{Map, Value, json};

/// What was thought and must go back.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    /// The text of fields, whole.
    pub(super) text: String,
    /// A gateway's own form.
    pub(super) details: Vec<Value>,
    /// The part that is open.
    part: Option<ThoughtPart>,
}

/// A thought that comes as a part of the content, in one piece or several.
#[derive(Debug, Default)]
struct ThoughtPart {
    /// Texts and references, in order.
    pieces: Vec<Value>,
    signature: Option<String>,
}

impl ThoughtPart {
    fn add_text(&mut self, more: &str) {
        match self.pieces.last_mut().and_then(|last| last.get_mut("text")) {
            Some(Value::String(text)) => text.push_str(more),
            _ => self.pieces.push(json!({"type": "text", "text": more})),
        }
    }

    fn into_value(self) -> Value {
        let mut part = json!({"type": "thinking", "thinking": self.pieces, "closed": true});
        if let Some(signature) = self.signature {
            part["signature"] = signature.into();
        }
        part
    }
}

impl StreamDecoder {
    /// Keeps a piece of a thinking part, where such parts go back.
    pub(super) fn keep_thought(&mut self, wire: &WirePart<'_>) {
        if !self.dialect.replay_reasoning_parts || matches!(wire.thinking, Content::Absent) {
            return;
        }
        let part = self.state.thoughts.part.get_or_insert_default();
        match &wire.thinking {
            Content::Absent => {}
            Content::Text(text) => part.add_text(text),
            Content::Parts(pieces) => {
                for piece in pieces {
                    match (&piece.text, &piece.reference_ids) {
                        (Some(text), _) => part.add_text(text),
                        (None, Some(ids)) => part
                            .pieces
                            .push(json!({"type": "reference", "reference_ids": ids})),
                        (None, None) => {}
                    }
                }
            }
        }
        if let Some(signature) = wire
            .signature
            .as_deref()
            .filter(|signature| !signature.is_empty())
        {
            part.signature.get_or_insert_default().push_str(signature);
        }
    }

    /// Ends the open thinking part, if there is one: what goes back belongs to its block, or to one without text
    /// where thoughts are not shown.
    pub(super) fn end_thought(&mut self, out: &mut Vec<ChatEvent>) {
        let Some(part) = self.state.thoughts.part.take() else {
            return;
        };
        if part.pieces.is_empty() && part.signature.is_none() {
            return;
        }
        let data = part.into_value();
        let index = match self.state.open {
            Some((Run::Reasoning, index)) => {
                self.state.open = None;
                index
            }
            _ => {
                self.start(out);
                self.close_run(out);
                self.open_thoughts(out)
            }
        };
        self.close_thoughts(index, data, out);
    }

    /// What the vendor wants back of its reasoning goes into one block of its own, without text.
    pub(super) fn end_reasoning(&mut self, out: &mut Vec<ChatEvent>) {
        let mut data = Map::new();
        let text = std::mem::take(&mut self.state.thoughts.text);
        if let (Some(field), false) = (self.dialect.replay_reasoning_field, text.is_empty()) {
            data.insert(field.to_owned(), text.into());
        }
        let details = std::mem::take(&mut self.state.thoughts.details);
        if !details.is_empty() {
            data.insert("reasoning_details".to_owned(), Value::Array(details));
        }
        if data.is_empty() {
            return;
        }
        let index = self.open_thoughts(out);
        self.close_thoughts(index, Value::Object(data), out);
    }

    fn open_thoughts(&mut self, out: &mut Vec<ChatEvent>) -> u32 {
        let index = self.state.next_block;
        self.state.next_block += 1;
        out.push(ChatEvent::BlockStart {
            index,
            kind: BlockKind::Reasoning,
        });
        index
    }

    fn close_thoughts(&mut self, index: u32, data: Value, out: &mut Vec<ChatEvent>) {
        let origin = Origin::new(self.dialect.vendor.clone());
        let delta = Delta::Replay(Replay::new(origin, data));
        out.push(ChatEvent::BlockDelta { index, delta });
        out.push(ChatEvent::BlockEnd {
            index,
            complete: true,
        });
    }
}
