//! Messages. The format wants the results of a turn's calls directly after the turn, one message each and all
//! of them there; so messages are taken turn by turn: an assistant message with everything up to the next one.

use super::Encoding;
use super::results::{Answer, NO_RESULT, Results};
use crate::chat_completions::request_types::{WireContent, WireMessage, WirePart, WirePartBody};
use crate::fault::{PartPath, invalid, unsupported};
use crate::json_word;
use llm_core::model::Knob;
use llm_core::{CachePoint, CacheTtl, ContentPart, Message, OutputFormat, Result, Role};
use std::borrow::Cow;

impl<'a> Encoding<'a> {
    pub(super) fn messages(&mut self) -> Result<Vec<WireMessage<'a>>> {
        let messages = &self.request.messages;
        if messages.is_empty() {
            return Err(invalid("messages", "is empty; give at least one message"));
        }
        let ends_with_assistant = messages.last().is_some_and(|last| last.role == Role::Assistant);
        if ends_with_assistant && self.model.rejects(Knob::Prefill) {
            let message = "ends with an assistant message, which this model does not continue";
            return Err(unsupported("messages", message));
        }
        let mut out = Vec::with_capacity(messages.len() + 2);
        if !self.dialect.messages.system_anywhere {
            self.system_first(&mut out)?;
        }
        let mut start = 0;
        while start < messages.len() {
            let end = messages[start + 1..]
                .iter()
                .position(|message| message.role == Role::Assistant)
                .map_or(messages.len(), |offset| start + 1 + offset);
            self.turn(start, end, &mut out)?;
            start = end;
        }
        if out.is_empty() {
            let message =
                "holds nothing that can be sent: tool results without their calls, or empty messages";
            return Err(invalid("messages", message));
        }
        if self.dialect.json.wants_word && self.request.output == OutputFormat::Json && !says_json(&out) {
            self.say_json(&mut out);
        }
        Ok(out)
    }

    /// Asks for JSON in the first system message, or in a new one.
    fn say_json(&mut self, out: &mut Vec<WireMessage<'a>>) {
        self.warn("output", json_word::ADDED);
        let system = out
            .iter_mut()
            .find(|message| matches!(message.role, "system" | "developer"));
        match system.map(|message| &mut message.content) {
            Some(WireContent::Parts(parts)) => parts.push(text(json_word::INSTRUCTION)),
            Some(WireContent::Text(said)) if !said.is_empty() => {
                let said = said.to_mut();
                said.push_str("\n\n");
                said.push_str(json_word::INSTRUCTION);
            }
            Some(content) => *content = WireContent::of(vec![text(json_word::INSTRUCTION)]),
            None => {
                let content = WireContent::of(vec![text(json_word::INSTRUCTION)]);
                out.insert(0, WireMessage::new(self.system_role(), content));
            }
        }
    }

    fn system_role(&self) -> &'static str {
        if self.dialect.developer_role && self.rule.reasons {
            "developer"
        } else {
            "system"
        }
    }

    /// The system messages, where all of them must stand at the beginning.
    fn system_first(&mut self, out: &mut Vec<WireMessage<'a>>) -> Result<()> {
        let mut in_front = true;
        for (index, message) in self.request.messages.iter().enumerate() {
            if message.role != Role::System {
                in_front = false;
                continue;
            }
            if !in_front {
                let message =
                    "is a system message behind others; sent at the beginning, where they must stand here";
                self.warn_history(format!("messages[{index}]"), message);
            }
            self.other(index, message, out)?;
        }
        Ok(())
    }

    /// Adds a message. Where a user may not speak right after tools, the assistant does in between.
    fn push(&mut self, message: WireMessage<'a>, out: &mut Vec<WireMessage<'a>>) {
        let after_tools = out.last().is_some_and(|last| last.role == "tool");
        if let Some(filler) = self.dialect.messages.between_results_and_user
            && after_tools
            && message.role == "user"
        {
            let note =
                "holds a user message right after tool results; a short assistant message stands in between";
            self.warn_history("messages", note);
            out.push(WireMessage::new("assistant", WireContent::of(vec![text(filler)])));
        }
        out.push(message);
    }

    /// The content of a message.
    pub(super) fn content(&self, parts: Vec<WirePart<'a>>) -> WireContent<'a> {
        if self.dialect.messages.one_text {
            WireContent::of_joined(parts)
        } else {
            WireContent::of(parts)
        }
    }

    /// The name of who speaks, where it can be sent.
    pub(super) fn name(&mut self, index: usize, message: &'a Message) -> Option<&'a str> {
        let name = message.name.as_deref()?;
        if self.dialect.messages.names {
            return Some(name);
        }
        let field = format!("messages[{index}].name");
        self.warn(&field, "is not sent: messages have no names here");
        None
    }

    /// An assistant message, if there is one at `start`, with what follows up to `end`.
    fn turn(&mut self, start: usize, end: usize, out: &mut Vec<WireMessage<'a>>) -> Result<()> {
        let messages = &self.request.messages;
        let mut results = Results::default();
        let mut next = start;
        if messages[start].role == Role::Assistant {
            results.calls = self.assistant(start, &messages[start], out)?;
            next += 1;
        }
        for (index, message) in messages.iter().enumerate().take(end).skip(next) {
            self.results(index, message, &mut results)?;
        }
        for id in std::mem::take(&mut results.calls).into_unanswered() {
            let field = format!("messages[{start}]");
            self.warn_history(&field, "has a call without a result; a placeholder answers it");
            results.answers.push(Answer {
                id,
                name: None,
                parts: vec![text(NO_RESULT)],
            });
        }
        for result in results.answers {
            let mut answer = WireMessage::new("tool", self.content(result.parts));
            let name = result.name.filter(|_| self.dialect.messages.result_names);
            answer.name = name.map(|name| self.tool_names.sent(name));
            answer.tool_call_id = Some(self.dialect.messages.call_ids.fit(result.id));
            out.push(answer);
        }
        if !results.media.is_empty() {
            let media = WireMessage::new("user", self.content(results.media));
            self.push(media, out);
        }
        for (index, message) in messages.iter().enumerate().take(end).skip(next) {
            // else it stands at the beginning already
            if message.role != Role::System || self.dialect.messages.system_anywhere {
                self.other(index, message, out)?;
            }
        }
        Ok(())
    }

    /// What a message that follows a turn holds beside results.
    fn other(&mut self, index: usize, message: &'a Message, out: &mut Vec<WireMessage<'a>>) -> Result<()> {
        let mut parts: Vec<WirePart<'a>> = Vec::new();
        let mut after_result = false;
        let mut only_results = !message.content.is_empty();
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::ToolResult(_) if message.role == Role::System => {
                    return Err(invalid(
                        path,
                        "is a tool result in a system message; put it into a tool message",
                    ));
                }
                ContentPart::ToolResult(_) => {
                    after_result = true;
                    continue;
                }
                ContentPart::CachePoint(_) if after_result => continue,
                _ => {}
            }
            after_result = false;
            only_results = false;
            match part {
                ContentPart::CachePoint(point) => self.cache_point(path, *point, parts.last_mut()),
                ContentPart::Text(part) if message.role != Role::Tool => parts.extend(filled(&part.text)),
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_)
                    if message.role == Role::User =>
                {
                    parts.extend(self.media(path, part)?);
                }
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_)
                    if message.role == Role::System =>
                {
                    return Err(unsupported(
                        path,
                        "is no text, which system messages cannot hold here",
                    ));
                }
                ContentPart::Opaque(_) => {
                    self.warn_history(
                        path,
                        "is a vendor's own piece that this format cannot carry; left out",
                    );
                }
                other => {
                    let role = role_word(message.role);
                    let message = format!("is of kind {}, which no {role} message holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        let role = match message.role {
            Role::Tool => return Ok(()),
            Role::System => self.system_role(),
            other => role_word(other),
        };
        if only_results {
            return Ok(());
        }
        if parts.is_empty() && !self.dialect.messages.empty {
            let field = format!("messages[{index}]");
            self.warn_history(&field, "is empty, which this host does not take; left out");
            return Ok(());
        }
        let mut wire = WireMessage::new(role, self.content(parts));
        wire.name = self.name(index, message);
        self.push(wire, out);
        Ok(())
    }

    /// Marks the part before a cache point. Sources: wire notes, "Prompt caching" (gpt-5.6 and later; `30m` is
    /// the usual time, `12h` the long one), state of 2026-11-29.
    pub(super) fn cache_point(
        &mut self,
        path: PartPath,
        point: CachePoint,
        before: Option<&mut WirePart<'a>>,
    ) {
        if !self.rule.cache_breakpoints {
            self.warn(
                path,
                "is not sent: this model keeps prompt prefixes by itself, or not at all",
            );
            return;
        }
        match before {
            Some(part) => {
                part.breakpoint = Some(match point.ttl {
                    CacheTtl::Long => "12h",
                    _ => "30m",
                });
            }
            None => self.warn(path, "is not sent: no part stands before it in its message"),
        }
    }
}

/// Does a text that is sent hold the word?
fn says_json(messages: &[WireMessage<'_>]) -> bool {
    let mut texts = messages.iter().flat_map(|message| message.content.texts());
    texts.any(json_word::has_word)
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        _ => "user",
    }
}

/// A text part; nothing for empty text, which some hosts refuse.
pub(super) fn filled(text: &str) -> Option<WirePart<'_>> {
    (!text.is_empty()).then(|| self::text(text))
}

pub(super) fn text(text: &str) -> WirePart<'_> {
    WirePart::from(WirePartBody::Text(Cow::Borrowed(text)))
}
