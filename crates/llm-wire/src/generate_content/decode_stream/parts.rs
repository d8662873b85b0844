//! Reading the parts of a content: each becomes a block, or adds to the one before it.

use super::{Run, StreamDecoder};
use crate::call_ids::generated_id;
use crate::generate_content::types::{WireCall, WirePart};
use crate::json_text::is_whole;
use crate::lenient::Text;
use llm_core::{BlockKind, ChatEvent, Delta, Replay, ResponseMeta, Warning};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashSet;

/// The ids of all calls so far.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    generated: u32,
    pieces_noticed: bool,
}

impl CallIds {
    /// The vendor's id where it gave one that no call has, else one of our own.
    fn take(&mut self, given: Option<&str>, seed: &str) -> String {
        if let Some(given) = given
            && self.taken.insert(given.to_owned())
        {
            return given.to_owned();
        }
        loop {
            let id = generated_id(seed, self.generated);
            self.generated += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

impl StreamDecoder {
    pub(super) fn part(&mut self, part: WirePart<'_>, out: &mut Vec<ChatEvent>) {
        let WirePart {
            text,
            thought,
            signature,
            call,
            rest,
        } = part;
        let signature = signature.filter(|signature| !signature.is_empty());
        if let Some(call) = call {
            return self.call(*call, signature, out);
        }
        let run = if thought { Run::Reasoning } else { Run::Text };
        match (text, signature) {
            (Some(text), None) => self.run(run, text.0, out),
            (Some(text), Some(signature)) => self.signed(run, text.0, signature, out),
            (None, Some(signature)) if rest.is_empty() => self.signed(run, Cow::Borrowed(""), signature, out),
            (None, _) if rest.is_empty() => {}
            (None, signature) => self.opaque(rest, thought, signature, out),
        }
    }

    /// Text with a signature: a block of its own, since the two belong together.
    fn signed(&mut self, run: Run, text: Cow<'_, str>, signature: Text<'_>, out: &mut Vec<ChatEvent>) {
        self.start(out);
        self.close_run(out);
        let index = self.open_block(run.kind(), out);
        let mut data = Map::new();
        let hidden = run == Run::Reasoning && !self.options.include_reasoning;
        if !text.is_empty() {
            if hidden {
                // it goes back with its signature
                data.insert("text".to_owned(), json!(text));
            } else {
                self.state.content_seen = true;
                let delta = run.delta(text.into_owned());
                out.push(ChatEvent::BlockDelta { index, delta });
            }
        }
        data.insert("thoughtSignature".to_owned(), json!(*signature));
        self.end_with(index, data, true, out);
    }

    /// A call comes whole. Its replay state says which of its fields the vendor wrote: an id that is ours must not
    /// go back.
    fn call(&mut self, call: WireCall<'_>, signature: Option<Text<'_>>, out: &mut Vec<ChatEvent>) {
        let in_pieces = call.partial_args.is_some() || call.will_continue == Some(true);
        if in_pieces && !std::mem::replace(&mut self.state.call_ids.pieces_noticed, true) {
            let message = "arguments that come in pieces are not read; ask for whole ones";
            self.aside(ChatEvent::Warning(Warning::wire("functionCall", message)), out);
        }
        let name = call.name.as_deref().filter(|name| !name.is_empty());
        if name.is_none() && call.args.is_none() {
            return;
        }
        self.start(out);
        self.close_run(out);
        let given = call.id.as_deref().filter(|id| !id.is_empty());
        let seed = self.seed();
        let id = self.state.call_ids.take(given, &seed);
        let arguments = match call.args {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(args) => args.to_string(),
        };
        let complete = name.is_some() && !in_pieces && is_whole(&arguments);
        let name = self.options.tool_names.own(name.unwrap_or_default()).to_owned();
        let index = self.open_block(BlockKind::ToolCall { id, name }, out);
        self.state.content_seen = true;
        self.state.runnable |= complete;
        if !arguments.is_empty() {
            let delta = Delta::Arguments(arguments);
            out.push(ChatEvent::BlockDelta { index, delta });
        }
        let mut data = Map::new();
        if let Some(given) = given {
            data.insert("id".to_owned(), json!(given));
        }
        if let Some(signature) = signature {
            data.insert("thoughtSignature".to_owned(), json!(*signature));
        }
        self.end_with(index, data, complete, out);
    }

    /// A part without a neutral form, kept whole: code that the vendor ran, a picture that the model made.
    fn opaque(
        &mut self,
        mut fields: Map<String, Value>,
        thought: bool,
        signature: Option<Text<'_>>,
        out: &mut Vec<ChatEvent>,
    ) {
        const KINDS: [&str; 6] = [
            "inlineData",
            "fileData",
            "executableCode",
            "codeExecutionResult",
            "toolCall",
            "toolResponse",
        ];
        let kind = KINDS.into_iter().find(|kind| fields.contains_key(*kind));
        let kind = kind
            .or_else(|| fields.keys().next().map(String::as_str))
            .unwrap_or_default();
        let kind = BlockKind::Opaque {
            kind: kind.to_owned(),
        };
        self.start(out);
        self.close_run(out);
        let index = self.open_block(kind, out);
        if thought {
            fields.insert("thought".to_owned(), json!(true));
        }
        if let Some(signature) = signature {
            fields.insert("thoughtSignature".to_owned(), json!(*signature));
        }
        self.end_with(index, fields, true, out);
    }

    /// Ends a block with what goes back to the vendor.
    fn end_with(&mut self, index: u32, data: Map<String, Value>, complete: bool, out: &mut Vec<ChatEvent>) {
        let delta = Delta::Replay(Replay::new(self.origin(), Value::Object(data)));
        out.push(ChatEvent::BlockDelta { index, delta });
        out.push(ChatEvent::BlockEnd { index, complete });
    }

    /// Tells generated ids of different answers apart.
    fn seed(&self) -> String {
        let ResponseMeta {
            id,
            request_id,
            created,
            ..
        } = &self.options.meta;
        format!("{id:?} {request_id:?} {created:?}")
    }
}
