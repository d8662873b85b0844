//! Wire → neutral, for a plain answer.

use super::decode_error::decode_error;
use super::decode_stream::{StreamDecoder, is_there};
use super::dialect::Dialect;
use super::types::{Message, MessageDocument};
use crate::decode_options::DecodeOptions;
use crate::frame::text_of;
use crate::lenient::{self, Content};
use llm_core::{ChatEvent, ChatResponse, Collector, Error, ErrorKind, Phase, Result};

/// Decodes the body of a plain answer with status 2xx.
///
/// It goes through the stream decoder as a message that is whole at its start: both ways of asking give one answer by
/// construction.
///
/// # Errors
/// The failure that the body holds, with the kind it would have with a status of its own; `Protocol` for what is no
/// answer of this format.
pub fn decode_response(dialect: &Dialect, options: DecodeOptions, body: &[u8]) -> Result<ChatResponse> {
    let text = text_of(body);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut decoder = StreamDecoder::new(dialect, options);
    let mut events = Vec::new();
    let mut warnings = Vec::new();
    let read = lenient::parse::<MessageDocument, _>(text, &mut warnings, |message| {
        if says_failure(&message) {
            return Read::Failure;
        }
        if matches!(message.content, Content::Absent) && message.kind.as_deref() != Some("message") {
            return Read::NoMessage;
        }
        decoder.take_whole(message, &mut events);
        Read::Message
    });
    match read.map_err(|error| error.with_phase(Phase::Sent))? {
        Read::Message => {}
        Read::Failure => return Err(decode_error(dialect, None, text.as_bytes())),
        Read::NoMessage => {
            let error = Error::new(ErrorKind::Protocol, "the answer is no message");
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
    Message,
    Failure,
    NoMessage,
}

/// Is it an error, with or without the usual envelope?
fn says_failure(message: &Message<'_>) -> bool {
    let alone = matches!(message.content, Content::Absent)
        && message.kind.as_deref() != Some("message")
        && (is_there(&message.message) || is_there(&message.detail));
    is_there(&message.error) || message.kind.as_deref() == Some("error") || alone
}

#[cfg(test)]
mod tests;
