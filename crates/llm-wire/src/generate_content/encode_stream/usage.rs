//! Our counts into the format's.

use llm_core::Usage;
use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireUsage<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_content_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thoughts_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'a str>,
}

impl<'a> WireUsage<'a> {
    /// `None`: nothing is known. Thoughts stand outside of the candidates here.
    pub(super) fn of(usage: &Usage, service_tier: Option<&'a str>) -> Option<Self> {
        let thoughts = usage.reasoning_tokens;
        let known = usage.input_tokens.is_some()
            || usage.output_tokens.is_some()
            || usage.cached_input_tokens.is_some()
            || thoughts.is_some()
            || service_tier.is_some();
        known.then(|| WireUsage {
            prompt_token_count: usage.input_tokens,
            cached_content_token_count: usage.cached_input_tokens,
            candidates_token_count: usage
                .output_tokens
                .map(|output| output.saturating_sub(thoughts.unwrap_or(0))),
            thoughts_token_count: thoughts,
            total_token_count: usage.total_tokens(),
            service_tier,
        })
    }
}
