//! Reading one line, or a whole answer: which field says what.

use super::{Run, StreamDecoder};
use crate::call_ids::generated_id;
use crate::json_text::is_whole;
use crate::lenient::Presence;
use crate::ollama::moment::seconds;
use crate::ollama::types::{Answer, WireMessage, WireToolCall};
use llm_core::{BlockKind, ChatEvent, Delta, VendorMetadata};
use serde_json::Value;

/// What a line was.
pub(super) enum Line {
    /// Part of an answer.
    Answer,
    /// A failure.
    Failure,
    /// The end of something that was no answer.
    NoAnswer,
}

impl StreamDecoder {
    /// Takes one line, or a whole answer.
    pub(super) fn answer(&mut self, answer: Answer<'_>, out: &mut Vec<ChatEvent>) -> Line {
        let there = |field: &Option<Presence>| field.as_ref().is_some_and(|field| field.0);
        if there(&answer.error) || (answer.message.is_none() && there(&answer.detail)) {
            return Line::Failure;
        }
        let done = answer.done == Some(true);
        let reason = answer.done_reason.filter(|reason| !reason.is_empty());
        if done && !self.state.content_seen && matches!(reason.as_deref(), Some("load" | "unload")) {
            return Line::NoAnswer;
        }
        if !self.state.started {
            let meta = &mut self.options.meta;
            if let Some(model) = answer.model.filter(|model| !model.is_empty()) {
                meta.model = Some(model.into_string());
            }
            if let Some(created) = &answer.created_at {
                meta.created = seconds(created).or(meta.created);
            }
            let created = answer.created_at.as_deref().unwrap_or_default();
            self.state.seed = format!("{:?} {created}", meta.request_id);
        }
        if answer.message.is_some() || self.options.meta.model.is_some() {
            self.start(out);
        }
        if let Some(message) = answer.message {
            self.message(message, out);
        }
        let reports = [
            ("logprobs", answer.logprobs),
            ("remote_model", answer.remote_model),
            ("remote_host", answer.remote_host),
            ("total_duration", answer.total_duration),
            ("load_duration", answer.load_duration),
            ("prompt_eval_duration", answer.prompt_eval_duration),
            ("eval_duration", answer.eval_duration),
        ];
        let mut bag = VendorMetadata::default();
        for (name, value) in reports {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                bag.set(self.dialect.vendor.clone(), name, *value);
            }
        }
        if !bag.is_empty() {
            self.aside(ChatEvent::Metadata(bag), out);
        }
        let before = self.state.usage;
        let usage = &mut self.state.usage;
        usage.input_tokens = answer
            .prompt_eval_count
            .map(|count| count.0)
            .or(usage.input_tokens);
        usage.output_tokens = answer.eval_count.map(|count| count.0).or(usage.output_tokens);
        if self.state.usage != before {
            self.aside(ChatEvent::Usage(self.state.usage), out);
        }
        if done {
            self.state.done = true;
            self.state.reason = reason.map(|reason| reason.into_string());
        }
        Line::Answer
    }

    fn message(&mut self, message: WireMessage<'_>, out: &mut Vec<ChatEvent>) {
        self.state.message_seen = true;
        if let Some(thinking) = message.thinking {
            self.run(Run::Reasoning, thinking.0, out);
        }
        if let Some(content) = message.content {
            self.text(content.0, out);
        }
        for call in message.tool_calls.into_iter().flatten() {
            self.call(call, out);
        }
    }

    /// A call comes whole.
    fn call(&mut self, call: WireToolCall<'_>, out: &mut Vec<ChatEvent>) {
        let function = call.function.unwrap_or_default();
        let given = call.id.as_deref().filter(|id| !id.is_empty());
        let name = function.name.as_deref().unwrap_or_default();
        if name.is_empty() && given.is_none() && function.arguments.is_none() {
            return;
        }
        self.flush_think(out);
        self.start(out);
        self.close_run(out);
        let arguments = match function.arguments.map(|arguments| *arguments) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(arguments) => arguments.to_string(),
        };
        let complete = !name.is_empty() && is_whole(&arguments);
        let id = self.call_id(given);
        let name = self.options.tool_names.own(name).to_owned();
        let index = self.open_block(BlockKind::ToolCall { id, name }, out);
        self.state.content_seen = true;
        self.state.runnable |= complete;
        if !arguments.is_empty() {
            let delta = Delta::Arguments(arguments);
            out.push(ChatEvent::BlockDelta { index, delta });
        }
        out.push(ChatEvent::BlockEnd { index, complete });
    }

    /// The server's id where it gave one that no call has, else one of our own.
    fn call_id(&mut self, given: Option<&str>) -> String {
        let state = &mut self.state;
        if let Some(given) = given
            && state.call_ids.insert(given.to_owned())
        {
            return given.to_owned();
        }
        loop {
            let id = generated_id(&state.seed, state.generated_ids);
            state.generated_ids += 1;
            if state.call_ids.insert(id.clone()) {
                return id;
            }
        }
    }
}
