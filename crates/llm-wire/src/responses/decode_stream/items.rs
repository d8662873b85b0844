//! Items that come piece by piece: what is open, and what each becomes.

use crate::decode_options::DecodeOptions;
use llm_core::{BlockKind, ChatEvent, Delta, Origin, Replay, VendorId, VendorMetadata, Warning};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// The most items that are open at a time, and parts of one message. The vendor has one; hosts that do the same are
/// given some room.
const MOST_OPEN: usize = 32;

/// All items of one answer.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// In the order they began; nearly always one.
    pub(super) open: Vec<Open>,
    /// The vendor's numbers of those that are over.
    over: HashSet<u32>,
    next_index: u32,
    /// The number of the next block.
    next: u32,
    pub(super) call_ids: HashSet<String>,
    pub(super) generated: u32,
    /// The response was cut off: a call that it holds without arguments lacks them.
    pub(super) cut_off: bool,
    /// Was there a call to run, and a refusal?
    pub(super) runnable: bool,
    pub(super) refused: bool,
}

#[derive(Debug)]
pub(super) struct Open {
    /// The vendor's number.
    index: u32,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// It has not said yet what it is; its end may.
    Unknown,
    Message(Vec<Part>),
    Reasoning(Thought),
    Call(Call),
    /// A piece of the vendor's own, which comes whole at its end. The number is that of its block.
    Own(u32),
}

/// A text or a refusal of a message, of which something was said.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) index: u32,
    pub(super) refusal: bool,
    pub(super) number: u32,
}

#[derive(Debug)]
pub(super) struct Thought {
    pub(super) number: u32,
    pub(super) shown: bool,
    /// The part that is going on: is it of the summary, and which one? Nothing: no text came.
    pub(super) last: Option<(bool, u32)>,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) number: u32,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Was its start handed out? It waits for id and name, and a folded one for all of it.
    pub(super) shown: bool,
    /// May it stand for several calls?
    pub(super) folded: bool,
}

/// The name under which a model folds several calls into one (wire notes, `openai-responses.md`, "Quirks", state of
/// 2026-11-29).
const FOLDED: &str = "parallel";

/// The items, with everything that is needed to go on with them.
pub(super) struct Writer<'d> {
    pub(super) items: &'d mut Items,
    pub(super) vendor: &'d VendorId,
    pub(super) options: &'d DecodeOptions,
    pub(super) out: &'d mut Vec<ChatEvent>,
}

impl Items {
    /// Did none come?
    pub(super) fn is_empty(&self) -> bool {
        self.next_index == 0
    }

    /// Is the item of this number still open, and may this be all of it?
    pub(super) fn is_open(&self, index: u32, item: &Map<String, Value>) -> bool {
        let kind = kind_of(item);
        let same = |what: &What| match what {
            What::Unknown => true,
            What::Message(_) => kind == "message",
            What::Reasoning(_) => kind == "reasoning",
            What::Call(call) => {
                let id = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
                kind == "function_call" && (call.id.is_empty() || id.is_empty() || call.id == id)
            }
            What::Own(_) => !matches!(kind, "message" | "reasoning" | "function_call"),
        };
        let mut open = self.open.iter();
        open.any(|open| open.index == index && same(&open.what))
    }

    pub(super) fn take_number(&mut self) -> u32 {
        let number = self.next;
        self.next += 1;
        number
    }
}

impl Writer<'_> {
    /// An item begins. It may have content already, but its end has all of it.
    pub(super) fn start(&mut self, index: Option<u32>, item: Map<String, Value>) {
        let index = index.unwrap_or(self.items.next_index);
        if self.items.over.contains(&index) || self.position(Some(index)).is_some() {
            return;
        }
        let what = self.what_of(&item);
        self.open(index, what);
        if let Some(What::Call(call)) = self.items.open.last_mut().map(|open| &mut open.what) {
            call.learn(&item, self.options);
        }
        self.show_known();
    }

    /// Adds to a message.
    pub(super) fn say(&mut self, index: Option<u32>, part: Option<u32>, refusal: bool, text: Cow<'_, str>) {
        if text.is_empty()
            || !self.reach(
                index,
                |what| matches!(what, What::Message(_)),
                |_| What::Message(Vec::new()),
            )
        {
            return;
        }
        let next = self.items.next;
        let Some(What::Message(parts)) = self.items.open.last_mut().map(|open| &mut open.what) else {
            return;
        };
        let of_kind =
            |there: &&mut Part| there.refusal == refusal && part.is_none_or(|part| part == there.index);
        let full = parts.len() == MOST_OPEN;
        let number = match parts.iter_mut().rfind(of_kind) {
            Some(there) => there.number,
            None if full => return,
            None => {
                let index =
                    part.unwrap_or_else(|| parts.last().map_or(0, |last| last.index.saturating_add(1)));
                parts.push(Part {
                    index,
                    refusal,
                    number: next,
                });
                self.items.next += 1;
                let kind = if refusal {
                    BlockKind::Refusal
                } else {
                    BlockKind::Text
                };
                self.items.refused |= refusal;
                self.out.push(ChatEvent::BlockStart { index: next, kind });
                next
            }
        };
        let text = text.into_owned();
        let delta = if refusal {
            Delta::Refusal(text)
        } else {
            Delta::Text(text)
        };
        self.out.push(ChatEvent::BlockDelta { index: number, delta });
    }

    /// Adds to what was thought, and shows it where that is wanted. `summary`: not the thought itself but what it says
    /// in short.
    pub(super) fn think(&mut self, index: Option<u32>, part: Option<u32>, summary: bool, text: Cow<'_, str>) {
        let begin = |number| {
            What::Reasoning(Thought {
                number,
                shown: false,
                last: None,
            })
        };
        if text.is_empty() || !self.reach(index, |what| matches!(what, What::Reasoning(_)), begin) {
            return;
        }
        let Some(What::Reasoning(thought)) = self.items.open.last_mut().map(|open| &mut open.what) else {
            return;
        };
        let last = thought.last;
        let part = (summary, part.or(last.map(|(_, part)| part)).unwrap_or(0));
        thought.last = Some(part);
        if !self.options.include_reasoning {
            return self.out.push(ChatEvent::KeepAlive);
        }
        let number = thought.number;
        if !std::mem::replace(&mut thought.shown, true) {
            let kind = BlockKind::Reasoning;
            self.out.push(ChatEvent::BlockStart { index: number, kind });
        }
        // parts are paragraphs of their own
        let another = last.is_some_and(|last| last != part);
        let text = if another {
            format!("\n\n{text}")
        } else {
            text.into_owned()
        };
        let delta = Delta::Reasoning(text);
        self.out.push(ChatEvent::BlockDelta { index: number, delta });
    }

    /// Adds to the arguments of a call.
    pub(super) fn argue(&mut self, index: Option<u32>, text: Cow<'_, str>) {
        let begin = |number| What::Call(Call::new(number));
        if text.is_empty() || !self.reach(index, |what| matches!(what, What::Call(_)), begin) {
            return;
        }
        if let Some(What::Call(call)) = self.items.open.last_mut().map(|open| &mut open.what) {
            call.arguments.push_str(&text);
            if call.shown {
                let (index, delta) = (call.number, Delta::Arguments(text.into_owned()));
                self.out.push(ChatEvent::BlockDelta { index, delta });
            }
        }
    }

    /// Makes the item of this number the last open one. One that never began, or did not say what it is, becomes what
    /// the delta tells. False: there is none of that kind.
    pub(super) fn reach(
        &mut self,
        index: Option<u32>,
        fits: fn(&What) -> bool,
        begin: impl FnOnce(u32) -> What,
    ) -> bool {
        let Some(at) = self.position(index) else {
            if index.is_some_and(|index| self.items.over.contains(&index)) {
                return false;
            }
            let what = begin(self.items.take_number());
            self.open(index.unwrap_or(self.items.next_index), what);
            return true;
        };
        let last = self.items.open.len() - 1;
        self.items.open.swap(at, last);
        if matches!(self.items.open[last].what, What::Unknown) {
            self.items.open[last].what = begin(self.items.take_number());
        }
        let there = fits(&self.items.open[last].what);
        if !there {
            self.warn("a piece of another kind than its item was left out");
        }
        there
    }

    pub(super) fn position(&self, index: Option<u32>) -> Option<usize> {
        match index {
            Some(index) => self.items.open.iter().rposition(|open| open.index == index),
            None => self.items.open.len().checked_sub(1),
        }
    }

    /// What an item is, still empty.
    pub(super) fn what_of(&mut self, item: &Map<String, Value>) -> What {
        match kind_of(item) {
            "" => What::Unknown,
            "message" => What::Message(Vec::new()),
            "reasoning" => What::Reasoning(Thought {
                number: self.items.take_number(),
                shown: false,
                last: None,
            }),
            "function_call" => What::Call(Call::new(self.items.take_number())),
            _ => What::Own(self.items.take_number()),
        }
    }

    fn open(&mut self, index: u32, what: What) {
        if self.items.open.len() == MOST_OPEN {
            self.close_first();
        }
        self.items.next_index = self.items.next_index.max(index.saturating_add(1));
        self.items.open.push(Open { index, what });
    }

    /// Takes an item out that is over.
    pub(super) fn take(&mut self, at: usize) -> What {
        let open = self.items.open.remove(at);
        self.items.over.insert(open.index);
        open.what
    }

    /// An item that came whole: it is over as soon as it began. Nothing: it was over already.
    pub(super) fn take_unopened(&mut self, index: Option<u32>, item: &Map<String, Value>) -> Option<What> {
        let index = index.unwrap_or(self.items.next_index);
        self.items.next_index = self.items.next_index.max(index.saturating_add(1));
        let fresh = self.items.over.insert(index);
        fresh.then(|| self.what_of(item))
    }

    pub(super) fn replay(&self, data: Map<String, Value>) -> Delta {
        Delta::Replay(Replay::new(Origin::new(self.vendor.clone()), Value::Object(data)))
    }

    pub(super) fn note(&mut self, name: &'static str, value: Value) {
        let mut bag = VendorMetadata::default();
        bag.set(self.vendor.clone(), name, value);
        self.out.push(ChatEvent::Metadata(bag));
    }

    pub(super) fn end(&mut self, index: u32, complete: bool) {
        self.out.push(ChatEvent::BlockEnd { index, complete });
    }

    pub(super) fn warn(&mut self, message: &str) {
        self.out
            .push(ChatEvent::Warning(Warning::wire("output", message)));
    }
}

impl Call {
    pub(super) fn new(number: u32) -> Self {
        Call {
            number,
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
            shown: false,
            folded: false,
        }
    }

    /// Takes id and name from the item, where they are not known.
    pub(super) fn learn(&mut self, item: &Map<String, Value>, options: &DecodeOptions) {
        let filled = |name: &str| {
            let text = item.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty())
        };
        if let Some(id) = filled("call_id").filter(|_| self.id.is_empty()) {
            self.id.push_str(id);
        }
        if let Some(name) = filled("name").filter(|_| self.name.is_empty()) {
            self.name.push_str(options.tool_names.own(name));
            let offered = &options.folded_tools;
            self.folded = self.name == FOLDED && !offered.is_empty() && !offered.contains(&self.name);
        }
    }
}

/// What an item is; the fields of one that does not say so may tell. Empty: nobody knows.
pub(super) fn kind_of(item: &Map<String, Value>) -> &str {
    let has = |name| item.contains_key(name);
    match item.get("type").and_then(Value::as_str) {
        Some(kind) if !kind.is_empty() => kind,
        _ if has("arguments") && has("name") => "function_call",
        _ if has("summary") || has("encrypted_content") => "reasoning",
        _ if has("content") => "message",
        _ => "",
    }
}
