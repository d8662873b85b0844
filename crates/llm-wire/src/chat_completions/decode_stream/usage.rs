//! Counts, in every spelling of the hosts of this format, into ours (wire notes, "Usage").

use super::super::types::WireUsage;
use crate::lenient::Count;
use llm_core::{Cost, Usage};

pub(super) fn usage_of(wire: &WireUsage) -> Usage {
    let count = |count: Option<Count>| count.map(|count| count.0);
    let details = wire
        .prompt_tokens_details
        .as_ref()
        .or(wire.prompt_token_details.as_ref());
    let mut usage = Usage::default();
    usage.input_tokens = count(wire.prompt_tokens).or(count(wire.input_tokens));
    usage.output_tokens = count(wire.completion_tokens).or(count(wire.output_tokens));
    if usage.total_tokens().is_none() {
        usage.undivided_tokens = count(wire.total_tokens);
    }
    usage.cached_input_tokens = count(wire.num_cached_tokens)
        .or(count(wire.prompt_cache_hit_tokens))
        .or(count(wire.cached_tokens))
        .or(details.and_then(|details| count(details.cached_tokens)));
    usage.cache_write_input_tokens = details.and_then(|details| count(details.cache_write_tokens));
    usage.reasoning_tokens = wire
        .completion_tokens_details
        .as_ref()
        .and_then(|details| count(details.reasoning_tokens))
        .or(count(wire.reasoning_tokens));
    usage.cost = wire.cost.and_then(Cost::from_reported_usd);
    usage
}
