//! Error body → `Error`.
//!
//! Source: `ollama.md` of the project's wire notes (Errors, Stream), state of 2026-11-29.

use super::dialect::Dialect;
use crate::failure::decode_failure;
use llm_core::{Error, ErrorKind};

/// Reads a failure. `status` is the HTTP status, or `None` for an error inside a 200 (a line of a stream).
///
/// The body is `{"error": "text"}`, so the status decides, and inside a 200 the words.
///
/// ```
/// use llm_core::ErrorKind;
/// use llm_wire::ollama::{Dialect, decode_error};
/// let error = decode_error(&Dialect::ollama(), Some(404), br#"{"error":"model 'nope' not found"}"#);
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// ```
pub fn decode_error(_dialect: &Dialect, status: Option<u16>, body: &[u8]) -> Error {
    let error = decode_failure(status, body);
    // the queue is full: this has a status of its own, but inside a 200 only these words
    let busy =
        status.is_none() && error.kind() == ErrorKind::Server && error.message().contains("server busy");
    if !busy {
        return error;
    }
    Error::new(ErrorKind::Overloaded, error.message())
        .with_phase(error.phase())
        .with_vendor(error.vendor().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_status_decides_and_inside_a_200_the_words() {
        for (status, text, kind) in [
            (
                Some(400),
                "\"m\" does not support tools",
                ErrorKind::InvalidRequest,
            ),
            (
                Some(400),
                "input length exceeds the context length",
                ErrorKind::ContextLength,
            ),
            (Some(401), "unauthorized", ErrorKind::Auth),
            (
                Some(404),
                "model \"x\" not found, try pulling it first",
                ErrorKind::NotFound,
            ),
            (Some(429), "usage limit reached", ErrorKind::RateLimit),
            (Some(500), "model requires more system memory", ErrorKind::Server),
            (Some(502), "cloud is unreachable", ErrorKind::Server),
            (Some(503), "server busy, please try again", ErrorKind::Overloaded),
            (None, "server busy, please try again", ErrorKind::Overloaded),
            (None, "model runner has unexpectedly stopped", ErrorKind::Server),
            (None, "model \"x\" not found", ErrorKind::NotFound),
            (
                None,
                "the prompt exceeds the context window",
                ErrorKind::ContextLength,
            ),
        ] {
            let body = json!({"error": text}).to_string();
            let error = decode_error(&Dialect::ollama(), status, body.as_bytes());
            assert_eq!(error.kind(), kind, "{status:?} {text}");
            assert!(error.message().contains(text));
        }
    }
}
