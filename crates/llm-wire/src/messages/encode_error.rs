//! Error → wire: Anthropic's error object, with Anthropic's statuses and types.

use crate::json_text::write_json;
use llm_core::{Error, ErrorKind, Rejection};
use serde::Serialize;
use std::borrow::Cow;

/// Encodes a failure: the HTTP status and the body. The hint when to come back goes into a header and is the caller's to
/// write ([`Error::retry_after`]).
///
/// | kind | status | type |
/// |---|---|---|
/// | `InvalidRequest` | 400, or 413 | `invalid_request_error`, or `request_too_large` |
/// | `Unsupported`, `NoEligibleCandidate` | 400, 422 | `invalid_request_error` |
/// | `UnknownModel`, `NotFound` | 404 | `not_found_error` |
/// | `ContextLength` | 400 | `invalid_request_error`; the message begins with "prompt is too long", as Anthropic's does |
/// | `ContentFilter` | 400 | `invalid_request_error`; the message names a content filtering policy |
/// | `RateLimit`, a limiter of ours | 429 | `rate_limit_error` |
/// | `QuotaExhausted`, a budget of ours | 429 | `rate_limit_error` with the code of a spend limit among its details |
/// | `Overloaded`, a breaker, bulkhead or key pool of ours | 529 | `overloaded_error` |
/// | `Timeout` | 504 | `timeout_error` |
/// | the others | the verdict table's | `api_error` |
///
/// `Auth` and `Permission` are ours towards the vendor, so the caller is not told of them as 401 or 403; a face
/// makes those itself for its own callers. Messages about our own set-up are not shown either.
///
/// ```
/// use llm_core::{Error, ErrorKind};
/// use llm_wire::messages::encode_error;
/// let (status, body) = encode_error(&Error::new(ErrorKind::RateLimit, "slow down"));
/// assert_eq!(status, 429);
/// assert_eq!(body, br#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#);
/// ```
pub fn encode_error(error: &Error) -> (u16, Vec<u8>) {
    let mut body = Vec::with_capacity(256);
    write_error(error, &mut body);
    (status(error), body)
}

/// Writes the body alone, which is also the payload of a stream's error event.
pub(super) fn write_error(error: &Error, out: &mut Vec<u8>) {
    let (kind, error_code) = words(error);
    let envelope = Envelope {
        kind: "error",
        error: Body {
            kind,
            message: message(error),
            details: error_code.map(|error_code| Details { error_code }),
        },
        request_id: error.vendor().request_id.as_deref(),
    };
    write_json(&envelope, out);
}

#[derive(Serialize)]
struct Envelope<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    error: Body<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
}

#[derive(Serialize)]
struct Details {
    error_code: &'static str,
}

fn status(error: &Error) -> u16 {
    match (error.kind(), error.rejection()) {
        (ErrorKind::UnknownModel, _) => 404,
        (ErrorKind::Overloaded, _)
        | (
            ErrorKind::Rejected,
            Some(Rejection::BreakerOpen | Rejection::BulkheadFull | Rejection::NoCredential),
        ) => 529,
        _ => error.status(),
    }
}

/// Type and, where a type has several meanings, the exact code.
fn words(error: &Error) -> (&'static str, Option<&'static str>) {
    const SPENT: (&str, Option<&str>) = ("rate_limit_error", Some("enforced_spend_limit_reached"));
    match error.kind() {
        ErrorKind::InvalidRequest if error.status() == 413 => ("request_too_large", None),
        ErrorKind::InvalidRequest
        | ErrorKind::Unsupported
        | ErrorKind::NoEligibleCandidate
        | ErrorKind::ContextLength
        | ErrorKind::ContentFilter => ("invalid_request_error", None),
        ErrorKind::UnknownModel | ErrorKind::NotFound => ("not_found_error", None),
        ErrorKind::RateLimit => ("rate_limit_error", None),
        ErrorKind::QuotaExhausted => SPENT,
        ErrorKind::Overloaded => ("overloaded_error", None),
        ErrorKind::Timeout => ("timeout_error", None),
        ErrorKind::Rejected => match error.rejection() {
            Some(Rejection::Budget) => SPENT,
            Some(Rejection::BreakerOpen | Rejection::BulkheadFull | Rejection::NoCredential) => {
                ("overloaded_error", None)
            }
            _ => ("rate_limit_error", None),
        },
        _ => ("api_error", None),
    }
}

/// What the caller may read. Messages hold no content and no credentials; those about our own set-up are still none of
/// the caller's business.
fn message(error: &Error) -> Cow<'_, str> {
    const TOO_LONG: &str = "prompt is too long";
    match error.kind() {
        ErrorKind::Auth | ErrorKind::Permission => {
            "the service's own access to the model was refused; tell who runs it".into()
        }
        ErrorKind::Config | ErrorKind::Internal => "the service is at fault; tell who runs it".into(),
        ErrorKind::ContextLength if !error.message().starts_with(TOO_LONG) => {
            format!("{TOO_LONG}: {}", error.message()).into()
        }
        ErrorKind::ContentFilter => {
            format!("blocked by content filtering policy: {}", error.message()).into()
        }
        _ => error.message().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Dialect, decode_error};
    use serde_json::Value;

    fn encoded(error: &Error) -> (u16, Value) {
        let (status, body) = encode_error(error);
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn every_kind_has_anthropics_words() {
        let mut table = String::new();
        for kind in ErrorKind::ALL {
            let (status, body) = encoded(&Error::new(kind, "why"));
            let code = body["error"]["details"]["error_code"]
                .as_str()
                .unwrap_or_default();
            table += &format!(
                "{kind}: {status} {} {code}\n",
                body["error"]["type"].as_str().unwrap()
            );
        }
        let expected = "config: 500 api_error 
internal: 500 api_error 
invalid_request: 400 invalid_request_error 
unsupported: 400 invalid_request_error 
unknown_model: 404 not_found_error 
no_eligible_candidate: 422 invalid_request_error 
context_length: 400 invalid_request_error 
content_filter: 400 invalid_request_error 
not_found: 404 not_found_error 
auth: 502 api_error 
permission: 502 api_error 
quota_exhausted: 429 rate_limit_error enforced_spend_limit_reached
rate_limit: 429 rate_limit_error 
overloaded: 529 overloaded_error 
server: 502 api_error 
connection: 502 api_error 
timeout: 504 timeout_error 
protocol: 502 api_error 
interrupted: 502 api_error 
rejected: 429 rate_limit_error 
cancelled: 499 api_error 
";
        assert_eq!(table, expected);
    }

    #[test]
    fn our_own_refusals_have_the_words_of_what_they_are() {
        let words = |rejection| {
            let (status, body) = encoded(&Error::rejected(rejection, "why"));
            (status, body["error"]["type"].as_str().unwrap().to_owned())
        };
        assert_eq!(words(Rejection::RateLimit), (429, "rate_limit_error".into()));
        assert_eq!(words(Rejection::Budget), (429, "rate_limit_error".into()));
        assert_eq!(words(Rejection::BreakerOpen), (529, "overloaded_error".into()));
        assert_eq!(words(Rejection::NoCredential), (529, "overloaded_error".into()));
    }

    #[test]
    fn what_is_known_is_passed_on_and_our_set_up_is_not() {
        let mut error = Error::new(ErrorKind::InvalidRequest, "bad").with_status(413);
        error.vendor_mut().request_id = Some("req_1".into());
        let (status, body) = encoded(&error);
        assert_eq!(
            (status, &body["error"]["type"]),
            (413, &"request_too_large".into())
        );
        assert_eq!(body["request_id"], "req_1");
        for kind in [
            ErrorKind::Auth,
            ErrorKind::Permission,
            ErrorKind::Config,
            ErrorKind::Internal,
        ] {
            let (_, body) = encode_error(&Error::new(kind, "the key sk-123 of account 7 is wrong"));
            assert!(!String::from_utf8(body).unwrap().contains("sk-123"));
        }
        let long = Error::new(ErrorKind::ContextLength, "prompt is too long: 9 > 8");
        assert_eq!(encoded(&long).1["error"]["message"], "prompt is too long: 9 > 8");
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
            ErrorKind::Server,
        ];
        let ours = [ErrorKind::Connection, ErrorKind::Interrupted, ErrorKind::Auth];
        let pairs = same.map(|kind| (kind, kind)).into_iter();
        for (kind, expected) in pairs.chain(ours.map(|kind| (kind, ErrorKind::Server))) {
            let (status, body) = encode_error(&Error::new(kind, "why"));
            for status in [Some(status), None] {
                let decoded = decode_error(&Dialect::anthropic(), status, &body);
                assert_eq!(decoded.kind(), expected, "{kind} {status:?}");
            }
        }
    }
}
