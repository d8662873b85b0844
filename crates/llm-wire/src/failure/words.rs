//! What the vendors' words for failures mean.
//!
//! Sources: the wire notes of each vendor, state of 2026-11-29; wordings of the open servers (vLLM,
//! llama.cpp, TGI, LM Studio) and of gateways from their error texts.

use llm_core::ErrorKind;
use std::borrow::Cow;

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

/// Wordings that mean one thing wherever they stand outside of quotes.
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
        "reached your specified api usage limits",
        "reached your specified workspace api usage limits",
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
    let text = without_quoted(message).to_lowercase();
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
    let text = format!("{} {}", codes.join(" "), without_quoted(message)).to_lowercase();
    PARTS
        .iter()
        .find(|(parts, _)| parts.iter().any(|part| text.contains(part)))
        .map_or(ErrorKind::Server, |(_, kind)| *kind)
}

/// Does a message open with the words of the one vendor that says with a 400 that nothing is left to pay with, or that the
/// customer's own spend limit is reached (wire notes, `anthropic.md`, state of 2026-11-29)?
pub(super) fn begins_with_quota(message: &str) -> bool {
    let text = message.trim_start().to_lowercase();
    [
        "your credit balance is too low",
        "you have reached your specified",
    ]
    .iter()
    .any(|opening| text.starts_with(opening))
}

/// A message without what stands in quotes: that is often what the caller wrote, which must not say what went wrong.
///
/// Quotes are `'` and `"` from the first to the last, because a caller's text may hold them, too, and pairs of
/// backquotes around more than the name of a parameter. A quote inside a word is an apostrophe.
fn without_quoted(message: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(message);
    for quote in ['"', '\''] {
        let Some(start) = quote_at(&text, quote, text.match_indices(quote)) else {
            continue;
        };
        let end = quote_at(&text, quote, text.rmatch_indices(quote)).unwrap_or(start);
        if end > start {
            text = Cow::Owned(format!("{}{}", &text[..=start], &text[end..]));
        }
    }
    if !text.contains('`') {
        return text;
    }
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let pieces = text.split('`').enumerate();
    let kept = pieces.map(|(at, piece)| {
        if at % 2 == 0 || piece.bytes().all(in_name) {
            piece
        } else {
            ""
        }
    });
    Cow::Owned(kept.collect::<Vec<_>>().join("`"))
}

/// Where the first of these marks is that does not stand inside a word.
fn quote_at<'a>(text: &str, quote: char, marks: impl Iterator<Item = (usize, &'a str)>) -> Option<usize> {
    let in_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    let mut marks = marks.map(|(at, _)| at);
    marks.find(|at| {
        let (before, after) = (
            text[..*at].chars().next_back(),
            text[at + quote.len_utf8()..].chars().next(),
        );
        !(in_word(before) && in_word(after))
    })
}
