//! This format as whoever carries the bytes reads it: the pairing of the decoder with its framings.

use super::{BodyDecoder, DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};
use crate::tool_names::ToolNames;
use llm_core::{ChatRequest, Framing, ResponseMeta};

/// The answers to one request of one host, for [`ChatCodec`](llm_core::ChatCodec)'s users. Which framing a streamed
/// answer has, its first byte says.
///
/// ```
/// use llm_core::{ChatCodec, ChatRequest, ResponseMeta};
/// use llm_wire::generate_content::{Dialect, GenerateContentCodec};
/// let codec = GenerateContentCodec::new(&Dialect::gemini(), &ChatRequest::user("hi"), Default::default());
/// let body = br#"{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}]}"#;
/// assert_eq!(codec.decode_response(ResponseMeta::default(), body)?.text(), "Hello");
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GenerateContentCodec {
    dialect: Dialect,
    /// What is known of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl GenerateContentCodec {
    /// For the answers to this request, whose tools were sent under these names
    /// ([`EncodedRequest::tool_names`](super::EncodedRequest::tool_names)).
    pub fn new(dialect: &Dialect, request: &ChatRequest, tool_names: ToolNames) -> Self {
        GenerateContentCodec {
            dialect: dialect.clone(),
            options: DecodeOptions::new(request, ResponseMeta::default()).with_tool_names(tool_names),
        }
    }
}

crate::codec::codec_of_events!(
    GenerateContentCodec,
    &[Framing::Events, Framing::Array],
    BodyDecoder
);
