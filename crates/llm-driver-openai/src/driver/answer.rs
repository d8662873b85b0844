//! From the bytes of an answer to its events, without any I/O.

use super::call::Call;
use llm_core::driver::CatalogModel;
use llm_core::{ChatEvent, Error, ErrorKind, ModelId, Phase, Result, Warning};
use llm_http::{CallFacts, Limits};
use llm_wire::chat_completions::StreamDecoder;
use llm_wire::frame::{SseDecoder, SseItem};
use serde_json::Value;
use std::collections::VecDeque;

/// An answer that comes as an event stream: bytes in, events out, and at most one error after them.
#[derive(Debug)]
pub(super) struct Answer {
    call: Call,
    facts: CallFacts,
    frames: SseDecoder,
    decoder: StreamDecoder,
    events: VecDeque<ChatEvent>,
    failure: Option<Error>,
    /// Nothing more will come: the answer is complete or has failed.
    over: bool,
    served_tier: Option<String>,
}

impl Answer {
    pub(super) fn new(call: Call, facts: CallFacts, limits: Limits) -> Self {
        Answer {
            frames: SseDecoder::new(limits.max_event_bytes),
            decoder: StreamDecoder::new(&call.dialect, call.decode_options(&facts)),
            events: VecDeque::new(),
            failure: None,
            over: false,
            served_tier: None,
            call,
            facts,
        }
    }

    /// Takes a piece of the body. After the end mark the answer is complete at once.
    pub(super) fn push(&mut self, piece: &[u8]) {
        if self.over {
            return;
        }
        let decoder = &mut self.decoder;
        let mut out = Vec::new();
        let outcome = self.frames.feed(piece, |item| {
            match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, &mut out)?,
                _ => decoder.keep_alive(&mut out),
            }
            Ok(())
        });
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
        let decoder = &mut self.decoder;
        let mut out = Vec::new();
        let outcome = self.frames.finish(|item| {
            if let SseItem::Event(event) = item {
                decoder.feed_unterminated(event.event, event.data, &mut out)?;
            }
            Ok(())
        });
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
            let message = "the connection broke after the finish reason; what was to follow, such as the usage, is missing";
            self.events
                .push_back(ChatEvent::Warning(Warning::wire("stream", message)));
            return self.finish();
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

    /// The next event that is ready.
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

    /// The events that are ready, and the error that ended them.
    pub(super) fn into_parts(self) -> (VecDeque<ChatEvent>, Option<Error>) {
        (self.events, self.failure)
    }

    fn finish(&mut self) {
        let mut out = Vec::new();
        let outcome = self.decoder.finish(&mut out);
        self.take(out);
        self.over = true;
        if let Err(error) = outcome {
            self.failure = Some(self.call.annotate(error, &self.facts, &[]));
        }
    }

    fn fail(&mut self, error: Error) {
        let mut out = Vec::new();
        self.decoder.interrupt(&mut out);
        self.take(out);
        self.over = true;
        self.failure = Some(self.call.annotate(error, &self.facts, &[]));
    }

    /// Adds to the decoder's events what the vendor does not say: warnings after the start, and the cost.
    fn take(&mut self, events: Vec<ChatEvent>) {
        for mut event in events {
            match &mut event {
                ChatEvent::Start(meta) => {
                    self.served_tier = meta.service_tier.clone();
                    self.events.push_back(event);
                    let warnings = self.call.take_warnings();
                    self.events.extend(warnings.into_iter().map(ChatEvent::Warning));
                    continue;
                }
                ChatEvent::Usage(usage) | ChatEvent::Finish { usage, .. } => {
                    self.call.price(usage, self.served_tier.as_deref());
                }
                _ => {}
            }
            self.events.push_back(event);
        }
    }
}

/// Reads a list of models: `{"data": […]}`, as some hosts send it also bare. An entry without a usable name is
/// passed over.
pub(super) fn parse_model_list(body: &[u8]) -> Result<Vec<CatalogModel>> {
    let document: Option<Value> = serde_json::from_slice(body).ok();
    let entries = match &document {
        Some(Value::Array(entries)) => Some(entries),
        Some(document) => document.get("data").and_then(Value::as_array),
        None => None,
    };
    let Some(entries) = entries else {
        let message = "the list of models is not one of this format";
        return Err(Error::new(ErrorKind::Protocol, message).with_phase(Phase::Sent));
    };
    let models = entries.iter().filter_map(|entry| {
        let id = entry.get("id").and_then(Value::as_str)?;
        let mut model = CatalogModel::new(ModelId::new(id).ok()?);
        model.created = entry.get("created").and_then(Value::as_u64);
        model.owned_by = entry.get("owned_by").and_then(Value::as_str).map(str::to_owned);
        Some(model)
    });
    Ok(models.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_lists_are_read_leniently() {
        let names = |body: &str| -> Vec<String> {
            let models = parse_model_list(body.as_bytes()).unwrap();
            models.iter().map(|model| model.id.to_string()).collect()
        };
        let list = r#"{"object":"list","data":[{"id":"a","created":1,"owned_by":"x"},{"id":""},{"no":1},{"id":"b"}]}"#;
        assert_eq!(names(list), ["a", "b"]);
        assert_eq!(names(r#"[{"id":"c","created":"soon"}]"#), ["c"]);
        assert_eq!(names(r#"{"data":[]}"#), [""; 0]);
        for broken in ["", "<html>", "{}", r#"{"data":7}"#] {
            assert_eq!(
                parse_model_list(broken.as_bytes()).unwrap_err().kind(),
                ErrorKind::Protocol
            );
        }
    }
}
