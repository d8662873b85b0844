//! Google's generateContent (Gemini): what a driver needs, and writing streams of it.
//!
//! A stream is asked for as server-sent events (`alt=sse`); without that it is one JSON array, and a failure may
//! stand in it outside of either framing. [`BodyDecoder`] cuts all three into the payloads that [`StreamDecoder`]
//! reads. Whether an answer is streamed stands in the address, not in the body, and so does the model.
//!
//! Source: `gemini.md` of the project's wire notes, state of 2026-11-29 (client package 3.6).

mod body;
mod codec;
mod decode_error;
mod decode_response;
mod decode_stream;
pub mod dialect;
mod encode_request;
mod encode_stream;
mod finish;
mod format;
mod request_types;
mod types;

use llm_core::WireFormatId;

pub use crate::decode_options::DecodeOptions;
pub use body::BodyDecoder;
pub use codec::GenerateContentCodec;
pub use decode_error::decode_error;
pub use decode_response::decode_response;
pub use decode_stream::StreamDecoder;
pub use dialect::Dialect;
pub use encode_request::{EncodedRequest, encode_count_request, encode_request};
pub use encode_stream::{EncodeOptions, StreamEncoder};

/// The name of this format in raw mode.
pub const FORMAT: WireFormatId = WireFormatId::new("generate_content");
