//! Events of the vendor's stream → events.

mod blocks;
mod counts;
mod event;

use super::decode_error::decode_error;
use super::dialect::Dialect;
use super::types::{EventDocument, Message};
use crate::cut_off::is_cut_off;
use crate::decode_options::DecodeOptions;
use crate::lenient::{self, Presence};
use blocks::Blocks;
use counts::Counts;
use event::Outcome;
use llm_core::{ChatEvent, Error, ErrorKind, FinishKind, FinishReason, Phase, Result, Usage};
use serde_json::{Map, Value};

/// Turns the payloads of an event stream into events. Push in, events out; no clock, no I/O.
///
/// Every block becomes one block, in the vendor's order:
///
/// | on the wire | neutral |
/// |---|---|
/// | `text` | text; its citations are its replay state, and metadata besides |
/// | `thinking` | reasoning, if it was asked for; signed, its replay state is the whole block |
/// | `tool_use` | a call |
/// | anything else (`redacted_thinking`, `server_tool_use`, its results, …) | an opaque block, whole |
///
/// An empty text block, and a thought that is neither shown nor signed, are no blocks.
///
/// ```
/// use llm_core::{ChatRequest, ResponseMeta};
/// use llm_wire::messages::{DecodeOptions, Dialect, StreamDecoder};
/// let options = DecodeOptions::new(&ChatRequest::user("hi"), ResponseMeta::default());
/// let mut decoder = StreamDecoder::new(&Dialect::anthropic(), options);
/// let mut events = Vec::new();
/// for data in [
///     r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3,"output_tokens":1}}}"#,
///     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
///     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
///     r#"{"type":"content_block_stop","index":0}"#,
///     r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
///     r#"{"type":"message_stop"}"#,
/// ] {
///     decoder.feed("", data, &mut events)?;
/// }
/// assert!(decoder.is_done());
/// decoder.finish(&mut events)?;
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamDecoder {
    dialect: Dialect,
    options: DecodeOptions,
    state: State,
}

/// What was seen so far.
#[derive(Debug, Default)]
struct State {
    started: bool,
    /// The message itself was seen to begin; a block may come without that.
    message_seen: bool,
    done: bool,
    over: bool,
    content_seen: bool,
    /// What came before the start.
    before_start: Vec<ChatEvent>,
    blocks: Blocks,
    stop: Option<String>,
    counts: Counts,
    usage: Usage,
    intervened: bool,
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

    /// Takes the event name (empty for none) and the data of one event. What the data itself says comes before the
    /// name, so that a frame without names (Bedrock's) may be fed as well.
    ///
    /// Empty data, data that begins with `:` (a wrapped comment), pings and events of unknown types only keep the
    /// stream alive. After the end of the message everything is ignored.
    ///
    /// # Errors
    /// The failure that the vendor put into the stream, with the kind it would have with a status of its own;
    /// `Protocol` for data that is not JSON, and for a second message. After an error the decoder must not be fed
    /// again.
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
            // not this format's end mark, but that of gateways which put another format's stream into this one
            self.state.done = true;
            return Ok(());
        }
        if event == "error" {
            return Err(self.in_band_error(data));
        }
        let before = out.len();
        let fed = self.feed_json(event, data, out);
        self.state.content_seen |= out[before..].iter().any(ChatEvent::is_content);
        fed
    }

    /// Takes a comment: proof of life.
    pub fn keep_alive(&mut self, out: &mut Vec<ChatEvent>) {
        if self.state.started {
            out.push(ChatEvent::KeepAlive);
        }
    }

    /// Takes an event that the end of the body left without its blank line. It is used if it parses (it usually
    /// holds the stop reason); otherwise it was cut off, and [`StreamDecoder::finish`] decides.
    ///
    /// # Errors
    /// As [`StreamDecoder::feed`], but never for data that does not parse.
    pub fn feed_unterminated(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok() {
            self.feed(event, data, out)
        } else {
            Ok(())
        }
    }

    /// Was the end of the message seen? Then [`StreamDecoder::finish`] can be called at once.
    pub fn is_done(&self) -> bool {
        self.state.done
    }

    /// Is the answer complete: was a stop reason or the end of the message seen?
    pub fn is_complete(&self) -> bool {
        self.state.done || self.state.stop.is_some()
    }

    /// The body ended, or the end of the message was seen: closes what is open and says why the answer ended.
    ///
    /// # Errors
    /// `Interrupted`, when neither a stop reason nor the end of the message was seen; what was open is closed as
    /// incomplete first.
    pub fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        if self.state.over {
            return Ok(());
        }
        if !self.is_complete() {
            self.interrupt(out);
            let message =
                "the stream ended before a stop reason or the end of the message; the answer is cut off";
            return Err(Error::new(ErrorKind::Interrupted, message).with_phase(self.phase()));
        }
        self.start(out);
        self.state.over = true;
        let raw = self.state.stop.take();
        let stated = raw.as_deref().map_or(FinishKind::Stop, kind_of_word);
        let cut = self.state.intervened || is_cut_off(stated);
        self.blocks(out).finish(cut);
        let kind = self.finish_kind(stated);
        out.push(ChatEvent::Finish {
            reason: FinishReason::new(kind, raw),
            usage: self.state.usage,
        });
        Ok(())
    }

    /// The stream broke: closes what is open as incomplete. Call it before handing on the error.
    pub fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        if !std::mem::replace(&mut self.state.over, true) && self.state.started {
            self.blocks(out).interrupt();
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

    /// Takes a plain answer: a message that is whole at its start.
    pub(super) fn take_whole(&mut self, message: Message<'_>, out: &mut Vec<ChatEvent>) {
        self.message(message, out);
        self.state.done = true;
    }

    fn feed_json(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if data.trim_start().starts_with('[') {
            // Some gateways wrap an error into a list; an event never is one.
            let wrapped =
                serde_json::from_str::<Vec<Map<String, Value>>>(data).is_ok_and(|list| !list.is_empty());
            return Err(if wrapped {
                self.in_band_error(data)
            } else {
                self.broken("a list came where an event was expected")
            });
        }
        let mut warnings = Vec::new();
        let read =
            lenient::parse::<EventDocument, _>(data, &mut warnings, |read| self.event(event, read, out));
        let phase = self.phase();
        match read.map_err(|error| error.with_phase(phase))? {
            Outcome::Fine => {}
            Outcome::Failed => return Err(self.in_band_error(data)),
            Outcome::Broken(message) => return Err(self.broken(message)),
        }
        for warning in warnings {
            self.aside(ChatEvent::Warning(warning), out);
        }
        Ok(())
    }

    fn blocks<'d>(&'d mut self, out: &'d mut Vec<ChatEvent>) -> blocks::Writer<'d> {
        blocks::Writer {
            blocks: &mut self.state.blocks,
            vendor: &self.dialect.vendor,
            options: &self.options,
            out,
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

    fn in_band_error(&self, data: &str) -> Error {
        decode_error(&self.dialect, None, data.as_bytes()).with_phase(self.phase())
    }

    fn broken(&self, message: &str) -> Error {
        Error::new(ErrorKind::Protocol, message).with_phase(self.phase())
    }

    /// Complete calls come before a label that does not know them; nothing else is overruled.
    fn finish_kind(&self, stated: FinishKind) -> FinishKind {
        let blocks = &self.state.blocks;
        match stated {
            _ if self.state.intervened => FinishKind::ContentFilter,
            FinishKind::Stop if blocks.runnable => FinishKind::ToolCalls,
            FinishKind::ToolCalls if !blocks.called => FinishKind::Stop,
            other => other,
        }
    }
}

/// Our word for a stop reason (wire notes, "Finish reasons").
pub(super) fn kind_of_word(word: &str) -> FinishKind {
    match word {
        "end_turn" | "stop_sequence" => FinishKind::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishKind::Length,
        "tool_use" => FinishKind::ToolCalls,
        "refusal" => FinishKind::Refusal,
        "pause_turn" | "compaction" => FinishKind::Pause,
        _ => FinishKind::Other,
    }
}

pub(super) fn is_there(presence: &Option<Presence>) -> bool {
    presence.as_ref().is_some_and(|presence| presence.0)
}

#[cfg(test)]
mod tests;
