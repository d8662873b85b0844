//! Messages. The service wants the results of a turn's calls directly after the turn, as many as there were calls and
//! in their order; so messages are taken turn by turn: an assistant message with everything up to the next one.

use super::Encoding;
use super::results::Turn;
use crate::fault::{PartPath, invalid, unsupported};
use crate::generate_content::request_types::{PartBody, WireArgs, WireCall, WireContent, WirePart, WireRole};
use llm_core::model::Knob;
use llm_core::{ContentPart, Message, OpaquePart, ReasoningPart, Replay, Result, Role, ToolCall};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::ops::Range;

/// What the vendor documents as the signature of calls that it did not make.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// What stands before a conversation that does not begin with the user.
const BEGINNING: &str = "(The conversation begins.)";

/// Everything that is said.
#[derive(Default)]
pub(super) struct Said<'a> {
    pub(super) system: Vec<WirePart<'a>>,
    pub(super) contents: Vec<WireContent<'a>>,
}

impl<'a> Said<'a> {
    /// Adds parts of one side to what it said last, or begins a content.
    pub(super) fn add(&mut self, role: WireRole, mut parts: Vec<WirePart<'a>>) {
        match self.contents.last_mut() {
            _ if parts.is_empty() => {}
            Some(last) if last.role == role => last.parts.append(&mut parts),
            _ => self.contents.push(WireContent { role, parts }),
        }
    }
}

impl<'a> Encoding<'a> {
    /// Everything that is said. `cached`: something was said before, which is not here.
    pub(super) fn contents(&mut self, cached: bool) -> Result<Said<'a>> {
        let messages = &self.request.messages;
        if messages.is_empty() {
            return Err(invalid("messages", "is empty; give at least one message"));
        }
        let ends_with_assistant = messages.last().is_some_and(|last| last.role == Role::Assistant);
        if ends_with_assistant && self.model.rejects(Knob::Prefill) {
            let message = "ends with an assistant message, which this model does not continue";
            return Err(unsupported("messages", message));
        }
        let mut said = Said::default();
        let is_assistant = |message: &&Message| message.role == Role::Assistant;
        let mut start = 0;
        while start < messages.len() {
            let spoken = messages[start..].iter().take_while(is_assistant).count();
            let rest = messages[start + spoken..].iter();
            let heard = rest.take_while(|message| !is_assistant(message)).count();
            let middle = start + spoken;
            self.turn(start..middle, middle..middle + heard, &mut said)?;
            start = middle + heard;
        }
        if !cached {
            self.begin_with_user(&mut said);
        }
        if said.contents.is_empty() {
            return Err(invalid(
                "messages",
                "holds nothing that can be sent; say something",
            ));
        }
        Ok(said)
    }

    /// What the model says in a row, and what it hears then.
    fn turn(&mut self, spoken: Range<usize>, heard: Range<usize>, said: &mut Said<'a>) -> Result<()> {
        let messages = &self.request.messages;
        let mut turn = Turn::default();
        for (index, message) in messages.iter().enumerate().take(spoken.end).skip(spoken.start) {
            let parts = self.assistant(index, message, &mut turn)?;
            said.add(WireRole::Model, parts);
        }
        let heard = || messages.iter().enumerate().take(heard.end).skip(heard.start);
        for (index, message) in heard() {
            self.results(index, message, &mut turn)?;
        }
        let parts = self.answers(spoken.end.saturating_sub(1), turn);
        said.add(WireRole::User, parts);
        for (index, message) in heard() {
            self.other(index, message, said)?;
        }
        Ok(())
    }

    /// A conversation begins with the user, and with the instructions where they have no place of their own.
    fn begin_with_user(&mut self, said: &mut Said<'a>) {
        let user_begins = said
            .contents
            .first()
            .is_some_and(|first| first.role == WireRole::User);
        if !self.rule.system_instruction || said.contents.is_empty() {
            let system = std::mem::take(&mut said.system);
            if !system.is_empty() {
                if self.rule.system_instruction {
                    let message = "holds only instructions; they are sent as what the user says";
                    self.warn_history("messages", message);
                }
                match said.contents.first_mut().filter(|_| user_begins) {
                    Some(first) => drop(first.parts.splice(0..0, system)),
                    None => said.contents.insert(
                        0,
                        WireContent {
                            role: WireRole::User,
                            parts: system,
                        },
                    ),
                }
                return;
            }
        }
        if !user_begins && !said.contents.is_empty() {
            let message = "begins with the model; a placeholder of the user's stands in front";
            self.warn_history("messages", message);
            said.contents.insert(
                0,
                WireContent {
                    role: WireRole::User,
                    parts: vec![WirePart::text(BEGINNING)],
                },
            );
        }
    }

    /// An assistant message: one step of the model's. Its calls go to the turn.
    fn assistant(
        &mut self,
        index: usize,
        message: &'a Message,
        turn: &mut Turn<'a>,
    ) -> Result<Vec<WirePart<'a>>> {
        self.no_name(index, message);
        let mut parts = Vec::with_capacity(message.content.len());
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::Text(part) => parts.extend(self.text(path, &part.text, part.replay.as_ref())),
                ContentPart::Refusal(part) => parts.extend(self.text(path, &part.text, None)),
                ContentPart::ToolCall(call) => {
                    let first = turn.is_empty();
                    parts.push(self.call(path, call, first, turn)?);
                }
                ContentPart::Reasoning(part) => parts.extend(self.reasoning(path, part)),
                ContentPart::Opaque(part) => parts.extend(self.opaque(path, part)),
                ContentPart::CachePoint(_) => self.cache_point(path),
                ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_) => {
                    parts.extend(self.media(path, part)?);
                }
                ContentPart::ToolResult(_) => {
                    let message = "is a tool result in an assistant message; put it after it";
                    return Err(invalid(path, message));
                }
                other => {
                    let message = format!("is of kind {}, which this format does not know", other.kind());
                    return Err(unsupported(path, &message));
                }
            }
        }
        Ok(parts)
    }

    /// Text, with its signature. Empty text is left out, unless it is there for its signature.
    fn text(&mut self, path: PartPath, text: &'a str, replay: Option<&'a Replay>) -> Option<WirePart<'a>> {
        let signature = self.signature(path, replay);
        if text.is_empty() && signature.is_none() {
            return None;
        }
        Some(WirePart {
            signature,
            ..WirePart::text(text)
        })
    }

    /// Thoughts go back only with a signature: without one the vendor does not want them.
    fn reasoning(&mut self, path: PartPath, part: &'a ReasoningPart) -> Option<WirePart<'a>> {
        let replay = part.replay.as_ref()?;
        let signature = self.signature(path, Some(replay))?;
        // a thought that was not to be shown is kept beside its signature
        let hidden = replay.data.get("text").and_then(Value::as_str);
        let text = hidden.filter(|_| part.text.is_empty()).unwrap_or(&part.text);
        Some(WirePart {
            thought: true,
            signature: Some(signature),
            ..WirePart::text(text)
        })
    }

    fn call(
        &mut self,
        path: PartPath,
        call: &'a ToolCall,
        first: bool,
        turn: &mut Turn<'a>,
    ) -> Result<WirePart<'a>> {
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
        let args = raw.map_or(WireArgs::Empty {}, WireArgs::Raw);
        let own = call.replay.as_ref().and_then(|replay| self.own_state(replay));
        let mut signature = self.signature(path, call.replay.as_ref());
        // The vendor signs the first call of a step. One that it made without a signature needs none.
        let made_here = own.is_some() && call.replay.as_ref().is_some_and(|replay| self.same_model(replay));
        if first && signature.is_none() && !made_here && self.rule.recent {
            signature = Some(NO_SIGNATURE);
        }
        let given = match own {
            Some(state) => state.get("id").and_then(Value::as_str),
            None => Some(call.id.as_str()),
        };
        let id = given.filter(|_| self.rule.recent);
        let name = self.tool_names.sent(&call.name);
        turn.add(&call.id, id, &call.name);
        Ok(WirePart {
            signature,
            ..WirePart::from(PartBody::FunctionCall(WireCall { id, name, args }))
        })
    }

    /// A piece of the vendor's own comes back as it came.
    fn opaque(&mut self, path: PartPath, part: &'a OpaquePart) -> Option<WirePart<'a>> {
        let Some(fields) = self.own_state(&part.replay).filter(|fields| !fields.is_empty()) else {
            let message = "is a vendor's own piece that this format cannot carry; left out";
            self.warn_history(path, message);
            return None;
        };
        let signed = self.same_model(&part.replay);
        if !signed && fields.contains_key("thoughtSignature") {
            self.warn_history(path, "is sent without its signature: another model signed it");
        }
        Some(WirePart::from(PartBody::Own { fields, signed }))
    }

    /// The state that this vendor left, if it did.
    fn own_state(&self, replay: &'a Replay) -> Option<&'a Map<String, Value>> {
        let fields = replay.data.as_object();
        fields.filter(|_| replay.origin.vendor == self.dialect.vendor)
    }

    /// Is it state of the model that is asked now? Signatures are no use to any other.
    fn same_model(&self, replay: &Replay) -> bool {
        let bare = |name: &'_ str| name.strip_prefix("models/").unwrap_or(name).to_owned();
        let Some(theirs) = &replay.origin.model else {
            return true;
        };
        let ours = std::iter::once(&self.model.id).chain(&self.model.requested);
        let theirs = bare(theirs.as_str());
        ours.into_iter().any(|model| bare(model.as_str()) == theirs)
    }

    /// The signature of a part, if it is one that this model reads. Says so where it is not.
    fn signature(&mut self, path: PartPath, replay: Option<&'a Replay>) -> Option<&'a str> {
        let replay = replay?;
        let Some(state) = self.own_state(replay) else {
            self.warn_history(path, "holds state of another vendor, which is not sent");
            return None;
        };
        let signature = state
            .get("thoughtSignature")?
            .as_str()
            .filter(|signature| !signature.is_empty())?;
        if self.same_model(replay) {
            return Some(signature);
        }
        self.warn_history(path, "holds a signature of another model, which is not sent");
        None
    }

    /// What a message that follows a turn holds beside results.
    fn other(&mut self, index: usize, message: &'a Message, said: &mut Said<'a>) -> Result<()> {
        let mut parts: Vec<WirePart<'a>> = Vec::new();
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
                ContentPart::Text(part) if message.role != Role::Tool => {
                    parts.extend((!part.text.is_empty()).then(|| WirePart::text(part.text.as_str())));
                }
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
                ContentPart::Opaque(part) if message.role == Role::User => {
                    parts.extend(self.opaque(path, part));
                }
                ContentPart::Opaque(_) => {
                    let message = "is a vendor's own piece that this format cannot carry; left out";
                    self.warn_history(path, message);
                }
                other => {
                    let role = match message.role {
                        Role::System => "system",
                        Role::Tool => "tool",
                        _ => "user",
                    };
                    let message = format!("is of kind {}, which no {role} message holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        self.no_name(index, message);
        if parts.is_empty() {
            if !only_results {
                let field = format!("messages[{index}]");
                self.warn_history(&field, "holds nothing that this format takes; left out");
            }
        } else if message.role == Role::System {
            if !said.contents.is_empty() {
                let field = format!("messages[{index}]");
                let message = "stands between other messages; it is sent with the instructions in front";
                self.warn_history(&field, message);
            }
            said.system.append(&mut parts);
        } else {
            said.add(WireRole::User, parts);
        }
        Ok(())
    }

    fn no_name(&mut self, index: usize, message: &Message) {
        if message.name.is_some() {
            let field = format!("messages[{index}].name");
            self.warn(&field, "is not sent: speakers have no names here");
        }
    }

    pub(super) fn cache_point(&mut self, path: PartPath) {
        let message = "is not sent: prefixes are kept by themselves; name a made cache with cachedContent";
        self.warn(path, message);
    }
}
