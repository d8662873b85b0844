//! A kept answer as the caller gets it: marked, free of charge, and as a stream where one is wanted.

use llm_core::{ChatResponse, Cost, CostSource};

/// Marks an answer that was made for an earlier call.
///
/// What it says about itself stays, the count of its tokens included. What it says about the call is gone: it cost
/// nothing now, nothing was tried for it, and the limits that its headers spoke of are those of another time.
pub(super) fn as_hit(mut response: ChatResponse) -> ChatResponse {
    response.meta.from_cache = true;
    response.meta.saved_cost = response.usage.cost;
    response.meta.rate_limits = None;
    response.usage.cost = Some(Cost::new(0, CostSource::Computed));
    response.attempts = Vec::new();
    response
}

#[cfg(test)]
mod tests;
