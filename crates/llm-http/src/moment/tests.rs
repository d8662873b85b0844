use super::*;
use proptest::prelude::*;

fn unix(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn rfc3339_is_read_with_fractions_and_offsets() {
    for (text, moment) in [
        ("1970-01-01T00:00:00Z", unix(0)),
        ("2026-11-29T18:30:00Z", unix(1_795_977_000)),
        ("2026-11-29t18:30:00z", unix(1_795_977_000)),
        ("2026-11-29 18:30:00Z", unix(1_795_977_000)),
        ("2026-11-29T19:30:00+01:00", unix(1_795_977_000)),
        ("2026-11-29T13:00:00-05:30", unix(1_795_977_000)),
        ("2024-02-29T00:00:00Z", unix(1_709_164_800)),
        ("2000-03-01T00:00:00Z", unix(951_868_800)),
        (
            "2026-11-29T18:30:00.25Z",
            unix(1_795_977_000) + Duration::from_millis(250),
        ),
        (
            "2026-11-29T18:30:00.1234567891Z",
            unix(1_795_977_000) + Duration::from_nanos(123_456_789),
        ),
        ("1969-12-31T23:59:59Z", UNIX_EPOCH - Duration::from_secs(1)),
    ] {
        assert_eq!(parse_rfc3339(text), Some(moment), "{text}");
    }
}

#[test]
fn what_is_no_rfc3339_is_nothing() {
    for text in [
        "",
        "2026-11-29",
        "2026-11-29T18:30:00",
        "2026-13-29T18:30:00Z",
        "2026-00-29T18:30:00Z",
        "2026-02-29T18:30:00Z",
        "2026-11-31T18:30:00Z",
        "2026-11-29T24:30:00Z",
        "2026-11-29T18:60:00Z",
        "2026-11-29T18:30:00.Z",
        "2026-11-29T18:30:00+1:00",
        "2026-11-29T18:30:00Zjunk",
        "+026-11-29T18:30:00Z",
        "2026-11-29T18:30:0\u{b5}Z",
    ] {
        assert_eq!(parse_rfc3339(text), None, "{text}");
    }
}

#[test]
fn lengths_are_read_in_every_unit() {
    for (text, length) in [
        ("6m0s", Duration::from_secs(360)),
        ("1s", Duration::from_secs(1)),
        ("8.64s", Duration::from_millis(8640)),
        ("20ms", Duration::from_millis(20)),
        ("1h2m3s", Duration::from_secs(3723)),
        ("1d", Duration::from_secs(86_400)),
        ("1d2h", Duration::from_secs(93_600)),
        ("2m59.56s", Duration::from_millis(179_560)),
        ("7.66s", Duration::from_millis(7660)),
        ("150us", Duration::from_micros(150)),
        ("150\u{b5}s", Duration::from_micros(150)),
        ("150\u{3bc}s", Duration::from_micros(150)),
        ("90ns", Duration::from_nanos(90)),
        ("99999999999999999999d", LONGEST),
    ] {
        assert_eq!(parse_length(text), Some(length), "{text}");
    }
    for text in [
        "", "s", "1", "1x", "1s2", "-1s", "1 s", "1..5s", ".5s", "1.s", "infs", "1e3s", "1S",
    ] {
        assert_eq!(parse_length(text), None, "{text}");
    }
}

#[test]
fn resets_are_read_in_every_form() {
    let now = unix(1_795_977_000);
    for (text, length) in [
        ("30", Some(Duration::from_secs(30))),
        ("0.5", Some(Duration::from_millis(500))),
        ("0", Some(Duration::ZERO)),
        ("-3", Some(Duration::ZERO)),
        ("1795977060", Some(Duration::from_secs(60))),
        ("1795977060500", Some(Duration::from_millis(60_500))),
        ("1577836800", Some(Duration::ZERO)),
        ("1577836799", Some(Duration::from_secs(1_577_836_799))),
        ("2026-11-29T18:31:00Z", Some(Duration::from_secs(60))),
        ("2026-11-29T18:00:00Z", Some(Duration::ZERO)),
        ("Sun, 29 Nov 2026 18:31:00 GMT", Some(Duration::from_secs(60))),
        ("6m0s", Some(Duration::from_secs(360))),
        ("soon", None),
        ("", None),
        ("NaN", None),
        ("inf", None),
    ] {
        assert_eq!(parse_reset(text, now), length, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic_or_wait_beyond_the_longest(
        text in "\\PC{0,40}|[0-9.dhmsunDTZ:+ \u{b5}-]{0,40}|[0-9]{1,400}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.0-9]{0,12}[Z+-][0-9:]{0,6}",
        now in 0_u64..4_000_000_000,
    ) {
        let now = unix(now);
        for length in [parse_reset(&text, now), parse_length(&text), parse_decimal(&text).map(seconds)] {
            prop_assert!(length.is_none_or(|length| length <= LONGEST));
        }
        let _ = parse_date(&text);
    }

    #[test]
    fn a_date_written_is_the_date_read(at in 0_u64..253_402_300_799, minutes in -1439_i64..1440) {
        let written = httpdate::fmt_http_date(unix(at));
        prop_assert_eq!(parse_date(&written), Some(unix(at)));
        let days = i64::try_from(at / 86_400).unwrap();
        let year = 1970 + days / 366;
        let year = (year..).find(|year| days_since_1970(year + 1, 1, 1) > days).unwrap();
        let month = (1..=12).rev().find(|month| days_since_1970(year, *month, 1) <= days).unwrap();
        let day = days - days_since_1970(year, month, 1) + 1;
        let (hour, minute, second) = (at / 3600 % 24, at / 60 % 60, at % 60);
        let sign = if minutes < 0 { '-' } else { '+' };
        let (h, m) = (minutes.abs() / 60, minutes.abs() % 60);
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{sign}{h:02}:{m:02}");
        if let Some(local) = i64::try_from(at).unwrap().checked_sub(minutes * 60).filter(|at| *at >= 0) {
            prop_assert_eq!(parse_date(&text), Some(unix(u64::try_from(local).unwrap())), "{}", text);
        }
    }
}
