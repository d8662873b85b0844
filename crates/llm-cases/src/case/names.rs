//! The words of the format: kinds, wires and dialects.

use std::fmt;

/// What cases are about.
pub(crate) const KINDS: &[&str] = &[
    "sse-framing",
    "delta-tools",
    "delta-content",
    "reasoning",
    "anthropic",
    "gemini",
    "ollama",
    "bedrock",
    "errors",
    "usage",
    "translation",
    "gateway-stream",
    "routing",
    "caching",
    "limits",
    "timeouts",
    "mcp",
    "a2a",
];

/// Whose form a case is in. `openai` is also every compatible server without a name of its own.
pub(crate) const DIALECTS: &[&str] = &[
    "openai",
    "openai-responses",
    "azure",
    "groq",
    "deepseek",
    "kimi",
    "mistral",
    "anthropic",
    "gemini",
    "ollama",
    "bedrock",
];

macro_rules! wires {
    ($($name:ident = $word:literal, $dialect:expr;)*) => {
        /// What the input of a case is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Wire {
            $(#[doc = concat!("`", $word, "`")] $name,)*
        }

        impl Wire {
            /// Every wire of the format.
            pub(crate) const ALL: &[Wire] = &[$(Wire::$name,)*];

            /// The word in case files.
            pub(crate) fn as_str(self) -> &'static str {
                match self {
                    $(Wire::$name => $word,)*
                }
            }

            /// The dialect of an input that names none.
            pub(crate) fn dialect(self) -> Option<&'static str> {
                match self {
                    $(Wire::$name => $dialect,)*
                }
            }
        }
    };
}

wires! {
    OpenAiChatSse = "openai-chat-sse", Some("openai");
    OpenAiChatJson = "openai-chat-json", Some("openai");
    OpenAiResponsesSse = "openai-responses-sse", Some("openai-responses");
    OpenAiResponsesJson = "openai-responses-json", Some("openai-responses");
    AnthropicSse = "anthropic-sse", Some("anthropic");
    AnthropicJson = "anthropic-json", Some("anthropic");
    GeminiSse = "gemini-sse", Some("gemini");
    GeminiArrayStream = "gemini-array-stream", Some("gemini");
    OllamaNdjson = "ollama-ndjson", Some("ollama");
    HttpError = "http-error", None;
    BedrockEventStream = "bedrock-eventstream", Some("bedrock");
    RequestTranslation = "request-translation", None;
    StreamTranslation = "stream-translation", None;
    RouterSim = "router-sim", Some("openai");
    CacheSim = "cache-sim", Some("openai");
    LimiterSim = "limiter-sim", Some("openai");
    RetrySim = "retry-sim", Some("openai");
    BreakerSim = "breaker-sim", Some("openai");
    TimeoutSim = "timeout-sim", Some("openai");
    McpStdio = "mcp-stdio", None;
    McpHttp = "mcp-http", None;
    A2aHttp = "a2a-http", None;
    A2aSse = "a2a-sse", None;
}

impl Wire {
    /// The wire of a word.
    pub(crate) fn parse(word: &str) -> Option<Wire> {
        Wire::ALL.iter().copied().find(|wire| wire.as_str() == word)
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The dialect that a request form of a translation belongs to.
pub(crate) fn dialect_of_form(form: &str) -> Option<&'static str> {
    Some(match form {
        "openai-chat" => "openai",
        "anthropic-messages" => "anthropic",
        "gemini" => "gemini",
        "bedrock-converse" => "bedrock",
        "ollama-chat" => "ollama",
        _ => return None,
    })
}
