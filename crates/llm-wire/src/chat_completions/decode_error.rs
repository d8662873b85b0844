//! Error body → `Error`: one classification for a status with its body and for errors inside a 200.
//!
//! Sources: the wire notes `common.md` ("Error bodies", "Status and type to class") and `openai-chat.md`, state of
//! 2026-11-29.

use super::dialect::Dialect;
use super::types::Answer;
use bytes::Bytes;
use llm_core::{Error, ErrorKind, Phase};
use serde_json::Value;

/// The most characters of a vendor's message that are kept.
const LONGEST_MESSAGE: usize = 500;
/// The most bytes of a body that are kept with the error.
const LONGEST_BODY: usize = 4 * 1024;

/// Reads a failure. `status` is the HTTP status, or `None` for an error inside a 200 (a body or a stream's event).
///
/// The kind comes from status and vendor's words together: a status decides, and exact names or well-known wordings
/// refine it where vendors put several meanings under one status (credit under 400, 403 and 429; context length and
/// filters under 400). A 413 stays `InvalidRequest` whatever the body says: it can never succeed unchanged.
pub fn decode_error(_dialect: &Dialect, status: Option<u16>, body: &[u8]) -> Error {
    let said = Said::read(body);
    let kind = match status.or_else(|| said.status_code()) {
        Some(status) => refine(status, &said),
        None => said.kind_of_names().unwrap_or_else(|| said.kind_of_words()),
    };
    let mut error = Error::new(kind, said.message(status)).with_phase(Phase::Sent);
    if status == Some(413) {
        error = error.with_status(413);
    }
    let facts = error.vendor_mut();
    facts.status = status;
    facts.code = said.codes.into_iter().next();
    facts.param = said.param;
    facts.body = Some(Bytes::copy_from_slice(&body[..body.len().min(LONGEST_BODY)]));
    error
}

/// Is this document an error that stands alone, without an `error` key? (Mistral's `"object":"error"`, gateways'
/// `{"message"}`, validators' `{"detail"}`.)
pub(super) fn is_lone_error(answer: &Answer<'_>) -> bool {
    let there = |field: &Option<crate::lenient::Presence>| field.as_ref().is_some_and(|field| field.0);
    answer.choices.is_none()
        && (answer.object.as_deref() == Some("error")
            || (answer.usage.is_none() && (there(&answer.message) || there(&answer.detail))))
}

/// What a body says, in whatever shape.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Codes, types and statuses in words, the most exact first.
    codes: Vec<String>,
    param: Option<String>,
}

impl Said {
    fn read(body: &[u8]) -> Said {
        let mut said = Said::default();
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => said.take(&value, 0),
            Err(_) => said.message = plain_text(&String::from_utf8_lossy(body)),
        }
        said
    }

    fn take(&mut self, value: &Value, depth: u8) {
        if depth > 4 {
            return;
        }
        match value {
            Value::String(text) => self.say(text, depth),
            Value::Array(items) => {
                if let Some(first) = items.first() {
                    self.take(first, depth + 1);
                }
            }
            Value::Object(fields) => {
                let codes = ["code", "type", "status"]
                    .into_iter()
                    .filter_map(|key| word(fields.get(key)?));
                self.codes.extend(codes.filter(|code| code != "error"));
                if self.param.is_none() {
                    self.param = fields.get("param").and_then(Value::as_str).map(str::to_owned);
                }
                for key in ["message", "msg", "error_description"] {
                    if let Some(Value::String(text)) = fields.get(key) {
                        self.say(text, depth);
                        break;
                    }
                }
                for key in ["error", "innererror", "detail", "errors", "details"] {
                    if let Some(inner) = fields.get(key) {
                        self.take(inner, depth + 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Keeps the outermost message; a message that is itself an error as JSON text is looked into.
    fn say(&mut self, text: &str, depth: u8) {
        if text.trim_start().starts_with('{')
            && let Ok(inner @ Value::Object(_)) = serde_json::from_str(text)
        {
            return self.take(&inner, depth + 1);
        }
        if self.message.is_empty() {
            self.message = plain_text(text);
        }
    }

    /// A three-digit code, as hosts put into errors inside a 200.
    fn status_code(&self) -> Option<u16> {
        let exact = self.kind_of_names().is_some();
        let codes = self.codes.iter().filter_map(|code| code.parse().ok());
        codes
            .into_iter()
            .find(|code| (400..600).contains(code))
            .filter(|_| !exact)
    }

    fn message(&self, status: Option<u16>) -> String {
        match (status, self.message.is_empty()) {
            (Some(status), true) => format!("the vendor answered status {status} without saying why"),
            (Some(status), false) => format!("the vendor answered status {status}: {}", self.message),
            (None, true) => "the vendor reported an error without saying why".to_owned(),
            (None, false) => format!("the vendor reported an error: {}", self.message),
        }
    }

    fn kind_of_names(&self) -> Option<ErrorKind> {
        self.codes.iter().find_map(|code| kind_of_name(code))
    }

    /// The last resort for an error without status: parts of words, in this order.
    fn kind_of_words(&self) -> ErrorKind {
        if let Some(kind) = self.kind_of_message() {
            return kind;
        }
        let text = format!("{} {}", self.codes.join(" "), self.message).to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["insufficient_quota"]) {
            ErrorKind::QuotaExhausted
        } else if has(&["rate_limit", "rate limit", "too many requests"]) {
            ErrorKind::RateLimit
        } else if has(&["authentication", "api key", "api_key"]) {
            ErrorKind::Auth
        } else if has(&["permission"]) {
            ErrorKind::Permission
        } else if has(&["not_found", "not found"]) {
            ErrorKind::NotFound
        } else if has(&["invalid", "bad_request", "bad request"]) {
            ErrorKind::InvalidRequest
        } else if has(&["overload"]) {
            ErrorKind::Overloaded
        } else if has(&["timeout", "timed out"]) {
            ErrorKind::Timeout
        } else {
            ErrorKind::Server
        }
    }

    /// Wordings that mean one thing wherever they stand.
    fn kind_of_message(&self) -> Option<ErrorKind> {
        let text = self.message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let context = [
            "maximum context length",
            "context length exceeded",
            "context window",
            "prompt is too long",
            "exceed context limit",
            "exceeds the context",
            "available context size",
            "exceeds the maximum number of tokens",
            "input is too long",
        ];
        let quota = [
            "exceeded your current quota",
            "credit balance",
            "balance too low",
            "insufficient balance",
            "insufficient credit",
            "insufficient funds",
            "not enough credit",
            "out of credit",
            "spend limit",
            "spending limit",
        ];
        let filter = [
            "content management policy",
            "content policy",
            "usage policy",
            "guardrail",
            "safety system",
        ];
        if has(&context) {
            Some(ErrorKind::ContextLength)
        } else if has(&quota) {
            Some(ErrorKind::QuotaExhausted)
        } else if has(&filter) {
            Some(ErrorKind::ContentFilter)
        } else {
            None
        }
    }
}

/// The kind of a status, refined by what the body says.
fn refine(status: u16, said: &Said) -> ErrorKind {
    let base = ErrorKind::of_status(status);
    let client_fault = (400..500).contains(&status);
    if status == 413 || !client_fault {
        let overloaded = said.kind_of_names() == Some(ErrorKind::Overloaded);
        return if overloaded && base == ErrorKind::Server {
            ErrorKind::Overloaded
        } else {
            base
        };
    }
    let named = said
        .codes
        .iter()
        .filter_map(|code| kind_of_name(code))
        .find(|kind| may_refine(base, *kind));
    named
        .or_else(|| said.kind_of_message().filter(|kind| may_refine(base, *kind)))
        .unwrap_or(base)
}

/// May a vendor's word turn a 4xx of one kind into another kind?
fn may_refine(base: ErrorKind, named: ErrorKind) -> bool {
    match named {
        ErrorKind::ContextLength => matches!(base, ErrorKind::InvalidRequest),
        ErrorKind::ContentFilter => matches!(base, ErrorKind::InvalidRequest | ErrorKind::Permission),
        ErrorKind::QuotaExhausted => {
            matches!(
                base,
                ErrorKind::InvalidRequest | ErrorKind::Permission | ErrorKind::RateLimit | ErrorKind::Auth
            )
        }
        ErrorKind::NotFound => matches!(base, ErrorKind::InvalidRequest | ErrorKind::Permission),
        ErrorKind::Auth => matches!(base, ErrorKind::InvalidRequest | ErrorKind::Permission),
        ErrorKind::Permission => matches!(base, ErrorKind::InvalidRequest | ErrorKind::Auth),
        ErrorKind::RateLimit => matches!(base, ErrorKind::InvalidRequest | ErrorKind::Permission),
        _ => false,
    }
}

/// The exact names of the vendors of this format and of the gateways in front of others.
fn kind_of_name(name: &str) -> Option<ErrorKind> {
    Some(match name.to_ascii_lowercase().as_str() {
        "insufficient_quota"
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
        | "bio_policy"
        | "misalignment_policy_violation"
        | "invalid_prompt"
        | "responsibleaipolicyviolation"
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
        "permission_error" | "permission_denied" | "permission_denied_error" | "forbidden" => {
            ErrorKind::Permission
        }
        "model_not_found"
        | "not_found_error"
        | "not_found"
        | "resource_not_found_error"
        | "deploymentnotfound" => ErrorKind::NotFound,
        "overloaded_error"
        | "engine_overloaded_error"
        | "overloaded"
        | "unavailable"
        | "service_unavailable" => ErrorKind::Overloaded,
        "timeout_error" | "deadline_exceeded" | "timeout" => ErrorKind::Timeout,
        "server_error" | "api_error" | "internal_error" | "internal_server_error" | "internal" => {
            ErrorKind::Server
        }
        "invalid_request_error"
        | "bad_request"
        | "bad_request_error"
        | "invalid_argument"
        | "invalid_value"
        | "tool_use_failed"
        | "unprocessable_entity" => ErrorKind::InvalidRequest,
        _ => return None,
    })
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() && text.len() <= 100 => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Text without markup, on one line, shortened.
fn plain_text(text: &str) -> String {
    let mut plain = String::new();
    let mut in_tag = false;
    let markup = text.trim_start().starts_with('<');
    for character in text.chars() {
        match character {
            '<' if markup => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                plain.push(' ');
            }
            _ if in_tag => {}
            _ => plain.push(character),
        }
        if plain.len() > 8 * LONGEST_MESSAGE {
            break;
        }
    }
    let joined = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &joined[..end]),
        None => joined,
    }
}
