#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod chat_completions;
pub mod frame;

mod lenient;
mod retry_hint;
