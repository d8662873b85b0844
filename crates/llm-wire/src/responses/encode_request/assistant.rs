//! What the assistant said, called and thought: items in their order.

use super::Encoding;
use super::input::NOT_CARRIED;
use super::results::{Results, fit_id};
use crate::custom::{self, CUSTOM_CALL};
use crate::fault::{PartPath, invalid, unsupported};
use crate::json_text::is_object;
use crate::responses::is_own_item;
use crate::responses::request_types::{Item, WireContent, WirePart, WirePartBody};
use llm_core::{ContentPart, Message, OpaquePart, ReasoningPart, Replay, Result, ToolCall};
use serde_json::Value;
use std::borrow::Cow;

/// Reasoning that waits for what followed it, and where it stands: the vendor refuses it alone.
pub(super) type Thoughts<'a> = Vec<(PartPath, &'a Value)>;

/// What the result of a call of a custom tool is called.
const CUSTOM_OUTPUT: &str = "custom_tool_call_output";

/// An assistant message that is being put together.
#[derive(Default)]
struct Said<'a> {
    parts: Vec<WirePart<'a>>,
    phase: Option<&'a Value>,
}

impl<'a> Said<'a> {
    /// Ends it.
    fn end(&mut self, items: &mut Vec<Item<'a>>) {
        let said = std::mem::take(self);
        if !said.parts.is_empty() {
            items.push(Item::Message {
                role: "assistant",
                content: WireContent::of(said.parts),
                phase: said.phase,
            });
        }
    }
}

impl<'a> Encoding<'a> {
    /// An assistant message. Gives back its calls, all still without a result.
    pub(super) fn assistant(
        &mut self,
        index: usize,
        message: &'a Message,
        thoughts: &mut Thoughts<'a>,
        items: &mut Vec<Item<'a>>,
    ) -> Result<Results<'a>> {
        let mut said = Said::default();
        let mut results = Results::default();
        let before = items.len();
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::Text(part) if part.text.is_empty() => {}
                ContentPart::Refusal(part) if part.text.is_empty() => {}
                ContentPart::Text(part) => {
                    let phase = self.own(part.replay.as_ref()).and_then(|own| own.get("phase"));
                    self.say(
                        WirePartBody::Said(Cow::Borrowed(&part.text)),
                        phase,
                        &mut said,
                        thoughts,
                        items,
                    );
                }
                ContentPart::Refusal(part) => {
                    let phase = said.phase;
                    self.say(
                        WirePartBody::Refusal(&part.text),
                        phase,
                        &mut said,
                        thoughts,
                        items,
                    );
                }
                ContentPart::ToolCall(call) => {
                    said.end(items);
                    think(thoughts, items);
                    items.push(self.call(path, call)?);
                    results.add(&call.id, "function_call_output");
                }
                ContentPart::Reasoning(reasoning) => {
                    said.end(items);
                    if let Some(item) = self.thought(path, part, reasoning) {
                        thoughts.push((path, item));
                    }
                }
                ContentPart::Opaque(piece) => {
                    said.end(items);
                    if let Some(item) = self.own_piece(path, part, piece, &mut results) {
                        think(thoughts, items);
                        items.push(item);
                    }
                }
                ContentPart::CachePoint(_) => {
                    self.warn(
                        path,
                        "is not sent: what the assistant said takes no such mark here",
                    );
                }
                ContentPart::ToolResult(_) => {
                    let message = "is a tool result in an assistant message; put it after it";
                    return Err(invalid(path, message));
                }
                other => {
                    let what = other.kind();
                    let message = format!("is of kind {what}, which assistant messages cannot hold here");
                    return Err(unsupported(path, &message));
                }
            }
        }
        said.end(items);
        self.nameless(index);
        if items.len() == before && thoughts.is_empty() {
            let field = format!("messages[{index}]");
            self.warn_history(&field, "holds nothing that can be sent; left out");
        }
        Ok(results)
    }

    /// Adds to what is being said. What was said for another purpose, or after another thought, is another message.
    fn say(
        &mut self,
        body: WirePartBody<'a>,
        phase: Option<&'a Value>,
        said: &mut Said<'a>,
        thoughts: &mut Thoughts<'a>,
        items: &mut Vec<Item<'a>>,
    ) {
        if said.phase != phase {
            said.end(items);
        }
        think(thoughts, items);
        said.phase = phase;
        said.parts.push(WirePart::from(body));
    }

    fn call(&mut self, path: PartPath, call: &'a ToolCall) -> Result<Item<'a>> {
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
        Ok(Item::Call {
            id: fit_id(&call.id),
            name: self.tool_names.sent(&call.name),
            arguments: if is_object { &call.arguments } else { "{}" },
            own: self.own(call.replay.as_ref()).and_then(Value::as_object),
        })
    }

    /// State of this vendor.
    fn own(&self, replay: Option<&'a Replay>) -> Option<&'a Value> {
        let replay = replay.filter(|replay| replay.origin.vendor == self.dialect.vendor);
        replay.map(|replay| &replay.data)
    }

    /// Reasoning goes back as the item that it was; shown thoughts are for people.
    fn thought(
        &mut self,
        path: PartPath,
        part: &ContentPart,
        reasoning: &'a ReasoningPart,
    ) -> Option<&'a Value> {
        let replay = reasoning.replay.as_ref()?;
        let item = &replay.data;
        let filled = |name: &str| match item.get(name) {
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(parts)) => !parts.is_empty(),
            _ => false,
        };
        let why_not = if replay.origin.vendor != self.dialect.vendor {
            "is reasoning of another vendor; it is not sent"
        } else if !is_own_item(part) {
            "is reasoning that another API of the vendor recorded, which this one does not take; it is not sent"
        } else if !(filled("encrypted_content") || self.dialect.plain_reasoning && filled("content")) {
            "is reasoning without its encrypted content, which the vendor does not take back; it is not sent"
        } else {
            return Some(item);
        };
        self.warn_history(path, why_not);
        None
    }

    /// Leaves out reasoning that nothing followed.
    pub(super) fn drop_thoughts(&mut self, thoughts: &mut Thoughts<'a>) {
        for (path, _) in thoughts.drain(..) {
            let message = "is reasoning that nothing followed, which the vendor refuses; it is not sent";
            self.warn_history(path, message);
        }
    }

    /// A vendor's own piece: the call of a tool that runs at the vendor, a summary of older turns, and so on.
    fn own_piece(
        &mut self,
        path: PartPath,
        part: &ContentPart,
        piece: &'a OpaquePart,
        results: &mut Results<'a>,
    ) -> Option<Item<'a>> {
        let item = &piece.replay.data;
        let own = piece.replay.origin.vendor == self.dialect.vendor;
        if !own || !is_own_item(part) {
            // Chat Completions has the same call in another form
            if own && let Some((id, custom)) = custom::call(&piece.kind, item) {
                results.add(id, CUSTOM_OUTPUT);
                return Some(Item::CustomCall {
                    id: fit_id(id),
                    custom,
                });
            }
            self.warn_history(path, NOT_CARRIED);
            return None;
        }
        let id = item.get("call_id").and_then(Value::as_str);
        match (piece.kind.as_str(), id) {
            (CUSTOM_CALL, Some(id)) => results.add(id, CUSTOM_OUTPUT),
            _ if id.is_some() || item.get("encrypted_content").is_some_and(Value::is_string) => {}
            // anything else is only a name of what the vendor kept
            _ if self.stores => {}
            _ => {
                let message =
                    "is a piece that the vendor takes back only where it stores responses; left out";
                self.warn_history(path, message);
                return None;
            }
        }
        Some(Item::Own(item))
    }
}

/// Sends the reasoning that waited, now that something follows it.
fn think<'a>(thoughts: &mut Thoughts<'a>, items: &mut Vec<Item<'a>>) {
    items.extend(thoughts.drain(..).map(|(_, item)| Item::Own(item)));
}
