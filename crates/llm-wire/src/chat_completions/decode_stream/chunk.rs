//! Reading one chunk, or a whole answer: which field says what.

use super::super::calls::{Fragment, LEGACY_INDEX, MOST_CALLS, TooMany, text_of};
use super::super::decode_error::is_lone_error;
use super::super::types::{Answer, Choice, WireMessage, WirePart, WireUsage};
use super::usage::usage_of;
use super::{Run, StreamDecoder};
use crate::lenient::{Content, Count, Presence, Rare, Text};
use llm_core::{ChatEvent, Error, ErrorKind, VendorMetadata, Warning};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

impl StreamDecoder {
    /// Takes one chunk, or a whole answer. True: it holds an error.
    pub(super) fn answer(&mut self, answer: Answer<'_>, out: &mut Vec<ChatEvent>) -> bool {
        let early_stop = answer
            .x_groq
            .as_ref()
            .is_some_and(|extra| Presence::of(&extra.error));
        if Presence::of(&answer.error) || early_stop || is_lone_error(&answer) {
            return true;
        }
        let mut choices = answer.choices.unwrap_or_default();
        let several = choices.len() > 1 || !choices.iter().all(Choice::is_first);
        let first = choices.iter().position(Choice::is_first);
        let choice = first.map(|at| choices.swap_remove(at));
        if choice.as_ref().is_some_and(|choice| Presence::of(&choice.error)) {
            return true;
        }
        self.note_meta(answer.id, answer.model, answer.created, answer.service_tier);
        let names_answer = self.options.meta.id.is_some() || self.options.meta.model.is_some();
        if choice.is_some() || several || names_answer {
            self.start(out);
        }
        if several && !std::mem::replace(&mut self.state.other_choices, true) {
            out.push(ChatEvent::Warning(Warning::wire(
                "choices",
                "only the first choice is read",
            )));
        }
        let mut metadata = Map::new();
        if let Some(fingerprint) = answer.system_fingerprint
            && self.state.fingerprint.as_deref() != Some(&fingerprint)
        {
            let fingerprint = fingerprint.into_string();
            metadata.insert("system_fingerprint".into(), Value::from(fingerprint.as_str()));
            self.state.fingerprint = Some(fingerprint);
        }
        let fields = [
            ("prompt_filter_results", answer.prompt_filter_results),
            ("moderation", answer.moderation),
            ("citations", answer.citations),
        ];
        for (name, value) in fields {
            if let Some(value) = present(value) {
                metadata.insert(name.into(), value);
            }
        }
        let mut usages = [answer.usage, answer.x_groq.and_then(|extra| extra.usage), None];
        if let Some(choice) = choice {
            self.state.choice_seen = true;
            usages[2] = self.choice(choice, &mut metadata, out);
        }
        self.note_usage(usages, out);
        if !metadata.is_empty() {
            let mut bag = VendorMetadata::default();
            for (key, value) in metadata {
                bag.set(self.dialect.vendor.clone(), key, value);
            }
            self.aside(ChatEvent::Metadata(bag), out);
        }
        false
    }

    fn choice(
        &mut self,
        choice: Choice<'_>,
        metadata: &mut Map<String, Value>,
        out: &mut Vec<ChatEvent>,
    ) -> Rare<WireUsage> {
        if let Some(Value::Object(logprobs)) = choice.logprobs.map(|logprobs| *logprobs) {
            metadata.extend(
                logprobs
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (format!("logprobs_{key}"), value)),
            );
        }
        if let Some(results) = present(choice.content_filter_results) {
            metadata.insert("content_filter_results".into(), results);
        }
        // Some hosts repeat the whole message in the last chunk: it counts only where no piece came.
        let message = match (choice.delta, choice.message) {
            (Some(delta), None) => Some(delta),
            (Some(delta), Some(_)) if !delta.says_nothing() => Some(delta),
            (_, message) => message
                .filter(|_| self.state.whole || self.state.next_block == 0)
                .map(|message| *message),
        };
        if let Some(message) = message {
            self.message(message, metadata, out);
        }
        let reason = [choice.finish_reason, choice.finish_reason_camel]
            .into_iter()
            .flatten()
            .find(|reason| !reason.is_empty());
        if let Some(reason) = reason {
            let mut failures = self.dialect.failures.iter();
            if let Some((word, kind)) = failures.find(|(word, _)| *word == &*reason) {
                let message = format!("the vendor broke the answer off: {word}");
                let mut error = Error::new(*kind, message);
                error.vendor_mut().code = Some((*word).to_owned());
                self.state.failure = Some(error);
            }
            self.state.finish = Some(reason.into_string());
        }
        choice.usage
    }

    fn message(
        &mut self,
        message: WireMessage<'_>,
        metadata: &mut Map<String, Value>,
        out: &mut Vec<ChatEvent>,
    ) {
        let WireMessage {
            content,
            refusal,
            reasoning_content,
            reasoning,
            reasoning_details,
            tool_calls,
            function_call,
            audio,
            annotations,
        } = message;
        for field in self.dialect.reasoning_fields {
            let thought = match *field {
                "reasoning_content" => &reasoning_content,
                "reasoning" => &reasoning,
                _ => continue,
            };
            let thought = words_of(thought);
            if !thought.is_empty() {
                self.run(Run::Reasoning, thought, out);
                break;
            }
        }
        self.state
            .thoughts
            .details
            .extend(reasoning_details.into_iter().flatten());
        match content {
            Content::Absent => {}
            Content::Text(text) => self.text(text.0, out),
            Content::Parts(parts) => {
                for part in parts {
                    self.part(part, metadata, out);
                }
            }
        }
        if let Some(refusal) = refusal.0 {
            self.run(Run::Refusal, refusal.0, out);
        }
        if let Some(audio) = audio {
            if let Some(transcript) = audio.transcript {
                self.text(transcript.0, out);
            }
            let pieces = [
                ("audio_id", audio.id),
                ("audio_data", audio.data),
                ("audio_expires_at", audio.expires_at),
            ];
            for (name, value) in pieces {
                if let Some(value) = present(value) {
                    // data comes in pieces: kept as a list, in order
                    let value = if name == "audio_data" {
                        json!([value])
                    } else {
                        value
                    };
                    metadata.insert(name.into(), value);
                }
            }
        }
        if let Some(annotations) = present(annotations) {
            metadata.insert("annotations".into(), annotations);
        }
        let calls = tool_calls.unwrap_or_default();
        for (position, wire) in calls.iter().enumerate() {
            let fragment = Fragment {
                later_in_chunk: position > 0,
                whole: self.state.whole,
                ..Fragment::of(wire)
            };
            self.call(fragment, out);
        }
        if let Some(call) = &function_call {
            let fragment = Fragment {
                index: Some(LEGACY_INDEX),
                name: call.name.as_deref().filter(|name| !name.is_empty()),
                arguments: text_of(&call.arguments),
                ..Fragment::default()
            };
            self.call(fragment, out);
        }
    }

    fn call(&mut self, fragment: Fragment<'_>, out: &mut Vec<ChatEvent>) {
        if fragment.says_nothing() {
            return;
        }
        self.flush_think(out);
        self.end_thought(out);
        self.close_run(out);
        let before = out.len();
        if let Err(TooMany) = self.state.calls.push(fragment, &mut self.state.next_block, out) {
            let message = format!("the answer holds more than {MOST_CALLS} calls");
            self.state.failure = Some(Error::new(ErrorKind::Protocol, message));
        }
        self.state.content_seen |= out[before..].iter().any(ChatEvent::is_content);
    }

    fn part(&mut self, part: WirePart<'_>, metadata: &mut Map<String, Value>, out: &mut Vec<ChatEvent>) {
        self.keep_thought(&part);
        let thought: String = match &part.thinking {
            Content::Absent => String::new(),
            Content::Text(text) => text.0.clone().into_owned(),
            Content::Parts(parts) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
        };
        if !thought.is_empty() {
            self.run(Run::Reasoning, Cow::Owned(thought), out);
        }
        if part.closed == Some(true) {
            self.end_thought(out);
        }
        if let Some(Value::Array(ids)) = part.reference_ids.map(|ids| *ids) {
            let known = metadata.entry("reference_ids").or_insert_with(|| json!([]));
            if let Value::Array(known) = known {
                known.extend(ids);
            }
        }
        match (part.text, part.refusal) {
            (Some(text), _) => self.text(text.0, out),
            (None, Some(refusal)) => self.run(Run::Refusal, refusal.0, out),
            (None, None) => {
                let known = part
                    .kind
                    .as_deref()
                    .is_none_or(|kind| matches!(kind, "text" | "refusal" | "thinking" | "reference"));
                if !known {
                    out.push(ChatEvent::Warning(Warning::wire(
                        "content",
                        "a part of unknown type was left out",
                    )));
                }
            }
        }
    }

    fn note_meta(
        &mut self,
        id: Option<Text<'_>>,
        model: Option<Text<'_>>,
        created: Option<Count>,
        service_tier: Option<Text<'_>>,
    ) {
        if self.state.started {
            return;
        }
        let filled = |text: Option<Text<'_>>| text.filter(|text| !text.is_empty()).map(Text::into_string);
        let meta = &mut self.options.meta;
        meta.id = filled(id).or(meta.id.take());
        meta.model = filled(model).or(meta.model.take());
        meta.created = created
            .map(|created| created.0)
            .filter(|created| *created > 0)
            .or(meta.created);
        meta.service_tier = filled(service_tier).or(meta.service_tier.take());
    }

    fn note_usage(&mut self, reports: [Rare<WireUsage>; 3], out: &mut Vec<ChatEvent>) {
        let before = self.state.usage;
        for report in reports.into_iter().flatten() {
            self.state.usage.merge(&usage_of(&report));
        }
        if self.state.usage != before {
            self.aside(ChatEvent::Usage(self.state.usage), out);
        }
    }
}

fn words_of<'a>(content: &'a Content<'a, WirePart<'a>>) -> Cow<'a, str> {
    match content {
        Content::Absent => Cow::Borrowed(""),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Parts(parts) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
    }
}

/// A value that says something.
fn present(value: Rare<Value>) -> Option<Value> {
    value.map(|value| *value).filter(|value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    })
}
