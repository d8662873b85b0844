//! How items end: what came whole, what goes back with each, and which calls are complete.

use super::event::says_something;
use super::items::{Call, Part, Thought, What, Writer, kind_of};
use crate::call_ids::generated_id;
use crate::json_text::is_whole;
use llm_core::{BlockKind, ChatEvent, Delta, ResponseMeta};
use serde_json::{Map, Value};

impl Writer<'_> {
    /// An item is over, and this is all of it. What did not come piece by piece is taken from here.
    pub(super) fn done(&mut self, index: Option<u32>, item: Map<String, Value>) {
        let opened = match self.position(index) {
            Some(at) => Some(self.take(at)),
            None => self.take_unopened(index, &item),
        };
        let what = match opened {
            None => return,
            Some(What::Unknown) => self.what_of(&item),
            Some(what) => what,
        };
        match what {
            What::Unknown if item.is_empty() => {}
            What::Unknown => self.warn("an item without a type was left out"),
            What::Message(parts) => self.end_message(parts, item),
            What::Reasoning(thought) => self.end_thought(thought, item),
            What::Call(call) => self.end_call(call, item, true),
            What::Own(number) => self.own(number, item),
        }
    }

    /// The answer ended. `complete`: by itself, so that what is open is whole.
    pub(super) fn finish(&mut self, complete: bool) {
        while !self.items.open.is_empty() {
            match self.take(0) {
                What::Message(parts) => self.end_message(parts, Map::new()),
                What::Reasoning(thought) => self.end_thought(thought, Map::new()),
                What::Call(call) => self.end_call(call, Map::new(), complete),
                What::Own(_) => self.warn("an item of the vendor's own never ended and was left out"),
                What::Unknown => {}
            }
        }
    }

    /// The stream broke.
    pub(super) fn interrupt(&mut self) {
        let mut shown = Vec::new();
        for open in self.items.open.drain(..) {
            match open.what {
                What::Message(parts) => shown.extend(parts.iter().map(|part| part.number)),
                What::Reasoning(thought) if thought.shown => shown.push(thought.number),
                What::Call(call) if call.shown => shown.push(call.number),
                _ => {}
            }
        }
        shown.sort_unstable();
        for number in shown {
            self.end(number, false);
        }
    }

    /// Ends the item that is open longest, to make room. A call is incomplete: the rest of it would find no item.
    pub(super) fn close_first(&mut self) {
        self.warn("more items are open at a time than are followed; the oldest was ended");
        match self.take(0) {
            What::Message(parts) => self.end_message(parts, Map::new()),
            What::Reasoning(thought) => self.end_thought(thought, Map::new()),
            What::Call(call) => self.end_call(call, Map::new(), false),
            What::Own(_) | What::Unknown => {}
        }
    }

    fn end_message(&mut self, mut parts: Vec<Part>, mut item: Map<String, Value>) {
        let content = match item.shift_remove("content") {
            Some(Value::Array(content)) => content,
            Some(Value::String(text)) => {
                vec![Value::from(Map::from_iter([("text".to_owned(), text.into())]))]
            }
            _ => Vec::new(),
        };
        for (index, part) in content.into_iter().enumerate() {
            let (Value::Object(mut part), Ok(index)) = (part, u32::try_from(index)) else {
                self.warn("a part that is no object was left out");
                continue;
            };
            let mut text = |name: &str| match part.shift_remove(name) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            };
            let (said, refusal) = match text("text") {
                Some(said) => (Some(said), false),
                None => (text("refusal"), true),
            };
            let Some(said) = said else {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
                if !matches!(kind, "output_text" | "refusal") {
                    self.warn("a part of a kind that is not known was left out");
                }
                continue;
            };
            if !parts.iter().any(|there| there.index == index) && !said.is_empty() {
                parts.push(self.whole_part(index, refusal, said));
            }
            for name in ["annotations", "logprobs"] {
                if let Some(value @ Value::Array(_)) = part.shift_remove(name).filter(says_something) {
                    self.note(name, value);
                }
            }
        }
        let phase = item.shift_remove("phase").filter(Value::is_string);
        for part in parts {
            if let (Some(phase), false) = (&phase, part.refusal) {
                let state = Map::from_iter([("phase".to_owned(), phase.clone())]);
                let (index, delta) = (part.number, self.replay(state));
                self.out.push(ChatEvent::BlockDelta { index, delta });
            }
            self.end(part.number, true);
        }
    }

    fn whole_part(&mut self, index: u32, refusal: bool, text: String) -> Part {
        let number = self.items.take_number();
        self.items.refused |= refusal;
        let (kind, delta) = if refusal {
            (BlockKind::Refusal, Delta::Refusal(text))
        } else {
            (BlockKind::Text, Delta::Text(text))
        };
        self.out.push(ChatEvent::BlockStart { index: number, kind });
        self.out.push(ChatEvent::BlockDelta { index: number, delta });
        Part {
            index,
            refusal,
            number,
        }
    }

    fn end_thought(&mut self, mut thought: Thought, mut item: Map<String, Value>) {
        if thought.last.is_none() {
            let text = |name: &str| {
                let parts = item.get(name).and_then(Value::as_array);
                let texts = parts
                    .into_iter()
                    .flatten()
                    .filter_map(|part| part.get("text")?.as_str());
                texts.filter(|text| !text.is_empty()).collect::<Vec<_>>()
            };
            let texts = [text("content"), text("summary")].concat().join("\n\n");
            if !texts.is_empty() && self.options.include_reasoning {
                self.show_thought(&mut thought);
                let (index, delta) = (thought.number, Delta::Reasoning(texts));
                self.out.push(ChatEvent::BlockDelta { index, delta });
            }
        }
        let filled = |name: &str| match item.get(name) {
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(parts)) => !parts.is_empty(),
            _ => false,
        };
        // without either there is nothing that could go back
        if filled("encrypted_content") || filled("content") {
            let mut state = Map::new();
            state.insert("type".to_owned(), "reasoning".into());
            let summary = item.shift_remove("summary").filter(Value::is_array);
            state.insert(
                "summary".to_owned(),
                summary.unwrap_or_else(|| Value::Array(Vec::new())),
            );
            item.retain(|name, value| {
                !matches!(name.as_str(), "type" | "id" | "status") && says_something(value)
            });
            state.extend(item);
            self.show_thought(&mut thought);
            let (index, delta) = (thought.number, self.replay(state));
            self.out.push(ChatEvent::BlockDelta { index, delta });
        }
        if thought.shown {
            self.end(thought.number, true);
        }
    }

    fn show_thought(&mut self, thought: &mut Thought) {
        if !std::mem::replace(&mut thought.shown, true) {
            let kind = BlockKind::Reasoning;
            let index = thought.number;
            self.out.push(ChatEvent::BlockStart { index, kind });
        }
    }

    fn end_call(&mut self, mut call: Call, mut item: Map<String, Value>, whole: bool) {
        call.learn(&item, self.options);
        if let Some(arguments) = item
            .shift_remove("arguments")
            .filter(|_| call.arguments.is_empty())
        {
            call.arguments = match arguments {
                Value::String(text) => text,
                Value::Object(_) | Value::Array(_) => arguments.to_string(),
                _ => String::new(),
            };
            if call.shown && !call.arguments.is_empty() {
                let (index, delta) = (call.number, Delta::Arguments(call.arguments.clone()));
                self.out.push(ChatEvent::BlockDelta { index, delta });
            }
        }
        let cut = match item.get("status").and_then(Value::as_str) {
            Some("completed") => false,
            Some("incomplete") => true,
            _ => self.items.cut_off && call.arguments.trim().is_empty(),
        };
        if call.folded
            && whole
            && !cut
            && let Some(calls) = self.unfolded(&call.arguments)
        {
            return self.end_calls(call, calls);
        }
        self.show(&mut call);
        item.retain(|name, value| {
            let ours = ["type", "id", "call_id", "name", "status", "arguments"];
            !ours.contains(&name.as_str()) && says_something(value)
        });
        if !item.is_empty() {
            let (index, delta) = (call.number, self.replay(item));
            self.out.push(ChatEvent::BlockDelta { index, delta });
        }
        let complete = whole && !cut && !call.name.is_empty() && is_whole(&call.arguments);
        self.items.runnable |= complete;
        self.end(call.number, complete);
    }

    /// The names and arguments of the calls that one of a tool that nobody offered stands for; `None`: of none that are
    /// all offered.
    fn unfolded(&self, arguments: &str) -> Option<Vec<(String, String)>> {
        let arguments: Value = serde_json::from_str(arguments).ok()?;
        let uses = arguments.get("tool_uses")?.as_array()?;
        let calls = uses.iter().map(|used| {
            let name = used.get("recipient_name")?.as_str()?;
            let name = name.strip_prefix("functions.").unwrap_or(name);
            let name = self.options.tool_names.own(name);
            let parameters = used
                .get("parameters")
                .filter(|parameters| parameters.is_object())?;
            let offered = self.options.folded_tools.iter().any(|tool| tool == name);
            offered.then(|| (name.to_owned(), parameters.to_string()))
        });
        let calls: Option<Vec<_>> = calls.collect();
        calls.filter(|calls| !calls.is_empty())
    }

    /// Hands out the calls that this one stands for. The first has its id.
    fn end_calls(&mut self, mut folded: Call, calls: Vec<(String, String)>) {
        let mut number = Some(folded.number);
        for (name, arguments) in calls {
            let number = number.take().unwrap_or_else(|| self.items.take_number());
            let mut call = Call::new(number);
            call.id = std::mem::take(&mut folded.id);
            call.name = name;
            call.arguments = arguments;
            self.show(&mut call);
            self.items.runnable = true;
            self.end(number, true);
        }
    }

    /// Hands out the start of the call that is open last, if its id and name are known.
    pub(super) fn show_known(&mut self) {
        let Some(mut open) = self.items.open.pop() else {
            return;
        };
        if let What::Call(call) = &mut open.what
            && !(call.id.is_empty() || call.name.is_empty() || call.folded)
        {
            self.show(call);
        }
        self.items.open.push(open);
    }

    fn show(&mut self, call: &mut Call) {
        if std::mem::replace(&mut call.shown, true) {
            return;
        }
        if call.id.is_empty() || !self.items.call_ids.insert(call.id.clone()) {
            call.id = self.generate_id();
        }
        let kind = BlockKind::ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
        };
        let index = call.number;
        self.out.push(ChatEvent::BlockStart { index, kind });
        if !call.arguments.is_empty() {
            let delta = Delta::Arguments(call.arguments.clone());
            self.out.push(ChatEvent::BlockDelta { index, delta });
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
            let id = generated_id(&seed, self.items.generated);
            self.items.generated += 1;
            if self.items.call_ids.insert(id.clone()) {
                return id;
            }
        }
    }

    /// A piece of the vendor's own.
    fn own(&mut self, number: u32, mut item: Map<String, Value>) {
        let kind = match kind_of(&item) {
            "" => return,
            kind => kind.to_owned(),
        };
        let has = |name: &str| item.get(name).is_some_and(Value::is_string);
        // whole in itself, its id leads nowhere unless the vendor stored it
        if has("call_id") || has("encrypted_content") {
            item.shift_remove("id");
        }
        self.items.runnable |= kind == "custom_tool_call";
        item.insert("type".to_owned(), kind.as_str().into());
        let (index, delta) = (number, self.replay(item));
        self.out.push(ChatEvent::BlockStart {
            index,
            kind: BlockKind::Opaque { kind },
        });
        self.out.push(ChatEvent::BlockDelta { index, delta });
        self.end(number, true);
    }
}
