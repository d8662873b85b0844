//! The id of a request: the caller's, when it is fit to stand in a header and a log line, else one of ours.

use axum::http::HeaderMap;

/// The header that carries it, both ways.
pub(crate) const HEADER: &str = "x-request-id";

/// The longest id of a caller that is taken over.
const LONGEST: usize = 128;

/// The caller's id, or a new one.
pub(crate) fn of(headers: &HeaderMap) -> String {
    let fit = |id: &&str| {
        (1..=LONGEST).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'))
    };
    let given = headers
        .get(HEADER)
        .and_then(|value| value.to_str().ok())
        .filter(fit);
    given.map_or_else(|| format!("req-{:032x}", fastrand::u128(..)), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_id_is_taken_over_and_any_other_replaced() {
        let with = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, id.parse().unwrap());
            of(&headers)
        };
        assert_eq!(with("abc-1.2:3_x"), "abc-1.2:3_x");
        assert!(with("a b").starts_with("req-"));
        assert!(with(&"a".repeat(129)).starts_with("req-"));
        assert_ne!(of(&HeaderMap::new()), of(&HeaderMap::new()));
    }
}
