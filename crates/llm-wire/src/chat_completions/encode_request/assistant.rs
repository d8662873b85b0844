//! Assistant messages: what the model said, called and thought before.

use super::Encoding;
use super::messages::filled;
use super::results::OpenCalls;
use crate::chat_completions::dialect::{MissingReasoning, Prefill};
use crate::chat_completions::request_types::{
    Own, WireContent, WireMessage, WirePart, WirePartBody, WireToolCall,
};
use crate::custom::{self, CUSTOM_CALL};
use crate::fault::{PartPath, invalid, unsupported};
use crate::json_text::is_object;
use llm_core::{Capability, ContentPart, Message, OpaquePart, Replay, Result, Support, ToolCall};
use serde_json::Value;

impl<'a> Encoding<'a> {
    /// An assistant message. Gives back its calls, all still without a result.
    pub(super) fn assistant(
        &mut self,
        index: usize,
        message: &'a Message,
        out: &mut Vec<WireMessage<'a>>,
    ) -> Result<OpenCalls<'a>> {
        let mut wire = WireMessage::new("assistant", WireContent::Null);
        wire.name = self.name(index, message);
        let mut parts: Vec<WirePart<'a>> = Vec::new();
        let mut refusal = String::new();
        let mut calls = OpenCalls::default();
        let mut thoughts: Vec<&str> = Vec::new();
        let plain = has_plain_thoughts(message);
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::Text(part) => parts.extend(filled(&part.text)),
                ContentPart::Refusal(part) if self.dialect.messages.refusals => refusal.push_str(&part.text),
                ContentPart::Refusal(part) => parts.extend(filled(&part.text)),
                ContentPart::ToolCall(call) => {
                    wire.tool_calls.push(self.call(path, call)?);
                    calls.add(&call.id);
                }
                ContentPart::Reasoning(part) if plain => thoughts.push(&part.text),
                ContentPart::Reasoning(part) => {
                    self.reasoning(path, part.replay.as_ref(), &mut wire, &mut parts);
                }
                ContentPart::Opaque(part) => self.opaque(path, part, &mut wire, &mut calls),
                ContentPart::CachePoint(point) => {
                    self.cache_point(path, *point, parts.last_mut());
                }
                ContentPart::ToolResult(_) => {
                    return Err(invalid(
                        path,
                        "is a tool result in an assistant message; put it after it",
                    ));
                }
                other => {
                    let what = other.kind();
                    let message = format!("is of kind {what}, which assistant messages cannot hold here");
                    return Err(unsupported(path, &message));
                }
            }
        }
        self.plain_thoughts(thoughts, &mut wire);
        wire.refusal = (!refusal.is_empty()).then_some(refusal);
        let says_something = !wire.tool_calls.is_empty() || wire.refusal.is_some() || !wire.own.is_empty();
        if !parts.is_empty() || !says_something || !self.dialect.messages.null_content {
            wire.content = self.content(parts);
        }
        self.missing_reasoning(&mut wire);
        if index + 1 == self.request.messages.len() && wire.tool_calls.is_empty() {
            wire.mark = self.prefill()?;
        }
        out.push(wire);
        Ok(calls)
    }

    /// How the last message is marked, which the model is to continue.
    fn prefill(&self) -> Result<Option<&'static str>> {
        match self.dialect.messages.prefill {
            Prefill::AsIs => Ok(None),
            Prefill::Marked(mark) if mark.with_json || self.request.output.is_text() => Ok(Some(mark.field)),
            Prefill::Marked(_) => {
                let message = "ends with an assistant message, which is not continued in JSON here";
                Err(unsupported("messages", message))
            }
            Prefill::Refused(message) => Err(unsupported("messages", message)),
        }
    }

    fn call(&mut self, path: PartPath, call: &'a ToolCall) -> Result<WireToolCall<'a>> {
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
            id: self.dialect.messages.call_ids.fit(&call.id),
            name: self.tool_names.sent(&call.name),
            arguments: if is_object { &call.arguments } else { "{}" },
        })
    }

    /// Reasoning goes back only in what its own vendor asked for; shown thoughts are for people.
    fn reasoning(
        &mut self,
        path: PartPath,
        replay: Option<&'a Replay>,
        wire: &mut WireMessage<'a>,
        parts: &mut Vec<WirePart<'a>>,
    ) {
        let wanted = self.dialect.replay_reasoning_field;
        let Some(replay) = replay else {
            return;
        };
        if replay.origin.vendor != self.dialect.vendor {
            self.warn_history(path, "is reasoning of another vendor; it is not sent");
            return;
        }
        if replay.data.get("type").is_some_and(|kind| kind == "reasoning") {
            let message =
                "is reasoning that the Responses API recorded, which this one does not take; it is not sent";
            self.warn_history(path, message);
            return;
        }
        let goes_back = self.thoughts_go_back();
        if self.dialect.replay_reasoning_parts && replay.data.get("thinking").is_some() && goes_back {
            parts.push(WirePart::from(WirePartBody::Own(&replay.data)));
            return;
        }
        let mut added = 0;
        let fields = replay.data.as_object().into_iter().flatten();
        let says_something = fields.clone().any(|(_, value)| !is_empty(value));
        for (key, value) in fields {
            // A host that never shows reasoning has sent no details either: they are of another one that was set up
            // under the same vendor's name.
            let details = key == "reasoning_details" && self.dialect.shows_reasoning;
            let text = Some(key.as_str()) == wanted && goes_back;
            // one host refuses empty reasoning
            if (text || details) && !is_empty(value) {
                add_own(wire, key, value);
                added += 1;
            }
        }
        if goes_back && says_something && added == 0 {
            self.warn_history(
                path,
                "is reasoning in a form that this host does not take; it is not sent",
            );
        }
    }

    /// Thoughts that nobody's state came with go back as text to a vendor that takes text, where the model is known to
    /// think: others refuse the field.
    fn plain_thoughts(&self, mut thoughts: Vec<&'a str>, wire: &mut WireMessage<'a>) {
        thoughts.retain(|text| !text.is_empty());
        let Some(field) = self.dialect.replay_reasoning_field else {
            return;
        };
        let known =
            self.rule.reasons || self.model.capabilities.support(Capability::Reasoning) == Support::Yes;
        if known && self.thoughts_go_back() && !thoughts.is_empty() {
            wire.own.push((field, Own::Texts(thoughts)));
        }
    }

    /// A model that does not think refuses thoughts, or has no use for them.
    fn thoughts_go_back(&self) -> bool {
        let reasons = self.model.capabilities.support(Capability::Reasoning);
        !self.thinking_off && reasons != Support::No
    }

    /// Stands in for reasoning that a turn does not have, where the model refuses turns without it.
    fn missing_reasoning(&self, wire: &mut WireMessage<'a>) {
        let Some(field) = self.dialect.replay_reasoning_field else {
            return;
        };
        let is_call = |part: &ContentPart| matches!(part, ContentPart::ToolCall(_));
        let messages = &self.request.messages;
        let (needed, text) = match self.dialect.missing_reasoning {
            MissingReasoning::Nothing => return,
            MissingReasoning::InTurnsWithCalls(text) => (!wire.tool_calls.is_empty(), text),
            MissingReasoning::OnceThereWereCalls(text) => {
                let mut parts = messages.iter().flat_map(|message| &message.content);
                (parts.any(is_call), text)
            }
        };
        let there = wire.own.iter().any(|(name, _)| *name == field);
        if needed && !there && self.rule.reasons && self.thoughts_go_back() {
            wire.own.push((field, Own::Texts(vec![text])));
        }
    }

    /// A vendor's own piece: the id of a spoken answer, a call of another kind than functions.
    fn opaque(
        &mut self,
        path: PartPath,
        part: &'a OpaquePart,
        wire: &mut WireMessage<'a>,
        calls: &mut OpenCalls<'a>,
    ) {
        let data = &part.replay.data;
        let own = part.replay.origin.vendor == self.dialect.vendor;
        let id = data.get("id").and_then(Value::as_str).filter(|_| own);
        let is_call = part.kind == CUSTOM_CALL;
        match id {
            Some(_) if part.kind == "audio" => return add_own(wire, "audio", data),
            Some(id) if is_call && data.get("custom").is_some() => {
                wire.tool_calls.push(WireToolCall::Own(data));
                return calls.add(id);
            }
            _ => {}
        }
        // Responses has the same call in another form
        if own && let Some((id, custom)) = custom::call(&part.kind, data) {
            let sent = self.dialect.messages.call_ids.fit(id);
            wire.tool_calls.push(WireToolCall::Custom { id: sent, custom });
            return calls.add(id);
        }
        let message = "is a vendor's own piece that this format cannot carry; left out";
        self.warn_history(path, message);
    }
}

/// Are the thoughts of a message nothing but text? Beside a thought with state, the text is what was shown of it.
fn has_plain_thoughts(message: &Message) -> bool {
    let stateful = |part: &ContentPart| matches!(part, ContentPart::Reasoning(part) if part.replay.is_some());
    !message.content.iter().any(stateful)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Adds what a vendor wants back in a field of its own. Of several thoughts in one message, texts follow each other,
/// and so do the entries of lists; of anything else the last holds.
fn add_own<'a>(wire: &mut WireMessage<'a>, key: &'a str, value: &'a Value) {
    let Some((_, there)) = wire.own.iter_mut().find(|(field, _)| *field == key) else {
        let first = match value {
            Value::String(text) => Own::Texts(vec![text]),
            Value::Array(entries) => Own::Entries(entries.iter().collect()),
            other => Own::Value(other),
        };
        wire.own.push((key, first));
        return;
    };
    match (&mut *there, value) {
        (Own::Texts(texts), Value::String(text)) => texts.push(text),
        (Own::Entries(all), Value::Array(entries)) => all.extend(entries),
        _ => *there = Own::Value(value),
    }
}
