//! This format as whoever carries the bytes reads it: the pairing of the decoder with its framing.

use super::{DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};
use crate::frame::SseDecoder;
use crate::tool_names::ToolNames;
use llm_core::{ChatRequest, Framing, ResponseMeta};

/// The answers to one request in one dialect, for [`ChatCodec`](llm_core::ChatCodec)'s users.
///
/// ```
/// use llm_core::{ChatCodec, ChatRequest, ResponseMeta};
/// use llm_wire::ToolNames;
/// use llm_wire::chat_completions::{ChatCompletionsCodec, Dialect};
/// let codec = ChatCompletionsCodec::new(&Dialect::groq(), &ChatRequest::user("hi"), ToolNames::default());
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
    /// For the answers to this request, some tools of which were sent under another name
    /// ([`EncodedRequest::tool_names`](super::EncodedRequest::tool_names)).
    pub fn new(dialect: &Dialect, request: &ChatRequest, tool_names: ToolNames) -> Self {
        ChatCompletionsCodec {
            dialect: dialect.clone(),
            options: DecodeOptions::new(request, ResponseMeta::default()).with_tool_names(tool_names),
        }
    }
}

crate::codec::codec_of_events!(ChatCompletionsCodec, &[Framing::Events], SseDecoder);
