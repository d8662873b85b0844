//! How blocks end: what goes back with each, and which calls are complete.

use super::{Open, What, Writer};
use crate::json_text::is_whole;
use llm_core::{BlockKind, ChatEvent, Delta};
use serde_json::{Map, Value};

impl Writer<'_> {
    /// A block ends.
    pub(in crate::messages::decode_stream) fn stop(&mut self, index: Option<u64>) {
        match index {
            Some(index) => self.stop_open(|open| open.index == index),
            None => {
                let last = self.blocks.open.last().map(|open| open.number);
                self.stop_open(|open| Some(open.number) == last);
            }
        }
    }

    /// The answer is complete; `cut`: by something that cuts off.
    pub(in crate::messages::decode_stream) fn finish(&mut self, cut: bool) {
        self.stop_open(|_| true);
        self.release(!cut);
    }

    /// The stream broke.
    pub(in crate::messages::decode_stream) fn interrupt(&mut self) {
        self.release(false);
        let mut open = std::mem::take(&mut self.blocks.open);
        open.sort_by_key(|open| open.number);
        for open in open.into_iter().filter(|open| open.shown) {
            self.end(open.number, false);
        }
    }

    pub(super) fn stop_open(&mut self, which: impl Fn(&Open) -> bool) {
        if !self.blocks.open.iter().any(&which) {
            return;
        }
        let (mut ended, open) = std::mem::take(&mut self.blocks.open)
            .into_iter()
            .partition::<Vec<_>, _>(which);
        self.blocks.open = open;
        ended.sort_by_key(|open| open.number);
        for open in ended {
            self.close(open);
        }
    }

    /// Ends the block that is open longest, to make room. A call whose input did not come with its start is incomplete:
    /// the rest of it would find no block.
    pub(super) fn stop_oldest(&mut self) {
        let oldest = (0..self.blocks.open.len()).min_by_key(|at| self.blocks.open[*at].number);
        let Some(at) = oldest else {
            return;
        };
        self.warn("more blocks are open at a time than are followed; the oldest was ended");
        let open = self.blocks.open.remove(at);
        match open.what {
            What::Call { input: None, .. } => self.end(open.number, false),
            _ => self.close(open),
        }
    }

    /// Ends a block that came to its end.
    fn close(&mut self, open: Open) {
        let Open {
            number,
            shown,
            mut own,
            what,
            ..
        } = open;
        let (kind, replay) = match what {
            What::Text => (BlockKind::Text, (!own.is_empty()).then_some(own)),
            What::Thinking { text, signature } => {
                let mut block = Map::new();
                block.insert("type".into(), "thinking".into());
                block.insert("thinking".into(), text.into());
                let signed = !signature.is_empty();
                block.insert("signature".into(), signature.into());
                block.append(&mut own);
                // unsigned, nobody wants it back
                (BlockKind::Reasoning, signed.then_some(block))
            }
            What::Call {
                named,
                input,
                arguments,
            } => return self.close_call(number, named, input, arguments),
            What::Own { kind, input } => {
                let mut block = Map::new();
                block.insert("type".into(), kind.as_str().into());
                block.append(&mut own);
                if !input.trim().is_empty() {
                    match serde_json::from_str::<Value>(&input) {
                        Ok(input) => block.insert("input".into(), input),
                        Err(_) => {
                            return self.warn("a call of a tool of the vendor's was cut off and left out");
                        }
                    };
                }
                (BlockKind::Opaque { kind }, Some(block))
            }
        };
        if !shown && replay.is_none() {
            return;
        }
        if !shown {
            self.out.push(ChatEvent::BlockStart { index: number, kind });
        }
        if let Some(fields) = replay {
            let delta = Delta::Replay(self.replay(Value::Object(fields)));
            self.out.push(ChatEvent::BlockDelta { index: number, delta });
        }
        self.end(number, true);
    }

    fn close_call(&mut self, number: u32, named: bool, input: Option<Value>, mut arguments: String) {
        // hosts that do the same put the whole input into the start; pieces come before it
        if let (true, Some(input)) = (arguments.is_empty(), input) {
            arguments = match input {
                Value::String(text) => text,
                input => input.to_string(),
            };
            let delta = Delta::Arguments(arguments.clone());
            self.out.push(ChatEvent::BlockDelta { index: number, delta });
        }
        if arguments.trim().is_empty() {
            self.release(true);
            self.blocks.held = Some((number, named));
            return;
        }
        let complete = named && is_whole(&arguments);
        self.blocks.runnable |= complete;
        self.end(number, complete);
    }

    /// Ends the call that waited for what follows it.
    pub(super) fn release(&mut self, complete: bool) {
        if let Some((number, named)) = self.blocks.held.take() {
            self.blocks.runnable |= complete && named;
            self.end(number, complete && named);
        }
    }
}
