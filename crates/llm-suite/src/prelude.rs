//! The names that most programs need.

pub use crate::context;
#[cfg(feature = "openai")]
pub use llm_driver_openai::{OpenAiConfig, OpenAiDriver};
#[cfg(feature = "routing")]
pub use llm_routing::{Candidate, Router};
pub use llm_core::{
    ChatDriver, ChatDriverExt, ChatEvent, ChatRequest, ChatResponse, Error, ErrorKind, Message, Result, Stack,
};
