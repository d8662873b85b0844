use super::*;
use llm_core::ErrorKind as Kind;
use serde_json::{Value, json};

fn read(status: Option<u16>, body: &Value) -> Error {
    decode_error(&Dialect::anthropic(), status, body.to_string().as_bytes())
}

fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}

#[test]
fn every_status_and_type_has_its_kind_with_or_without_the_status() {
    for (status, kind, expected) in [
        (400, "invalid_request_error", Kind::InvalidRequest),
        (401, "authentication_error", Kind::Auth),
        (402, "billing_error", Kind::QuotaExhausted),
        (403, "permission_error", Kind::Permission),
        (404, "not_found_error", Kind::NotFound),
        (409, "conflict_error", Kind::Server),
        (413, "request_too_large", Kind::InvalidRequest),
        (429, "rate_limit_error", Kind::RateLimit),
        (500, "api_error", Kind::Server),
        (504, "timeout_error", Kind::Timeout),
        (529, "overloaded_error", Kind::Overloaded),
    ] {
        let body = error(kind, "why");
        let decoded = read(Some(status), &body);
        assert_eq!(decoded.kind(), expected, "{status}");
        assert_eq!(decoded.vendor().code.as_deref(), Some(kind));
        assert_eq!(decoded.vendor().request_id.as_deref(), Some("req_1"));
        assert_eq!(read(None, &body).kind(), expected, "{kind} inside a 200");
    }
}

#[test]
fn wordings_tell_what_the_type_does_not() {
    for (message, expected) in [
        (
            "prompt is too long: 210457 tokens > 200000 maximum",
            Kind::ContextLength,
        ),
        (
            "input length and `max_tokens` exceed context limit: 171900 + 40000 > 200000, decrease input length",
            Kind::ContextLength,
        ),
        (
            "Your credit balance is too low to access the API.",
            Kind::QuotaExhausted,
        ),
        (
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
            Kind::QuotaExhausted,
        ),
        (
            "You have reached your specified workspace API usage limits. You will regain access on 2026-12-01.",
            Kind::QuotaExhausted,
        ),
        (
            "messages.0: 'You have reached your specified API usage limits' is no valid role",
            Kind::InvalidRequest,
        ),
        ("Output blocked by content filtering policy", Kind::ContentFilter),
        ("messages: at least one message is required", Kind::InvalidRequest),
    ] {
        let body = error("invalid_request_error", message);
        assert_eq!(read(Some(400), &body).kind(), expected, "{message}");
        assert_eq!(read(None, &body).kind(), expected, "{message} inside a 200");
    }
}

#[test]
fn a_rate_limit_that_speaks_of_usage_limits_is_one() {
    let message = "This request would exceed your rate limit. See our docs on API usage limits.";
    let body = error("rate_limit_error", message);
    assert_eq!(read(Some(429), &body).kind(), Kind::RateLimit);
    assert_eq!(read(None, &body).kind(), Kind::RateLimit);
    let body = json!({"error": {"message": message, "type": "requests", "code": "rate_limit_exceeded"}});
    assert_eq!(read(Some(429), &body).kind(), Kind::RateLimit);
}

#[test]
fn the_code_among_the_details_comes_first() {
    let body = |kind: &str, code: &str| json!({"type": "error", "error": {"type": kind, "message": "no", "details": {"error_code": code}}});
    for (status, kind, code, expected) in [
        (
            429,
            "rate_limit_error",
            "enforced_spend_limit_reached",
            Kind::QuotaExhausted,
        ),
        (
            429,
            "rate_limit_error",
            "contract_spend_limit_reached",
            Kind::QuotaExhausted,
        ),
        (429, "rate_limit_error", "ramp_limit_exceeded", Kind::RateLimit),
        (
            400,
            "invalid_request_error",
            "image_dimensions_too_large",
            Kind::InvalidRequest,
        ),
        (
            400,
            "invalid_request_error",
            "tool_name_conflict",
            Kind::InvalidRequest,
        ),
        (403, "permission_error", "organization_on_hold", Kind::Permission),
    ] {
        for status in [Some(status), None] {
            let decoded = read(status, &body(kind, code));
            assert_eq!(decoded.kind(), expected, "{code} {status:?}");
            assert_eq!(decoded.vendor().code.as_deref(), Some(code));
        }
    }
}
