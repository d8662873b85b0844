//! What a model can do, and whether that is enough for a request.

use crate::chat::{ChatRequest, ContentPart, OutputFormat, ReasoningEffort};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Is an ability there? Unknown is an answer of its own: it passes a check, with a note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Support {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// Nobody knows.
    #[default]
    Unknown,
}

impl From<bool> for Support {
    fn from(there: bool) -> Self {
        if there { Support::Yes } else { Support::No }
    }
}

/// One thing a stack can do for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Capability {
    /// Calling tools.
    Tools,
    /// Calling several tools at once.
    ParallelTools,
    /// Looking at pictures.
    Vision,
    /// Reading documents.
    Documents,
    /// Listening to sound.
    AudioInput,
    /// Answering in JSON of a given schema.
    JsonSchema,
    /// Thinking before answering.
    Reasoning,
    /// Answering piece by piece.
    Streaming,
    /// Keeping prompt prefixes.
    PromptCache,
}

impl Capability {
    /// All of them.
    pub const ALL: [Capability; 9] = [
        Capability::Tools,
        Capability::ParallelTools,
        Capability::Vision,
        Capability::Documents,
        Capability::AudioInput,
        Capability::JsonSchema,
        Capability::Reasoning,
        Capability::Streaming,
        Capability::PromptCache,
    ];

    /// The stable word for logs and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Capability::Tools => "tools",
            Capability::ParallelTools => "parallel_tools",
            Capability::Vision => "vision",
            Capability::Documents => "documents",
            Capability::AudioInput => "audio_input",
            Capability::JsonSchema => "json_schema",
            Capability::Reasoning => "reasoning",
            Capability::Streaming => "streaming",
            Capability::PromptCache => "prompt_cache",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a stack can do for one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Capabilities {
    support: [Support; Capability::ALL.len()],
}

impl Capabilities {
    /// Nothing is known.
    pub const fn unknown() -> Self {
        Capabilities {
            support: [Support::Unknown; Capability::ALL.len()],
        }
    }

    /// Nothing but these.
    pub fn only(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        let mut all = Capabilities {
            support: [Support::No; Capability::ALL.len()],
        };
        for capability in capabilities {
            all.support[capability as usize] = Support::Yes;
        }
        all
    }

    /// Sets one of them.
    #[must_use]
    pub fn with(mut self, capability: Capability, support: impl Into<Support>) -> Self {
        self.support[capability as usize] = support.into();
        self
    }

    /// Is this one there?
    pub fn support(&self, capability: Capability) -> Support {
        self.support[capability as usize]
    }

    /// What either can do: yes wins, then unknown.
    #[must_use]
    pub fn union(mut self, other: Capabilities) -> Self {
        for (mine, theirs) in self.support.iter_mut().zip(other.support) {
            *mine = match (*mine, theirs) {
                (Support::Yes, _) | (_, Support::Yes) => Support::Yes,
                (Support::Unknown, _) | (_, Support::Unknown) => Support::Unknown,
                (Support::No, Support::No) => Support::No,
            };
        }
        self
    }
}

/// What a request needs, derived from the typed request alone (streaming is the caller's verb, not in it).
pub fn needs(request: &ChatRequest) -> Vec<Capability> {
    let mut needs = Vec::new();
    let mut need = |capability| {
        if !needs.contains(&capability) {
            needs.push(capability);
        }
    };
    if !request.tools.is_empty() {
        need(Capability::Tools);
        if request.parallel_tool_calls == Some(true) {
            need(Capability::ParallelTools);
        }
    }
    if let OutputFormat::JsonSchema { .. } = request.output {
        need(Capability::JsonSchema);
    }
    let effort = request.reasoning.and_then(|reasoning| reasoning.effort);
    if effort.is_some_and(|effort| effort != ReasoningEffort::None) {
        need(Capability::Reasoning);
    }
    for message in &request.messages {
        for part in &message.content {
            needs_of_part(part, &mut need);
        }
    }
    needs.sort_unstable();
    needs
}

fn needs_of_part(part: &ContentPart, need: &mut impl FnMut(Capability)) {
    match part {
        ContentPart::Image(_) => need(Capability::Vision),
        ContentPart::Document(_) => need(Capability::Documents),
        ContentPart::Audio(_) => need(Capability::AudioInput),
        ContentPart::ToolResult(result) => {
            for inner in &result.content {
                needs_of_part(inner, need);
            }
        }
        ContentPart::Text(_)
        | ContentPart::ToolCall(_)
        | ContentPart::Reasoning(_)
        | ContentPart::Refusal(_)
        | ContentPart::Opaque(_)
        | ContentPart::CachePoint(_) => {}
    }
}

/// What a request needs and these capabilities lack for certain. Unknown passes.
///
/// ```
/// use llm_core::{capability, Capabilities, Capability, ChatRequest, OutputFormat};
/// let request = ChatRequest::user("hi").with_output(OutputFormat::json_schema("x", serde_json::json!({})));
/// assert_eq!(capability::check(&request, &Capabilities::only([])), [Capability::JsonSchema]);
/// assert!(capability::check(&request, &Capabilities::unknown()).is_empty());
/// ```
pub fn check(request: &ChatRequest, capabilities: &Capabilities) -> Vec<Capability> {
    let mut missing = needs(request);
    missing.retain(|capability| capabilities.support(*capability) == Support::No);
    missing
}
