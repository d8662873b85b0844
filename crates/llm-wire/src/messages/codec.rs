//! This format as whoever carries the bytes reads it: the pairing of the decoder with its framing.

use super::{DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};
use crate::frame::SseDecoder;
use crate::tool_names::ToolNames;
use llm_core::{ChatRequest, Framing, ResponseMeta};

/// The answers to one request of one host, for [`ChatCodec`](llm_core::ChatCodec)'s users.
///
/// ```
/// use llm_core::{ChatCodec, ChatRequest, ResponseMeta};
/// use llm_wire::messages::{Dialect, MessagesCodec};
/// let codec = MessagesCodec::new(&Dialect::anthropic(), &ChatRequest::user("hi"), Default::default());
/// let body = br#"{"type":"message","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#;
/// assert_eq!(codec.decode_response(ResponseMeta::default(), body)?.text(), "Hello");
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct MessagesCodec {
    dialect: Dialect,
    /// What is known of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl MessagesCodec {
    /// For the answers to this request, whose tools were sent under these names
    /// ([`EncodedRequest::tool_names`](super::EncodedRequest::tool_names)).
    pub fn new(dialect: &Dialect, request: &ChatRequest, tool_names: ToolNames) -> Self {
        MessagesCodec {
            dialect: dialect.clone(),
            options: DecodeOptions::new(request, ResponseMeta::default()).with_tool_names(tool_names),
        }
    }
}

crate::codec::codec_of_events!(MessagesCodec, &[Framing::Events], SseDecoder);
