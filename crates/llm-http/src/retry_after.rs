//! What headers say beside the answer: when to come back, what is left of limits, which request it was.

use crate::moment::{parse_date, parse_decimal_or_negative, seconds, until};
use crate::rate_limit::StatedLimits;
use http::{HeaderMap, HeaderValue};
use llm_core::RateLimitSnapshot;
use std::time::{Duration, SystemTime};

/// The vendor's id of a request, in the order of trust: a vendor's own header before the general one, which a
/// gateway in between may have set.
const REQUEST_IDS: [&str; 7] = [
    "request-id",
    "x-amzn-requestid",
    "mistral-correlation-id",
    "x-msh-request-id",
    "x-request-id",
    "x-kong-request-id",
    "apim-request-id",
];

/// What the headers of an answer say, good or bad. Every field is absent where nothing (readable) was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderFacts {
    /// The vendor's id of the request: quote it to their support.
    pub request_id: Option<String>,
    /// Do not come back before this long. Zero: said, but no reason to wait. `retry-after-ms` goes before `retry-after`;
    /// where neither asks for a wait, what the body says counts.
    pub retry_after: Option<Duration>,
    /// The vendor's own word on whether trying again makes sense; it knows better than the status.
    pub should_retry: Option<bool>,
    /// What is left of limits.
    pub rate_limits: Option<Box<RateLimitSnapshot>>,
}

/// Reads what the headers of an answer say. `now` is the calendar time, for headers that hold a date.
///
/// ```
/// use http::HeaderMap;
/// use std::time::{Duration, SystemTime};
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "1.5".parse().unwrap());
/// headers.insert("x-ratelimit-remaining-requests", "0".parse().unwrap());
/// headers.insert("x-ratelimit-reset-requests", "6m0s".parse().unwrap());
/// let facts = llm_http::header_facts(&headers, SystemTime::UNIX_EPOCH);
/// assert_eq!(facts.retry_after, Some(Duration::from_millis(1500)));
/// let requests = facts.rate_limits.unwrap().requests;
/// assert_eq!((requests.remaining, requests.reset), (Some(0), Some(Duration::from_secs(360))));
/// ```
pub fn header_facts(headers: &HeaderMap, now: SystemTime) -> HeaderFacts {
    let (mut ids, mut limits) = ([None; REQUEST_IDS.len()], StatedLimits::default());
    let (mut after_ms, mut after, mut should) = (None, None, None);
    // Once over all of them: every answer has about as many as there are to look for.
    for (name, value) in headers {
        match name.as_str() {
            "retry-after-ms" => after_ms = after_ms.or_else(|| parse_retry_after_ms(text(value)?)),
            "retry-after" => after = after.or_else(|| parse_retry_after(text(value)?, now)),
            "x-should-retry" => should = should.or_else(|| should_retry(value)),
            name => match REQUEST_IDS.iter().position(|id| *id == name) {
                Some(at) => ids[at] = ids[at].or_else(|| request_id(value)),
                None => limits.read(name, value, now),
            },
        }
    }
    let retry_after = after_ms.or(after);
    let mut limits = limits.tightest();
    limits.retry_after = retry_after;
    HeaderFacts {
        request_id: ids.into_iter().flatten().next().map(str::to_owned),
        retry_after,
        should_retry: should,
        rate_limits: (!limits.is_empty()).then(|| Box::new(limits)),
    }
}

fn parse_retry_after_ms(value: &str) -> Option<Duration> {
    parse_decimal_or_negative(value).map(|number| seconds(number / 1000.0))
}

/// The wait that a `Retry-After` value asks for: seconds (decimals too) or a date. What is negative or past is
/// zero; what is neither form (`soon`, `30s`, `+30`, `0x1e`) is nothing.
///
/// ```
/// use llm_http::retry_after::parse_retry_after;
/// use std::time::{Duration, SystemTime};
/// let now = SystemTime::UNIX_EPOCH;
/// assert_eq!(parse_retry_after("7", now), Some(Duration::from_secs(7)));
/// assert_eq!(parse_retry_after("Thu, 01 Jan 1970 00:00:30 GMT", now), Some(Duration::from_secs(30)));
/// assert_eq!(parse_retry_after("soon", now), None);
/// ```
pub fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    match parse_decimal_or_negative(value) {
        Some(number) => Some(seconds(number)),
        None => parse_date(value).map(|moment| until(moment, now)),
    }
}

fn should_retry(value: &HeaderValue) -> Option<bool> {
    match text(value)?.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn request_id(value: &HeaderValue) -> Option<&str> {
    let id = text(value)?;
    let printable = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic());
    (printable && id.len() <= 256).then_some(id)
}

/// A header's value as text, trimmed. Units such as `µs` are no ASCII, so [`HeaderValue::to_str`] will not do.
pub(crate) fn text(value: &HeaderValue) -> Option<&str> {
    std::str::from_utf8(value.as_bytes().trim_ascii()).ok()
}

#[cfg(test)]
mod tests;
