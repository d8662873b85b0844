//! OpenAI Chat Completions and its dialects, both directions.
//!
//! Source: `openai-chat.md` of the project's wire notes, state of 2026-11-29 (client package 3.57).

mod calls;
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

use llm_core::WireFormatId;

pub use codec::ChatCompletionsCodec;
pub use decode_error::decode_error;
pub use decode_request::{DecodedRequest, decode_request};
pub use decode_response::decode_response;
pub use decode_stream::{DecodeOptions, StreamDecoder};
pub use dialect::Dialect;
pub use encode_error::encode_error;
pub use encode_request::{EncodedRequest, encode_request};
pub use encode_response::{EncodeOptions, encode_response};
pub use encode_stream::StreamEncoder;

/// The name of this format in raw mode.
pub const FORMAT: WireFormatId = WireFormatId::new("chat_completions");
