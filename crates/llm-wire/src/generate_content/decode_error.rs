//! Error body → `Error`: what every format reads, and what stands among Google's details.
//!
//! Source: `gemini.md` of the project's wire notes (Errors) and `common.md` (Status and type to class), state of
//! 2026-11-29.

use super::dialect::Dialect;
use crate::failure::decode_failure;
use crate::retry_hint;
use llm_core::{Error, ErrorKind};
use serde_json::Value;
use std::time::Duration;

/// Reads a failure. `status` is the HTTP status, or `None` for an error inside a 200 (a body or a stream's chunk).
///
/// The kind comes from status and vendor's words together. Two things stand only in the details: that the key is not
/// accepted (the status says 400), and whether a quota is for a minute or for a day (the message speaks of plan and
/// billing for both, but waiting a moment helps with one alone). The wait that the body asks for is put on the error;
/// there is no header for it here.
///
/// ```
/// use llm_core::ErrorKind;
/// use llm_wire::generate_content::{Dialect, decode_error};
/// let body = br#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT",
///     "details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
/// let error = decode_error(&Dialect::gemini(), Some(400), body);
/// assert_eq!(error.kind(), ErrorKind::Auth);
/// ```
pub fn decode_error(_dialect: &Dialect, status: Option<u16>, body: &[u8]) -> Error {
    let error = decode_failure(status, body);
    let said = Said::read(body);
    let kind = match error.kind() {
        ErrorKind::InvalidRequest | ErrorKind::Permission if said.bad_key => ErrorKind::Auth,
        ErrorKind::RateLimit if said.per_day => ErrorKind::QuotaExhausted,
        ErrorKind::QuotaExhausted if said.comes_back() => ErrorKind::RateLimit,
        // the kind of what says nothing else
        ErrorKind::Server if status.is_none() => said.kind_of_word().unwrap_or(ErrorKind::Server),
        same => same,
    };
    let mut error = if kind == error.kind() {
        error
    } else {
        // neither a key nor a day's quota comes back in a moment
        let wait = said.wait.filter(|_| kind == ErrorKind::RateLimit);
        Error::new(kind, error.message())
            .with_phase(error.phase())
            .with_retry_after(wait)
            .with_vendor(error.vendor().clone())
    };
    if let Some(code) = said.code() {
        error.vendor_mut().code = Some(code.to_owned());
    }
    error
}

/// What stands among the details.
#[derive(Default)]
struct Said {
    /// The first reason of a detail.
    reason: Option<String>,
    /// The word for the status.
    word: Option<String>,
    bad_key: bool,
    per_day: bool,
    per_minute: bool,
    /// The wait that it asks for.
    wait: Option<Duration>,
}

impl Said {
    fn read(body: &[u8]) -> Said {
        let mut said = Said::default();
        let Ok(document) = serde_json::from_slice::<Value>(body) else {
            return said;
        };
        // a failure may be wrapped into a list
        let document = document.get(0).unwrap_or(&document);
        let error = document.get("error").unwrap_or(document);
        let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
        said.word = text(error, "status");
        let details = error.get("details").and_then(Value::as_array);
        for detail in details.into_iter().flatten() {
            if let Some(reason) = text(detail, "reason") {
                said.bad_key |= matches!(reason.as_str(), "API_KEY_INVALID" | "API_KEY_EXPIRED");
                said.reason = said.reason.or(Some(reason));
            }
            let violations = detail.get("violations").and_then(Value::as_array);
            for violation in violations.into_iter().flatten() {
                let quota = text(violation, "quotaId").unwrap_or_default();
                said.per_day |= quota.contains("PerDay");
                said.per_minute |= quota.contains("PerMinute");
            }
        }
        said.wait = retry_hint::of_details(document);
        let message = text(error, "message").unwrap_or_default();
        said.bad_key |= ["API key not valid", "API key expired", "API Key not found"]
            .iter()
            .any(|wording| message.contains(wording));
        said
    }

    /// The most exact word. A reason is one where it is written as Google defines it, in capitals; anything else may be
    /// what the caller wrote.
    fn code(&self) -> Option<&str> {
        let is_constant = |text: &&str| {
            text.bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        };
        let reason = self.reason.as_deref().filter(is_constant);
        reason.or(self.word.as_deref().filter(is_constant))
    }

    /// Is it a limit that a moment's wait helps with?
    fn comes_back(&self) -> bool {
        let limited = self.word.as_deref() == Some("RESOURCE_EXHAUSTED");
        limited && !self.per_day && (self.per_minute || self.wait.is_some())
    }

    /// The kind of the status that a word stands for, for words that no other vendor has.
    fn kind_of_word(&self) -> Option<ErrorKind> {
        let status = match self.word.as_deref()? {
            "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
            "ABORTED" | "ALREADY_EXISTS" => 409,
            "CANCELLED" => 499,
            "UNIMPLEMENTED" => 501,
            _ => return None,
        };
        Some(ErrorKind::of_status(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn read(status: Option<u16>, error: Value) -> Error {
        let body = json!({"error": error}).to_string();
        decode_error(&Dialect::gemini(), status, body.as_bytes())
    }

    #[test]
    fn a_key_that_is_not_accepted_is_a_400() {
        let detail =
            json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"});
        let error =
            json!({"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT", "details": [detail]});
        for status in [Some(400), None] {
            let error = read(status, error.clone());
            assert_eq!(error.kind(), ErrorKind::Auth, "{status:?}");
            assert_eq!(error.vendor().code.as_deref(), Some("API_KEY_INVALID"));
        }
        let bare = json!({"code": 400, "message": "API key not valid. Pass a valid one.", "status": "INVALID_ARGUMENT"});
        assert_eq!(read(Some(400), bare).kind(), ErrorKind::Auth);
    }

    #[test]
    fn a_reason_in_words_is_no_code() {
        let detail = json!({"@type": "a.ErrorInfo", "reason": "the prompt says: my secret"});
        let error = json!({"code": 400, "message": "m", "status": "INVALID_ARGUMENT", "details": [detail]});
        let code = |error| read(Some(400), error).vendor().code.clone();
        assert_eq!(code(error).as_deref(), Some("INVALID_ARGUMENT"));
        assert_eq!(code(json!({"message": "m", "status": "my secret"})), None);
    }

    #[test]
    fn a_quota_for_a_day_is_used_up_and_one_for_a_minute_is_a_limit() {
        let error = |quota: &str| {
            json!({"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.25s"}]})
        };
        let day = read(
            Some(429),
            error("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
        );
        assert_eq!((day.kind(), day.retry_after()), (ErrorKind::QuotaExhausted, None));
        assert_eq!(day.vendor().status, Some(429));
        let minute = read(Some(429), error("GenerateRequestsPerMinutePerProject"));
        assert_eq!(minute.kind(), ErrorKind::RateLimit);
        assert_eq!(minute.retry_after(), Some(Duration::from_millis(250)));
        assert_eq!(minute.vendor().code.as_deref(), Some("RESOURCE_EXHAUSTED"));
    }

    #[test]
    fn plan_and_billing_are_spoken_of_whatever_the_quota() {
        let message = "You exceeded your current quota, please check your plan and billing details.";
        let error = |details: Value| json!({"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details});
        let quota = |quota: &str| json!({"@type": "a.QuotaFailure", "violations": [{"quotaId": quota}]});
        let wait = json!({"@type": "a.RetryInfo", "retryDelay": "35s"});
        for status in [Some(429), None] {
            let minute = read(status, error(json!([quota("RequestsPerMinutePerProject"), wait])));
            assert_eq!(minute.kind(), ErrorKind::RateLimit);
            assert_eq!(minute.retry_after(), Some(Duration::from_secs(35)));
            let day = read(status, error(json!([quota("RequestsPerDayPerProject"), wait])));
            assert_eq!((day.kind(), day.retry_after()), (ErrorKind::QuotaExhausted, None));
        }
        assert_eq!(
            read(Some(429), error(json!([]))).kind(),
            ErrorKind::QuotaExhausted
        );
    }

    #[test]
    fn words_stand_for_statuses_where_there_is_none() {
        for (word, kind) in [
            ("UNAVAILABLE", ErrorKind::Overloaded),
            ("INTERNAL", ErrorKind::Server),
            ("UNKNOWN", ErrorKind::Server),
            ("DATA_LOSS", ErrorKind::Server),
            ("ABORTED", ErrorKind::Server),
            ("UNAUTHENTICATED", ErrorKind::Auth),
            ("PERMISSION_DENIED", ErrorKind::Permission),
            ("NOT_FOUND", ErrorKind::NotFound),
            ("RESOURCE_EXHAUSTED", ErrorKind::RateLimit),
            ("INVALID_ARGUMENT", ErrorKind::InvalidRequest),
            ("FAILED_PRECONDITION", ErrorKind::InvalidRequest),
            ("OUT_OF_RANGE", ErrorKind::InvalidRequest),
            ("DEADLINE_EXCEEDED", ErrorKind::Timeout),
            ("UNIMPLEMENTED", ErrorKind::Unsupported),
        ] {
            assert_eq!(
                read(None, json!({"message": "m", "status": word})).kind(),
                kind,
                "{word}"
            );
        }
        let wrapped =
            br#"[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]"#;
        let error = decode_error(&Dialect::gemini(), None, wrapped);
        assert_eq!(error.kind(), ErrorKind::Overloaded);
        let region = json!({"code": 400, "message": "User location is not supported.", "status": "FAILED_PRECONDITION"});
        assert_eq!(read(Some(400), region).kind(), ErrorKind::InvalidRequest);
    }

    #[test]
    fn the_window_has_its_own_wording() {
        let message =
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
        let error = json!({"code": 400, "message": message, "status": "INVALID_ARGUMENT"});
        for status in [Some(400), None] {
            assert_eq!(read(status, error.clone()).kind(), ErrorKind::ContextLength);
        }
    }
}
