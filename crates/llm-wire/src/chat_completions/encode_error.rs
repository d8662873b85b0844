//! Error → wire: OpenAI's error object, with OpenAI's statuses, types and codes.

use crate::json_text::write_json;
use llm_core::{Error, ErrorKind, Rejection};
use serde::Serialize;

/// Encodes a failure: the HTTP status and the body. The hint when to come back goes into a header and is the
/// caller's to write ([`Error::retry_after`]).
///
/// | kind | status | type | code |
/// |---|---|---|---|
/// | `InvalidRequest` | 400, or 413 | `invalid_request_error` | the code that was found, else null |
/// | `Unsupported` | 400 | `invalid_request_error` | the same |
/// | `UnknownModel`, `NotFound` | 404 | `invalid_request_error` | `model_not_found` |
/// | `NoEligibleCandidate` | 422 | `invalid_request_error` | `no_eligible_candidate` |
/// | `ContextLength` | 400 | `invalid_request_error` | `context_length_exceeded` |
/// | `ContentFilter` | 400 | `invalid_request_error` | `content_filter` |
/// | `RateLimit`, a limiter of ours | 429 | `requests` | `rate_limit_exceeded` |
/// | `QuotaExhausted`, a budget of ours | 429 | `insufficient_quota` | `insufficient_quota` |
/// | `Overloaded`, a breaker, bulkhead or key pool of ours | 503 | `server_error` | `overloaded` |
/// | `Auth`, `Permission` | 502 | `server_error` | `upstream_auth` |
/// | the others | the verdict table's | `server_error` | the kind's word |
///
/// `Auth` and `Permission` are ours towards the vendor, so the caller is not told of them as 401 or 403; a face
/// makes those itself for its own callers. Messages about our own set-up are not shown either.
///
/// ```
/// use llm_core::{Error, ErrorKind};
/// use llm_wire::chat_completions::encode_error;
/// let (status, body) = encode_error(&Error::new(ErrorKind::RateLimit, "slow down"));
/// assert_eq!(status, 429);
/// assert_eq!(
///     body,
///     br#"{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#
/// );
/// ```
pub fn encode_error(error: &Error) -> (u16, Vec<u8>) {
    let mut body = Vec::with_capacity(256);
    write_error(error, &mut body);
    (status(error), body)
}

/// Writes the body alone, which is also the payload of a stream's error event.
pub(super) fn write_error(error: &Error, out: &mut Vec<u8>) {
    let (kind, code) = words(error);
    let envelope = Envelope {
        error: Body {
            message: message(error),
            kind,
            param: match error.kind() {
                ErrorKind::ContextLength => error.vendor().param.as_deref().or(Some("messages")),
                ErrorKind::UnknownModel | ErrorKind::NotFound => {
                    error.vendor().param.as_deref().or(Some("model"))
                }
                _ => error.vendor().param.as_deref(),
            },
            code,
        },
    };
    write_json(&envelope, out);
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

fn status(error: &Error) -> u16 {
    match error.kind() {
        ErrorKind::UnknownModel => 404,
        _ => error.status(),
    }
}

/// Type and code.
fn words(error: &Error) -> (&'static str, Option<&str>) {
    const REQUEST: &str = "invalid_request_error";
    const QUOTA: &str = "insufficient_quota";
    const SERVER: &str = "server_error";
    const RATE: (&str, Option<&str>) = ("requests", Some("rate_limit_exceeded"));
    const OVERLOADED: (&str, Option<&str>) = (SERVER, Some("overloaded"));
    match error.kind() {
        ErrorKind::InvalidRequest | ErrorKind::Unsupported => {
            let code = error.vendor().code.as_deref();
            (REQUEST, code.filter(|code| *code != REQUEST))
        }
        ErrorKind::UnknownModel | ErrorKind::NotFound => (REQUEST, Some("model_not_found")),
        ErrorKind::NoEligibleCandidate => (REQUEST, Some("no_eligible_candidate")),
        ErrorKind::ContextLength => (REQUEST, Some("context_length_exceeded")),
        ErrorKind::ContentFilter => (REQUEST, Some("content_filter")),
        ErrorKind::RateLimit => RATE,
        ErrorKind::QuotaExhausted => (QUOTA, Some(QUOTA)),
        ErrorKind::Overloaded => OVERLOADED,
        ErrorKind::Rejected => match error.rejection() {
            Some(Rejection::Budget) => (QUOTA, Some(QUOTA)),
            Some(Rejection::BreakerOpen | Rejection::BulkheadFull | Rejection::NoCredential) => OVERLOADED,
            _ => RATE,
        },
        ErrorKind::Auth | ErrorKind::Permission => (SERVER, Some("upstream_auth")),
        other => (SERVER, Some(other.as_str())),
    }
}

/// What the caller may read. Messages hold no content and no credentials; those about our own set-up are still
/// none of the caller's business.
fn message(error: &Error) -> &str {
    match error.kind() {
        ErrorKind::Auth | ErrorKind::Permission => {
            "the service's own access to the model was refused; tell who runs it"
        }
        ErrorKind::Config | ErrorKind::Internal => "the service is at fault; tell who runs it",
        _ => error.message(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_completions::{Dialect, decode_error};
    use serde_json::Value;

    fn encoded(error: &Error) -> (u16, Value) {
        let (status, body) = encode_error(error);
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn every_kind_has_openais_words() {
        let mut table = String::new();
        for kind in ErrorKind::ALL {
            let (status, body) = encoded(&Error::new(kind, "why"));
            let error = &body["error"];
            table += &format!(
                "{kind}: {status} {} {} {}\n",
                error["type"], error["param"], error["code"]
            );
        }
        let expected = r#"config: 500 "server_error" null "config"
internal: 500 "server_error" null "internal"
invalid_request: 400 "invalid_request_error" null null
unsupported: 400 "invalid_request_error" null null
unknown_model: 404 "invalid_request_error" "model" "model_not_found"
no_eligible_candidate: 422 "invalid_request_error" null "no_eligible_candidate"
context_length: 400 "invalid_request_error" "messages" "context_length_exceeded"
content_filter: 400 "invalid_request_error" null "content_filter"
not_found: 404 "invalid_request_error" "model" "model_not_found"
auth: 502 "server_error" null "upstream_auth"
permission: 502 "server_error" null "upstream_auth"
quota_exhausted: 429 "insufficient_quota" null "insufficient_quota"
rate_limit: 429 "requests" null "rate_limit_exceeded"
overloaded: 503 "server_error" null "overloaded"
server: 502 "server_error" null "server"
connection: 502 "server_error" null "connection"
timeout: 504 "server_error" null "timeout"
protocol: 502 "server_error" null "protocol"
interrupted: 502 "server_error" null "interrupted"
rejected: 429 "requests" null "rate_limit_exceeded"
cancelled: 499 "server_error" null "cancelled"
"#;
        assert_eq!(table, expected);
    }

    #[test]
    fn our_own_refusals_have_the_words_of_what_they_are() {
        let words = |rejection| {
            let (status, body) = encoded(&Error::rejected(rejection, "why"));
            (status, body["error"]["code"].as_str().unwrap().to_owned())
        };
        assert_eq!(words(Rejection::RateLimit), (429, "rate_limit_exceeded".into()));
        assert_eq!(words(Rejection::Budget), (429, "insufficient_quota".into()));
        assert_eq!(words(Rejection::BreakerOpen), (503, "overloaded".into()));
        assert_eq!(words(Rejection::NoCredential), (503, "overloaded".into()));
    }

    #[test]
    fn what_was_found_is_passed_on() {
        let mut error = Error::new(ErrorKind::InvalidRequest, "bad").with_status(413);
        error.vendor_mut().param = Some("messages[0].role".into());
        error.vendor_mut().code = Some("invalid_value".into());
        let (status, body) = encoded(&error);
        assert_eq!(status, 413);
        assert_eq!(body["error"]["param"], "messages[0].role");
        assert_eq!(body["error"]["code"], "invalid_value");
        error.vendor_mut().code = Some("invalid_request_error".into());
        assert_eq!(encoded(&error).1["error"]["code"], Value::Null);
    }

    #[test]
    fn our_own_set_up_is_not_shown() {
        for kind in [
            ErrorKind::Auth,
            ErrorKind::Permission,
            ErrorKind::Config,
            ErrorKind::Internal,
        ] {
            let (_, body) = encode_error(&Error::new(kind, "the key sk-123 of account 7 is wrong"));
            assert!(!String::from_utf8(body).unwrap().contains("sk-123"));
        }
    }

    /// A daemon behind a daemon: what one says the other understands.
    #[test]
    fn the_class_survives_the_way_back() {
        let same = [
            ErrorKind::InvalidRequest,
            ErrorKind::ContextLength,
            ErrorKind::ContentFilter,
            ErrorKind::NotFound,
            ErrorKind::QuotaExhausted,
            ErrorKind::RateLimit,
            ErrorKind::Overloaded,
            ErrorKind::Timeout,
        ];
        for kind in same {
            let (status, body) = encode_error(&Error::new(kind, "why"));
            for status in [Some(status), None] {
                assert_eq!(
                    decode_error(&Dialect::openai(), status, &body).kind(),
                    kind,
                    "{status:?}"
                );
            }
        }
        for kind in [
            ErrorKind::Server,
            ErrorKind::Connection,
            ErrorKind::Interrupted,
            ErrorKind::Auth,
        ] {
            let (status, body) = encode_error(&Error::new(kind, "why"));
            for status in [Some(status), None] {
                let decoded = decode_error(&Dialect::openai(), status, &body);
                assert_eq!(decoded.kind(), ErrorKind::Server, "{kind} {status:?}");
            }
        }
    }
}
