//! Counts of this format into ours. They are running totals: a later figure takes the place of an earlier one, and a
//! missing one erases nothing.
//!
//! Source: `anthropic.md` of the project's wire notes ("Response", "Stream"), `common.md` ("Usage").

use super::super::types::{InvocationMetrics, WireUsage};
use crate::lenient::Count;
use llm_core::Usage;

/// The latest figures.
#[derive(Debug, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    cache_write_long: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
    /// What the steps of one answer used together, where it had several.
    steps: Option<Steps>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Steps {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_long: Option<u64>,
    output: u64,
}

impl Counts {
    pub(super) fn merge(&mut self, later: WireUsage) {
        let take = |into: &mut Option<u64>, count: Option<Count>| {
            *into = count.map(|count| count.0).or(*into);
        };
        take(&mut self.input, later.input_tokens);
        take(&mut self.cache_read, later.cache_read_input_tokens);
        take(&mut self.output, later.output_tokens);
        if let Some(details) = &later.output_tokens_details {
            take(&mut self.thinking, details.thinking_tokens);
        }
        let (written, long) = written(&later);
        take(&mut self.cache_write, written);
        take(&mut self.cache_write_long, long);
        let steps = later.iterations.filter(|steps| !steps.is_empty());
        if let Some(steps) = steps {
            self.steps = Steps::of(&steps);
        }
    }

    /// Takes what a host counted by itself, where the answer did not say.
    pub(super) fn fill_in(&mut self, metrics: &InvocationMetrics) {
        self.input = self.input.or(metrics.input.map(|count| count.0));
        self.output = self.output.or(metrics.output.map(|count| count.0));
    }

    /// The vendor counts cached and cache-written tokens beside the input, we count them in it.
    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        match self.steps {
            Some(steps) => {
                usage.input_tokens = Some(whole(
                    steps.input,
                    Some(steps.cache_read),
                    Some(steps.cache_write),
                ));
                usage.cached_input_tokens = Some(steps.cache_read);
                usage.cache_write_input_tokens = Some(steps.cache_write);
                usage.cache_write_long_input_tokens = steps.cache_write_long.or(self.cache_write_long);
                usage.output_tokens = Some(steps.output);
            }
            None => {
                usage.input_tokens = self
                    .input
                    .map(|input| whole(input, self.cache_read, self.cache_write));
                usage.cached_input_tokens = self.cache_read;
                usage.cache_write_input_tokens = self.cache_write;
                usage.cache_write_long_input_tokens = self.cache_write_long;
                usage.output_tokens = self.output;
            }
        }
        usage.reasoning_tokens = self.thinking;
        usage
    }
}

impl Steps {
    /// The steps that are billed: those of the message and of compaction; a step of another model has figures of its
    /// own, and then the totals stand.
    fn of(steps: &[WireUsage]) -> Option<Steps> {
        let is = |step: &WireUsage, kind: &str| step.kind.as_deref() == Some(kind);
        if steps.iter().any(|step| is(step, "fallback_message")) {
            return None;
        }
        let count = |count: Option<Count>| count.map_or(0, |count| count.0);
        let mut billed = None;
        for step in steps {
            if is(step, "message") || is(step, "compaction") {
                let total: &mut Steps = billed.get_or_insert_default();
                total.input = total.input.saturating_add(count(step.input_tokens));
                total.cache_read = total
                    .cache_read
                    .saturating_add(count(step.cache_read_input_tokens));
                let (written, long) = written(step);
                total.cache_write = total.cache_write.saturating_add(count(written));
                if let Some(long) = long {
                    let before = total.cache_write_long.unwrap_or(0);
                    total.cache_write_long = Some(before.saturating_add(long.0));
                }
                total.output = total.output.saturating_add(count(step.output_tokens));
            }
        }
        billed
    }
}

/// What was written to the cache, and what of it for the long time.
fn written(usage: &WireUsage) -> (Option<Count>, Option<Count>) {
    let times = usage.cache_creation.as_ref();
    let short = times.and_then(|times| times.ephemeral_5m_input_tokens);
    let long = times.and_then(|times| times.ephemeral_1h_input_tokens);
    (usage.cache_creation_input_tokens.or(sum([short, long])), long)
}

fn whole(input: u64, read: Option<u64>, written: Option<u64>) -> u64 {
    input
        .saturating_add(read.unwrap_or(0))
        .saturating_add(written.unwrap_or(0))
}

fn sum(counts: [Option<Count>; 2]) -> Option<Count> {
    let known = counts.into_iter().flatten();
    known.reduce(|one, other| Count(one.0.saturating_add(other.0)))
}
