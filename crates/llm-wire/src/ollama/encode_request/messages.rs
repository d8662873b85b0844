//! Messages. Results follow the turn whose calls they answer, in the order of the calls: many templates read neither
//! ids nor names. So messages are taken turn by turn: what the model says in a row, with everything up to its next
//! word.

use super::Encoding;
use super::results::Turn;
use crate::fault::{PartPath, invalid, unsupported};
use crate::ollama::request_types::{WireArguments, WireCalled, WireMessage, WireToolCall};
use llm_core::model::Knob;
use llm_core::{
    Capability, ContentPart, MediaSource, Message, ReasoningPart, Result, Role, Support, ToolCall,
};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// What a message says, and what stands beside it.
#[derive(Default)]
pub(super) struct Said<'a> {
    text: Cow<'a, str>,
    pub(super) images: Vec<&'a str>,
    /// Did text follow on something that stands beside it?
    interleaved: bool,
}

impl<'a> Said<'a> {
    /// Adds a text on a line of its own.
    pub(super) fn say(&mut self, text: &'a str) {
        if text.is_empty() {
            return;
        }
        if self.text.is_empty() {
            self.text = Cow::Borrowed(text);
            return;
        }
        self.interleaved |= !self.images.is_empty();
        let apart = self.text.ends_with(char::is_whitespace) || text.starts_with(char::is_whitespace);
        let joined = self.text.to_mut();
        if !apart {
            joined.push('\n');
        }
        joined.push_str(text);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.images.is_empty()
    }

    pub(super) fn text(self) -> Cow<'a, str> {
        self.text
    }

    fn into_message(self, role: &'static str) -> WireMessage<'a> {
        let mut message = WireMessage::new(role, self.text);
        message.images = self.images;
        message
    }
}

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
        let is_assistant = |message: &&Message| message.role == Role::Assistant;
        let mut out = Vec::with_capacity(messages.len() + 2);
        let mut start = 0;
        while start < messages.len() {
            let spoken = messages[start..].iter().take_while(is_assistant).count();
            let rest = messages[start + spoken..].iter();
            let heard = rest.take_while(|message| !is_assistant(message)).count();
            let middle = start + spoken;
            self.turn(start..middle, middle..middle + heard, &mut out)?;
            start = middle + heard;
        }
        if out.is_empty() {
            let message = "holds nothing but tool results without their calls; give the calls too";
            return Err(invalid("messages", message));
        }
        Ok(out)
    }

    /// What the model says in a row, and what it hears then.
    fn turn(
        &mut self,
        spoken: Range<usize>,
        heard: Range<usize>,
        out: &mut Vec<WireMessage<'a>>,
    ) -> Result<()> {
        let messages = &self.request.messages;
        let mut turn = Turn::default();
        for (index, message) in messages.iter().enumerate().take(spoken.end).skip(spoken.start) {
            let message = self.assistant(index, message, &mut turn)?;
            out.push(message);
        }
        let heard = || messages.iter().enumerate().take(heard.end).skip(heard.start);
        for (index, message) in heard() {
            self.results(index, message, &mut turn)?;
        }
        self.answers(spoken.end.saturating_sub(1), turn, out);
        for (index, message) in heard() {
            out.extend(self.other(index, message)?);
        }
        Ok(())
    }

    fn assistant(
        &mut self,
        index: usize,
        message: &'a Message,
        turn: &mut Turn<'a>,
    ) -> Result<WireMessage<'a>> {
        self.no_name(index, message);
        let mut said = Said::default();
        let mut thinking = Said::default();
        let mut calls = Vec::new();
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::Text(part) => said.say(&part.text),
                ContentPart::Refusal(part) => said.say(&part.text),
                ContentPart::ToolCall(call) => {
                    calls.push(self.call(path, call)?);
                    turn.add(&call.id, &call.name);
                }
                ContentPart::Reasoning(part) => {
                    if let Some(text) = self.thought(path, part) {
                        thinking.say(text);
                    }
                }
                ContentPart::CachePoint(_) => self.cache_point(path),
                ContentPart::Opaque(_) => self.not_carried(path),
                ContentPart::ToolResult(_) => {
                    let message = "is a tool result in an assistant message; put it after it";
                    return Err(invalid(path, message));
                }
                other => {
                    let message = format!(
                        "is of kind {}, which assistant messages cannot hold here",
                        other.kind()
                    );
                    return Err(unsupported(path, &message));
                }
            }
        }
        let mut wire = said.into_message("assistant");
        wire.thinking = thinking.text();
        wire.tool_calls = calls;
        Ok(wire)
    }

    fn call(&mut self, path: PartPath, call: &'a ToolCall) -> Result<WireToolCall<'a>> {
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
        let arguments = raw.map_or(WireArguments::Empty {}, WireArguments::Raw);
        Ok(WireToolCall {
            id: &call.id,
            function: WireCalled {
                name: &call.name,
                arguments,
            },
        })
    }

    /// Thoughts go back to the server that they came from; others are for people.
    fn thought(&mut self, path: PartPath, part: &'a ReasoningPart) -> Option<&'a str> {
        let replay = part.replay.as_ref()?;
        if replay.origin.vendor != self.dialect.vendor {
            self.warn_history(path, "is reasoning of another vendor; it is not sent");
            return None;
        }
        // a thought that was not to be shown is kept as state
        let hidden = replay.data.get("thinking").and_then(Value::as_str);
        Some(hidden.filter(|_| part.text.is_empty()).unwrap_or(&part.text))
    }

    /// What a message that follows a turn holds beside results; `None`: nothing else.
    fn other(&mut self, index: usize, message: &'a Message) -> Result<Option<WireMessage<'a>>> {
        let mut said = Said::default();
        let mut only_results = !message.content.is_empty();
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            if let ContentPart::ToolResult(_) = part {
                if message.role == Role::System {
                    let message = "is a tool result in a system message; put it into a tool message";
                    return Err(invalid(path, message));
                }
                continue;
            }
            only_results = false;
            match part {
                ContentPart::CachePoint(_) => self.cache_point(path),
                ContentPart::Opaque(_) => self.not_carried(path),
                ContentPart::Text(part) if message.role != Role::Tool => said.say(&part.text),
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_)
                    if message.role == Role::User =>
                {
                    said.images.extend(self.media(path, part)?);
                }
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_)
                    if message.role == Role::System =>
                {
                    let message = "is no text, which system messages cannot hold here";
                    return Err(unsupported(path, message));
                }
                other => {
                    let role = role_word(message.role);
                    let message = format!("is of kind {}, which no {role} message holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        self.no_name(index, message);
        if said.interleaved {
            let field = format!("messages[{index}]");
            self.warn_history(
                &field,
                "has pictures between its texts; they stand beside the text here",
            );
        }
        let silent = only_results || message.role == Role::Tool;
        Ok((!silent).then(|| said.into_message(role_word(message.role))))
    }

    /// The bytes of a picture or a sound; `None` for any other part.
    pub(super) fn media(&mut self, path: PartPath, part: &'a ContentPart) -> Result<Option<&'a str>> {
        let source = match part {
            ContentPart::Image(image) => {
                if image.detail.is_some() {
                    self.warn(
                        path,
                        "has a detail, which is not sent: this format does not know it",
                    );
                }
                &image.source
            }
            ContentPart::Audio(audio) => {
                if self.model.capabilities.support(Capability::AudioInput) == Support::No {
                    return Err(unsupported(path, "is sound, which this model does not take"));
                }
                &audio.source
            }
            ContentPart::Document(_) => {
                return Err(unsupported(
                    path,
                    "is a file, which this format does not take; send its text",
                ));
            }
            _ => return Ok(None),
        };
        match source {
            MediaSource::Base64 { data, .. } => Ok(Some(data)),
            MediaSource::Url { url } => match url
                .strip_prefix("data:")
                .and_then(|url| url.split_once(";base64,"))
            {
                Some((_, data)) => Ok(Some(data)),
                None => Err(unsupported(
                    path,
                    "is given by address, which is not fetched here; send its bytes",
                )),
            },
            _ => Err(unsupported(
                path,
                "is given by a file id, which this format does not take; send its bytes",
            )),
        }
    }

    fn no_name(&mut self, index: usize, message: &Message) {
        if message.name.is_some() {
            let field = format!("messages[{index}].name");
            self.warn(&field, "is not sent: this format has no names of speakers");
        }
    }

    pub(super) fn cache_point(&mut self, path: PartPath) {
        self.warn(
            path,
            "is not sent: prefixes are kept by themselves while the model is loaded",
        );
    }

    pub(super) fn not_carried(&mut self, path: PartPath) {
        let message = "is a vendor's own piece that this format cannot carry; left out";
        self.warn_history(path, message);
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
