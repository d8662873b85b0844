//! Wire → neutral, for a plain answer.

use super::decode_stream::StreamDecoder;
use super::dialect::Dialect;
use crate::decode_options::DecodeOptions;
use crate::frame::text_of;
use llm_core::{ChatResponse, Collector, Error, ErrorKind, Phase, Result};

/// Decodes the body of a plain answer with status 2xx.
///
/// It goes through the stream decoder as the one line of a stream: both ways of asking give one answer by construction.
///
/// ```
/// use llm_wire::ollama::{DecodeOptions, Dialect, decode_response};
/// let body = br#"{"model":"m","message":{"role":"assistant","content":"Seven."},"done":true,"done_reason":"stop"}"#;
/// let response = decode_response(&Dialect::ollama(), DecodeOptions::default(), body)?;
/// assert_eq!(response.text(), "Seven.");
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// The failure that the body holds, with the kind it would have with a status of its own; `Protocol` for what is no
/// answer of this format, and where the server only loaded or unloaded the model.
pub fn decode_response(dialect: &Dialect, options: DecodeOptions, body: &[u8]) -> Result<ChatResponse> {
    let text = text_of(body);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut decoder = StreamDecoder::new(dialect, options);
    decoder.state.whole = true;
    let mut events = Vec::new();
    decoder.feed_json(text, &mut events)?;
    if !decoder.has_message() {
        let error = Error::new(ErrorKind::Protocol, "the answer has no message");
        return Err(error.with_phase(Phase::Sent));
    }
    decoder.finish(&mut events)?;
    let mut collector = Collector::default();
    for event in events {
        collector.push(event)?;
    }
    collector.finish()
}
