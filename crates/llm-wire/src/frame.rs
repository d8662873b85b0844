//! Cutting bytes into frames, and putting frames into bytes.
//!
//! Everything here is a push decoder: it is handed pieces of a body as they come, in any cut, and hands out
//! whole frames. Nothing here knows what a frame means; the formats do.

pub mod json_array;
pub mod ndjson;
pub mod sse;

pub use json_array::JsonArrayDecoder;
pub use ndjson::{NdjsonDecoder, encode_ndjson};
pub use sse::{SseDecoder, SseEvent, SseItem, encode_sse, encode_sse_comment};

use llm_core::{Error, ErrorKind, Phase};
use std::borrow::Cow;

/// The largest event or line that is taken where nobody says otherwise: pictures and sound reach megabytes.
pub const DEFAULT_MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

/// Bytes as text, those that are not UTF-8 replaced by U+FFFD. Whole text, nearly all there is, is seen at a glance; the
/// replacing way reads it byte by byte.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The failure of a frame that is larger than its cap.
fn too_large(what: &str, max_bytes: usize) -> Error {
    let message =
        format!("{what} is larger than {max_bytes} bytes; raise the limit if such answers are wanted");
    Error::new(ErrorKind::Protocol, message).with_phase(Phase::Sent)
}
