//! Messages. The format wants the results of a turn's calls in the message directly after it, before everything else;
//! so messages are taken turn by turn: what the assistant says in a row, with everything up to its next word.

use super::Encoding;
use super::calls::{CallIds, TurnCalls};
use super::conversation::Conversation;
use crate::fault::{PartPath, invalid, unsupported};
use crate::messages::DOCUMENT_OPTIONS;
use crate::messages::request_types::{BlockBody, WireBlock, WireMessage};
use llm_core::model::Knob;
use llm_core::{ContentPart, Message, Result, Role};
use std::ops::Range;

/// What stands before a conversation that does not begin with the user.
const BEGINNING: &str = "(The conversation begins.)";

impl<'a> Encoding<'a> {
    pub(super) fn conversation(&mut self) -> Result<Conversation<'a>> {
        let messages = &self.request.messages;
        if messages.is_empty() {
            return Err(invalid("messages", "is empty; give at least one message"));
        }
        let mut conversation = Conversation::default();
        let mut ids = CallIds::default();
        let is = |role: Role| move |message: &&Message| message.role == role;
        let mut next = messages.iter().take_while(is(Role::System)).count();
        for (index, message) in messages.iter().enumerate().take(next) {
            self.system(index, message, true, &mut conversation)?;
        }
        while next < messages.len() {
            let said = messages[next..].iter().take_while(is(Role::Assistant)).count();
            let rest = &messages[next + said..];
            let heard = rest
                .iter()
                .take_while(|message| message.role != Role::Assistant)
                .count();
            let turn = next..next + said;
            next = turn.end + heard;
            self.turn(turn.clone(), turn.end..next, &mut ids, &mut conversation)?;
        }
        let parts = || messages.iter().flat_map(|message| &message.content);
        if conversation.messages.is_empty() && parts().any(|part| matches!(part, ContentPart::ToolResult(_)))
        {
            let message = "holds nothing but tool results without their calls; give the calls too";
            return Err(invalid("messages", message));
        }
        self.begin_with_the_user(&mut conversation);
        self.end(&mut conversation)?;
        Ok(conversation)
    }

    /// What the assistant says in a row, and what it hears then.
    fn turn(
        &mut self,
        said: Range<usize>,
        heard: Range<usize>,
        ids: &mut CallIds<'a>,
        conversation: &mut Conversation<'a>,
    ) -> Result<()> {
        let messages = &self.request.messages;
        let mut calls = TurnCalls::default();
        for (index, message) in messages[said.clone()].iter().enumerate() {
            self.assistant(said.start + index, message, &mut calls, ids, conversation)?;
        }
        let heard = || messages.iter().enumerate().take(heard.end).skip(heard.start);
        for (index, message) in heard() {
            self.results(index, message, &mut calls, conversation)?;
        }
        for id in calls.into_unanswered() {
            let field = format!("messages[{}]", said.end.saturating_sub(1));
            self.warn_history(&field, "has a call without a result; a placeholder answers it");
            let result = BlockBody::ToolResult {
                id,
                content: vec![WireBlock::text(NO_RESULT)],
                is_error: true,
            };
            conversation.add("user", result.into());
        }
        for (index, message) in heard() {
            match message.role {
                Role::System => self.system(index, message, false, conversation)?,
                _ => self.user(index, message, conversation)?,
            }
        }
        Ok(())
    }

    /// A system message. Only those at the start are above the conversation.
    fn system(
        &mut self,
        index: usize,
        message: &'a Message,
        leading: bool,
        conversation: &mut Conversation<'a>,
    ) -> Result<()> {
        self.no_name(index, message);
        let in_place = !leading && self.rule.system_messages;
        let mut moved = false;
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::Text(text) if text.text.is_empty() => {}
                ContentPart::Text(text) if in_place => {
                    conversation.add("system", WireBlock::text(text.text.as_str()));
                }
                ContentPart::Text(text) => {
                    moved |= !leading;
                    conversation.add_system(WireBlock::text(text.text.as_str()));
                }
                ContentPart::CachePoint(point) => conversation.mark(point.ttl),
                ContentPart::Opaque(_) => self.warn_history(path, super::assistant::NOT_CARRIED),
                ContentPart::ToolResult(_) => {
                    let message = "is a tool result in a system message; put it into a tool message";
                    return Err(invalid(path, message));
                }
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_) => {
                    return Err(unsupported(
                        path,
                        "is no text, which system messages cannot hold here",
                    ));
                }
                other => {
                    let message = format!("is of kind {}, which no system message holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        if moved {
            let message = "is a system message in the middle, which this model does not take; sent with those at \
                           the start";
            self.warn_history(format!("messages[{index}]"), message);
        }
        Ok(())
    }

    /// What a message of the user or of tools holds beside results.
    fn user(
        &mut self,
        index: usize,
        message: &'a Message,
        conversation: &mut Conversation<'a>,
    ) -> Result<()> {
        self.no_name(index, message);
        let mut after_result = false;
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::ToolResult(_) => {
                    after_result = true;
                    continue;
                }
                ContentPart::CachePoint(_) if after_result => continue,
                _ => after_result = false,
            }
            match part {
                ContentPart::CachePoint(point) => conversation.mark(point.ttl),
                ContentPart::Text(text) if message.role != Role::Tool => {
                    if !text.text.is_empty() {
                        let block = match self.search_result(text) {
                            Some(block) => block,
                            None => {
                                let own = self.own_fields(text.replay.as_ref(), &mut false);
                                self.old_rules |= own.is_some_and(|own| own.values().any(super::is_list));
                                let text = text.text.as_str().into();
                                BlockBody::Text { text, own }.into()
                            }
                        };
                        conversation.add("user", block);
                    }
                }
                ContentPart::Opaque(piece) if piece.kind == DOCUMENT_OPTIONS => {
                    let last = conversation
                        .messages
                        .last_mut()
                        .map(|message| &mut message.content);
                    self.document_options(path, piece, last.and_then(|content| content.last_mut()));
                }
                ContentPart::Opaque(piece) => {
                    if let Some(block) = self.own_piece(path, piece) {
                        self.old_rules |= super::cites(&piece.replay.data);
                        conversation.add("user", block);
                    }
                }
                _ if message.role == Role::User => match self.media(path, part)? {
                    Some(block) => conversation.add("user", block),
                    None => return Err(misplaced(path, part, "user")),
                },
                other => return Err(misplaced(path, other, "tool")),
            }
        }
        Ok(())
    }

    fn no_name(&mut self, index: usize, message: &Message) {
        if message.name.is_some() {
            let field = format!("messages[{index}].name");
            self.warn(&field, "is not sent: this format has no names of speakers");
        }
    }

    fn begin_with_the_user(&mut self, conversation: &mut Conversation<'a>) {
        let first = conversation.messages.first().map(|message| message.role);
        if first == Some("user") {
            return;
        }
        let message = "does not begin with the user, as this format asks for; a placeholder stands before it";
        self.warn_history("messages", message);
        let content = vec![WireBlock::text(BEGINNING)];
        conversation.messages.insert(
            0,
            WireMessage {
                role: "user",
                content,
            },
        );
    }

    /// What comes last: a turn of the assistant's there is one to be continued.
    fn end(&mut self, conversation: &mut Conversation<'a>) -> Result<()> {
        let Some(last) = conversation.messages.last_mut() else {
            return Ok(());
        };
        if last.role != "assistant" || is_paused(last) {
            return Ok(());
        }
        if !self.rule.prefill || self.model.rejects(Knob::Prefill) {
            let message = "ends with an assistant message, which this model does not continue";
            return Err(unsupported("messages", message));
        }
        let mut cut = false;
        while let Some(WireBlock {
            body: BlockBody::Text { text, .. },
            ..
        }) = last.content.last_mut()
        {
            let trimmed = text.trim_end();
            if trimmed.len() == text.len() {
                break;
            }
            cut = true;
            if !trimmed.is_empty() {
                *text = trimmed.to_owned().into();
                break;
            }
            last.content.pop();
        }
        if cut {
            let message = "ends in white space, which this format does not take; it is cut";
            self.warn_history("messages", message);
        }
        if last.content.is_empty() {
            conversation.messages.pop();
        }
        Ok(())
    }
}

/// What stands for the result of a call that has none.
pub(super) const NO_RESULT: &str = "Error: this call has no result.";

/// A turn that the vendor paused holds pieces of its own, and goes back as it is.
fn is_paused(message: &WireMessage<'_>) -> bool {
    let own = message.content.iter().filter_map(WireBlock::own_kind);
    own.into_iter()
        .any(|kind| !matches!(kind, "thinking" | "redacted_thinking"))
}

fn misplaced(path: PartPath, part: &ContentPart, role: &str) -> llm_core::Error {
    invalid(
        path,
        &format!("is of kind {}, which no {role} message holds", part.kind()),
    )
}
