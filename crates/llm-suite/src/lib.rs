#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod builtin;
pub mod prelude;

pub use builtin::builtin_registry;

/// Data, traits, layers and errors: what everything else is written against.
pub use llm_core as core;
/// Transport, credentials, limits and the clock.
pub use llm_http as http;
/// Codecs of the wire formats, for server faces and for drivers of your own.
pub use llm_wire as wire;

/// The Claude driver (feature `claude`).
#[cfg(feature = "claude")]
pub use llm_driver_claude as claude;
/// The DeepSeek driver (feature `deepseek`).
#[cfg(feature = "deepseek")]
pub use llm_driver_deepseek as deepseek;
/// The Gemini driver (feature `gemini`).
#[cfg(feature = "gemini")]
pub use llm_driver_gemini as gemini;
/// The Groq driver (feature `groq`).
#[cfg(feature = "groq")]
pub use llm_driver_groq as groq;
/// The Kimi driver (feature `kimi`).
#[cfg(feature = "kimi")]
pub use llm_driver_kimi as kimi;
/// The Mistral driver (feature `mistral`).
#[cfg(feature = "mistral")]
pub use llm_driver_mistral as mistral;
/// The Ollama driver (feature `ollama`).
#[cfg(feature = "ollama")]
pub use llm_driver_ollama as ollama;
/// The OpenAI driver (feature `openai`).
#[cfg(feature = "openai")]
pub use llm_driver_openai as openai;
/// Retry, time limits and what else wraps a driver (feature `resilience`).
#[cfg(feature = "resilience")]
pub use llm_resilience as resilience;
/// Decisions, plans and the router (feature `routing`).
#[cfg(feature = "routing")]
pub use llm_routing as routing;

/// The examples of the repository's README must compile.
#[cfg(all(doctest, feature = "openai", feature = "resilience", feature = "routing"))]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;

/// How long a call may take whose context comes from [`context`].
const DEFAULT_TIME: std::time::Duration = std::time::Duration::from_secs(10 * 60);

/// A context for a call that begins now: the system's clock, and ten minutes for the whole call, so that nothing hangs for
/// ever. For less, `.with_timeout(…)`; for more, or for calls without an end, `CallContext::new(llm_suite::http::shared_clock())`.
///
/// ```
/// use std::time::Duration;
/// let cx = llm_suite::context().with_timeout(Duration::from_secs(30));
/// assert!(cx.remaining().unwrap() <= Duration::from_secs(30));
/// assert!(llm_suite::context().remaining().unwrap() > Duration::from_secs(500));
/// ```
pub fn context() -> llm_core::CallContext {
    llm_core::CallContext::new(llm_http::shared_clock()).with_timeout(DEFAULT_TIME)
}
