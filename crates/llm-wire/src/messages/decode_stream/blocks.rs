//! Content blocks: what is open, and what each becomes.
//!
//! A block keeps the vendor's fields until it ends, because most of them go back on the next turn as they came.

mod ending;

use super::super::types::WireDelta;
use super::event::says_something;
use crate::call_ids::generated_id;
use crate::decode_options::DecodeOptions;
use llm_core::{
    BlockKind, ChatEvent, Delta, Origin, Replay, ResponseMeta, VendorId, VendorMetadata, Warning,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// The most blocks that are open at a time. The vendor has one; hosts that do the same are given some room.
const MOST_OPEN: usize = 16;

/// All blocks of one answer.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// In the order they began; nearly always one.
    open: Vec<Open>,
    /// The number of the next block.
    next: u32,
    next_index: u64,
    call_ids: HashSet<String>,
    generated: u32,
    /// A call that ended without any arguments: whether it was cut off is known when something follows it, or from the
    /// reason why the answer ended.
    held: Option<(u32, bool)>,
    /// Was there a call at all, and one that can be run?
    pub(super) called: bool,
    pub(super) runnable: bool,
}

#[derive(Debug)]
struct Open {
    /// The vendor's number.
    index: u64,
    /// Ours.
    number: u32,
    /// Was its start handed out?
    shown: bool,
    /// The vendor's fields that are not written out below.
    own: Map<String, Value>,
    what: What,
}

#[derive(Debug)]
enum What {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    Call {
        named: bool,
        /// Of the start: the whole input, where no pieces follow.
        input: Option<Value>,
        arguments: String,
    },
    /// A piece of the vendor's own, and the pieces of its input.
    Own {
        kind: String,
        input: String,
    },
}

/// The blocks, with everything that is needed to go on with them.
pub(super) struct Writer<'d> {
    pub(super) blocks: &'d mut Blocks,
    pub(super) vendor: &'d VendorId,
    pub(super) options: &'d DecodeOptions,
    pub(super) out: &'d mut Vec<ChatEvent>,
}

impl Writer<'_> {
    /// A block that is whole at its start.
    pub(super) fn take_whole(&mut self, block: Map<String, Value>) {
        let index = self.blocks.next_index;
        self.start(Some(index), block);
        self.stop(Some(index));
    }

    /// A block begins; it may have content already.
    pub(super) fn start(&mut self, index: Option<u64>, mut block: Map<String, Value>) {
        let index = index.unwrap_or(self.blocks.next_index);
        self.stop_open(|open| open.index == index);
        let kind = take_text(&mut block, "type").unwrap_or_else(|| kind_of_fields(&block).to_owned());
        match kind.as_str() {
            // its first delta tells
            "" if block.is_empty() => self.blocks.next_index = self.blocks.next_index.max(index),
            "" => self.warn("a block without a type was left out"),
            "text" => {
                let text = take_text(&mut block, "text").unwrap_or_default();
                self.open(index, What::Text, Map::new());
                for citation in take_list(&mut block, "citations") {
                    self.cite(citation);
                }
                self.keep(block);
                self.say(text.into());
            }
            "thinking" => {
                let thought = take_text(&mut block, "thinking").unwrap_or_default();
                let signature = take_text(&mut block, "signature").unwrap_or_default();
                let what = What::Thinking {
                    text: String::new(),
                    signature,
                };
                self.open(index, what, block);
                self.think(thought.into());
            }
            "tool_use" => self.start_call(index, block),
            _ => {
                let what = What::Own {
                    kind,
                    input: String::new(),
                };
                self.open(index, what, block);
            }
        }
    }

    /// A block goes on. One that never began is begun, if the delta tells what it is.
    pub(super) fn delta(&mut self, index: Option<u64>, delta: WireDelta<'_>) {
        let guessed = kind_of_delta(&delta);
        let kind = delta.kind.as_deref().unwrap_or(guessed);
        let at = match index {
            Some(index) => self.blocks.open.iter().rposition(|open| open.index == index),
            None => self.blocks.open.len().checked_sub(1),
        };
        match at {
            // the last one is the current one
            Some(at) => {
                let last = self.blocks.open.len() - 1;
                self.blocks.open.swap(at, last);
            }
            None => {
                let begun = match kind {
                    "text_delta" => What::Text,
                    "thinking_delta" => What::Thinking {
                        text: String::new(),
                        signature: String::new(),
                    },
                    _ => return self.warn("a piece of a block that never began was left out"),
                };
                let index = index.unwrap_or(self.blocks.next_index);
                self.open(index, begun, Map::new());
            }
        }
        let fits = match (kind, self.blocks.open.last_mut().map(|open| &mut open.what)) {
            ("text_delta", Some(What::Text)) => {
                self.say(delta.text.unwrap_or_default().0);
                true
            }
            ("thinking_delta", Some(What::Thinking { .. })) => {
                self.think(delta.thinking.unwrap_or_default().0);
                true
            }
            ("signature_delta", Some(What::Thinking { signature, .. })) => {
                if let Some(signed) = delta.signature.filter(|signed| !signed.is_empty()) {
                    *signature = signed.into_string();
                }
                true
            }
            ("input_json_delta", Some(What::Call { arguments, .. })) => {
                if let Some(piece) = delta.partial_json.filter(|piece| !piece.is_empty()) {
                    arguments.push_str(&piece);
                    self.emit(Delta::Arguments(piece.into_string()));
                }
                true
            }
            ("input_json_delta", Some(What::Own { input, .. })) => {
                input.push_str(delta.partial_json.as_deref().unwrap_or_default());
                true
            }
            ("citations_delta", Some(What::Text)) => {
                if let Some(citation) = delta.citation {
                    self.cite(*citation);
                }
                true
            }
            ("compaction_delta", Some(What::Own { .. })) => {
                let fields = [
                    ("content", delta.content),
                    ("encrypted_content", delta.encrypted_content),
                ];
                if let Some(open) = self.blocks.open.last_mut() {
                    let said = fields
                        .into_iter()
                        .filter_map(|(name, value)| Some((name.to_owned(), *value?)));
                    open.own.extend(said);
                }
                true
            }
            ("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta", _) => false,
            // kinds of the future
            _ => true,
        };
        if !fits {
            self.warn("a piece of another kind than its block was left out");
        }
    }

    fn open(&mut self, index: u64, what: What, own: Map<String, Value>) {
        self.release(true);
        if self.blocks.open.len() == MOST_OPEN {
            self.stop_oldest();
        }
        let number = self.blocks.next;
        self.blocks.next += 1;
        self.blocks.next_index = self.blocks.next_index.max(index.saturating_add(1));
        self.blocks.open.push(Open {
            index,
            number,
            shown: false,
            own,
            what,
        });
    }

    fn start_call(&mut self, index: u64, mut block: Map<String, Value>) {
        let id = take_text(&mut block, "id").filter(|id| !id.is_empty());
        let id = match id {
            Some(id) if self.blocks.call_ids.insert(id.clone()) => id,
            _ => self.generate_id(),
        };
        let name = take_text(&mut block, "name").unwrap_or_default();
        let name = self.options.tool_names.own(&name).to_owned();
        let input = block.shift_remove("input").filter(says_something);
        let what = What::Call {
            named: !name.is_empty(),
            input,
            arguments: String::new(),
        };
        self.open(index, what, Map::new());
        self.blocks.called = true;
        self.show(BlockKind::ToolCall { id, name });
        block.retain(|_, value| says_something(value));
        if !block.is_empty() {
            self.emit(Delta::Replay(self.replay(Value::Object(block))));
        }
    }

    fn generate_id(&mut self) -> String {
        let ResponseMeta {
            id,
            request_id,
            created,
            ..
        } = &self.options.meta;
        let seed = format!("{id:?} {request_id:?} {created:?}");
        loop {
            let id = generated_id(&seed, self.blocks.generated);
            self.blocks.generated += 1;
            if self.blocks.call_ids.insert(id.clone()) {
                return id;
            }
        }
    }

    /// Adds to the current text.
    fn say(&mut self, text: Cow<'_, str>) {
        if !text.is_empty() {
            self.show(BlockKind::Text);
            self.emit(Delta::Text(text.into_owned()));
        }
    }

    /// Adds to the current thought, and shows it where that is wanted.
    fn think(&mut self, thought: Cow<'_, str>) {
        if thought.is_empty() {
            return;
        }
        if let Some(What::Thinking { text, .. }) = self.blocks.open.last_mut().map(|open| &mut open.what) {
            text.push_str(&thought);
        }
        if self.options.include_reasoning {
            self.show(BlockKind::Reasoning);
            self.emit(Delta::Reasoning(thought.into_owned()));
        } else {
            self.out.push(ChatEvent::KeepAlive);
        }
    }

    /// A citation of the current text.
    fn cite(&mut self, citation: Value) {
        let mut bag = VendorMetadata::default();
        bag.set(
            self.vendor.clone(),
            "citations",
            Value::Array(vec![citation.clone()]),
        );
        self.out.push(ChatEvent::Metadata(bag));
        if let Some(open) = self.blocks.open.last_mut() {
            match open.own.get_mut("citations") {
                Some(Value::Array(citations)) => citations.push(citation),
                _ => {
                    open.own.insert("citations".into(), Value::Array(vec![citation]));
                }
            }
        }
    }

    /// Keeps fields of the vendor's own for the current block.
    fn keep(&mut self, fields: Map<String, Value>) {
        if let Some(open) = self.blocks.open.last_mut() {
            open.own
                .extend(fields.into_iter().filter(|(_, value)| says_something(value)));
        }
    }

    fn replay(&self, data: Value) -> Replay {
        Replay::new(Origin::new(self.vendor.clone()), data)
    }

    /// Hands out the start of the current block, if that was not done.
    fn show(&mut self, kind: BlockKind) {
        if let Some(open) = self.blocks.open.last_mut()
            && !std::mem::replace(&mut open.shown, true)
        {
            self.out.push(ChatEvent::BlockStart {
                index: open.number,
                kind,
            });
        }
    }

    /// Adds to the current block.
    fn emit(&mut self, delta: Delta) {
        if let Some(open) = self.blocks.open.last() {
            self.out.push(ChatEvent::BlockDelta {
                index: open.number,
                delta,
            });
        }
    }

    fn end(&mut self, index: u32, complete: bool) {
        self.out.push(ChatEvent::BlockEnd { index, complete });
    }

    fn warn(&mut self, message: &str) {
        self.out
            .push(ChatEvent::Warning(Warning::wire("content", message)));
    }
}

fn take_text(block: &mut Map<String, Value>, name: &str) -> Option<String> {
    match block.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn take_list(block: &mut Map<String, Value>, name: &str) -> Vec<Value> {
    match block.shift_remove(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// What a block is that does not say so.
fn kind_of_fields(block: &Map<String, Value>) -> &'static str {
    let has = |name| block.get(name).is_some_and(Value::is_string);
    match () {
        () if has("text") => "text",
        () if has("thinking") => "thinking",
        () if has("name") && has("id") => "tool_use",
        () => "",
    }
}

/// What a delta is that does not say so.
fn kind_of_delta(delta: &WireDelta<'_>) -> &'static str {
    match delta {
        WireDelta { text: Some(_), .. } => "text_delta",
        WireDelta {
            thinking: Some(_), ..
        } => "thinking_delta",
        WireDelta {
            signature: Some(_), ..
        } => "signature_delta",
        WireDelta {
            partial_json: Some(_),
            ..
        } => "input_json_delta",
        _ => "",
    }
}
