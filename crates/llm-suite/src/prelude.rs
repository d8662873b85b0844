//! The names that most programs need.
//!
//! A first call; `from_env` reads `OPENAI_API_KEY` and `OPENAI_BASE_URL`:
//!
//! ```
//! # #[cfg(feature = "openai")] mod offline {
//! #     use llm_driver_testkit::{Answer, ScriptedTransport};
//! #     use llm_suite::openai::{OpenAiConfig, OpenAiDriver as Real};
//! #     pub struct OpenAiDriver;
//! #     impl OpenAiDriver {
//! #         pub fn from_env() -> llm_suite::core::Result<Real> {
//! #             let body = r#"{"choices":[{"message":{"content":"Rhine, Po, Ob"},"finish_reason":"stop"}]}"#;
//! #             let transport = ScriptedTransport::always(Answer::json(200, body));
//! #             Real::with_transport(OpenAiConfig::new("key"), std::sync::Arc::new(transport))
//! #         }
//! #     }
//! # }
//! # #[cfg(feature = "openai")] use offline::OpenAiDriver;
//! use llm_suite::prelude::*;
//!
//! # #[cfg(feature = "openai")]
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     let driver = OpenAiDriver::from_env()?;
//!     let answer = driver.ask(&context(), "gpt-6-luna", "Name three rivers.").await?;
//!     println!("{}", answer.text());
//! #   assert_eq!(answer.text(), "Rhine, Po, Ob");
//!     Ok(())
//! }
//! # #[cfg(not(feature = "openai"))] fn main() {}
//! ```
//!
//! The answer as it comes, with one verb changed:
//!
//! ```
//! # #[cfg(feature = "openai")] mod offline {
//! #     use llm_driver_testkit::{Answer, ScriptedTransport};
//! #     use llm_suite::openai::{OpenAiConfig, OpenAiDriver as Real};
//! #     pub struct OpenAiDriver;
//! #     impl OpenAiDriver {
//! #         pub fn from_env() -> llm_suite::core::Result<Real> {
//! #             let body = "data: {\"choices\":[{\"delta\":{\"content\":\"Rhine, \"}}]}\n\n\
//! #                 data: {\"choices\":[{\"delta\":{\"content\":\"Po\"},\"finish_reason\":\"stop\"}]}\n\n\
//! #                 data: [DONE]\n\n";
//! #             let transport = ScriptedTransport::always(Answer::sse(body));
//! #             Real::with_transport(OpenAiConfig::new("key"), std::sync::Arc::new(transport))
//! #         }
//! #     }
//! # }
//! # #[cfg(feature = "openai")] use offline::OpenAiDriver;
//! use llm_suite::prelude::*;
//!
//! # #[cfg(feature = "openai")]
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     let driver = OpenAiDriver::from_env()?;
//!     let mut answer = driver.ask_stream(&context(), "gpt-6-luna", "Name three rivers.").await?;
//! #   let mut whole = String::new();
//!     while let Some(text) = answer.next_text().await? {
//!         print!("{text}");
//! #       whole += &text;
//!     }
//! #   assert_eq!(whole, "Rhine, Po");
//!     Ok(())
//! }
//! # #[cfg(not(feature = "openai"))] fn main() {}
//! ```

pub use crate::context;
pub use llm_core::{
    ChatDriver, ChatDriverExt, ChatEvent, ChatRequest, ChatResponse, ContentPart, Error, ErrorKind,
    ImagePart, MediaSource, Message, ModelId, OutputFormat, Reasoning, ReasoningEffort, Result, Role, Stack,
    ToolChoice, ToolResult, ToolSpec, VendorId,
};
#[cfg(feature = "claude")]
pub use llm_driver_claude::{ClaudeConfig, ClaudeDriver};
#[cfg(feature = "deepseek")]
pub use llm_driver_deepseek::{DeepSeekConfig, DeepSeekDriver};
#[cfg(feature = "gemini")]
pub use llm_driver_gemini::{GeminiConfig, GeminiDriver};
#[cfg(feature = "groq")]
pub use llm_driver_groq::{GroqConfig, GroqDriver};
#[cfg(feature = "kimi")]
pub use llm_driver_kimi::{KimiConfig, KimiDriver};
#[cfg(feature = "mistral")]
pub use llm_driver_mistral::{MistralConfig, MistralDriver};
#[cfg(feature = "ollama")]
pub use llm_driver_ollama::{OllamaConfig, OllamaDriver};
#[cfg(feature = "openai")]
pub use llm_driver_openai::{OpenAiConfig, OpenAiDriver};
#[cfg(feature = "resilience")]
pub use llm_resilience::{RetryLayer, RetryPolicy, TimeoutLayer, TimeoutPolicy};
#[cfg(feature = "routing")]
pub use llm_routing::{Candidate, Router, RoutingPolicy};
