//! Results of tool calls.

use super::Encoding;
use super::messages::Said;
use crate::fault::{PartPath, invalid};
use crate::ollama::request_types::WireMessage;
use llm_core::{ContentPart, Message, Result, ToolResult};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// What a result says whose content has to follow in a message of the user's.
const CONTENT_FOLLOWS: &str = "The result is in the next user message.";

/// What stands for the result of a call that has none.
const NO_RESULT: &str = "Error: this call has no result.";

/// The calls of one turn and what answers them. (A hash map, because a caller may send any number of them.)
#[derive(Default)]
pub(super) struct Turn<'a> {
    calls: Vec<OpenCall<'a>>,
    open: HashMap<&'a str, VecDeque<usize>>,
}

struct OpenCall<'a> {
    id: &'a str,
    name: &'a str,
    answer: Option<Answer<'a>>,
}

struct Answer<'a> {
    text: Cow<'a, str>,
    /// What tool messages cannot hold.
    images: Vec<&'a str>,
}

impl<'a> Turn<'a> {
    pub(super) fn add(&mut self, id: &'a str, name: &'a str) {
        self.open.entry(id).or_default().push_back(self.calls.len());
        self.calls.push(OpenCall {
            id,
            name,
            answer: None,
        });
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
            let open = turn.open.get_mut(result.call_id.as_str());
            let known = open.is_some();
            match open.and_then(VecDeque::pop_front) {
                Some(place) => turn.calls[place].answer = Some(self.result(path, result)?),
                None if known => self.warn_history(path, "is a second result of one call; left out"),
                None => {
                    let message = "is the result of a call that the turn before it does not hold; left out";
                    self.warn_history(path, message);
                }
            }
        }
        Ok(())
    }

    /// All answers in the order of their calls, with a placeholder for those that nobody gave, and then what they
    /// cannot hold themselves.
    pub(super) fn answers(&mut self, step: usize, turn: Turn<'a>, out: &mut Vec<WireMessage<'a>>) {
        let mut attached = Vec::new();
        for OpenCall { id, name, answer } in turn.calls {
            let answer = answer.unwrap_or_else(|| {
                let field = format!("messages[{step}]");
                self.warn_history(&field, "has a call without a result; a placeholder answers it");
                Answer {
                    text: Cow::Borrowed(NO_RESULT),
                    images: Vec::new(),
                }
            });
            let mut message = WireMessage::new("tool", answer.text);
            message.tool_name = Some(name);
            message.tool_call_id = Some(id);
            out.push(message);
            if !answer.images.is_empty() {
                let mut message = WireMessage::new("user", format!("Content of the result of call {id}:"));
                message.images = answer.images;
                attached.push(message);
            }
        }
        out.append(&mut attached);
    }

    fn result(&mut self, path: PartPath, result: &'a ToolResult) -> Result<Answer<'a>> {
        let mut said = Said::default();
        for (position, part) in result.content.iter().enumerate() {
            let path = path.inner(position);
            if let Some(image) = self.media(path, part)? {
                said.images.push(image);
                continue;
            }
            match part {
                ContentPart::Text(part) => said.say(&part.text),
                ContentPart::CachePoint(_) => self.cache_point(path),
                ContentPart::Opaque(_) => self.not_carried(path),
                other => {
                    let message = format!("is of kind {}, which no tool result holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        let images = std::mem::take(&mut said.images);
        if !images.is_empty() {
            let message = "holds more than text; the rest is sent in a user message after the results";
            self.warn_history(path, message);
            if said.is_empty() {
                said.say(CONTENT_FOLLOWS);
            }
        }
        let mut text = said.text();
        if result.is_error {
            text = marked_as_error(text);
        }
        Ok(Answer { text, images })
    }
}

/// The format has no mark for failure: the words must say it.
fn marked_as_error(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_empty() {
        return Cow::Borrowed("Error: the tool failed.");
    }
    let says_so = text
        .trim_start()
        .get(.."error".len())
        .is_some_and(|word| word.eq_ignore_ascii_case("error"));
    if says_so {
        text
    } else {
        Cow::Owned(format!("Error: {text}"))
    }
}
