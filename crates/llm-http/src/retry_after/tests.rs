use super::*;
use http::HeaderName;
use proptest::prelude::*;
use std::time::UNIX_EPOCH;

/// Wed, 21 Oct 2026 07:28:00 GMT
fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_792_567_680)
}

fn facts(headers: &[(&'static str, &str)]) -> HeaderFacts {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    header_facts(&map, now())
}

#[test]
fn retry_after_is_read_in_every_form() {
    let millis = |millis| Some(Duration::from_millis(millis));
    for (value, wait) in [
        ("7", millis(7_000)),
        (" 7 ", millis(7_000)),
        ("0", millis(0)),
        ("0.25", millis(250)),
        ("1.5", millis(1_500)),
        ("-1", millis(0)),
        ("-0.5", millis(0)),
        ("3600", millis(3_600_000)),
        ("99999999", millis(99_999_999_000)),
        ("Wed, 21 Oct 2026 07:28:30 GMT", millis(30_000)),
        ("Wed, 21 Oct 2026 07:27:00 GMT", millis(0)),
        ("Wednesday, 21-Oct-26 07:28:30 GMT", millis(30_000)),
        ("Wed Oct 21 07:28:30 2026", millis(30_000)),
        ("2026-10-21T07:28:30Z", millis(30_000)),
        ("2026-10-21T09:28:30+02:00", millis(30_000)),
        ("", None),
        ("soon", None),
        ("30s", None),
        ("30, 60", None),
        ("+30", None),
        ("0x1e", None),
        ("1e3", None),
        ("1.", None),
        (".5", None),
        ("1.5.2", None),
        ("--1", None),
        ("NaN", None),
        ("inf", None),
        ("-inf", None),
        ("1_000", None),
        ("Wed, 99 Oct 2026 07:28:30 GMT", None),
    ] {
        assert_eq!(facts(&[("retry-after", value)]).retry_after, wait, "{value}");
    }
}

#[test]
fn a_huge_wait_can_be_added_to_any_clock() {
    let digits = "9".repeat(400);
    for value in [
        digits.as_str(),
        "18446744073709551615",
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ] {
        let wait = facts(&[("retry-after", value)]).retry_after.unwrap();
        assert_eq!(wait, crate::moment::LONGEST, "{value}");
    }
    assert_eq!(
        facts(&[("retry-after-ms", &digits)]).retry_after,
        Some(crate::moment::LONGEST)
    );
}

#[test]
fn milliseconds_come_first_and_garbage_gives_way() {
    let wait = |headers: &[(&'static str, &str)]| facts(headers).retry_after;
    let millis = |millis| Some(Duration::from_millis(millis));
    assert_eq!(
        wait(&[("retry-after", "2"), ("retry-after-ms", "1500")]),
        millis(1500)
    );
    assert_eq!(
        wait(&[("retry-after-ms", "12.5")]),
        Some(Duration::from_micros(12_500))
    );
    assert_eq!(
        wait(&[("retry-after", "2"), ("retry-after-ms", "soon")]),
        millis(2000)
    );
    assert_eq!(
        wait(&[("retry-after", "2"), ("retry-after-ms", "NaN")]),
        millis(2000)
    );
    assert_eq!(
        wait(&[("retry-after", "soon"), ("retry-after", "2")]),
        millis(2000)
    );
    assert_eq!(wait(&[("retry-after-ms", "-4")]), millis(0));
    assert_eq!(wait(&[]), None);
}

#[test]
fn should_retry_is_true_false_or_nothing() {
    for (value, expected) in [
        ("true", Some(true)),
        ("False", Some(false)),
        ("1", None),
        ("", None),
    ] {
        assert_eq!(
            facts(&[("x-should-retry", value)]).should_retry,
            expected,
            "{value}"
        );
    }
}

#[test]
fn request_ids_are_found_under_every_name() {
    for name in &REQUEST_IDS {
        assert_eq!(
            facts(&[(name, "req_1")]).request_id.as_deref(),
            Some("req_1"),
            "{name}"
        );
    }
    let both = facts(&[("x-request-id", "gateway"), ("request-id", "vendor")]);
    assert_eq!(both.request_id.as_deref(), Some("vendor"));
    let fallback = facts(&[("request-id", " "), ("x-request-id", "second")]);
    assert_eq!(fallback.request_id.as_deref(), Some("second"));
    assert_eq!(facts(&[("x-request-id", &"x".repeat(300))]).request_id, None);
    assert_eq!(facts(&[("x-request-id", "two words")]).request_id, None);
}

#[test]
fn the_hint_is_also_part_of_the_limits() {
    let facts = facts(&[("retry-after", "7")]);
    assert_eq!(
        facts.rate_limits.unwrap().retry_after,
        Some(Duration::from_secs(7))
    );
    assert_eq!(
        super::header_facts(&HeaderMap::new(), now()),
        HeaderFacts::default()
    );
}

proptest! {
    #[test]
    fn no_header_makes_the_reader_panic(
        pairs in proptest::collection::vec(
            (
                "retry-after|retry-after-ms|x-should-retry|x-request-id|(x-|anthropic-)?ratelimit(bysize)?(-(limit|remaining|reset|requests|req|tokens|input|output|minute|x)){0,4}",
                "[0-9.,;:a-zA-Z +-]{0,40}|\\PC{0,20}",
            ),
            0..12,
        ),
        now in 0_u64..4_000_000_000,
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in &pairs {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(value.as_bytes())) {
                headers.append(name, value);
            }
        }
        let facts = header_facts(&headers, UNIX_EPOCH + Duration::from_secs(now));
        prop_assert!(facts.retry_after.is_none_or(|wait| wait <= crate::moment::LONGEST));
        prop_assert_eq!(facts.rate_limits.and_then(|limits| limits.retry_after), facts.retry_after);
    }
}
