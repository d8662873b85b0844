//! Wire → neutral, for a plain answer.

use super::decode_stream::StreamDecoder;
use super::dialect::Dialect;
use crate::decode_options::DecodeOptions;
use crate::frame::text_of;
use llm_core::{ChatResponse, Collector, Error, ErrorKind, Phase, Result};

/// Decodes the body of a plain answer with status 2xx.
///
/// It goes through the stream decoder as one whole chunk: both ways of asking give one answer by construction. A body
/// that is a list is read as a stream that was not asked for as server-sent events.
///
/// ```
/// use llm_wire::generate_content::{DecodeOptions, Dialect, decode_response};
/// let body = br#"{"candidates":[{"content":{"parts":[{"text":"Seven."}]},"finishReason":"STOP"}]}"#;
/// let response = decode_response(&Dialect::gemini(), DecodeOptions::default(), body)?;
/// assert_eq!(response.text(), "Seven.");
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// The failure that the body holds, with the kind it would have with a status of its own; `ContentFilter` for a
/// prompt that was blocked; `Protocol` for what is no answer of this format.
pub fn decode_response(dialect: &Dialect, options: DecodeOptions, body: &[u8]) -> Result<ChatResponse> {
    let text = text_of(body);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).trim_start();
    let mut decoder = StreamDecoder::new(dialect, options);
    decoder.state.whole = !text.starts_with('[');
    let mut events = Vec::new();
    decoder.feed_json(text, &mut events)?;
    if !decoder.has_candidate() {
        let error = Error::new(ErrorKind::Protocol, "the answer has no candidates");
        return Err(error.with_phase(Phase::Sent));
    }
    decoder.finish(&mut events)?;
    let mut collector = Collector::default();
    for event in events {
        collector.push(event)?;
    }
    collector.finish()
}
