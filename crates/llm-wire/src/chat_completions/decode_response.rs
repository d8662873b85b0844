//! Wire → neutral, for a plain answer.

use super::decode_stream::{DecodeOptions, StreamDecoder};
use super::dialect::Dialect;
use crate::frame::text_of;
use llm_core::{ChatResponse, Collector, Error, ErrorKind, Phase, Result};

/// So many events have most answers.
const USUAL_EVENTS: usize = 8;

/// Decodes the body of a plain answer with status 2xx.
///
/// It goes through the stream decoder as one whole chunk: both ways of asking give one answer by construction.
///
/// # Errors
/// The failure that the body holds, with the kind it would have with a status of its own; `Protocol` for what is no
/// answer of this format.
pub fn decode_response(dialect: &Dialect, options: DecodeOptions, body: &[u8]) -> Result<ChatResponse> {
    let text = text_of(body);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut decoder = StreamDecoder::new(dialect, options);
    decoder.state.whole = true;
    let mut events = Vec::with_capacity(USUAL_EVENTS);
    decoder.feed_json(text, &mut events)?;
    if !decoder.has_choice() {
        let error = Error::new(ErrorKind::Protocol, "the answer has no choices");
        return Err(error.with_phase(Phase::Sent));
    }
    decoder.finish(&mut events)?;
    let mut collector = Collector::default();
    for event in events {
        collector.push(event)?;
    }
    collector.finish()
}
