//! What the vendors' words for failures mean.
//!
//! Sources: the wire notes of each vendor, state of 2026-11-29; wordings of the open servers (vLLM,
//! llama.cpp, TGI, LM Studio) and of gateways from their error texts.

use llm_core::ErrorKind;

/// The exact names of the vendors and of the gateways in front of them.
pub(super) fn kind_of_name(name: &str) -> Option<ErrorKind> {
    Some(match name.to_ascii_lowercase().as_str() {
        "insufficient_quota"
        | "insufficient_user_quota"
        | "billing_error"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "exceeded_current_quota_error"
        | "insufficient_balance"
        | "insufficient_credits"
        | "enforced_spend_limit_reached"
        | "contract_spend_limit_reached" => ErrorKind::QuotaExhausted,
        "context_length_exceeded" | "exceed_context_size_error" | "context_window_exceeded" => {
            ErrorKind::ContextLength
        }
        "content_filter"
        | "content_policy_violation"
        | "image_content_policy_violation"
        | "bio_policy"
        | "misalignment_policy_violation"
        | "invalid_prompt"
        | "responsibleaipolicyviolation"
        | "data_inspection_failed"
        | "moderation_blocked" => ErrorKind::ContentFilter,
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "rate_limit_reached_error"
        | "ramp_limit_exceeded"
        | "resource_exhausted"
        | "throttlingexception" => ErrorKind::RateLimit,
        "invalid_api_key"
        | "authentication_error"
        | "invalid_authentication_error"
        | "incorrect_api_key_error"
        | "unauthenticated"
        | "unauthorized" => ErrorKind::Auth,
        "permission_error"
        | "permission_denied"
        | "permission_denied_error"
        | "forbidden"
        | "organization_on_hold" => ErrorKind::Permission,
        "model_not_found"
        | "not_found_error"
        | "not_found"
        | "resource_not_found_error"
        | "deploymentnotfound" => ErrorKind::NotFound,
        "overloaded_error"
        | "engine_overloaded_error"
        | "capacity_exceeded"
        | "overloaded"
        | "unavailable"
        | "service_unavailable" => ErrorKind::Overloaded,
        "timeout_error" | "deadline_exceeded" | "timeout" => ErrorKind::Timeout,
        "server_error"
        | "api_error"
        | "conflict_error"
        | "internal_error"
        | "internal_server_error"
        | "internal" => ErrorKind::Server,
        "invalid_request_error"
        | "request_too_large"
        | "image_dimensions_too_large"
        | "image_too_large"
        | "image_too_small"
        | "image_file_too_large"
        | "image_file_not_found"
        | "image_parse_error"
        | "empty_image_file"
        | "failed_to_download_image"
        | "unsupported_image_media_type"
        | "data_residency_mismatch"
        | "tool_name_conflict"
        | "bad_request"
        | "bad_request_error"
        | "badrequesterror"
        | "invalid_argument"
        | "invalid_value"
        | "tool_use_failed"
        | "unprocessable_entity" => ErrorKind::InvalidRequest,
        _ => return None,
    })
}

/// Wordings that mean one thing wherever they stand.
pub(super) fn kind_of_message(message: &str) -> Option<ErrorKind> {
    const CONTEXT: &[&str] = &[
        "maximum context length",
        "context length exceeded",
        "context length of",
        "exceeds the context",
        "exceeds context",
        "exceed context limit",
        "context window",
        "available context size",
        "model token limit",
        "maximum model length",
        "maximum prompt length",
        "maximum input length",
        "range of input length",
        "exceeds the maximum number of tokens",
        "prompt is too long",
        "input is too long",
        "too many tokens: ",
        "reduce the length of the messages",
        "`inputs` must have less than",
        "`inputs` tokens + `max_new_tokens` must be",
    ];
    const QUOTA: &[&str] = &[
        "exceeded your current quota",
        "insufficient quota",
        "quota is not enough",
        "billing details",
        "billing hard limit",
        "credit balance",
        "balance too low",
        "insufficient balance",
        "insufficient credit",
        "insufficient funds",
        "not enough credit",
        "out of credit",
        "available credits",
        "more credits",
        "spend limit",
        "spending limit",
    ];
    const FILTER: &[&str] = &[
        "content management policy",
        "content policy",
        "content filtering policy",
        "usage polic",
        "guardrail",
        "safety system",
        "content exists risk",
        "inappropriate content",
        "input was flagged",
        "prompt was flagged",
        "request was flagged",
    ];
    let text = message.to_lowercase();
    [
        (CONTEXT, ErrorKind::ContextLength),
        (QUOTA, ErrorKind::QuotaExhausted),
        (FILTER, ErrorKind::ContentFilter),
    ]
    .into_iter()
    .find(|(wordings, _)| wordings.iter().any(|wording| text.contains(wording)))
    .map(|(_, kind)| kind)
}

/// The last resort for an error without status and exact name: parts of words, in this order.
pub(super) fn kind_of_any_word(codes: &[String], message: &str) -> ErrorKind {
    const PARTS: &[(&[&str], ErrorKind)] = &[
        (&["insufficient_quota"], ErrorKind::QuotaExhausted),
        (
            &["rate_limit", "rate limit", "too many requests"],
            ErrorKind::RateLimit,
        ),
        (
            &["authenticat", "unauthorized", "api key", "api_key"],
            ErrorKind::Auth,
        ),
        (&["permission"], ErrorKind::Permission),
        (&["not_found", "not found"], ErrorKind::NotFound),
        (
            &["invalid", "bad_request", "bad request"],
            ErrorKind::InvalidRequest,
        ),
        (&["overload"], ErrorKind::Overloaded),
        (&["timeout", "timed out"], ErrorKind::Timeout),
    ];
    let text = format!("{} {message}", codes.join(" ")).to_lowercase();
    PARTS
        .iter()
        .find(|(parts, _)| parts.iter().any(|part| text.contains(part)))
        .map_or(ErrorKind::Server, |(_, kind)| *kind)
}
