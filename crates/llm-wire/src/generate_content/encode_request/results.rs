//! Results of tool calls.

use super::Encoding;
use crate::fault::{PartPath, invalid};
use crate::generate_content::request_types::{PartBody, WireOutput, WirePart, WireResult};
use llm_core::{ContentPart, Message, Result, ToolResult};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// What a result says whose content is no text.
const CONTENT_FOLLOWS: &str = "The result is attached.";

/// What stands for the result of a call that has none.
const NO_RESULT: &str = "This call has no result.";

/// The calls of one step and what answers them. (Hash maps, because a caller may send any number of them.)
#[derive(Default)]
pub(super) struct Turn<'a> {
    calls: Vec<OpenCall<'a>>,
    by_id: HashMap<&'a str, VecDeque<usize>>,
    by_name: HashMap<&'a str, VecDeque<usize>>,
}

struct OpenCall<'a> {
    /// The id that goes over the wire.
    wire_id: Option<&'a str>,
    name: &'a str,
    answer: Option<Vec<WirePart<'a>>>,
}

/// Whether a result has a call.
enum Place {
    /// It answers this one.
    At(usize),
    Again,
    NoCall,
}

impl<'a> Turn<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn add(&mut self, id: &'a str, wire_id: Option<&'a str>, name: &'a str) {
        let place = self.calls.len();
        self.by_id.entry(id).or_default().push_back(place);
        self.by_name.entry(name).or_default().push_back(place);
        self.calls.push(OpenCall {
            wire_id,
            name,
            answer: None,
        });
    }

    /// The call that a result answers: that of its id, or where it has none the next one of its name.
    fn place_of(&mut self, result: &ToolResult) -> Place {
        let open = match (result.call_id.as_str(), result.name.as_deref()) {
            ("", Some(name)) => self.by_name.get_mut(name),
            (id, _) => self.by_id.get_mut(id),
        };
        let Some(open) = open else {
            return Place::NoCall;
        };
        while let Some(place) = open.pop_front() {
            if self.calls.get(place).is_some_and(|call| call.answer.is_none()) {
                return Place::At(place);
            }
        }
        Place::Again
    }
}

impl<'a> Encoding<'a> {
    /// Takes the tool results out of a message that follows the turn.
    pub(super) fn results(&mut self, index: usize, message: &'a Message, turn: &mut Turn<'a>) -> Result<()> {
        for (position, part) in message.content.iter().enumerate() {
            let ContentPart::ToolResult(result) = part else {
                continue;
            };
            let path = PartPath::of(index, position);
            match turn.place_of(result) {
                Place::At(place) => {
                    let call = &turn.calls[place];
                    let answer = self.result(path, result, call.wire_id, call.name)?;
                    turn.calls[place].answer = Some(answer);
                }
                Place::Again => self.warn_history(path, "is a second result of one call; left out"),
                Place::NoCall => {
                    let message = "is the result of a call that the turn before it does not hold; left out";
                    self.warn_history(path, message);
                }
            }
        }
        Ok(())
    }

    /// All answers in the order of their calls, with a placeholder for those that nobody gave.
    pub(super) fn answers(&mut self, step: usize, turn: Turn<'a>) -> Vec<WirePart<'a>> {
        let mut parts = Vec::with_capacity(turn.calls.len());
        for call in turn.calls {
            match call.answer {
                Some(mut answer) => parts.append(&mut answer),
                None => {
                    let field = format!("messages[{step}]");
                    self.warn_history(&field, "has a call without a result; a placeholder answers it");
                    parts.push(WirePart::from(PartBody::FunctionResponse(WireResult {
                        id: call.wire_id,
                        name: self.tool_names.sent(call.name),
                        response: WireOutput::Error(Cow::Borrowed(NO_RESULT)),
                        parts: Vec::new(),
                    })));
                }
            }
        }
        parts
    }

    /// One result, and behind it what cannot stand inside of it.
    fn result(
        &mut self,
        path: PartPath,
        result: &'a ToolResult,
        id: Option<&'a str>,
        name: &'a str,
    ) -> Result<Vec<WirePart<'a>>> {
        let mut texts: Vec<&'a str> = Vec::new();
        let mut inside = Vec::new();
        let mut behind = Vec::new();
        for (position, part) in result.content.iter().enumerate() {
            let path = path.inner(position);
            if let Some(part) = self.media(path, part)? {
                match part.body {
                    PartBody::InlineData { .. } if self.rule.recent => inside.push(part),
                    _ => behind.push(part),
                }
                continue;
            }
            match part {
                ContentPart::Text(part) if part.text.is_empty() => {}
                ContentPart::Text(part) => texts.push(&part.text),
                ContentPart::CachePoint(_) => self.cache_point(path),
                ContentPart::Opaque(_) => {
                    let message = "is a vendor's own piece that this format cannot carry; left out";
                    self.warn_history(path, message);
                }
                other => {
                    let message = format!("is of kind {}, which no tool result holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        let text = match texts.as_slice() {
            [] if inside.is_empty() && behind.is_empty() => Cow::Borrowed(""),
            [] => Cow::Borrowed(CONTENT_FOLLOWS),
            [only] => Cow::Borrowed(*only),
            several => Cow::Owned(several.join("\n")),
        };
        let response = if result.is_error {
            WireOutput::Error(text)
        } else {
            WireOutput::Output(text)
        };
        let result = WireResult {
            id,
            name: self.tool_names.sent(name),
            response,
            parts: inside,
        };
        let mut parts = vec![WirePart::from(PartBody::FunctionResponse(result))];
        parts.append(&mut behind);
        Ok(parts)
    }
}
