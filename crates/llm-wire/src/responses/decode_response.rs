//! Wire → neutral, for a plain answer.

use super::decode_error::decode_error;
use super::decode_stream::{StreamDecoder, is_there};
use super::dialect::Dialect;
use super::types::{Response, ResponseDocument};
use crate::decode_options::DecodeOptions;
use crate::lenient;
use llm_core::{ChatEvent, ChatResponse, Collector, Error, ErrorKind, Phase, Result};

/// Decodes the body of a plain answer with status 2xx.
///
/// It goes through the stream decoder as the response that ends a stream, whose items all come at once: both ways of
/// asking give one answer by construction.
///
/// # Errors
/// The failure that the body holds, with the kind it would have with a status of its own; `Protocol` for what is no
/// answer of this format.
pub fn decode_response(dialect: &Dialect, options: DecodeOptions, body: &[u8]) -> Result<ChatResponse> {
    let text = String::from_utf8_lossy(body);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut decoder = StreamDecoder::new(dialect, options);
    let mut events = Vec::new();
    let mut warnings = Vec::new();
    let read = lenient::parse::<ResponseDocument, _>(text, &mut warnings, |response| {
        if says_failure(&response) {
            return Read::Failure;
        }
        if response.output.is_none() && response.object.as_deref() != Some("response") {
            return Read::NoResponse;
        }
        decoder.take_whole(response, &mut events);
        Read::Response
    });
    match read.map_err(|error| error.with_phase(Phase::Sent))? {
        Read::Response => {}
        Read::Failure => return Err(decode_error(dialect, None, text.as_bytes()).with_phase(Phase::Sent)),
        Read::NoResponse => {
            let error = Error::new(ErrorKind::Protocol, "the answer is no response");
            return Err(error.with_phase(Phase::Sent));
        }
    }
    events.extend(warnings.into_iter().map(ChatEvent::Warning));
    decoder.finish(&mut events)?;
    let mut collector = Collector::default();
    for event in events {
        collector.push(event)?;
    }
    collector.finish()
}

enum Read {
    Response,
    Failure,
    NoResponse,
}

/// Is it an error, with or without the usual envelope?
fn says_failure(response: &Response<'_>) -> bool {
    let alone = response.output.is_none()
        && response.status.is_none()
        && (is_there(&response.message) || is_there(&response.detail));
    response.failed() || alone
}
