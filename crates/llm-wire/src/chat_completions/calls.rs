//! Building tool calls from fragments: which call does a fragment belong to, and when can it be shown?
//!
//! A fragment belongs to the call of its index; but a new id on a known index opens a new call, while an id for a
//! call that has none yet is just its id. Without an index the id decides; without both, the open call. A name equal
//! to the whole name so far is a repetition, any other is appended. Ids are never appended.
//!
//! A call of a custom tool is gathered in the same way. It has no neutral form: at the end of the answer it becomes one
//! piece of the vendor's own, which goes back as it came.

use super::types::{Arguments, WireToolCall};
use crate::call_ids::generated_id;
use crate::custom::CUSTOM_CALL;
use crate::json_text::is_whole;
use crate::tool_names::ToolNames;
use llm_core::{BlockKind, ChatEvent, Delta, Origin, Replay, VendorId, Warning};
use serde_json::json;
use std::collections::HashSet;

/// The place of the one call of the older `function_call` field, which has none: behind every place that there is.
pub(crate) const LEGACY_INDEX: u64 = 1 << 32;

/// The most calls of one answer; vendors allow 128 tools. Finding the call of a fragment looks at each of them.
pub(crate) const MOST_CALLS: usize = 1024;

/// All calls of one answer.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    ids: HashSet<String>,
    /// Which of them the last fragment went to: what cuts an answer off cuts this one.
    last: usize,
    /// Tools that were sent under another name.
    names: ToolNames,
}

#[derive(Debug)]
struct Call {
    /// The block's number.
    block: u32,
    wire_index: Option<u64>,
    /// The vendor's id; empty as long as none came.
    id: String,
    name: String,
    /// The input of a custom tool's.
    arguments: String,
    /// Is it of a tool of another kind than functions?
    custom: bool,
    /// Was its `BlockStart` sent? It waits for id and name.
    shown: bool,
}

/// How the answer of the calls ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself: a call without arguments has none.
    Whole,
    /// By something that cuts off: a call without arguments lacks them.
    CutOff,
    /// Not at all, the stream broke: no call is complete.
    Broken,
}

/// There are more calls than an answer may have.
#[derive(Debug)]
pub(crate) struct TooMany;

/// One fragment, without what is empty or null.
#[derive(Debug, Default)]
pub(crate) struct Fragment<'a> {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: Option<std::borrow::Cow<'a, str>>,
    /// Of a tool of another kind than functions.
    pub(crate) custom: bool,
    /// Not the first fragment of its chunk.
    pub(crate) later_in_chunk: bool,
    /// A whole call, not a fragment: the message of a plain answer holds these.
    pub(crate) whole: bool,
}

impl<'a> Fragment<'a> {
    pub(crate) fn of(wire: &'a WireToolCall<'a>) -> Self {
        let function = wire.function.as_ref();
        let custom = wire.custom.as_ref();
        let custom = custom.filter(|custom| function.is_none() || custom.name.is_some());
        Fragment {
            index: wire.index.map(|index| index.0.into()),
            // one vendor's missing id reads as the word null
            id: wire.id.as_deref().filter(|id| !id.is_empty() && *id != "null"),
            name: match custom {
                Some(custom) => custom.name.as_deref().filter(|name| !name.is_empty()),
                None => function.and_then(|function| name_of(function.name.as_deref()?)),
            },
            arguments: match custom {
                Some(custom) => text_of(&custom.input),
                None => function.and_then(|function| text_of(&function.arguments)),
            },
            custom: custom.is_some() || (function.is_none() && wire.kind.as_deref() == Some("custom")),
            ..Fragment::default()
        }
    }

    /// Without id, name and arguments it is no call, and adds nothing to one.
    pub(crate) fn says_nothing(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.arguments.is_none()
    }
}

/// The name of a tool. Some hosts leave the model's own markup behind it (`area<|channel|>…`).
fn name_of(text: &str) -> Option<&str> {
    let name = text.split("<|").next().unwrap_or_default();
    (!name.is_empty()).then_some(name)
}

/// Arguments as JSON text; an object is taken as it is.
pub(crate) fn text_of<'a>(arguments: &'a Arguments<'a>) -> Option<std::borrow::Cow<'a, str>> {
    match arguments {
        Arguments::Absent => None,
        Arguments::Text(text) if text.is_empty() => None,
        Arguments::Text(text) => Some(std::borrow::Cow::Borrowed(text)),
        Arguments::Value(value) => Some(std::borrow::Cow::Owned(value.to_string())),
    }
}

impl Calls {
    /// None yet, to tools some of which were sent under another name.
    pub(crate) fn of_tools(names: ToolNames) -> Self {
        Calls {
            names,
            ..Calls::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes a fragment that says something. `next_block` counts the answer's blocks.
    pub(crate) fn push(
        &mut self,
        fragment: Fragment<'_>,
        next_block: &mut u32,
        out: &mut Vec<ChatEvent>,
    ) -> Result<(), TooMany> {
        let at = match self.call_of(&fragment) {
            Some(at) => at,
            None if self.calls.len() == MOST_CALLS => return Err(TooMany),
            None => {
                self.calls.push(Call {
                    block: *next_block,
                    wire_index: fragment.index,
                    id: String::new(),
                    name: String::new(),
                    arguments: String::new(),
                    custom: fragment.custom,
                    shown: false,
                });
                *next_block += 1;
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(at) else {
            return Ok(());
        };
        self.last = at;
        // what kind it is may be said late, but not after its name
        call.custom |= fragment.custom && call.name.is_empty();
        if let Some(id) = fragment.id.filter(|_| call.id.is_empty())
            && self.ids.insert(id.to_owned())
        {
            call.id.push_str(id);
        }
        if let Some(name) = fragment.name.filter(|name| call.name != *name) {
            call.name.push_str(name);
            if call.shown {
                let delta = Delta::Name(name.to_owned());
                out.push(ChatEvent::BlockDelta {
                    index: call.block,
                    delta,
                });
            }
        }
        let was_shown = call.shown;
        if let Some(arguments) = &fragment.arguments {
            call.arguments.push_str(arguments);
        }
        // whose name it is shows when all of it is there: where the arguments begin
        let named = !call.name.is_empty() && (self.names.is_empty() || !call.arguments.is_empty());
        if call.custom {
            return Ok(());
        }
        if !was_shown && !call.id.is_empty() && named {
            call.show(&self.names, out);
        } else if let (true, Some(arguments)) = (was_shown, fragment.arguments) {
            let delta = Delta::Arguments(arguments.into_owned());
            out.push(ChatEvent::BlockDelta {
                index: call.block,
                delta,
            });
        }
        Ok(())
    }

    /// The answer is over. `seed` tells generated ids of different answers apart. Gives back whether there is a call
    /// to run.
    pub(crate) fn finish(
        &mut self,
        vendor: &VendorId,
        seed: impl Fn() -> String,
        end: End,
        out: &mut Vec<ChatEvent>,
    ) -> bool {
        let mut runnable = false;
        let mut cut_off = false;
        let mut generated = 0;
        for (position, call) in self.calls.iter_mut().enumerate() {
            while call.id.is_empty() {
                let id = generated_id(&seed(), generated);
                generated += 1;
                if self.ids.insert(id.clone()) {
                    call.id = id;
                }
            }
            if call.custom {
                // nothing tells where its input ends but that something else follows
                let whole = match end {
                    End::Whole => true,
                    End::CutOff => position != self.last,
                    End::Broken => false,
                };
                if whole && !call.name.is_empty() {
                    runnable = true;
                    call.keep(vendor, out);
                } else {
                    cut_off = true;
                }
                continue;
            }
            if !call.shown {
                call.show(&self.names, out);
            }
            let arrived = match end {
                End::Whole => true,
                End::CutOff => !call.arguments.trim().is_empty(),
                End::Broken => false,
            };
            let complete = arrived && !call.name.is_empty() && is_whole(&call.arguments);
            runnable |= complete;
            out.push(ChatEvent::BlockEnd {
                index: call.block,
                complete,
            });
        }
        if cut_off && end != End::Broken {
            let message = "a call of a custom tool that was cut off was left out";
            out.push(ChatEvent::Warning(Warning::wire("tool_calls", message)));
        }
        runnable
    }

    fn call_of(&self, fragment: &Fragment<'_>) -> Option<usize> {
        if fragment.whole {
            return None;
        }
        if let Some(index) = fragment.index {
            let same_index = |call: &Call| call.wire_index == Some(index);
            let Some(id) = fragment.id else {
                return self.calls.iter().rposition(same_index);
            };
            return self
                .calls
                .iter()
                .rposition(|call| same_index(call) && call.id == id)
                .or_else(|| {
                    self.calls
                        .iter()
                        .rposition(same_index)
                        .filter(|at| self.calls[*at].id.is_empty())
                });
        }
        let open = self.calls.len().checked_sub(1)?;
        if let Some(id) = fragment.id {
            return self.calls.iter().rposition(|call| call.id == id).or_else(|| {
                let call = &self.calls[open];
                let nameless = fragment
                    .name
                    .is_none_or(|name| call.name.is_empty() || call.name == name);
                (call.id.is_empty() && nameless && !fragment.later_in_chunk).then_some(open)
            });
        }
        let call = &self.calls[open];
        let another_begins = fragment.name.is_some()
            && (fragment.later_in_chunk
                || (!call.arguments.is_empty() && fragment.arguments.is_some() && is_whole(&call.arguments)));
        (!another_begins).then_some(open)
    }
}

impl Call {
    /// The whole call of a custom tool.
    fn keep(&self, vendor: &VendorId, out: &mut Vec<ChatEvent>) {
        let index = self.block;
        let custom = json!({"name": self.name, "input": self.arguments});
        let data = json!({"id": self.id, "type": "custom", "custom": custom});
        let kind = BlockKind::Opaque {
            kind: CUSTOM_CALL.to_owned(),
        };
        out.push(ChatEvent::BlockStart { index, kind });
        let delta = Delta::Replay(Replay::new(Origin::new(vendor.clone()), data));
        out.push(ChatEvent::BlockDelta { index, delta });
        out.push(ChatEvent::BlockEnd {
            index,
            complete: true,
        });
    }

    fn show(&mut self, names: &ToolNames, out: &mut Vec<ChatEvent>) {
        self.shown = true;
        let kind = BlockKind::ToolCall {
            id: self.id.clone(),
            name: names.own(&self.name).to_owned(),
        };
        out.push(ChatEvent::BlockStart {
            index: self.block,
            kind,
        });
        if !self.arguments.is_empty() {
            let delta = Delta::Arguments(self.arguments.clone());
            out.push(ChatEvent::BlockDelta {
                index: self.block,
                delta,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(json: &str) -> Vec<ChatEvent> {
        let wire: WireToolCall<'_> = serde_json::from_str(json).unwrap();
        let fragment = Fragment::of(&wire);
        let mut out = Vec::new();
        if !fragment.says_nothing() {
            Calls::default().push(fragment, &mut 0, &mut out).unwrap();
        }
        out
    }

    #[test]
    fn a_fragment_that_says_nothing_is_no_call() {
        for nothing in [
            "{}",
            r#"{"index":0}"#,
            r#"{"index":0,"id":null,"function":{"name":null,"arguments":null}}"#,
            r#"{"index":0,"id":"","function":{"name":"","arguments":""}}"#,
            r#"{"index":0,"function":null}"#,
        ] {
            assert!(fragment(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn markup_behind_a_name_and_an_id_that_is_none_are_left_out() {
        let json = r#"{"id":"null","function":{"name":"area<|channel|>commentary"}}"#;
        let wire: WireToolCall<'_> = serde_json::from_str(json).unwrap();
        let fragment = Fragment::of(&wire);
        assert_eq!((fragment.id, fragment.name), (None, Some("area")));
    }

    #[test]
    fn an_index_may_have_a_decimal_point() {
        let wire: WireToolCall<'_> = serde_json::from_str(r#"{"index":1.0}"#).unwrap();
        assert_eq!(Fragment::of(&wire).index, Some(1));
        assert!(serde_json::from_str::<WireToolCall<'_>>(r#"{"index":-1}"#).is_err());
    }
}
