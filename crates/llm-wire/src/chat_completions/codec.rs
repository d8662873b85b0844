//! This format as whoever carries the bytes reads it: the pairing of the decoder with its framing.

use super::{DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};
use crate::frame::SseDecoder;
use llm_core::{ChatRequest, Framing, ResponseMeta};

/// The answers to one request in one dialect, for [`ChatCodec`](llm_core::ChatCodec)'s users.
///
/// ```
/// use llm_core::{ChatCodec, ChatRequest, ResponseMeta};
/// use llm_wire::chat_completions::{ChatCompletionsCodec, Dialect};
/// let codec = ChatCompletionsCodec::new(&Dialect::groq(), &ChatRequest::user("hi"));
/// let body = br#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
/// assert_eq!(codec.decode_response(ResponseMeta::default(), body)?.text(), "Hello");
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ChatCompletionsCodec {
    dialect: Dialect,
    /// What is known of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl ChatCompletionsCodec {
    /// For the answers to this request.
    pub fn new(dialect: &Dialect, request: &ChatRequest) -> Self {
        ChatCompletionsCodec {
            dialect: dialect.clone(),
            options: DecodeOptions::new(request, ResponseMeta::default()),
        }
    }
}

crate::codec::codec_of_events!(ChatCompletionsCodec, &[Framing::Events], SseDecoder);
