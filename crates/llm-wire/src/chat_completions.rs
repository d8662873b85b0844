//! OpenAI Chat Completions and its dialects, both directions.
//!
//! Source: `openai-chat.md` of the project's wire notes, state of 2026-11-29 (client package 3.57).

pub mod dialect;

use llm_core::WireFormatId;

pub use dialect::Dialect;

/// The name of this format in raw mode.
pub const FORMAT: WireFormatId = WireFormatId::new("chat_completions");
