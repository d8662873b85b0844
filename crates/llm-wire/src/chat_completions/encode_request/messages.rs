//! Messages. The format wants the results of a turn's calls directly after the turn, one message each and all
//! of them there; so messages are taken turn by turn: an assistant message with everything up to the next one.

use super::Encoding;
use super::results::{NO_RESULT, OpenCalls, Results};
use crate::chat_completions::request_types::{
    WireContent, WireMessage, WirePart, WirePartBody, WireToolCall,
};
use crate::fault::{invalid, unsupported};
use crate::json_text::is_object;
use llm_core::model::Knob;
use llm_core::{CachePoint, CacheTtl, ContentPart, Message, OpaquePart, Replay, Result, Role, ToolCall};
use serde_json::Value;
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
            let message = "holds nothing but tool results without their calls; give the calls too";
            return Err(invalid("messages", message));
        }
        Ok(out)
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
            results.answers.push((id, vec![text(NO_RESULT)]));
        }
        for (id, parts) in results.answers {
            let mut answer = WireMessage::new("tool", WireContent::of(parts));
            answer.tool_call_id = Some(id);
            out.push(answer);
        }
        if !results.media.is_empty() {
            out.push(WireMessage::new("user", WireContent::of(results.media)));
        }
        for (index, message) in messages.iter().enumerate().take(end).skip(next) {
            self.other(index, message, out)?;
        }
        Ok(())
    }

    /// An assistant message. Gives back its calls, all still without a result.
    fn assistant(
        &mut self,
        index: usize,
        message: &'a Message,
        out: &mut Vec<WireMessage<'a>>,
    ) -> Result<OpenCalls<'a>> {
        let mut wire = WireMessage::new("assistant", WireContent::Null);
        wire.name = message.name.as_deref();
        let mut parts: Vec<WirePart<'a>> = Vec::new();
        let mut refusal = String::new();
        let mut calls = OpenCalls::default();
        for (position, part) in message.content.iter().enumerate() {
            let path = format!("messages[{index}].content[{position}]");
            match part {
                ContentPart::Text(part) => parts.extend(filled(&part.text)),
                ContentPart::Refusal(part) => refusal.push_str(&part.text),
                ContentPart::ToolCall(call) => {
                    wire.tool_calls.push(self.call(&path, call)?);
                    calls.add(&call.id);
                }
                ContentPart::Reasoning(part) => self.reasoning(&path, part.replay.as_ref(), &mut wire),
                ContentPart::Opaque(part) => self.opaque(&path, part, &mut wire, &mut calls),
                ContentPart::CachePoint(point) => {
                    self.cache_point(&path, *point, parts.last_mut());
                }
                ContentPart::ToolResult(_) => {
                    return Err(invalid(
                        &path,
                        "is a tool result in an assistant message; put it after it",
                    ));
                }
                other => {
                    let what = other.kind();
                    let message = format!("is of kind {what}, which assistant messages cannot hold here");
                    return Err(unsupported(&path, &message));
                }
            }
        }
        wire.refusal = (!refusal.is_empty()).then_some(refusal);
        let says_something = !wire.tool_calls.is_empty() || wire.refusal.is_some() || !wire.own.is_empty();
        if !parts.is_empty() || !says_something {
            wire.content = WireContent::of(parts);
        }
        out.push(wire);
        Ok(calls)
    }

    fn call(&mut self, path: &str, call: &'a ToolCall) -> Result<WireToolCall<'a>> {
        if call.id.is_empty() {
            return Err(invalid(path, "is a call without an id"));
        }
        if call.name.is_empty() {
            return Err(invalid(path, "is a call without the name of a tool"));
        }
        let is_object = is_object(&call.arguments);
        if !is_object {
            self.warn_history(path, "is a call whose arguments are no JSON object; sent as {}");
        }
        Ok(WireToolCall::Function {
            id: &call.id,
            name: &call.name,
            arguments: if is_object { &call.arguments } else { "{}" },
        })
    }

    /// Reasoning goes back only in what its own vendor asked for; shown thoughts are for people.
    fn reasoning(&mut self, path: &str, replay: Option<&'a Replay>, wire: &mut WireMessage<'a>) {
        let wanted = self.dialect.replay_reasoning_field;
        let Some(replay) = replay else {
            return;
        };
        if replay.origin.vendor != self.dialect.vendor {
            if wanted.is_some() {
                self.warn_history(path, "is reasoning of another vendor; it is not sent");
            }
            return;
        }
        for (key, value) in replay.data.as_object().into_iter().flatten() {
            // A host that never shows reasoning has sent no details either: they are of another one that was set up
            // under the same vendor's name.
            let details = key == "reasoning_details" && self.dialect.shows_reasoning;
            let goes_back = Some(key.as_str()) == wanted || details;
            // one host refuses empty reasoning
            if goes_back && !is_empty(value) {
                wire.own.push((key, value));
            }
        }
    }

    /// A vendor's own piece: the id of a spoken answer, a call of another kind than functions.
    fn opaque(
        &mut self,
        path: &str,
        part: &'a OpaquePart,
        wire: &mut WireMessage<'a>,
        calls: &mut OpenCalls<'a>,
    ) {
        let data = &part.replay.data;
        let own = part.replay.origin.vendor == self.dialect.vendor;
        match (part.kind.as_str(), data.get("id").and_then(Value::as_str)) {
            ("audio", Some(_)) if own => wire.own.push(("audio", data)),
            ("custom_tool_call", Some(id)) if own => {
                wire.tool_calls.push(WireToolCall::Own(data));
                calls.add(id);
            }
            _ => self.warn_history(
                path,
                "is a vendor's own piece that this format cannot carry; left out",
            ),
        }
    }

    /// What a message that follows a turn holds beside results.
    fn other(&mut self, index: usize, message: &'a Message, out: &mut Vec<WireMessage<'a>>) -> Result<()> {
        let mut parts: Vec<WirePart<'a>> = Vec::new();
        let mut after_result = false;
        let mut only_results = !message.content.is_empty();
        for (position, part) in message.content.iter().enumerate() {
            let path = format!("messages[{index}].content[{position}]");
            match part {
                ContentPart::ToolResult(_) if message.role == Role::System => {
                    return Err(invalid(
                        &path,
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
                ContentPart::CachePoint(point) => self.cache_point(&path, *point, parts.last_mut()),
                ContentPart::Text(part) if message.role != Role::Tool => parts.extend(filled(&part.text)),
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_)
                    if message.role == Role::User =>
                {
                    parts.extend(self.media(&path, part)?);
                }
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_)
                    if message.role == Role::System =>
                {
                    return Err(unsupported(
                        &path,
                        "is no text, which system messages cannot hold here",
                    ));
                }
                ContentPart::Opaque(_) => {
                    self.warn_history(
                        &path,
                        "is a vendor's own piece that this format cannot carry; left out",
                    );
                }
                other => {
                    let role = role_word(message.role);
                    let message = format!("is of kind {}, which no {role} message holds", other.kind());
                    return Err(invalid(&path, &message));
                }
            }
        }
        let role = match message.role {
            Role::Tool => return Ok(()),
            Role::System if self.dialect.developer_role && self.rule.reasons => "developer",
            other => role_word(other),
        };
        if !only_results {
            let mut wire = WireMessage::new(role, WireContent::of(parts));
            wire.name = message.name.as_deref();
            out.push(wire);
        }
        Ok(())
    }

    /// Marks the part before a cache point. Sources: wire notes, "Prompt caching" (gpt-5.6 and later; `30m` is
    /// the usual time, `12h` the long one), state of 2026-11-29.
    pub(super) fn cache_point(&mut self, path: &str, point: CachePoint, before: Option<&mut WirePart<'a>>) {
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

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
