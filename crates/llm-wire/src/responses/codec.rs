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
/// use llm_wire::responses::{Dialect, ResponsesCodec};
/// let codec = ResponsesCodec::new(&Dialect::openai(), &ChatRequest::user("hi"), ToolNames::default());
/// let body = br#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}"#;
/// assert_eq!(codec.decode_response(ResponseMeta::default(), body)?.text(), "Hello");
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ResponsesCodec {
    dialect: Dialect,
    /// What is known of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl ResponsesCodec {
    /// For the answers to this request, some tools of which may have been sent under another name.
    pub fn new(dialect: &Dialect, request: &ChatRequest, tool_names: ToolNames) -> Self {
        ResponsesCodec {
            dialect: dialect.clone(),
            options: DecodeOptions {
                folded_tools: folded_tools(dialect, request),
                ..DecodeOptions::new(request, ResponseMeta::default()).with_tool_names(tool_names)
            },
        }
    }
}

crate::codec::codec_of_events!(ResponsesCodec, &[Framing::Events], SseDecoder);

/// The tools whose calls may come folded into one. Where the vendor stores responses, the one call is what it waits for
/// a result of, so it is left as it is.
fn folded_tools(dialect: &Dialect, request: &ChatRequest) -> Vec<String> {
    let own = request.vendor.of(dialect.vendor.as_str());
    let asks = |key: &str| own.and_then(|own| own.get(key));
    let stores = asks("store").is_some_and(|store| *store == true);
    let continues = ["previous_response_id", "conversation"]
        .iter()
        .any(|key| asks(key).is_some_and(|value| !value.is_null()));
    if stores || continues {
        return Vec::new();
    }
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}
