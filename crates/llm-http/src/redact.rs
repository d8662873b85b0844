//! Scrubbing what is about to be shown: credentials out of any text, the caller's content out of a vendor's.
//!
//! Vendors quote what they were sent: a key that they refuse, a message that they cannot parse. Neither may
//! stand in an error, which is logged, counted and handed to strangers.

mod content;
mod leaves;
mod names;
mod quoted;
mod repeated;
mod sent;
mod shown;
mod texts;
mod windows;

use std::borrow::Cow;
use std::ops::Range;

pub use content::scrub_content;
pub(crate) use content::{Said, scrub_contents};
pub use sent::sent_texts;
pub use texts::request_texts;

/// What stands in the place of a credential.
const HIDDEN: &str = "***";

/// The beginnings of keys that vendors hand out.
const KEY_PREFIXES: [&str; 10] = [
    "sk-",
    "sk_",
    "pk-",
    "gsk_",
    "xai-",
    "hf_",
    "AIza",
    "AKIA",
    "ASIA",
    "bedrock-api-key-",
];

/// How much of a key must follow its beginning before it is taken for one.
const KEY_MIN: usize = 6;

/// Secrets shorter than this are not looked for: they would be found in every other word.
const SECRET_MIN: usize = 4;

/// Names whose value is a credential, in `name=value`; without dashes and underscores, in lower case.
const SECRET_NAMES: [&str; 12] = [
    "key",
    "apikey",
    "token",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "secret",
    "clientsecret",
    "password",
    "signature",
    "sig",
    "credential",
];

/// Takes credentials out of a text: these secrets wherever they stand, also percent-encoded, and whatever has
/// the shape of one (`sk-…`, `Bearer …`, `?key=…`, `"api_key": "…"`).
///
/// ```
/// use llm_http::redact::scrub;
/// assert_eq!(scrub("GET /v1?key=abc&page=2", &[]), "GET /v1?key=***&page=2");
/// assert_eq!(scrub("wrong key: my-secret", &["my-secret"]), "wrong key: ***");
/// assert_eq!(scrub("Incorrect API key provided: sk-proj-12345678.", &[]), "Incorrect API key provided: ***.");
/// ```
pub fn scrub(text: &str, secrets: &[&str]) -> String {
    let mut spans = Vec::new();
    for secret in secrets.iter().filter(|secret| secret.len() >= SECRET_MIN) {
        spans.extend(occurrences(text, secret));
        let encoded = llm_core::codec::percent_encode(secret);
        if encoded != *secret {
            spans.extend(occurrences(text, &encoded));
        }
    }
    spans.extend(key_spans(text));
    spans.extend(scheme_spans(text));
    spans.extend(value_spans(text));
    replace(text, spans, HIDDEN)
}

/// An address without the user name and password that may stand before its host.
pub fn without_user_info(url: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Cow::Borrowed(url);
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority_end].rfind('@') {
        Some(at) => Cow::Owned(format!("{scheme}://{}", &rest[at + 1..])),
        None => Cow::Borrowed(url),
    }
}

/// Puts `with` in the place of each span; spans that touch or overlap are replaced once.
fn replace(text: &str, mut spans: Vec<Range<usize>>, with: &str) -> String {
    spans.sort_unstable_by_key(|span| span.start);
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    let mut open = false;
    for span in spans.into_iter().filter(|span| !span.is_empty()) {
        if span.end <= done && open {
            continue;
        }
        if !(open && span.start <= done) {
            shown.push_str(&text[done..span.start]);
            shown.push_str(with);
        }
        done = span.end;
        open = true;
    }
    shown.push_str(&text[done..]);
    shown
}

fn occurrences<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    text.match_indices(part).map(|(at, part)| at..at + part.len())
}

/// Keys that their beginning gives away.
fn key_spans(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    KEY_PREFIXES.iter().flat_map(move |prefix| {
        text.match_indices(prefix).filter_map(move |(at, _)| {
            let inside_a_word = text[..at].ends_with(|c: char| c.is_alphanumeric());
            let rest = at + prefix.len();
            let length = run(&text[rest..], |c| {
                c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*')
            });
            (!inside_a_word && length >= KEY_MIN).then_some(at..rest + length)
        })
    })
}

/// What follows `Bearer` or `Basic`.
fn scheme_spans(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut spans = Vec::new();
    for scheme in ["bearer", "basic"] {
        for (at, _) in lower.match_indices(scheme) {
            let after = at + scheme.len();
            let gap = run(&text[after..], |c| c.is_whitespace() || matches!(c, '+' | ':'))
                .max(if text[after..].starts_with("%20") { 3 } else { 0 });
            let start = after + gap;
            let length = run(&text[start..], is_token);
            let token = &text[start..start + length];
            let is_credential = if scheme == "bearer" {
                !is_plain_word(token)
            } else {
                // "basic" is also a word.
                token.len() >= 8
                    && token.contains(|c: char| c.is_ascii_digit() || c == '=' || c.is_ascii_uppercase())
            };
            if gap > 0 && is_credential {
                spans.push(start..start + length);
            }
        }
    }
    spans
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~' | '+' | '/' | '=' | '*' | '%')
}

/// Words that follow "bearer" in a sentence.
fn is_plain_word(token: &str) -> bool {
    let word = token.trim_end_matches(['.', '/']).to_ascii_lowercase();
    [
        "token",
        "tokens",
        "auth",
        "authentication",
        "authorization",
        "credential",
        "credentials",
        "scheme",
        "key",
    ]
    .contains(&word.as_str())
}

/// Values behind a name that says they are secret: `name=value` for every such name, `name: value` and
/// `"name":"value"` for those that no sentence would end with.
fn value_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for (at, sign) in text.match_indices(['=', ':']) {
        let before = text[..at].trim_end_matches(['"', '\'', '\\', ' ']);
        let name_start = before
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
            .map_or(0, |last| {
                last + before[last..].chars().next().map_or(1, char::len_utf8)
            });
        let name: String = before[name_start..]
            .chars()
            .filter(|c| c.is_ascii_alphanumeric())
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let unmistakable = ["apikey", "accesstoken", "clientsecret"]
            .iter()
            .any(|end| name.ends_with(end));
        let assigned = sign == "=" && SECRET_NAMES.contains(&name.as_str());
        if !(unmistakable || assigned) {
            continue;
        }
        let after = at + 1;
        let start = after + run(&text[after..], |c| matches!(c, '"' | '\'' | '\\' | ' '));
        let length = run(&text[start..], |c| {
            !(c.is_whitespace()
                || matches!(
                    c,
                    '&' | '#' | '"' | '\'' | '\\' | '<' | '>' | ',' | ';' | ')' | '}' | ']'
                ))
        });
        spans.push(start..start + length);
    }
    spans
}

/// How many bytes at the start have this property.
fn run(text: &str, has: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !has(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
