//! OpenAI Responses, the driver's side.
//!
//! Source: `openai-responses.md` of the project's wire notes, state of 2026-11-29 (client package 3.57).

mod codec;
mod decode_error;
mod decode_response;
mod decode_stream;
pub mod dialect;
mod encode_request;
mod request_types;
mod types;

use llm_core::{ContentPart, WireFormatId};

pub use crate::decode_options::DecodeOptions;
pub use codec::ResponsesCodec;
pub use decode_error::decode_error;
pub use decode_response::decode_response;
pub use decode_stream::StreamDecoder;
pub use dialect::Dialect;
pub use encode_request::{EncodedRequest, encode_request};

/// The name of this format in raw mode.
pub const FORMAT: WireFormatId = WireFormatId::new("responses");

/// Was this piece of history recorded by this format? The other APIs of the same vendor keep pieces of another form; none
/// takes those of another.
///
/// ```
/// use llm_core::{ContentPart, Origin, ReasoningPart, Replay, VendorId};
/// let recorded = |data| {
///     let replay = Replay::new(Origin::new(VendorId::from_static("openai")), data);
///     ContentPart::Reasoning(ReasoningPart::default().with_replay(replay))
/// };
/// let item = recorded(serde_json::json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}));
/// assert!(llm_wire::responses::is_own_item(&item));
/// assert!(!llm_wire::responses::is_own_item(&recorded(serde_json::json!({"reasoning_details": []}))));
/// ```
pub fn is_own_item(part: &ContentPart) -> bool {
    let (kind, replay) = match part {
        ContentPart::Reasoning(part) => ("reasoning", part.replay.as_ref()),
        ContentPart::Opaque(part) => (part.kind.as_str(), Some(&part.replay)),
        _ => return false,
    };
    // an item says itself what it is; Chat Completions has other words, or none
    replay
        .and_then(|replay| replay.data.get("type"))
        .is_some_and(|own| own == kind)
}
