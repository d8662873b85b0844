//! Counts into ours (wire notes, `gemini.md`, Quirks, and `common.md`, Usage).

use crate::generate_content::types::{WireCount, WireUsage};
use llm_core::Usage;

/// The last known figure of each count. They are running totals, and a figure that is zero is left out.
#[derive(Debug, Default)]
pub(super) struct Counts {
    prompt: Option<u64>,
    tool_use: Option<u64>,
    cached: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
    total: Option<u64>,
}

impl Counts {
    pub(super) fn take(&mut self, wire: &WireUsage<'_>) {
        let take = |into: &mut Option<u64>, from: Option<WireCount>| {
            *into = from.map(|count| count.0).or(*into);
        };
        take(&mut self.prompt, wire.prompt_token_count);
        take(&mut self.tool_use, wire.tool_use_prompt_token_count);
        take(&mut self.cached, wire.cached_content_token_count);
        take(&mut self.candidates, wire.candidates_token_count);
        take(&mut self.thoughts, wire.thoughts_token_count);
        take(&mut self.total, wire.total_token_count);
    }

    /// Prompts for tools stand outside of the prompt, thoughts outside of the candidates; the cached part stands
    /// inside of the prompt.
    pub(super) fn usage(&self) -> Usage {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        let input = sum(self.prompt, self.tool_use);
        // Nothing came out and so nothing is said of it: the total shows whether that is so.
        let rest = || Some(self.total?.saturating_sub(input?));
        let mut usage = Usage::default();
        usage.input_tokens = input;
        usage.output_tokens = sum(self.candidates, self.thoughts).or_else(rest);
        usage.cached_input_tokens = self.cached;
        usage.reasoning_tokens = self.thoughts;
        usage
    }
}
