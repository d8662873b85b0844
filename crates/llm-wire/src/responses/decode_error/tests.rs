use super::*;
use llm_core::ErrorKind;

fn kind(status: Option<u16>, body: Value) -> ErrorKind {
    decode_error(&Dialect::openai(), status, body.to_string().as_bytes()).kind()
}

#[test]
fn a_failure_inside_a_200_has_the_kind_of_its_own_status() {
    for (code, expected) in [
        ("server_error", ErrorKind::Server),
        ("rate_limit_exceeded", ErrorKind::RateLimit),
        ("insufficient_quota", ErrorKind::QuotaExhausted),
        ("invalid_prompt", ErrorKind::ContentFilter),
        ("bio_policy", ErrorKind::ContentFilter),
        ("context_length_exceeded", ErrorKind::ContextLength),
        ("vector_store_timeout", ErrorKind::Timeout),
        ("invalid_image_url", ErrorKind::InvalidRequest),
        ("image_too_large", ErrorKind::InvalidRequest),
        ("image_file_not_found", ErrorKind::InvalidRequest),
        ("failed_to_download_image", ErrorKind::InvalidRequest),
        ("image_content_policy_violation", ErrorKind::ContentFilter),
        ("of_the_future", ErrorKind::Server),
    ] {
        let error = json!({ "code": code, "message": "no" });
        let response =
            json!({ "object": "response", "status": "failed", "instructions": "not found", "error": error });
        assert_eq!(kind(None, response.clone()), expected, "{code}");
        let event = json!({ "type": "response.failed", "response": response });
        assert_eq!(kind(None, event), expected, "{code}");
        let event = json!({ "type": "error", "code": code, "message": "no", "param": null });
        assert_eq!(kind(None, event), expected, "{code}");
    }
}

#[test]
fn a_failed_response_that_does_not_say_why_is_the_vendors_fault() {
    let echo = "invalid api key, rate limit, not found";
    let response = json!({ "object": "response", "status": "failed", "error": null, "instructions": echo });
    let error = decode_error(&Dialect::openai(), None, response.to_string().as_bytes());
    assert_eq!(error.kind(), ErrorKind::Server);
    assert!(!error.message().contains("rate limit"), "{error}");
}

#[test]
fn bodies_with_a_status_are_read_as_in_every_format() {
    let body = json!({ "error": { "message": "no", "type": "invalid_request_error", "param": "input", "code": null } });
    let error = decode_error(&Dialect::openai(), Some(400), body.to_string().as_bytes());
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(error.vendor().param.as_deref(), Some("input"));
    assert_eq!(kind(Some(429), json!({})), ErrorKind::RateLimit);
    assert_eq!(
        kind(None, json!({ "status": 503, "error": "busy" })),
        ErrorKind::Overloaded
    );
}
