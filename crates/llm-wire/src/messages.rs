//! Anthropic Messages, both directions; also the body that Bedrock carries through InvokeModel.
//!
//! Sources: `anthropic.md` of the project's wire notes (and `bedrock.md`, "InvokeModel"), state of 2026-11-29 (client
//! package 2.14).

mod codec;
mod decode_error;
mod decode_request;
mod decode_response;
mod decode_stream;
pub mod dialect;
mod encode_error;
mod encode_request;
mod encode_response;
mod encode_stream;
mod format;
mod request_types;
mod types;

use llm_core::{VendorId, WireFormatId};

pub use crate::decode_options::DecodeOptions;
pub use codec::MessagesCodec;
pub use decode_error::decode_error;
pub use decode_request::{DecodedRequest, decode_count_request, decode_invoke_request, decode_request};
pub use decode_response::decode_response;
pub use decode_stream::StreamDecoder;
pub use dialect::Dialect;
pub use encode_error::encode_error;
pub use encode_request::{EncodedRequest, encode_count_request, encode_request};
pub use encode_response::{EncodeOptions, encode_response};
pub use encode_stream::StreamEncoder;

/// The name of this format in raw mode.
pub const FORMAT: WireFormatId = WireFormatId::new("messages");

/// Whose format it is: what only it has is kept under this name on the server side.
const ANTHROPIC: VendorId = VendorId::from_static("anthropic");

/// The piece behind a document that holds what only this format says of one: its context, and whether answers cite it.
const DOCUMENT_OPTIONS: &str = "document_options";
