//! From the bytes of a streamed answer to its events, without any I/O.

use super::reading::Answered;
use llm_core::{AnswerDecoder, ChatEvent, Error, ErrorKind, Framing, ResponseMeta, Result, Warning};
use std::collections::VecDeque;

/// A streamed answer: bytes in, events out, and at most one error after them.
pub(super) struct Answer {
    call: Answered,
    decoder: Box<dyn AnswerDecoder>,
    events: VecDeque<ChatEvent>,
    /// Where the decoder writes; empty in between, kept so that not every piece needs a new one.
    decoded: Vec<ChatEvent>,
    failure: Option<Error>,
    /// Nothing more will come: the answer is complete or has failed.
    over: bool,
    served_tier: Option<String>,
    started: bool,
}

impl Answer {
    pub(super) fn new(call: Answered, framing: Framing) -> Self {
        Answer {
            decoder: call.decoder(framing),
            call,
            events: VecDeque::new(),
            decoded: Vec::new(),
            failure: None,
            over: false,
            served_tier: None,
            started: false,
        }
    }

    pub(super) fn meta(&self) -> ResponseMeta {
        self.call.meta()
    }

    /// Takes a piece of the body. After the end mark the answer is complete at once.
    pub(super) fn push(&mut self, piece: &[u8]) {
        if self.over {
            return;
        }
        let mut out = std::mem::take(&mut self.decoded);
        let outcome = self.decoder.push(piece, &mut out);
        self.started |= !out.is_empty();
        if out.is_empty() && self.started && outcome.is_ok() && !self.decoder.is_done() {
            // A piece that says nothing, or does not say it whole yet, is proof of life all the same.
            out.push(ChatEvent::KeepAlive);
        }
        self.take(out);
        match outcome {
            Ok(()) if self.decoder.is_done() => self.finish(),
            Ok(()) => {}
            Err(error) => self.fail(error),
        }
    }

    /// The body ended.
    pub(super) fn end(&mut self) {
        if self.over {
            return;
        }
        let mut out = std::mem::take(&mut self.decoded);
        let outcome = self.decoder.end(&mut out);
        self.take(out);
        match outcome {
            Ok(()) => self.finish(),
            Err(error) => self.fail(error),
        }
    }

    /// The body broke. An answer whose finish reason was seen is complete all the same.
    pub(super) fn broke(&mut self, error: Error) {
        if self.over {
            return;
        }
        if self.decoder.is_complete() {
            return self.without_tail("the connection broke after the finish reason");
        }
        let error = if error.kind() == ErrorKind::Connection {
            let message = "the connection broke in the middle of the answer";
            Error::new(ErrorKind::Interrupted, message).with_source(error)
        } else {
            error
        };
        let phase = self.decoder.phase();
        self.fail(error.with_phase(phase));
    }

    /// Is the answer there, though perhaps not its end?
    pub(super) fn is_complete(&self) -> bool {
        !self.over && self.decoder.is_complete()
    }

    /// The answer is complete, and what was to follow does not come.
    pub(super) fn without_tail(&mut self, why: &str) {
        let message = format!("{why}; what was to follow, such as the usage, is missing");
        self.events
            .push_back(ChatEvent::Warning(Warning::wire("stream", message)));
        self.finish();
    }

    /// The next event that is ready, and after the last the error that ended them.
    pub(super) fn next(&mut self) -> Option<Result<ChatEvent>> {
        match self.events.pop_front() {
            Some(event) => Some(Ok(event)),
            None => self.failure.take().map(Err),
        }
    }

    /// Will nothing more come of the body?
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Did it fail? Then its connection is of no more use.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn finish(&mut self) {
        let mut out = std::mem::take(&mut self.decoded);
        let outcome = self.decoder.finish(&mut out);
        self.take(out);
        self.over = true;
        if let Err(error) = outcome {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: Error) {
        let mut out = std::mem::take(&mut self.decoded);
        self.decoder.interrupt(&mut out);
        self.take(out);
        self.over = true;
        self.failure = Some(self.call.annotate(error, &[]));
    }

    /// Adds to the decoder's events what the vendor does not say: warnings after the start, and the cost.
    fn take(&mut self, mut events: Vec<ChatEvent>) {
        for mut event in events.drain(..) {
            match &mut event {
                ChatEvent::Start(meta) => {
                    self.served_tier = meta.service_tier.clone();
                    self.events.push_back(event);
                    let warnings = self.call.take_warnings();
                    self.events.extend(warnings.into_iter().map(ChatEvent::Warning));
                    continue;
                }
                ChatEvent::Usage(usage) | ChatEvent::Finish { usage, .. } => {
                    self.call.add_cost(usage, self.served_tier.as_deref());
                }
                _ => {}
            }
            self.events.push_back(event);
        }
        self.decoded = events;
    }
}
