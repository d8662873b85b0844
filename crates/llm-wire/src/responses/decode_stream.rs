//! Events of the vendor's stream → events.

mod event;
mod items;
mod whole;

use super::decode_error::decode_error;
use super::dialect::Dialect;
use super::types::{EventDocument, Response};
use crate::decode_options::DecodeOptions;
use crate::lenient::{self, Presence};
use event::Outcome;
use items::Items;
use llm_core::{ChatEvent, Error, ErrorKind, FinishKind, FinishReason, Phase, Result, Usage};
use serde_json::{Map, Value};

/// Turns the payloads of an event stream into events. Push in, events out; no clock, no I/O.
///
/// Every item becomes blocks, in the vendor's order:
///
/// | on the wire | neutral |
/// |---|---|
/// | the texts and refusals of `message` | text and refusals; what it was said for (`phase`) is their replay state |
/// | `reasoning` | reasoning, if it was asked for: its summary, or its own words at hosts that show them; its replay state is the item |
/// | `function_call` | a call, under its `call_id` |
/// | anything else (`custom_tool_call`, `web_search_call`, `compaction`, …) | an opaque block, whole |
///
/// An empty text, and reasoning that is neither shown nor goes back, are no blocks. Ids of items are not kept: unless the
/// vendor stored the answer they lead nowhere.
///
/// ```
/// use llm_core::{ChatRequest, ResponseMeta};
/// use llm_wire::responses::{DecodeOptions, Dialect, StreamDecoder};
/// let options = DecodeOptions::new(&ChatRequest::user("hi"), ResponseMeta::default());
/// let mut decoder = StreamDecoder::new(&Dialect::openai(), options);
/// let mut events = Vec::new();
/// for data in [
///     r#"{"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}"#,
///     r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hello"}"#,
///     r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed"}}"#,
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
    done: bool,
    over: bool,
    content_seen: bool,
    /// What came before the start.
    before_start: Vec<ChatEvent>,
    items: Items,
    /// How the vendor says that it ended, and its word for that.
    ended: Option<(FinishKind, String)>,
    usage: Usage,
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

    /// Takes the event name (empty for none) and the data of one event. What the data itself says comes before the name.
    ///
    /// Empty data, data that begins with `:` (a wrapped comment) and events of unknown types only keep the stream alive.
    /// After the end of the response everything is ignored.
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

    /// Takes an event that the end of the body left without its blank line. It is used if it parses (it usually ends the
    /// response); otherwise it was cut off, and [`StreamDecoder::finish`] decides.
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

    /// Was the end of the response seen? Then [`StreamDecoder::finish`] can be called at once.
    pub fn is_done(&self) -> bool {
        self.state.done
    }

    /// Is the answer complete: was the end of the response seen?
    pub fn is_complete(&self) -> bool {
        self.state.done
    }

    /// The body ended, or the end of the response was seen: closes what is open and says why the answer ended.
    ///
    /// # Errors
    /// `Interrupted`, when the end of the response was not seen; what was open is closed as incomplete first.
    pub fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        if self.state.over {
            return Ok(());
        }
        if !self.is_complete() {
            self.interrupt(out);
            let message = "the stream ended before the end of the response; the answer is cut off";
            return Err(Error::new(ErrorKind::Interrupted, message).with_phase(self.phase()));
        }
        self.start(out);
        self.state.over = true;
        let (stated, raw) = match self.state.ended.take() {
            Some((kind, word)) => (kind, Some(word)),
            None => (FinishKind::Stop, None),
        };
        self.items(out).finish(stated == FinishKind::Stop);
        let kind = match stated {
            FinishKind::Stop if self.state.items.runnable => FinishKind::ToolCalls,
            FinishKind::Stop if self.state.items.refused => FinishKind::Refusal,
            other => other,
        };
        out.push(ChatEvent::Finish {
            reason: FinishReason::new(kind, raw),
            usage: self.state.usage,
        });
        Ok(())
    }

    /// The stream broke: closes what is open as incomplete. Call it before handing on the error.
    pub fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        if !std::mem::replace(&mut self.state.over, true) && self.state.started {
            self.items(out).interrupt();
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

    /// Takes a plain answer: the response that would end a stream.
    pub(super) fn take_whole(&mut self, response: Response<'_>, out: &mut Vec<ChatEvent>) {
        self.begin(&response, out);
        self.end("", response, out);
    }

    fn feed_json(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if data.trim_start().starts_with('[') {
            // Some gateways wrap an error into a list; an event never is one.
            let wrapped =
                serde_json::from_str::<Vec<Map<String, Value>>>(data).is_ok_and(|list| !list.is_empty());
            if wrapped {
                return Err(self.in_band_error(data));
            }
            let message = "a list came where an event was expected";
            return Err(Error::new(ErrorKind::Protocol, message).with_phase(self.phase()));
        }
        let mut warnings = Vec::new();
        let read =
            lenient::parse::<EventDocument, _>(data, &mut warnings, |read| self.event(event, read, out));
        let phase = self.phase();
        match read.map_err(|error| error.with_phase(phase))? {
            Outcome::Fine => {}
            Outcome::Failed => return Err(self.in_band_error(data)),
        }
        for warning in warnings {
            self.aside(ChatEvent::Warning(warning), out);
        }
        Ok(())
    }

    fn items<'d>(&'d mut self, out: &'d mut Vec<ChatEvent>) -> items::Writer<'d> {
        items::Writer {
            items: &mut self.state.items,
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
}

pub(super) fn is_there(presence: &Option<Presence>) -> bool {
    presence.as_ref().is_some_and(|presence| presence.0)
}

#[cfg(test)]
mod tests;
