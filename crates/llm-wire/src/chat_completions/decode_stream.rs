//! Frames → events.

use super::calls::{Calls, Fragment, text_of};
use super::decode_error::{decode_error, is_lone_error};
use super::dialect::Dialect;
use super::think::{Split, ThinkSplitter};
use super::types::{Answer, AnswerDocument, Choice, WireMessage, WirePart, WireUsage};
use crate::lenient::{self, Content, Count, Presence, Text};
use llm_core::{
    BlockKind, ChatEvent, ChatRequest, Cost, Delta, Error, ErrorKind, FinishKind, FinishReason, Origin,
    Phase, Replay, ResponseMeta, Result, Usage, VendorMetadata, Warning,
};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What a decoder must know of the call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Are the model's thoughts wanted?
    pub include_reasoning: bool,
    /// What is known of the call before anything was answered; the answer's own facts are added.
    pub meta: ResponseMeta,
}

impl DecodeOptions {
    /// For the answer to this request.
    pub fn new(request: &ChatRequest, meta: ResponseMeta) -> Self {
        DecodeOptions {
            include_reasoning: request.includes_reasoning(),
            meta,
        }
    }
}

/// Turns the payloads of an event stream into events. Push in, events out; no clock, no I/O.
///
/// ```
/// use llm_core::{ChatRequest, ResponseMeta};
/// use llm_wire::chat_completions::{DecodeOptions, Dialect, StreamDecoder};
/// let options = DecodeOptions::new(&ChatRequest::user("hi"), ResponseMeta::default());
/// let mut decoder = StreamDecoder::new(&Dialect::openai(), options);
/// let mut events = Vec::new();
/// decoder.feed("", r#"{"id":"c1","choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#, &mut events)?;
/// decoder.feed("", "[DONE]", &mut events)?;
/// assert!(decoder.is_done());
/// decoder.finish(&mut events)?;
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamDecoder {
    dialect: Dialect,
    options: DecodeOptions,
    pub(super) state: State,
}

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct State {
    started: bool,
    done: bool,
    over: bool,
    /// What came before the first chunk that names the answer.
    before_start: Vec<ChatEvent>,
    content_seen: bool,
    choice_seen: bool,
    next_block: u32,
    /// The one open block that is not a call.
    open: Option<(Run, u32)>,
    think: Option<ThinkSplitter>,
    calls: Calls,
    refused: bool,
    finish: Option<String>,
    usage: Usage,
    fingerprint: Option<String>,
    /// Reasoning text that is not shown but must go back to the vendor.
    hidden_reasoning: String,
    reasoning_details: Vec<Value>,
    other_choices: bool,
    /// A plain answer: calls are whole, and no end mark is needed.
    pub(super) whole: bool,
}

/// What a run of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Text,
    Reasoning,
    Refusal,
}

impl StreamDecoder {
    /// A decoder for one answer.
    pub fn new(dialect: &Dialect, options: DecodeOptions) -> Self {
        let think = dialect.extract_think_tags.then(ThinkSplitter::default);
        StreamDecoder {
            dialect: dialect.clone(),
            options,
            state: State {
                think,
                ..State::default()
            },
        }
    }

    /// Takes the event name (empty for none) and the data of one event.
    ///
    /// Empty data and data that begins with `:` (a wrapped comment) only keep the stream alive. After the end
    /// mark everything is ignored.
    ///
    /// # Errors
    /// The failure that the vendor put into the stream, with the kind it would have with a status of its own;
    /// `Protocol` for data that is not JSON. After an error the decoder must not be fed again.
    pub fn feed(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if self.state.done || self.state.over {
            return Ok(());
        }
        let trimmed = data.trim();
        if trimmed.is_empty() || trimmed.starts_with(':') {
            self.keep_alive(out);
            return Ok(());
        }
        if trimmed.starts_with("[DONE]") {
            self.state.done = true;
            return Ok(());
        }
        if event == "error" {
            return Err(self.in_band_error(data));
        }
        self.feed_json(data, out)
    }

    /// Takes a comment: proof of life.
    pub fn keep_alive(&mut self, out: &mut Vec<ChatEvent>) {
        if self.state.started {
            out.push(ChatEvent::KeepAlive);
        }
    }

    /// Takes an event that the end of the body left without its blank line. It is used if it parses (it usually
    /// holds the finish reason); otherwise it was cut off, and [`StreamDecoder::finish`] decides.
    ///
    /// # Errors
    /// As [`StreamDecoder::feed`], but never for data that does not parse.
    pub fn feed_unterminated(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        let parses = serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok();
        if parses || data.trim().starts_with("[DONE]") {
            self.feed(event, data, out)
        } else {
            Ok(())
        }
    }

    /// Was the end mark seen? Then [`StreamDecoder::finish`] can be called at once.
    pub fn is_done(&self) -> bool {
        self.state.done
    }

    /// Is the answer complete: was a finish reason or the end mark seen?
    pub fn is_complete(&self) -> bool {
        self.state.done || self.state.finish.is_some()
    }

    /// The body ended, or the end mark was seen: closes what is open and says why the answer ended.
    ///
    /// # Errors
    /// `Interrupted`, when neither a finish reason nor the end mark was seen; what was open is closed as
    /// incomplete first.
    pub fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        if self.state.over {
            return Ok(());
        }
        if !self.is_complete() && !self.state.whole {
            self.interrupt(out);
            let message = "the stream ended before a finish reason or an end mark; the answer is cut off";
            return Err(Error::new(ErrorKind::Interrupted, message).with_phase(self.phase()));
        }
        self.start(out);
        self.state.over = true;
        self.end_text(out);
        self.end_reasoning(out);
        let runnable = self.state.calls.finish(&self.seed(), false, out);
        let raw = self.state.finish.take();
        let kind = self.finish_kind(raw.as_deref(), runnable);
        out.push(ChatEvent::Finish {
            reason: FinishReason::new(kind, raw),
            usage: self.state.usage,
        });
        Ok(())
    }

    /// The stream broke: closes what is open as incomplete. Call it before handing on the error.
    pub fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        if std::mem::replace(&mut self.state.over, true) || !self.state.started {
            return;
        }
        self.flush_think(out);
        if let Some((_, index)) = self.state.open.take() {
            out.push(ChatEvent::BlockEnd {
                index,
                complete: false,
            });
        }
        let seed = self.seed();
        self.state.calls.finish(&seed, true, out);
    }

    /// Did any choice come? An answer without one is no answer.
    pub(super) fn has_choice(&self) -> bool {
        self.state.choice_seen
    }

    /// How far the call had come, for errors of the transport.
    pub fn phase(&self) -> Phase {
        if self.state.content_seen {
            Phase::Streaming
        } else {
            Phase::Sent
        }
    }

    pub(super) fn feed_json(&mut self, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if data.trim_start().starts_with('[') {
            // Some gateways wrap an error into a list; an answer never is one.
            return Err(self.in_band_error(data));
        }
        let mut warnings = Vec::new();
        let read =
            lenient::parse::<AnswerDocument, _>(data, &mut warnings, |answer| self.answer(answer, out));
        let phase = self.phase();
        let failed = match read {
            Ok(failed) => failed,
            Err(error) => return Err(error.with_phase(phase)),
        };
        if failed {
            return Err(self.in_band_error(data));
        }
        for warning in warnings {
            self.aside(ChatEvent::Warning(warning), out);
        }
        Ok(())
    }

    fn in_band_error(&self, data: &str) -> Error {
        decode_error(&self.dialect, None, data.as_bytes()).with_phase(self.phase())
    }

    /// Takes one chunk, or a whole answer. True: it holds an error.
    fn answer(&mut self, answer: Answer<'_>, out: &mut Vec<ChatEvent>) -> bool {
        let failed = |error: &Option<Presence>| error.as_ref().is_some_and(|error| error.0);
        if failed(&answer.error) || is_lone_error(&answer) {
            return true;
        }
        let mut choices = answer.choices.unwrap_or_default();
        let several = choices
            .iter()
            .any(|choice| choice.index.is_some_and(|index| index > 0))
            || choices.len() > 1;
        let first = choices.iter().position(|choice| choice.index.unwrap_or(0) == 0);
        let choice = first.map(|at| choices.swap_remove(at));
        if choice.as_ref().is_some_and(|choice| failed(&choice.error)) {
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
        metadata.extend(
            fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.into(), present(value?)?))),
        );
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
    ) -> Option<WireUsage> {
        if let Some(Value::Object(logprobs)) = choice.logprobs {
            metadata.extend(
                logprobs
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (format!("logprobs_{key}"), value)),
            );
        }
        if let Some(results) = choice.content_filter_results.and_then(present) {
            metadata.insert("content_filter_results".into(), results);
        }
        // Some hosts repeat the whole message in the last chunk: it counts only where no piece came.
        let message = match (choice.delta, choice.message) {
            (Some(delta), _) => Some(delta),
            (None, message) => message.filter(|_| self.state.whole || self.state.next_block == 0),
        };
        if let Some(message) = message {
            self.message(message, metadata, out);
        }
        let reason = [choice.finish_reason, choice.finish_reason_camel]
            .into_iter()
            .flatten()
            .find(|reason| !reason.is_empty());
        if let Some(reason) = reason {
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
            .reasoning_details
            .extend(reasoning_details.into_iter().flatten());
        match content {
            Content::Absent => {}
            Content::Text(text) => self.text(text.0, out),
            Content::Parts(parts) => {
                for part in parts {
                    self.part(part, out);
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
                if let Some(value) = value.and_then(present) {
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
        if let Some(annotations) = annotations.and_then(present) {
            metadata.insert("annotations".into(), annotations);
        }
        let calls = tool_calls.unwrap_or_default();
        let legacy = function_call.filter(|call| call.name.is_some() || text_of(&call.arguments).is_some());
        if !calls.is_empty() || legacy.is_some() {
            self.flush_think(out);
            self.close_run(out);
        }
        for (position, wire) in calls.iter().enumerate() {
            if wire.custom.as_ref().is_some_and(|custom| custom.0) {
                let message = "a call of a custom tool has no neutral form; read it from the raw answer";
                out.push(ChatEvent::Warning(Warning::wire("tool_calls", message)));
                continue;
            }
            let fragment = Fragment {
                later_in_chunk: position > 0,
                whole: self.state.whole,
                ..Fragment::of(wire)
            };
            self.call(fragment, out);
        }
        if let Some(call) = legacy {
            let fragment = Fragment {
                index: Some(u32::MAX),
                name: call.name.as_deref().filter(|name| !name.is_empty()),
                arguments: text_of(&call.arguments),
                ..Fragment::default()
            };
            self.call(fragment, out);
        }
    }

    fn call(&mut self, fragment: Fragment<'_>, out: &mut Vec<ChatEvent>) {
        let before = out.len();
        self.state.calls.push(fragment, &mut self.state.next_block, out);
        self.state.content_seen |= out[before..].iter().any(ChatEvent::is_content);
    }

    fn part(&mut self, part: WirePart<'_>, out: &mut Vec<ChatEvent>) {
        let thought: String = match &part.thinking {
            Content::Absent => String::new(),
            Content::Text(text) => text.0.clone().into_owned(),
            Content::Parts(parts) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
        };
        if !thought.is_empty() {
            self.run(Run::Reasoning, Cow::Owned(thought), out);
        }
        match (part.text, part.refusal) {
            (Some(text), _) => self.text(text.0, out),
            (None, Some(refusal)) => self.run(Run::Refusal, refusal.0, out),
            (None, None) => {
                let known = part
                    .kind
                    .as_deref()
                    .is_none_or(|kind| matches!(kind, "text" | "refusal" | "thinking"));
                if !known {
                    out.push(ChatEvent::Warning(Warning::wire(
                        "content",
                        "a part of unknown type was left out",
                    )));
                }
            }
        }
    }

    /// Answer text, through the splitting of think tags where that is on.
    fn text(&mut self, text: Cow<'_, str>, out: &mut Vec<ChatEvent>) {
        let Some(think) = &mut self.state.think else {
            return self.run(Run::Text, text, out);
        };
        let mut pieces = Vec::new();
        think.push(&text, &mut pieces);
        self.split(pieces, out);
    }

    fn split(&mut self, pieces: Vec<Split>, out: &mut Vec<ChatEvent>) {
        for piece in pieces {
            match piece {
                Split::Text(text) => self.run(Run::Text, Cow::Owned(text), out),
                Split::Reasoning(text) => self.run(Run::Reasoning, Cow::Owned(text), out),
            }
        }
    }

    fn flush_think(&mut self, out: &mut Vec<ChatEvent>) {
        if let Some(think) = &mut self.state.think {
            let mut pieces = Vec::new();
            think.finish(&mut pieces);
            self.split(pieces, out);
        }
    }

    /// Adds to the open run, or closes it and opens another.
    fn run(&mut self, run: Run, text: Cow<'_, str>, out: &mut Vec<ChatEvent>) {
        if text.is_empty() {
            return;
        }
        self.start(out);
        if run == Run::Reasoning {
            if self.dialect.replay_reasoning_field.is_some() {
                self.state.hidden_reasoning.push_str(&text);
            }
            if !self.options.include_reasoning {
                out.push(ChatEvent::KeepAlive);
                return;
            }
        }
        self.state.content_seen = true;
        self.state.refused |= run == Run::Refusal;
        let index = match self.state.open {
            Some((open, index)) if open == run => index,
            _ => {
                self.close_run(out);
                let index = self.state.next_block;
                self.state.next_block += 1;
                self.state.open = Some((run, index));
                let kind = match run {
                    Run::Text => BlockKind::Text,
                    Run::Reasoning => BlockKind::Reasoning,
                    Run::Refusal => BlockKind::Refusal,
                };
                out.push(ChatEvent::BlockStart { index, kind });
                index
            }
        };
        let text = text.into_owned();
        let delta = match run {
            Run::Text => Delta::Text(text),
            Run::Reasoning => Delta::Reasoning(text),
            Run::Refusal => Delta::Refusal(text),
        };
        out.push(ChatEvent::BlockDelta { index, delta });
    }

    fn close_run(&mut self, out: &mut Vec<ChatEvent>) {
        if let Some((_, index)) = self.state.open.take() {
            out.push(ChatEvent::BlockEnd {
                index,
                complete: true,
            });
        }
    }

    fn end_text(&mut self, out: &mut Vec<ChatEvent>) {
        self.flush_think(out);
        self.close_run(out);
    }

    /// What the vendor wants back of its reasoning goes into one block of its own, without text.
    fn end_reasoning(&mut self, out: &mut Vec<ChatEvent>) {
        let mut data = Map::new();
        if let (Some(field), false) = (
            self.dialect.replay_reasoning_field,
            self.state.hidden_reasoning.is_empty(),
        ) {
            data.insert(
                field.to_owned(),
                std::mem::take(&mut self.state.hidden_reasoning).into(),
            );
        }
        if !self.state.reasoning_details.is_empty() {
            let details = std::mem::take(&mut self.state.reasoning_details);
            data.insert("reasoning_details".to_owned(), Value::Array(details));
        }
        if data.is_empty() {
            return;
        }
        let origin = Origin::new(self.dialect.vendor.clone());
        let index = self.state.next_block;
        self.state.next_block += 1;
        out.push(ChatEvent::BlockStart {
            index,
            kind: BlockKind::Reasoning,
        });
        let delta = Delta::Replay(Replay::new(origin, Value::Object(data)));
        out.push(ChatEvent::BlockDelta { index, delta });
        out.push(ChatEvent::BlockEnd {
            index,
            complete: true,
        });
    }

    fn start(&mut self, out: &mut Vec<ChatEvent>) {
        if !std::mem::replace(&mut self.state.started, true) {
            out.push(ChatEvent::Start(Box::new(self.options.meta.clone())));
            out.append(&mut self.state.before_start);
        }
    }

    /// An event beside the content; one that comes before the start waits for it.
    fn aside(&mut self, event: ChatEvent, out: &mut Vec<ChatEvent>) {
        if self.state.started {
            out.push(event)
        } else {
            self.state.before_start.push(event)
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

    fn note_usage(&mut self, reports: [Option<WireUsage>; 3], out: &mut Vec<ChatEvent>) {
        let before = self.state.usage;
        for report in reports.into_iter().flatten() {
            self.state.usage.merge(&usage_of(&report));
        }
        if self.state.usage != before {
            self.aside(ChatEvent::Usage(self.state.usage), out);
        }
    }

    fn seed(&self) -> String {
        let ResponseMeta {
            id,
            request_id,
            created,
            ..
        } = &self.options.meta;
        format!("{id:?} {request_id:?} {created:?}")
    }

    fn finish_kind(&self, raw: Option<&str>, runnable: bool) -> FinishKind {
        let stated = raw.map_or(FinishKind::Stop, kind_of_word);
        match stated {
            FinishKind::Stop if runnable => FinishKind::ToolCalls,
            FinishKind::Stop if self.state.refused => FinishKind::Refusal,
            FinishKind::ToolCalls if self.state.calls.is_empty() => FinishKind::Stop,
            other => other,
        }
    }
}

/// Our word for a finish reason of this format (wire notes, "Finish reasons").
fn kind_of_word(word: &str) -> FinishKind {
    match word {
        "stop" => FinishKind::Stop,
        "length" | "model_length" => FinishKind::Length,
        "tool_calls" | "function_call" => FinishKind::ToolCalls,
        "content_filter" => FinishKind::ContentFilter,
        "error" | "insufficient_system_resource" => FinishKind::ModelFault,
        _ => FinishKind::Other,
    }
}

fn usage_of(wire: &WireUsage) -> Usage {
    let count = |count: Option<Count>| count.map(|count| count.0);
    let details = wire
        .prompt_tokens_details
        .as_ref()
        .or(wire.prompt_token_details.as_ref());
    let mut usage = Usage::default();
    usage.input_tokens = count(wire.prompt_tokens);
    usage.output_tokens = count(wire.completion_tokens);
    usage.cached_input_tokens = count(wire.num_cached_tokens)
        .or(count(wire.prompt_cache_hit_tokens))
        .or(count(wire.cached_tokens))
        .or(details.and_then(|details| count(details.cached_tokens)));
    usage.cache_write_input_tokens = details.and_then(|details| count(details.cache_write_tokens));
    usage.reasoning_tokens = wire
        .completion_tokens_details
        .as_ref()
        .and_then(|details| count(details.reasoning_tokens));
    usage.cost = wire.cost.and_then(Cost::from_reported_usd);
    usage
}

fn words_of<'a>(content: &'a Content<'a, WirePart<'a>>) -> Cow<'a, str> {
    match content {
        Content::Absent => Cow::Borrowed(""),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Parts(parts) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
    }
}

/// A value that says something.
fn present(value: Value) -> Option<Value> {
    let empty = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    (!empty).then_some(value)
}
