use super::*;
use llm_core::ErrorKind;
use serde_json::{Value, json};
use std::time::Duration;

fn read(status: Option<u16>, body: Value) -> Error {
    decode_error(&Dialect::openai(), status, body.to_string().as_bytes())
}

fn kind(status: Option<u16>, body: Value) -> ErrorKind {
    read(status, body).kind()
}

fn openai(message: &str, kind: Option<&str>, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

#[test]
fn a_status_decides_and_words_refine_it() {
    let long = || openai("This model's maximum context length is 9 tokens.", None, None);
    assert_eq!(kind(Some(400), long()), ErrorKind::ContextLength);
    assert_eq!(kind(Some(422), long()), ErrorKind::ContextLength);
    assert_eq!(kind(Some(413), long()), ErrorKind::InvalidRequest);
    assert_eq!(kind(Some(500), long()), ErrorKind::Server);
    let quota = || openai("", Some("insufficient_quota"), None);
    for status in [400, 401, 403, 429] {
        assert_eq!(kind(Some(status), quota()), ErrorKind::QuotaExhausted, "{status}");
    }
    assert_eq!(kind(Some(404), quota()), ErrorKind::NotFound);
    let limit = || openai("", None, Some("rate_limit_exceeded"));
    assert_eq!(kind(Some(401), limit()), ErrorKind::Auth);
    assert_eq!(kind(Some(400), limit()), ErrorKind::RateLimit);
    let full = || openai("", Some("capacity_exceeded"), None);
    assert_eq!(kind(Some(498), full()), ErrorKind::Overloaded);
    assert_eq!(kind(Some(500), full()), ErrorKind::Overloaded);
    assert_eq!(kind(Some(504), full()), ErrorKind::Timeout);
}

#[test]
fn an_error_inside_a_200_is_as_with_its_own_status() {
    let inside = |code: Value, kind: &str, message: &str| {
        self::kind(
            None,
            json!({"error": {"message": message, "type": kind, "code": code}}),
        )
    };
    let window = "This model's maximum context length is 9 tokens.";
    assert_eq!(
        inside(json!(null), "invalid_request_error", window),
        ErrorKind::ContextLength
    );
    assert_eq!(
        inside(json!(400), "invalid_request_error", window),
        ErrorKind::ContextLength
    );
    assert_eq!(
        inside(json!(413), "invalid_request_error", window),
        ErrorKind::InvalidRequest
    );
    assert_eq!(
        inside(json!("403"), "invalid_request_error", "no"),
        ErrorKind::Permission
    );
    assert_eq!(inside(json!(502), "api_error", "no"), ErrorKind::Server);
    assert_eq!(
        inside(json!(500), "overloaded_error", "no"),
        ErrorKind::Overloaded
    );
    assert_eq!(inside(json!(17), "weird", "no"), ErrorKind::Server);
    assert_eq!(kind(None, json!({"error": "Not authenticated"})), ErrorKind::Auth);
    assert_eq!(
        kind(None, json!({"error": "upstream timed out"})),
        ErrorKind::Timeout
    );
}

#[test]
fn every_shape_gives_its_message() {
    for body in [
        json!({"error": {"message": "it broke"}}),
        json!({"error": "it broke"}),
        json!([{"error": {"message": "it broke"}}]),
        json!({"message": "it broke"}),
        json!({"Message": "it broke"}),
        json!({"detail": "it broke"}),
        json!({"detail": [{"loc": ["body"], "msg": "it broke", "type": "x"}]}),
        json!({"object": "error", "message": {"detail": [{"msg": "it broke"}]}}),
        json!({"errors": ["it broke"]}),
        json!({"error": {"message": "{\"error\":{\"message\":\"it broke\"}}"}}),
        json!({"error": {"message": "", "detail": "it broke"}}),
        json!({"choices": [{"index": 0, "delta": {"content": "secret"}, "error": {"message": "it broke"}}]}),
        json!("it broke"),
    ] {
        let text = format!("\u{feff}{body}");
        for status in [None, Some(500)] {
            let error = decode_error(&Dialect::openai(), status, text.as_bytes());
            assert!(error.message().ends_with(": it broke"), "{body}: {error}");
        }
    }
    let empty = read(Some(500), json!({"error": {}}));
    assert_eq!(
        empty.message(),
        "the vendor answered status 500 without saying why"
    );
}

#[test]
fn a_wait_in_the_body_is_kept_where_waiting_helps() {
    let message = "Rate limit reached. Please try again in 1.5s.";
    let wait = |status, code| read(Some(status), openai(message, None, code)).retry_after();
    assert_eq!(wait(429, None), Some(Duration::from_millis(1_500)));
    assert_eq!(wait(503, None), Some(Duration::from_millis(1_500)));
    assert_eq!(wait(429, Some("insufficient_quota")), None);
    assert_eq!(wait(400, None), None);
    let details = json!([{"error": {"code": 429, "details": [{"retryDelay": "13.5s"}]}}]);
    assert_eq!(
        read(None, details).retry_after(),
        Some(Duration::from_millis(13_500))
    );
}

#[test]
fn words_that_only_look_like_others_change_nothing() {
    for message in [
        "Unknown parameter: 'rate_limit'.",
        "Unknown parameter: 'context_length'.",
        "Too many tokens, please wait before trying again.",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        "unknown field `balance`",
        "Invalid value for 'user': 'my credit balance is low'.",
        "Invalid value: 'it's over: x' credit balance too low 'y'",
        "Invalid value: \"exceeds the context window\".",
        "Invalid value `against the content policy` of `metadata`",
        "No such user: we have more credits, not enough credits",
    ] {
        let body = openai(message, Some("invalid_request_error"), None);
        assert_eq!(kind(Some(400), body), ErrorKind::InvalidRequest, "{message}");
    }
    let echoed = openai("bad value 'invalid api key, insufficient quota'", None, None);
    assert_eq!(kind(None, echoed), ErrorKind::Server);
    let unpaid = "Your credit balance is too low to access the API.";
    assert_eq!(
        kind(Some(400), openai(unpaid, None, None)),
        ErrorKind::QuotaExhausted
    );
    let model = "The model's `max_model_len` isn't enough: prompt is too long for 'x'";
    assert_eq!(
        kind(Some(400), openai(model, None, None)),
        ErrorKind::ContextLength
    );
    for message in [
        "Quota exceeded for requests per minute",
        "Rate limit reached for requests per minute. To raise it, see billing details.",
    ] {
        assert_eq!(
            kind(Some(429), openai(message, None, None)),
            ErrorKind::RateLimit,
            "{message}"
        );
    }
}
