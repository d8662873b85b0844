//! Anthropic Messages, both directions; also the body that Bedrock carries through InvokeModel.
//!
//! Sources: `anthropic.md` of the project's wire notes (and `bedrock.md`, "InvokeModel"), state of 2026-11-29 (client
//! package 2.14).

mod decode_error;
mod decode_response;
mod decode_stream;
pub mod dialect;
mod encode_request;
mod request_types;
mod types;

use llm_core::{VendorId, WireFormatId};

pub use crate::decode_options::DecodeOptions;
pub use decode_error::decode_error;
pub use decode_response::decode_response;
pub use decode_stream::StreamDecoder;
pub use dialect::Dialect;
pub use encode_request::{EncodedRequest, encode_request};

/// The name of this format in raw mode.
pub const FORMAT: WireFormatId = WireFormatId::new("messages");

/// Whose format it is: what only it has is kept under this name on the server side.
const ANTHROPIC: VendorId = VendorId::from_static("anthropic");
