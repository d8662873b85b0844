//! Error body → `Error`, for every format: one classification for a status with its body and for errors inside a 200.
//! Gateways put one vendor's errors into another's shape, so no shape and no word is read for one format only.
//!
//! Sources: the wire notes `common.md` ("Error bodies", "Status and type to class") and those of each vendor, state of
//! 2026-11-29.

mod words;

use crate::retry_hint;
use bytes::Bytes;
use llm_core::{Error, ErrorKind, Phase};
use serde_json::Value;
use std::time::Duration;

/// The most characters of a vendor's message that are kept.
const LONGEST_MESSAGE: usize = 500;
/// How deep a body is looked through.
const DEEPEST: u8 = 7;
/// The most bytes of a body that are kept with the error.
const LONGEST_BODY: usize = 4 * 1024;

/// Reads a failure. `status` is the HTTP status, or `None` for an error inside a 200.
pub(crate) fn decode_failure(status: Option<u16>, body: &[u8]) -> Error {
    let said = Said::read(body);
    let kind = match status {
        Some(status) => said.refined(Some(status), ErrorKind::of_status(status)),
        None => said.kind_in_band(),
    };
    let waiting_helps = matches!(kind, ErrorKind::RateLimit | ErrorKind::Overloaded);
    let mut error = Error::new(kind, said.message(status))
        .with_phase(Phase::Sent)
        .with_retry_after(said.wait.filter(|_| waiting_helps));
    if status == Some(413) {
        error = error.with_status(413);
    }
    let facts = error.vendor_mut();
    facts.status = status;
    facts.code = said.codes.into_iter().find(|code| is_code(code));
    facts.param = said.param;
    facts.request_id = said.request_id;
    facts.body = Some(Bytes::copy_from_slice(&body[..body.len().min(LONGEST_BODY)]));
    error
}

/// What a body says, in whatever shape.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Codes, types and statuses in words, the most exact first.
    codes: Vec<String>,
    param: Option<String>,
    /// The vendor's id of the request, where a body repeats it.
    request_id: Option<String>,
    /// The wait that it asks for.
    wait: Option<Duration>,
}

/// Where hosts put their words, the most usual place first.
const MESSAGE_KEYS: [&str; 8] = [
    "message",
    "msg",
    "error_description",
    "Message",
    "error_message",
    "errorMessage",
    "error_msg",
    "title",
];

impl Said {
    fn read(body: &[u8]) -> Said {
        let mut said = Said::default();
        let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => {
                said.take(&value, 0);
                said.wait = retry_hint::of_details(&value);
            }
            Err(_) => said.message = plain_text(&String::from_utf8_lossy(body)),
        }
        said.wait = said.wait.or_else(|| retry_hint::of_message(&said.message));
        said
    }

    fn take(&mut self, value: &Value, depth: u8) {
        if depth > DEEPEST {
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
                // one vendor puts the exact code among the details
                let exact = fields
                    .get("details")
                    .and_then(|details| details.get("error_code"));
                let codes = exact.into_iter().chain(
                    ["code", "type", "status"]
                        .into_iter()
                        .filter_map(|key| fields.get(key)),
                );
                let codes = codes.filter_map(word);
                self.codes.extend(codes.filter(|code| code != "error"));
                if self.param.is_none() {
                    self.param = fields.get("param").and_then(Value::as_str).map(str::to_owned);
                }
                if self.request_id.is_none() {
                    self.request_id = fields.get("request_id").and_then(word);
                }
                if let Some(said) = MESSAGE_KEYS.iter().find_map(|key| said_under(fields.get(*key)?)) {
                    self.take(said, depth + 1);
                }
                for key in ["error", "innererror", "detail", "errors", "details", "x_groq"] {
                    if let Some(inner) = fields.get(key) {
                        self.take(inner, depth + 1);
                    }
                }
                // An answer whose choice failed: nothing else of a choice is about the failure.
                let choices = fields.get("choices").and_then(Value::as_array);
                for choice in choices.into_iter().flatten() {
                    if let Some(inner) = choice.get("error") {
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
        let mut codes = self.codes.iter().filter_map(|code| code.parse().ok());
        codes.find(|code| (400..600).contains(code))
    }

    fn message(&self, status: Option<u16>) -> String {
        match (status, self.message.is_empty()) {
            (Some(status), true) => format!("the vendor answered status {status} without saying why"),
            (Some(status), false) => format!("the vendor answered status {status}: {}", self.message),
            (None, true) => "the vendor reported an error without saying why".to_owned(),
            (None, false) => format!("the vendor reported an error: {}", self.message),
        }
    }

    /// What the exact names among the codes mean, in their order.
    fn names(&self) -> impl Iterator<Item = ErrorKind> {
        self.codes.iter().filter_map(|code| words::kind_of_name(code))
    }

    /// The kind of an error inside a 200: that of its own status. An exact name says more than a code, unless it
    /// only says whose fault it is; parts of words are the last resort.
    fn kind_in_band(&self) -> ErrorKind {
        let vague = |kind: &ErrorKind| matches!(kind, ErrorKind::InvalidRequest | ErrorKind::Server);
        if let Some(exact) = self.names().find(|kind| !vague(kind)) {
            return exact;
        }
        let status = self.status_code();
        match status.map(ErrorKind::of_status).or_else(|| self.names().next()) {
            Some(base) => self.refined(status, base),
            None => words::kind_of_message(&self.message)
                .unwrap_or_else(|| words::kind_of_any_word(&self.codes, &self.message)),
        }
    }

    /// A kind, refined by what the body says.
    fn refined(&self, status: Option<u16>, base: ErrorKind) -> ErrorKind {
        if status == Some(413) {
            return base;
        }
        // what the caller asked for is the rule of a 400, and its message may repeat any of it
        let sure = |kind: &ErrorKind| {
            let quota = (base, *kind) == (ErrorKind::InvalidRequest, ErrorKind::QuotaExhausted);
            !quota || words::begins_with_quota(&self.message)
        };
        self.names()
            .chain(words::kind_of_message(&self.message).filter(sure))
            .find(|kind| may_refine(base, *kind))
            .unwrap_or(base)
    }
}

/// May a vendor's word turn a failure of one kind into another kind?
fn may_refine(base: ErrorKind, named: ErrorKind) -> bool {
    use ErrorKind as K;
    let bases: &[ErrorKind] = match named {
        K::ContextLength => &[K::InvalidRequest],
        K::ContentFilter | K::NotFound | K::Auth | K::RateLimit => &[K::InvalidRequest, K::Permission],
        K::QuotaExhausted => &[K::InvalidRequest, K::Permission, K::RateLimit, K::Auth],
        K::Permission => &[K::InvalidRequest, K::Auth],
        K::Overloaded => &[K::InvalidRequest, K::Server],
        _ => &[],
    };
    bases.contains(&base)
}

/// Text, or whatever else stands in the place of a message and says something.
fn said_under(value: &Value) -> Option<&Value> {
    match value {
        Value::String(text) => (!text.trim().is_empty()).then_some(value),
        Value::Object(_) | Value::Array(_) => Some(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A code is a word. What is more than that may be what the caller wrote, which no error repeats.
pub(crate) fn is_code(text: &str) -> bool {
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    !text.is_empty() && text.bytes().all(in_word)
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
