//! What a request needs, derived once from the typed request.

use llm_core::estimate::{TokenDemand, TokenEstimator};
use llm_core::{Capability, ChatRequest, capability};
use serde::{Deserialize, Serialize};

/// The caller's verb: whole answer or stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallMode {
    /// The whole answer at once.
    Plain,
    /// The answer as it comes.
    Stream,
}

/// What a request needs of whoever serves it. Derived, never declared: pictures in a message need vision,
/// tools need tool calling.
///
/// ```
/// use llm_core::{Capability, ChatRequest, ToolSpec};
/// use llm_routing::{CallMode, Needs};
/// let request = ChatRequest::user("What is the weather?").with_tools([ToolSpec::new("weather")]);
/// let needs = Needs::of(&request, CallMode::Stream);
/// assert_eq!(needs.capabilities(), [Capability::Tools, Capability::Streaming]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Needs {
    capabilities: Vec<Capability>,
    mode: CallMode,
    demand: TokenDemand,
    output_tokens: Option<u64>,
}

impl Needs {
    /// What this request needs when it is asked in this way.
    pub fn of(request: &ChatRequest, mode: CallMode) -> Self {
        let mut capabilities = capability::needs(request);
        if mode == CallMode::Stream {
            capabilities.push(Capability::Streaming);
            capabilities.sort_unstable();
        }
        Needs {
            capabilities,
            mode,
            demand: TokenDemand::of_chat(request),
            output_tokens: request.max_output_tokens.map(u64::from),
        }
    }

    /// The abilities, in the order of [`Capability::ALL`].
    pub fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    /// About how many tokens go in (text, tools, pictures, files, replayed reasoning), before anything was learnt of a
    /// candidate; see [`Pairing::input_tokens`](crate::Pairing::input_tokens).
    pub fn input_tokens(&self) -> u64 {
        TokenEstimator::default().input(&self.demand)
    }

    /// What that is estimated from.
    pub fn demand(&self) -> &TokenDemand {
        &self.demand
    }

    /// How many tokens may come out at most; absent: the request does not say.
    pub fn output_tokens(&self) -> Option<u64> {
        self.output_tokens
    }

    /// How it is asked.
    pub fn mode(&self) -> CallMode {
        self.mode
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stream_needs_streaming() {
        let request = ChatRequest::user("hi");
        assert!(Needs::of(&request, CallMode::Plain).capabilities().is_empty());
        let streamed = Needs::of(&request, CallMode::Stream);
        assert_eq!(streamed.capabilities(), [Capability::Streaming]);
        assert_eq!(streamed.mode(), CallMode::Stream);
    }
}
