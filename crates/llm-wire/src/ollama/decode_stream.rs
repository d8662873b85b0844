//! Lines → events.

mod line;

use super::decode_error::decode_error;
use super::dialect::Dialect;
use super::types::AnswerDocument;
use crate::decode_options::DecodeOptions;
use crate::lenient;
use crate::think::{Split, ThinkSplitter};
use line::Line;
use llm_core::{
    BlockKind, ChatEvent, Delta, Error, ErrorKind, FinishKind, FinishReason, Origin, Phase, Replay, Result,
    Usage,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// Turns the lines of a stream into events. Push in, events out; no clock, no I/O.
///
/// ```
/// use llm_core::{ChatRequest, ResponseMeta};
/// use llm_wire::ollama::{DecodeOptions, Dialect, StreamDecoder};
/// let options = DecodeOptions::new(&ChatRequest::user("hi"), ResponseMeta::default());
/// let mut decoder = StreamDecoder::new(&Dialect::ollama(), options);
/// let mut events = Vec::new();
/// decoder.feed(r#"{"model":"m","message":{"content":"Hello"},"done":false}"#, &mut events)?;
/// decoder.feed(r#"{"model":"m","message":{"content":""},"done":true,"done_reason":"stop"}"#, &mut events)?;
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
    /// What came before the first line that names the answer.
    before_start: Vec<ChatEvent>,
    content_seen: bool,
    message_seen: bool,
    next_block: u32,
    /// The one open block.
    open: Option<(Run, u32)>,
    think: Option<ThinkSplitter>,
    /// Thoughts that are not shown but go back to the model.
    hidden_thoughts: String,
    /// The ids of all calls so far.
    call_ids: HashSet<String>,
    generated_ids: u32,
    /// Tells generated ids of different answers apart.
    seed: String,
    /// Is there a call to run?
    runnable: bool,
    reason: Option<String>,
    usage: Usage,
    /// A plain answer: it may lack the mark that it is done.
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
            state: State {
                think: dialect.extract_think_tags.then(ThinkSplitter::default),
                ..State::default()
            },
        }
    }

    /// Takes one line. An empty one only keeps the stream alive; after the line that says it is done everything is
    /// ignored.
    ///
    /// # Errors
    /// The failure that the server put into the stream, with the kind it would have with a status of its own;
    /// `Protocol` for a line that is not JSON, and for an end that is none: the server only loaded or unloaded the
    /// model. After an error the decoder must not be fed again.
    pub fn feed(&mut self, line: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if self.state.done || self.state.over {
            return Ok(());
        }
        if line.trim().is_empty() {
            self.keep_alive(out);
            return Ok(());
        }
        self.feed_json(line, out)
    }

    /// Takes a proof of life.
    pub fn keep_alive(&mut self, out: &mut Vec<ChatEvent>) {
        if self.state.started {
            out.push(ChatEvent::KeepAlive);
        }
    }

    /// Takes a line that the end of the body left without its end. It is used if it parses (the last line often lacks
    /// its end); otherwise it was cut off, and [`StreamDecoder::finish`] decides.
    ///
    /// # Errors
    /// As [`StreamDecoder::feed`], but never for a line that does not parse.
    pub fn feed_unterminated(&mut self, line: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        if serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok() {
            self.feed(line, out)
        } else {
            Ok(())
        }
    }

    /// Was the line seen that says it is done? Then [`StreamDecoder::finish`] can be called at once.
    pub fn is_done(&self) -> bool {
        self.state.done
    }

    /// Is the answer complete? The same as [`StreamDecoder::is_done`]: this format has no other end.
    pub fn is_complete(&self) -> bool {
        self.state.done
    }

    /// The body ended, or the last line was seen: closes what is open and says why the answer ended.
    ///
    /// # Errors
    /// `Interrupted`, when no line said that it is done; what was open is closed as incomplete first.
    pub fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        if self.state.over {
            return Ok(());
        }
        if !self.is_complete() && !self.state.whole {
            self.interrupt(out);
            let message = "the stream ended before the line that ends it; the answer is cut off";
            return Err(Error::new(ErrorKind::Interrupted, message).with_phase(self.phase()));
        }
        self.start(out);
        self.state.over = true;
        self.flush_think(out);
        self.close_run(out);
        let raw = self.state.reason.take();
        // older servers say nothing
        let kind = match raw.as_deref() {
            None | Some("stop") if self.state.runnable => FinishKind::ToolCalls,
            None | Some("stop") => FinishKind::Stop,
            Some("length") => FinishKind::Length,
            Some(_) => FinishKind::Other,
        };
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
    }

    /// How far the call had come, for errors of the transport.
    pub fn phase(&self) -> Phase {
        if self.state.content_seen {
            Phase::Streaming
        } else {
            Phase::Sent
        }
    }

    /// Did any message come? An answer without one is no answer.
    pub(super) fn has_message(&self) -> bool {
        self.state.message_seen
    }

    pub(super) fn feed_json(&mut self, line: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        let mut warnings = Vec::new();
        let read =
            lenient::parse::<AnswerDocument, _>(line, &mut warnings, |answer| self.answer(answer, out));
        match read.map_err(|error| error.with_phase(self.phase()))? {
            Line::Answer => {}
            Line::Failure => {
                let error = decode_error(&self.dialect, None, line.as_bytes());
                return Err(error.with_phase(self.phase()));
            }
            Line::NoAnswer => {
                let message = "the server loaded or unloaded the model and did not answer";
                return Err(Error::new(ErrorKind::Protocol, message).with_phase(self.phase()));
            }
        }
        for warning in warnings {
            self.aside(ChatEvent::Warning(warning), out);
        }
        Ok(())
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

    fn flush_think(&mut self, out: &mut Vec<ChatEvent>) {
        if let Some(think) = &mut self.state.think {
            let mut pieces = Vec::new();
            think.finish(&mut pieces);
            self.split(pieces, out);
        }
    }

    fn split(&mut self, pieces: Vec<Split>, out: &mut Vec<ChatEvent>) {
        for piece in pieces {
            match piece {
                Split::Text(text) => self.run(Run::Text, Cow::Owned(text), out),
                Split::Reasoning(text) => self.run(Run::Reasoning, Cow::Owned(text), out),
            }
        }
    }

    /// Adds to the open run, or closes it and opens another.
    fn run(&mut self, run: Run, text: Cow<'_, str>, out: &mut Vec<ChatEvent>) {
        if text.is_empty() {
            return;
        }
        self.start(out);
        if run == Run::Reasoning && !self.options.include_reasoning {
            if let Some((Run::Text, _)) = self.state.open {
                self.close_run(out);
            }
            self.state.hidden_thoughts.push_str(&text);
            out.push(ChatEvent::KeepAlive);
            return;
        }
        let index = match self.state.open {
            Some((open, index)) if open == run => index,
            _ => {
                self.close_run(out);
                let kind = match run {
                    Run::Text => BlockKind::Text,
                    Run::Reasoning => BlockKind::Reasoning,
                };
                let index = self.open_block(kind, out);
                self.state.open = Some((run, index));
                index
            }
        };
        self.state.content_seen = true;
        let text = text.into_owned();
        let delta = match run {
            Run::Text => Delta::Text(text),
            Run::Reasoning => Delta::Reasoning(text),
        };
        out.push(ChatEvent::BlockDelta { index, delta });
    }

    fn open_block(&mut self, kind: BlockKind, out: &mut Vec<ChatEvent>) -> u32 {
        let index = self.state.next_block;
        self.state.next_block += 1;
        out.push(ChatEvent::BlockStart { index, kind });
        index
    }

    /// Ends the open block. Thoughts go back to the server that they came from, shown or not.
    fn close_run(&mut self, out: &mut Vec<ChatEvent>) {
        if let Some((run, index)) = self.state.open.take() {
            if run == Run::Reasoning {
                self.own_state(index, Map::new(), out);
            }
            out.push(ChatEvent::BlockEnd {
                index,
                complete: true,
            });
        }
        let hidden = std::mem::take(&mut self.state.hidden_thoughts);
        if !hidden.is_empty() {
            let index = self.open_block(BlockKind::Reasoning, out);
            self.own_state(
                index,
                Map::from_iter([("thinking".to_owned(), hidden.into())]),
                out,
            );
            out.push(ChatEvent::BlockEnd {
                index,
                complete: true,
            });
        }
    }

    fn own_state(&self, index: u32, data: Map<String, Value>, out: &mut Vec<ChatEvent>) {
        let origin = Origin::new(self.dialect.vendor.clone());
        let delta = Delta::Replay(Replay::new(origin, Value::Object(data)));
        out.push(ChatEvent::BlockDelta { index, delta });
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
}

#[cfg(test)]
mod tests;
