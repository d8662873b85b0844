//! Results of tool calls.

use super::Encoding;
use super::messages::{filled, text};
use crate::chat_completions::request_types::{WirePart, WirePartBody};
use crate::fault::{PartPath, invalid};
use llm_core::{ContentPart, Message, Result, Role, ToolResult};
use std::borrow::Cow;
use std::collections::HashMap;

/// What a result says whose content has to follow in a message of the user's.
pub(super) const CONTENT_FOLLOWS: &str = "The result is in the next user message.";

/// What stands for the result of a call that has none.
pub(super) const NO_RESULT: &str = "Error: this call has no result.";

/// Results of the calls of one turn.
#[derive(Default)]
pub(super) struct Results<'a> {
    pub(super) calls: OpenCalls<'a>,
    /// Answers, in the order they came.
    pub(super) answers: Vec<Answer<'a>>,
    /// What tool messages cannot hold.
    pub(super) media: Vec<WirePart<'a>>,
}

/// What answers a call.
pub(super) struct Answer<'a> {
    /// The call's id.
    pub(super) id: &'a str,
    /// The tool's name.
    pub(super) name: Option<&'a str>,
    pub(super) parts: Vec<WirePart<'a>>,
}

/// The calls of a turn, and how many of each id wait for a result. (A hash map, because a caller may send any
/// number of them.)
#[derive(Default)]
pub(super) struct OpenCalls<'a> {
    ids: Vec<&'a str>,
    open: HashMap<&'a str, usize>,
}

/// Whether a result has a call.
enum Match {
    First,
    Again,
    NoCall,
}

impl<'a> OpenCalls<'a> {
    pub(super) fn add(&mut self, id: &'a str) {
        self.ids.push(id);
        *self.open.entry(id).or_default() += 1;
    }

    fn answer(&mut self, id: &str) -> Match {
        match self.open.get_mut(id) {
            None => Match::NoCall,
            Some(0) => Match::Again,
            Some(open) => {
                *open -= 1;
                Match::First
            }
        }
    }

    /// The calls that nobody answered, in order.
    pub(super) fn into_unanswered(mut self) -> impl Iterator<Item = &'a str> {
        let ids = std::mem::take(&mut self.ids);
        ids.into_iter()
            .filter(move |id| matches!(self.answer(id), Match::First))
    }
}

impl<'a> Encoding<'a> {
    /// Takes the tool results out of a message that follows the turn.
    pub(super) fn results(
        &mut self,
        index: usize,
        message: &'a Message,
        results: &mut Results<'a>,
    ) -> Result<()> {
        let mut after_result = false;
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::ToolResult(result) => {
                    after_result = self.result(path, result, results)?;
                }
                ContentPart::CachePoint(point) if after_result => {
                    let last = results.answers.last_mut();
                    let last = last.and_then(|answer| answer.parts.last_mut());
                    self.cache_point(path, *point, last);
                }
                _ => after_result = false,
            }
        }
        if message.role == Role::Tool && message.name.is_some() {
            self.warn(
                format!("messages[{index}].name"),
                "is not sent: tool messages have no names",
            );
        }
        Ok(())
    }

    /// Takes one result. True: it answers a call.
    fn result(&mut self, path: PartPath, result: &'a ToolResult, results: &mut Results<'a>) -> Result<bool> {
        match results.calls.answer(&result.call_id) {
            Match::First => {}
            Match::Again => {
                self.warn_history(path, "is a second result of one call; left out");
                return Ok(false);
            }
            Match::NoCall => {
                let message = "is the result of a call that the turn before it does not hold; left out";
                self.warn_history(path, message);
                return Ok(false);
            }
        }
        let mut parts: Vec<WirePart<'a>> = Vec::new();
        let mut media = Vec::new();
        for (position, part) in result.content.iter().enumerate() {
            let path = path.inner(position);
            if let Some(wire) = self.media(path, part)? {
                let is_image = matches!(part, ContentPart::Image(_));
                if is_image && self.dialect.messages.results_hold_images {
                    parts.push(wire);
                } else {
                    media.push(wire);
                }
                continue;
            }
            match part {
                ContentPart::Text(part) => parts.extend(filled(&part.text)),
                ContentPart::CachePoint(point) => self.cache_point(path, *point, parts.last_mut()),
                ContentPart::Opaque(_) => {
                    self.warn_history(
                        path,
                        "is a vendor's own piece that this format cannot carry; left out",
                    );
                }
                other => {
                    let message = format!("is of kind {}, which no tool result holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        if !media.is_empty() {
            self.warn_history(
                path,
                "holds more than text; the rest is sent in a user message after the results",
            );
            let id = self.dialect.messages.call_ids.fit(&result.call_id);
            let heading = format!("Content of the result of call {id}:");
            results
                .media
                .push(WirePart::from(WirePartBody::Text(heading.into())));
            results.media.append(&mut media);
            if parts.is_empty() {
                parts.push(text(CONTENT_FOLLOWS));
            }
        }
        if result.is_error {
            mark_error(&mut parts);
        }
        results.answers.push(Answer {
            id: &result.call_id,
            name: result.name.as_deref(),
            parts,
        });
        Ok(true)
    }
}

/// The format has no mark for failure: the words must say it.
fn mark_error(parts: &mut Vec<WirePart<'_>>) {
    match parts.first_mut().map(|part| &mut part.body) {
        Some(WirePartBody::Text(text)) => {
            let says_so = text
                .trim_start()
                .get(.."error".len())
                .is_some_and(|word| word.eq_ignore_ascii_case("error"));
            if !says_so {
                *text = Cow::Owned(format!("Error: {text}"));
            }
        }
        _ => parts.insert(0, text("Error: the tool failed.")),
    }
}
