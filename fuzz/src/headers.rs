//! What the headers of an answer say: waits, limits, ids.

use http::{HeaderMap, HeaderName, HeaderValue};
use llm_http::{header_facts, retry_after::parse_retry_after};
use std::time::{Duration, SystemTime};

/// Lines of `name: value`. Whatever is no header is passed over.
pub(crate) fn headers(data: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let name = HeaderName::from_bytes(line[..colon].trim_ascii());
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    for now in [
        SystemTime::UNIX_EPOCH,
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_900_000),
    ] {
        let facts = header_facts(&headers, now);
        assert_eq!(facts, header_facts(&headers, now));
        if let Some(id) = facts.request_id {
            assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id:?}");
        }
        if let Ok(text) = std::str::from_utf8(data) {
            let _ = parse_retry_after(text, now);
            if let Some(wait) = facts.retry_after {
                // It can be added to a clock.
                assert!(now.checked_add(wait).is_some(), "{wait:?}");
            }
        }
    }
}
