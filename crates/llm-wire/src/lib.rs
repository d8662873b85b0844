#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

#[cfg(feature = "chat-completions")]
pub mod chat_completions;
pub mod frame;
#[cfg(feature = "generate-content")]
pub mod generate_content;
#[cfg(feature = "messages")]
pub mod messages;
#[cfg(feature = "ollama")]
pub mod ollama;
#[cfg(feature = "responses")]
pub mod responses;

mod bag;
mod body;
mod call_ids;
mod codec;
#[cfg(any(feature = "chat-completions", feature = "responses"))]
mod custom;
mod cut_off;
mod decode_options;
#[cfg(any(feature = "chat-completions", feature = "responses"))]
mod efforts;
mod failure;
mod fault;
mod fields;
#[cfg(any(
    feature = "chat-completions",
    feature = "generate-content",
    feature = "messages",
    feature = "responses"
))]
mod json_schema;
mod json_text;
#[cfg(any(feature = "chat-completions", feature = "responses"))]
mod json_word;
mod lenient;
mod option_key;
mod pieces;
mod retry_hint;
mod service_tiers;
#[cfg(any(feature = "chat-completions", feature = "responses"))]
mod strict_schema;
mod think;
mod token_count;
mod tool_names;

pub use decode_options::DecodeOptions;
pub use tool_names::ToolNames;
