//! Frames → events.

mod chunk;
mod metadata;
mod parts;
mod usage;

use super::decode_error::decode_error;
use super::dialect::Dialect;
use super::finish::kind_of_word;
use super::types::AnswerDocument;
use crate::decode_options::DecodeOptions;
use crate::frame::JsonArrayDecoder;
use crate::lenient;
use chunk::Chunk;
use llm_core::{
    BlockKind, ChatEvent, Delta, Error, ErrorKind, FinishKind, FinishReason, Origin, Phase, Result,
    VendorMetadata,
};
use metadata::Metadata;
use parts::CallIds;
use std::borrow::Cow;
use usage::Counts;

/// Turns the payloads of a stream into events. Push in, events out; no clock, no I/O.
///
/// The answer's blocks are the vendor's parts: neighbouring pieces of text are one block, but a piece with a
/// signature is always a block of its own, even where it has no text.
///
/// ```
/// use llm_core::{ChatRequest, ResponseMeta};
/// use llm_wire::generate_content::{DecodeOptions, Dialect, StreamDecoder};
/// let options = DecodeOptions::new(&ChatRequest::user("hi"), ResponseMeta::default());
/// let mut decoder = StreamDecoder::new(&Dialect::gemini(), options);
/// let mut events = Vec::new();
/// let chunk = r#"{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}]}"#;
/// decoder.feed("", chunk, &mut events)?;
/// // there is no end mark: the end of the body decides
/// assert!(decoder.is_complete() && !decoder.is_done());
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
    candidate_seen: bool,
    other_candidates: bool,
    next_block: u32,
    /// The one open block.
    open: Option<(Run, u32)>,
    call_ids: CallIds,
    /// Is there a call to run?
    runnable: bool,
    /// Was an answer blocked that had begun?
    blocked: bool,
    finish: Option<String>,
    counts: Counts,
    metadata: Metadata,
    /// A plain answer: it may lack its finish reason.
    pub(super) whole: bool,
}

/// What a run of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Text,
    Reasoning,
}

impl StreamDecoder {
    /// A decoder for one answer.
    pub fn new(dialect: &Dialect, options: DecodeOptions) -> Self {
        StreamDecoder {
            dialect: dialect.clone(),
            options,
            state: State::default(),
        }
    }

    /// Takes the event name (empty for none) and the data of one event.
    ///
    /// Empty data and data that begins with `:` (a wrapped comment) only keep the stream alive. An end mark is not
    /// part of this format; gateways that send one may.
    ///
    /// # Errors
    /// The failure that the vendor put into the stream, with the kind it would have with a status of its own;
    /// `ContentFilter` for a prompt that was blocked; `Protocol` for data that is not JSON. After an error the
    /// decoder must not be fed again.
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

    /// Takes what the end of the body left unfinished. It is used if it parses (it usually holds the finish reason,
    /// or a failure); otherwise it was cut off, and [`StreamDecoder::finish`] decides.
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

    /// Was an end mark seen? Then [`StreamDecoder::finish`] can be called at once; usually the body just ends.
    pub fn is_done(&self) -> bool {
        self.state.done
    }

    /// Is the answer complete: was a finish reason or an end mark seen?
    pub fn is_complete(&self) -> bool {
        self.state.done || self.state.finish.is_some()
    }

    /// The body ended: closes what is open and says why the answer ended.
    ///
    /// # Errors
    /// `Interrupted`, when no finish reason was seen; what was open is closed as incomplete first.
    pub fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        if self.state.over {
            return Ok(());
        }
        if !self.is_complete() && !self.state.whole {
            self.interrupt(out);
            let message = "the stream ended before a finish reason; the answer is cut off";
            return Err(Error::new(ErrorKind::Interrupted, message).with_phase(self.phase()));
        }
        self.start(out);
        self.state.over = true;
        self.close_run(out);
        if let Some(fields) = self.state.metadata.take() {
            let mut bag = VendorMetadata::default();
            for (key, value) in fields {
                bag.set(self.dialect.vendor.clone(), key, value);
            }
            out.push(ChatEvent::Metadata(bag));
        }
        let raw = self.state.finish.take();
        let stated = raw.as_deref().map_or(FinishKind::Stop, kind_of_word);
        let kind = match stated {
            _ if self.state.blocked => FinishKind::ContentFilter,
            FinishKind::Stop if self.state.runnable => FinishKind::ToolCalls,
            other => other,
        };
        out.push(ChatEvent::Finish {
            reason: FinishReason::new(kind, raw),
            usage: self.state.counts.usage(),
        });
        Ok(())
    }

    /// The stream broke: closes what is open as incomplete. Call it before handing on the error.
    pub fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        if std::mem::replace(&mut self.state.over, true) || !self.state.started {
            return;
        }
        if let Some((_, index)) = self.state.open.take() {
            out.push(ChatEvent::BlockEnd {
                index,
                complete: false,
            });
        }
    }

    /// How far the call had come, for errors of the transport.
    pub fn phase(&self) -> Phase {
        if self.state.content_seen {
            Phase::Streaming
        } else {
            Phase::Sent
        }
    }

    /// Did any candidate come? An answer without one is no answer.
    pub(super) fn has_candidate(&self) -> bool {
        self.state.candidate_seen
    }

    pub(super) fn feed_json(&mut self, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if data.trim_start().starts_with('[') {
            return self.feed_list(data, out);
        }
        let mut warnings = Vec::new();
        let read =
            lenient::parse::<AnswerDocument, _>(data, &mut warnings, |answer| self.answer(answer, out));
        match read.map_err(|error| error.with_phase(self.phase()))? {
            Chunk::Answer => {}
            Chunk::Failure => return Err(self.in_band_error(data)),
            Chunk::Blocked(reason) => return Err(self.blocked(reason)),
        }
        for warning in warnings {
            self.aside(ChatEvent::Warning(warning), out);
        }
        Ok(())
    }

    /// A list of chunks: a whole stream of the other framing, or a failure that was wrapped.
    fn feed_list(&mut self, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        let protocol = |decoder: &StreamDecoder, message| {
            Error::new(ErrorKind::Protocol, message).with_phase(decoder.phase())
        };
        let mut any = false;
        let mut elements = JsonArrayDecoder::new(usize::MAX);
        elements.feed(data.trim_start().as_bytes(), |element| {
            any = true;
            if element.starts_with('{') {
                self.feed_json(element, out)
            } else {
                let message = "a list of something else came where an answer was expected";
                Err(protocol(self, message))
            }
        })?;
        elements.finish(|_| Err(protocol(self, "a list of answers came that is cut off")))?;
        if any {
            Ok(())
        } else {
            Err(protocol(self, "an empty list came where an answer was expected"))
        }
    }

    fn in_band_error(&self, data: &str) -> Error {
        decode_error(&self.dialect, None, data.as_bytes()).with_phase(self.phase())
    }

    /// The prompt was filtered, and there is no answer.
    fn blocked(&self, reason: String) -> Error {
        let message = format!("the vendor blocked the prompt ({reason}); change what is asked");
        let mut error = Error::new(ErrorKind::ContentFilter, message).with_phase(self.phase());
        error.vendor_mut().code = Some(reason);
        error
    }

    /// Adds to the open run, or closes it and opens another.
    fn run(&mut self, run: Run, text: Cow<'_, str>, out: &mut Vec<ChatEvent>) {
        if text.is_empty() {
            return;
        }
        self.start(out);
        if run == Run::Reasoning && !self.options.include_reasoning {
            out.push(ChatEvent::KeepAlive);
            return;
        }
        let index = match self.state.open {
            Some((open, index)) if open == run => index,
            _ => {
                self.close_run(out);
                let index = self.open_block(run.kind(), out);
                self.state.open = Some((run, index));
                index
            }
        };
        self.state.content_seen = true;
        let delta = run.delta(text.into_owned());
        out.push(ChatEvent::BlockDelta { index, delta });
    }

    fn open_block(&mut self, kind: BlockKind, out: &mut Vec<ChatEvent>) -> u32 {
        let index = self.state.next_block;
        self.state.next_block += 1;
        out.push(ChatEvent::BlockStart { index, kind });
        index
    }

    fn close_run(&mut self, out: &mut Vec<ChatEvent>) {
        if let Some((_, index)) = self.state.open.take() {
            out.push(ChatEvent::BlockEnd {
                index,
                complete: true,
            });
        }
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

    /// Where state that goes back comes from.
    fn origin(&self) -> Origin {
        let origin = Origin::new(self.dialect.vendor.clone());
        match &self.options.meta.requested_model {
            Some(model) => origin.with_model(model.clone()),
            None => origin,
        }
    }
}

impl Run {
    fn kind(self) -> BlockKind {
        match self {
            Run::Text => BlockKind::Text,
            Run::Reasoning => BlockKind::Reasoning,
        }
    }

    fn delta(self, text: String) -> Delta {
        match self {
            Run::Text => Delta::Text(text),
            Run::Reasoning => Delta::Reasoning(text),
        }
    }
}

#[cfg(test)]
mod tests;
