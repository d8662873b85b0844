//! Ollama's own chat format (`/api/chat`): what a driver needs.
//!
//! An answer is one JSON object, a stream is lines of them ([`NdjsonDecoder`](crate::frame::NdjsonDecoder)). The
//! server also speaks Chat Completions, which cannot say everything that this format can: the window, the time that a
//! model stays loaded.
//!
//! Source: `ollama.md` of the project's wire notes, state of 2026-11-29 (client package 0.6, server source of August
//! 2026).

mod codec;
mod decode_error;
mod decode_response;
mod decode_stream;
pub mod dialect;
mod encode_request;
mod format;
mod moment;
mod request_types;
mod types;

use llm_core::WireFormatId;

pub use crate::decode_options::DecodeOptions;
pub use codec::OllamaCodec;
pub use decode_error::decode_error;
pub use decode_response::decode_response;
pub use decode_stream::StreamDecoder;
pub use dialect::Dialect;
pub use encode_request::{EncodedRequest, encode_request};

/// The name of this format in raw mode.
pub const FORMAT: WireFormatId = WireFormatId::new("ollama");
