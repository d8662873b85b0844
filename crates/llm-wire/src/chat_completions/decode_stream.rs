//! Frames → events.

mod beginning;
mod chunk;
mod envelope;
mod thoughts;
mod usage;

use super::calls::{Calls, End};
use super::decode_error::decode_error;
use super::dialect::{Dialect, Prefill};
use super::types::AnswerDocument;
use crate::cut_off::is_cut_off;
pub use crate::decode_options::DecodeOptions;
use crate::lenient;
use crate::think::{Split, ThinkSplitter};
use beginning::Beginning;
use envelope::{Envelope, text_alone};
use llm_core::{
    BlockKind, ChatEvent, Delta, Error, ErrorKind, FinishKind, FinishReason, Phase, ResponseMeta, Result,
    Usage,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use thoughts::Thoughts;

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
    thoughts: Thoughts,
    /// What is around the text of the chunk before.
    envelope: Envelope,
    /// What is cut off the beginning of the text.
    beginning: Beginning,
    /// The vendor's word that it failed, and how.
    failure: Option<Error>,
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
        let repeats = matches!(dialect.messages.prefill, Prefill::Marked(mark) if mark.repeated);
        let repeated = options.continues.clone().filter(|_| repeats);
        let calls = Calls::of_tools(options.tool_names.clone());
        StreamDecoder {
            dialect: dialect.clone(),
            options,
            state: State {
                think,
                calls,
                beginning: Beginning::new(repeated.unwrap_or_default()),
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
        let raw = self.state.finish.take();
        let stated = raw.as_deref().map_or(FinishKind::Stop, kind_of_word);
        let end = if is_cut_off(stated) {
            End::CutOff
        } else {
            End::Whole
        };
        let runnable = self
            .state
            .calls
            .finish(&self.dialect.vendor, || seed(&self.options.meta), end, out);
        let kind = self.finish_kind(stated, runnable);
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
        let meta = &self.options.meta;
        let vendor = &self.dialect.vendor;
        self.state.calls.finish(vendor, || seed(meta), End::Broken, out);
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
            let wrapped =
                serde_json::from_str::<Vec<Map<String, Value>>>(data).is_ok_and(|list| !list.is_empty());
            if wrapped {
                return Err(self.in_band_error(data));
            }
            let message = "a list came where an answer was expected";
            return Err(Error::new(ErrorKind::Protocol, message).with_phase(self.phase()));
        }
        if let Some(text) = self.state.envelope.text_of(data) {
            self.text(text.0, out);
            return Ok(());
        }
        let mut warnings = Vec::new();
        let mut alone = None;
        let read = lenient::parse::<AnswerDocument, _>(data, &mut warnings, |answer| {
            alone = text_alone(&answer, data);
            self.answer(answer, out)
        });
        match alone.filter(|_| self.state.started && warnings.is_empty()) {
            Some(literal) => self.state.envelope.keep(data, literal),
            None => self.state.envelope.forget(),
        }
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
        match self.state.failure.take() {
            Some(error) => Err(error.with_phase(self.phase())),
            None => Ok(()),
        }
    }

    fn in_band_error(&self, data: &str) -> Error {
        decode_error(&self.dialect, None, data.as_bytes()).with_phase(self.phase())
    }

    /// Answer text, through the splitting of think tags where that is on.
    fn text(&mut self, text: Cow<'_, str>, out: &mut Vec<ChatEvent>) {
        let text = self.state.beginning.cut(text);
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
        let held_back = self.state.beginning.finish();
        if !held_back.is_empty() {
            self.text(Cow::Owned(held_back), out);
        }
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
        if run != Run::Reasoning {
            self.end_thought(out);
        } else {
            if self.dialect.replay_reasoning_field.is_some() {
                self.state.thoughts.text.push_str(&text);
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
        self.end_thought(out);
        self.close_run(out);
    }

    fn start(&mut self, out: &mut Vec<ChatEvent>) {
        if !std::mem::replace(&mut self.state.started, true) {
            out.push(ChatEvent::Start(Box::new(self.begin())));
            out.append(&mut self.state.before_start);
        }
    }

    /// What is known of the answer. From now on only that is kept which tells it from others.
    fn begin(&mut self) -> ResponseMeta {
        let meta = std::mem::take(&mut self.options.meta);
        let kept = &mut self.options.meta;
        kept.id.clone_from(&meta.id);
        kept.request_id.clone_from(&meta.request_id);
        kept.created = meta.created;
        meta
    }

    /// An event beside the content; one that comes before the start waits for it.
    fn aside(&mut self, event: ChatEvent, out: &mut Vec<ChatEvent>) {
        if self.state.started {
            out.push(event)
        } else {
            self.state.before_start.push(event)
        }
    }

    fn finish_kind(&self, stated: FinishKind, runnable: bool) -> FinishKind {
        match stated {
            FinishKind::Stop if runnable => FinishKind::ToolCalls,
            FinishKind::Stop if self.state.refused => FinishKind::Refusal,
            FinishKind::ToolCalls if self.state.calls.is_empty() => FinishKind::Stop,
            other => other,
        }
    }
}

/// What tells the answers apart whose calls come without ids.
fn seed(meta: &ResponseMeta) -> String {
    let ResponseMeta {
        id,
        request_id,
        created,
        ..
    } = meta;
    format!("{id:?} {request_id:?} {created:?}")
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

#[cfg(test)]
mod tests;
