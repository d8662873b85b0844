//! What the assistant said.

use super::Encoding;
use super::calls::{CallIds, TurnCalls};
use super::conversation::Conversation;
use crate::fault::{PartPath, invalid, unsupported};
use crate::messages::request_types::{BlockBody, WireBlock, WireInput};
use llm_core::{ContentPart, Message, OpaquePart, ReasoningPart, Replay, Result, ToolCall};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What is said of a piece that is not sent.
pub(super) const NOT_CARRIED: &str = "is a vendor's own piece that this format cannot carry; left out";

impl<'a> Encoding<'a> {
    /// An assistant message: its parts in their order, each a block.
    pub(super) fn assistant(
        &mut self,
        index: usize,
        message: &'a Message,
        calls: &mut TurnCalls<'a>,
        ids: &mut CallIds<'a>,
        conversation: &mut Conversation<'a>,
    ) -> Result<()> {
        if message.name.is_some() {
            let field = format!("messages[{index}].name");
            self.warn(&field, "is not sent: this format has no names of speakers");
        }
        let mut foreign = false;
        let mut dropped = false;
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            let block = match part {
                ContentPart::Text(part) if part.text.is_empty() => continue,
                ContentPart::Text(part) => WireBlock::from(BlockBody::Text {
                    text: part.text.as_str().into(),
                    own: self.own_fields(part.replay.as_ref(), &mut foreign),
                }),
                ContentPart::Refusal(part) if part.text.is_empty() => continue,
                ContentPart::Refusal(part) => WireBlock::text(part.text.as_str()),
                ContentPart::ToolCall(call) => {
                    let own = self.own_fields(call.replay.as_ref(), &mut foreign);
                    self.call(path, call, own, calls, ids)?
                }
                ContentPart::Reasoning(part) => match self.thought(part, &mut foreign) {
                    Some(block) if self.keeps_thoughts => block,
                    Some(_) => {
                        dropped = true;
                        continue;
                    }
                    None => continue,
                },
                ContentPart::Opaque(piece) => match self.own_piece(path, piece) {
                    Some(block) if !self.keeps_thoughts && block.own_kind() == Some("redacted_thinking") => {
                        dropped = true;
                        continue;
                    }
                    Some(block) => block,
                    None => continue,
                },
                ContentPart::CachePoint(point) => {
                    conversation.mark(point.ttl);
                    continue;
                }
                ContentPart::ToolResult(_) => {
                    let message = "is a tool result in an assistant message; put it after it";
                    return Err(invalid(path, message));
                }
                other => {
                    let what = other.kind();
                    let message = format!("is of kind {what}, which assistant messages cannot hold here");
                    return Err(unsupported(path, &message));
                }
            };
            conversation.add("assistant", block);
        }
        let field = format!("messages[{index}]");
        if foreign {
            self.warn_history(&field, "holds state of another vendor; it is not sent");
        }
        if dropped {
            let message =
                "holds thoughts, which this model does not take back when it is not to think; left out";
            self.warn_history(&field, message);
        }
        Ok(())
    }

    fn call(
        &mut self,
        path: PartPath,
        call: &'a ToolCall,
        own: Option<&'a Map<String, Value>>,
        calls: &mut TurnCalls<'a>,
        ids: &mut CallIds<'a>,
    ) -> Result<WireBlock<'a>> {
        if call.id.is_empty() {
            return Err(invalid(path, "is a call without an id"));
        }
        if call.name.is_empty() {
            return Err(invalid(path, "is a call without the name of a tool"));
        }
        let is_object = call.arguments.trim_start().starts_with('{');
        let raw: Option<&RawValue> = is_object
            .then(|| serde_json::from_str(&call.arguments).ok())
            .flatten();
        if raw.is_none() {
            self.warn_history(path, "is a call whose arguments are no JSON object; sent as {}");
        }
        Ok(WireBlock::from(BlockBody::ToolUse {
            id: calls.add(&call.id, ids),
            name: self.tool_names.sent(&call.name),
            input: raw.map_or(WireInput::Empty, WireInput::Raw),
            own,
        }))
    }

    /// A thought goes back as the whole block that its vendor wrote; a thought without it is for people.
    fn thought(&self, part: &'a ReasoningPart, foreign: &mut bool) -> Option<WireBlock<'a>> {
        let fields = self.own_fields(part.replay.as_ref(), foreign)?;
        let kind = fields.get("type").and_then(Value::as_str)?;
        matches!(kind, "thinking" | "redacted_thinking").then(|| BlockBody::Own(fields).into())
    }

    /// A piece of the vendor's own, as it came.
    pub(super) fn own_piece(&mut self, path: PartPath, piece: &'a OpaquePart) -> Option<WireBlock<'a>> {
        let mut foreign = false;
        let fields = self.own_fields(Some(&piece.replay), &mut foreign);
        match fields.filter(|fields| fields.get("type").is_some_and(Value::is_string)) {
            Some(fields) => Some(BlockBody::Own(fields).into()),
            None => {
                self.warn_history(path, NOT_CARRIED);
                None
            }
        }
    }

    /// What this vendor wants back; `foreign` is set where another one does.
    pub(super) fn own_fields(
        &self,
        replay: Option<&'a Replay>,
        foreign: &mut bool,
    ) -> Option<&'a Map<String, Value>> {
        let replay = replay?;
        if replay.origin.vendor != self.dialect.vendor {
            *foreign = true;
            return None;
        }
        replay.data.as_object()
    }
}
