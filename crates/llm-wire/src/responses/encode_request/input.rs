//! The conversation. The vendor wants a result for every call; so messages are taken turn by turn: an assistant message
//! with everything up to the next one.

use super::Encoding;
use super::assistant::Thoughts;
use super::results::Results;
use crate::fault::{PartPath, invalid, unsupported};
use crate::json_word;
use crate::responses::request_types::{Body, Item, WireContent, WirePart, WirePartBody};
use llm_core::model::Knob;
use llm_core::{CachePoint, CacheTtl, ContentPart, Message, OutputFormat, Result, Role};
use std::borrow::Cow;

/// What is said of a piece that is not sent.
pub(super) const NOT_CARRIED: &str = "is a vendor's own piece that this format cannot carry; left out";

impl<'a> Encoding<'a> {
    /// Adds `instructions` and `input`.
    pub(super) fn input(&mut self, body: &mut Body<'a>) -> Result<()> {
        let messages = &self.request.messages;
        if messages.is_empty() {
            return Err(invalid("messages", "is empty; give at least one message"));
        }
        let ends_with_assistant = messages.last().is_some_and(|last| last.role == Role::Assistant);
        if ends_with_assistant && self.model.rejects(Knob::Prefill) {
            let message = "ends with an assistant message, which this model does not continue";
            return Err(unsupported("messages", message));
        }
        let mut start = self.instructions(body);
        let mut items = Vec::with_capacity(messages.len() + 2);
        let mut thoughts = Vec::new();
        while start < messages.len() {
            let end = messages[start + 1..]
                .iter()
                .position(|message| message.role == Role::Assistant)
                .map_or(messages.len(), |offset| start + 1 + offset);
            self.turn(start, end, &mut thoughts, &mut items)?;
            start = end;
        }
        self.drop_thoughts(&mut thoughts);
        if items.is_empty() && !self.continues {
            let message = "holds nothing that can be sent: tool results without their calls, or empty turns";
            return Err(invalid("messages", message));
        }
        if self.dialect.wants_json_word && self.request.output == OutputFormat::Json && !says_json(&items) {
            self.warn("output", json_word::ADDED);
            // among the input: what stands in the instructions does not count
            let content = WireContent::of(filled(json_word::INSTRUCTION).into_iter().collect());
            let role = self.system_role();
            items.insert(
                0,
                Item::Message {
                    role,
                    content,
                    phase: None,
                },
            );
        }
        body.add("input", items);
        Ok(())
    }

    fn system_role(&self) -> &'static str {
        if self.dialect.developer_role && self.rule.reasons {
            "developer"
        } else {
            "system"
        }
    }

    /// The system messages at the start, if they are text alone. Gives back where the rest begins.
    fn instructions(&mut self, body: &mut Body<'a>) -> usize {
        let messages = &self.request.messages;
        let system = messages
            .iter()
            .take_while(|message| message.role == Role::System)
            .count();
        let plain = |message: &&Message| message.content.iter().all(|part| part.as_text().is_some());
        // a request of nothing else says what the model is to answer
        let nothing_else = system == messages.len();
        if system == 0 || nothing_else || !messages[..system].iter().all(|message| plain(&message)) {
            return 0;
        }
        for index in 0..system {
            self.nameless(index);
        }
        let texts: Vec<_> = messages[..system].iter().map(Message::text).collect();
        let texts: Vec<_> = texts
            .iter()
            .map(String::as_str)
            .filter(|text| !text.is_empty())
            .collect();
        if !texts.is_empty() {
            body.add("instructions", texts.join("\n\n"));
        }
        system
    }

    /// An assistant message, if there is one at `start`, with what follows up to `end`.
    fn turn(
        &mut self,
        start: usize,
        end: usize,
        thoughts: &mut Thoughts<'a>,
        items: &mut Vec<Item<'a>>,
    ) -> Result<()> {
        let messages = &self.request.messages;
        let mut results = Results::default();
        let mut next = start;
        if messages[start].role == Role::Assistant {
            results = self.assistant(start, &messages[start], thoughts, items)?;
            next += 1;
        }
        if next < end {
            self.drop_thoughts(thoughts);
        }
        for (index, message) in messages.iter().enumerate().take(end).skip(next) {
            self.results(index, message, &mut results)?;
        }
        let unanswered = results.into_items(items);
        if unanswered {
            let field = format!("messages[{start}]");
            self.warn_history(&field, "has a call without a result; a placeholder answers it");
        }
        for (index, message) in messages.iter().enumerate().take(end).skip(next) {
            self.other(index, message, items)?;
        }
        Ok(())
    }

    /// What a message that follows a turn holds beside results.
    fn other(&mut self, index: usize, message: &'a Message, items: &mut Vec<Item<'a>>) -> Result<()> {
        let mut parts: Vec<WirePart<'a>> = Vec::new();
        let mut after_result = false;
        let mut only_results = !message.content.is_empty();
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::ToolResult(_) if message.role == Role::System => {
                    let message = "is a tool result in a system message; put it into a tool message";
                    return Err(invalid(path, message));
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
                    let message = "is no text, which system messages cannot hold here";
                    return Err(unsupported(path, message));
                }
                ContentPart::Opaque(_) => self.warn_history(path, NOT_CARRIED),
                other => {
                    let role = role_word(message.role);
                    let message = format!("is of kind {}, which no {role} message holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        self.nameless(index);
        let role = match message.role {
            Role::Tool => return Ok(()),
            Role::System => self.system_role(),
            other => role_word(other),
        };
        if !only_results {
            items.push(Item::Message {
                role,
                content: WireContent::of(parts),
                phase: None,
            });
        }
        Ok(())
    }

    /// Says that a name is not sent.
    pub(super) fn nameless(&mut self, index: usize) {
        if self.request.messages[index].name.is_some() {
            let field = format!("messages[{index}].name");
            self.warn(&field, "is not sent: this format has no names of speakers");
        }
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
            let message = "is not sent: this model keeps prompt prefixes by itself, or not at all";
            self.warn(path, message);
            return;
        }
        match before {
            Some(part) if !matches!(part.body, WirePartBody::Audio { .. }) => {
                part.breakpoint = Some(match point.ttl {
                    CacheTtl::Long => "12h",
                    _ => "30m",
                });
            }
            Some(_) => self.warn(path, "is not sent: sound takes no such mark"),
            None => self.warn(path, "is not sent: no part stands before it in its message"),
        }
    }
}

/// Does a text of the input hold the word?
fn says_json(items: &[Item<'_>]) -> bool {
    let contents = items.iter().filter_map(|item| match item {
        Item::Message { content, .. } | Item::Output { content, .. } => Some(content),
        _ => None,
    });
    contents.flat_map(WireContent::texts).any(json_word::has_word)
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        _ => "user",
    }
}

/// A text part; nothing for empty text.
pub(super) fn filled(text: &str) -> Option<WirePart<'_>> {
    (!text.is_empty()).then(|| WirePart::from(WirePartBody::Text(Cow::Borrowed(text))))
}
