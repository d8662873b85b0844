//! This format as whoever carries the bytes reads it: the pairing of the decoder with its framing.

use super::{DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};
use llm_core::{ChatRequest, ResponseMeta};

/// The answers to one request of one server, for [`ChatCodec`](llm_core::ChatCodec)'s users.
///
/// ```
/// use llm_core::{ChatCodec, ChatRequest, ResponseMeta};
/// use llm_wire::ollama::{Dialect, OllamaCodec};
/// let codec = OllamaCodec::new(&Dialect::ollama(), &ChatRequest::user("hi"));
/// let body = br#"{"message":{"content":"Hello"},"done":true,"done_reason":"stop"}"#;
/// assert_eq!(codec.decode_response(ResponseMeta::default(), body)?.text(), "Hello");
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct OllamaCodec {
    dialect: Dialect,
    /// What is known of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl OllamaCodec {
    /// For the answers to this request.
    pub fn new(dialect: &Dialect, request: &ChatRequest) -> Self {
        OllamaCodec {
            dialect: dialect.clone(),
            options: DecodeOptions::new(request, ResponseMeta::default()),
        }
    }
}

crate::codec::codec_of_lines!(OllamaCodec);
