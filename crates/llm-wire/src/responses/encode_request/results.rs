//! Results of tool calls.

use super::Encoding;
use super::input::{NOT_CARRIED, filled};
use crate::call_ids::hash;
use crate::fault::{PartPath, invalid, unsupported};
use crate::responses::request_types::{Item, WireContent, WirePart, WirePartBody};
use llm_core::{ContentPart, Message, Result, Role, ToolResult};
use std::borrow::Cow;
use std::collections::HashMap;

/// What stands for the result of a call that has none.
const NO_RESULT: &str = "Error: this call has no result.";

/// The longest id of a call that is taken.
const LONGEST_ID: usize = 64;

/// The id as it is sent: that of another vendor may be too long. The same wherever it stands.
pub(super) fn fit_id(id: &str) -> Cow<'_, str> {
    if id.len() <= LONGEST_ID {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(format!("call_{:016x}", hash(id)))
    }
}

/// The calls of one turn and their results.
#[derive(Default)]
pub(super) struct Results<'a> {
    /// Ids of calls in their order, and what an answer to each is called.
    calls: Vec<(&'a str, &'static str)>,
    /// How many calls of each id wait for a result. (A hash map, because a caller may send any number of them.)
    waiting: HashMap<&'a str, Waiting>,
    /// In the order they came.
    outputs: Vec<Output<'a>>,
}

#[derive(Clone, Copy)]
struct Waiting {
    calls: usize,
    kind: &'static str,
}

struct Output<'a> {
    kind: &'static str,
    id: &'a str,
    parts: Vec<WirePart<'a>>,
}

impl<'a> Results<'a> {
    pub(super) fn add(&mut self, id: &'a str, kind: &'static str) {
        self.calls.push((id, kind));
        self.waiting.entry(id).or_insert(Waiting { calls: 0, kind }).calls += 1;
    }

    /// Writes what answers the turn. True: a call had no result, and a placeholder answers it.
    pub(super) fn into_items(mut self, items: &mut Vec<Item<'a>>) -> bool {
        items.extend(self.outputs.into_iter().map(|output| Item::Output {
            kind: output.kind,
            id: fit_id(output.id),
            content: WireContent::of(output.parts),
        }));
        let mut unanswered = false;
        for (id, kind) in self.calls {
            let Some(waiting) = self.waiting.get_mut(id).filter(|waiting| waiting.calls > 0) else {
                continue;
            };
            waiting.calls -= 1;
            unanswered = true;
            items.push(Item::Output {
                kind,
                id: fit_id(id),
                content: WireContent::Text(Cow::Borrowed(NO_RESULT)),
            });
        }
        unanswered
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
        // what stands in a system message is judged with the rest of it
        let parts = message.content.iter().enumerate();
        for (position, part) in parts.filter(|_| message.role != Role::System) {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::ToolResult(result) => after_result = self.result(path, result, results)?,
                ContentPart::CachePoint(point) if after_result => {
                    let last = results.outputs.last_mut();
                    let last = last.and_then(|output| output.parts.last_mut());
                    self.cache_point(path, *point, last);
                }
                _ => after_result = false,
            }
        }
        Ok(())
    }

    /// Takes one result. True: it answers a call.
    fn result(&mut self, path: PartPath, result: &'a ToolResult, results: &mut Results<'a>) -> Result<bool> {
        let kind = match results.waiting.get_mut(result.call_id.as_str()) {
            Some(Waiting { calls: 0, .. }) => {
                self.warn_history(path, "is a second result of one call; left out");
                return Ok(false);
            }
            Some(waiting) => {
                waiting.calls -= 1;
                waiting.kind
            }
            // the call stands in the response that is continued
            None if self.continues => "function_call_output",
            None => {
                let message = "is the result of a call that the turn before it does not hold; left out";
                self.warn_history(path, message);
                return Ok(false);
            }
        };
        let mut parts: Vec<WirePart<'a>> = Vec::new();
        for (position, part) in result.content.iter().enumerate() {
            let path = path.inner(position);
            match part {
                ContentPart::Text(part) => parts.extend(filled(&part.text)),
                ContentPart::Image(_) | ContentPart::Document(_) => parts.extend(self.media(path, part)?),
                ContentPart::Audio(_) => {
                    return Err(unsupported(path, "is sound, which no tool result holds here"));
                }
                ContentPart::CachePoint(point) => self.cache_point(path, *point, parts.last_mut()),
                ContentPart::Opaque(_) => self.warn_history(path, NOT_CARRIED),
                other => {
                    let message = format!("is of kind {}, which no tool result holds", other.kind());
                    return Err(invalid(path, &message));
                }
            }
        }
        if result.is_error {
            mark_error(&mut parts);
        }
        results.outputs.push(Output {
            kind,
            id: &result.call_id,
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
        _ => parts.insert(
            0,
            WirePart::from(WirePartBody::Text(Cow::Borrowed("Error: the tool failed."))),
        ),
    }
}
