//! Results of tool calls.

use super::Encoding;
use super::calls::{Answered, TurnCalls};
use super::conversation::Conversation;
use crate::fault::{PartPath, invalid};
use crate::messages::DOCUMENT_OPTIONS;
use crate::messages::request_types::{BlockBody, WireBlock};
use llm_core::{ContentPart, Message, Result, Role, ToolResult};

impl<'a> Encoding<'a> {
    /// Takes the tool results out of a message that follows the turn.
    pub(super) fn results(
        &mut self,
        index: usize,
        message: &'a Message,
        calls: &mut TurnCalls<'a>,
        conversation: &mut Conversation<'a>,
    ) -> Result<()> {
        if message.role == Role::System {
            return Ok(());
        }
        let mut after_result = false;
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::ToolResult(result) => {
                    after_result = self.result(path, result, calls, conversation)?;
                }
                ContentPart::CachePoint(point) if after_result => conversation.mark(point.ttl),
                _ => after_result = false,
            }
        }
        Ok(())
    }

    /// Takes one result. True: it answers a call.
    fn result(
        &mut self,
        path: PartPath,
        result: &'a ToolResult,
        calls: &mut TurnCalls<'a>,
        conversation: &mut Conversation<'a>,
    ) -> Result<bool> {
        let id = match calls.answer(&result.call_id) {
            Answered::First(id) => id,
            Answered::Again => {
                self.warn_history(path, "is a second result of one call; left out");
                return Ok(false);
            }
            Answered::NoCall => {
                let message = "is the result of a call that the turn before it does not hold; left out";
                self.warn_history(path, message);
                return Ok(false);
            }
        };
        let mut content: Vec<WireBlock<'a>> = Vec::new();
        let mut kept = None;
        for (position, part) in result.content.iter().enumerate() {
            let path = path.inner(position);
            match part {
                ContentPart::Text(part) if part.text.is_empty() => {}
                ContentPart::Text(part) => {
                    let found = self.search_result(part);
                    content.push(found.unwrap_or_else(|| WireBlock::text(part.text.as_str())));
                }
                ContentPart::CachePoint(point) => match content.last_mut() {
                    Some(block) => block.kept = Some(point.ttl),
                    None => kept = Some(point.ttl),
                },
                ContentPart::Opaque(piece) if piece.kind == DOCUMENT_OPTIONS => {
                    self.document_options(path, piece, content.last_mut());
                }
                ContentPart::Opaque(piece) => {
                    self.old_rules |= super::cites(&piece.replay.data);
                    content.extend(self.own_piece(path, piece));
                }
                other => match self.media(path, other)? {
                    Some(block) => content.push(block),
                    None => {
                        let message = format!("is of kind {}, which no tool result holds", other.kind());
                        return Err(invalid(path, &message));
                    }
                },
            }
        }
        if let Some(ttl) = kept {
            conversation.mark(ttl);
        }
        conversation.marked |= content.iter().any(|block| block.kept.is_some());
        let block = BlockBody::ToolResult {
            id,
            content,
            is_error: result.is_error,
        };
        conversation.add("user", block.into());
        Ok(true)
    }
}
