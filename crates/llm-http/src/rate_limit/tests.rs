use super::*;
use std::time::{Duration, UNIX_EPOCH};

/// 2026-11-29T18:30:00Z
fn snapshot(headers: &[(&'static str, &str)]) -> RateLimitSnapshot {
    let mut limits = StatedLimits::default();
    for (name, value) in headers {
        limits.read(
            name,
            &value.parse().unwrap(),
            UNIX_EPOCH + Duration::from_secs(1_795_977_000),
        );
    }
    limits.tightest()
}

fn window(limit: u64, remaining: u64, reset_millis: u64) -> LimitWindow {
    LimitWindow::new(
        Some(limit),
        Some(remaining),
        Some(Duration::from_millis(reset_millis)),
    )
}

#[test]
fn openai_and_groq() {
    let limits = snapshot(&[
        ("x-ratelimit-limit-requests", "14400"),
        ("x-ratelimit-remaining-requests", "14370"),
        ("x-ratelimit-reset-requests", "2m59.56s"),
        ("x-ratelimit-limit-tokens", "18000"),
        ("x-ratelimit-remaining-tokens", "17997"),
        ("x-ratelimit-reset-tokens", "20ms"),
    ]);
    assert_eq!(limits.requests, window(14400, 14370, 179_560));
    assert_eq!(limits.tokens, window(18000, 17997, 20));
    assert!(limits.input_tokens.is_empty() && limits.output_tokens.is_empty());
}

#[test]
fn anthropic() {
    let limits = snapshot(&[
        ("anthropic-ratelimit-requests-limit", "50"),
        ("anthropic-ratelimit-requests-remaining", "49"),
        ("anthropic-ratelimit-requests-reset", "2026-11-29T18:30:01Z"),
        ("anthropic-ratelimit-tokens-limit", "50000"),
        ("anthropic-ratelimit-tokens-remaining", "40000"),
        ("anthropic-ratelimit-tokens-reset", "2026-11-29T18:31:00Z"),
        ("anthropic-ratelimit-input-tokens-limit", "40000"),
        ("anthropic-ratelimit-input-tokens-remaining", "39000"),
        ("anthropic-ratelimit-input-tokens-reset", "2026-11-29T18:29:00Z"),
        ("anthropic-ratelimit-output-tokens-limit", "8000"),
        ("anthropic-ratelimit-output-tokens-remaining", "0"),
        (
            "anthropic-ratelimit-output-tokens-reset",
            "2026-11-29T18:30:30.5Z",
        ),
        ("anthropic-ratelimit-unified-status", "allowed"),
        ("anthropic-priority-input-tokens-limit", "1"),
    ]);
    assert_eq!(limits.requests, window(50, 49, 1_000));
    assert_eq!(limits.tokens, window(50_000, 40_000, 60_000));
    assert_eq!(limits.input_tokens, window(40_000, 39_000, 0));
    assert_eq!(limits.output_tokens, window(8_000, 0, 30_500));
}

#[test]
fn mistral() {
    let limits = snapshot(&[
        ("x-ratelimit-limit-req-minute", "60"),
        ("x-ratelimit-remaining-req-minute", "59"),
        ("x-ratelimit-limit-tokens-minute", "500000"),
        ("x-ratelimit-remaining-tokens-minute", "400000"),
        ("x-ratelimit-limit-tokens-month", "1000000000"),
        ("x-ratelimit-remaining-tokens-month", "1000"),
        ("x-ratelimit-tokens-query-cost", "9"),
    ]);
    assert_eq!(limits.requests, LimitWindow::new(Some(60), Some(59), None));
    // The month is nearer its end than the minute.
    assert_eq!(
        limits.tokens,
        LimitWindow::new(Some(1_000_000_000), Some(1_000), None)
    );
    let older = snapshot(&[
        ("ratelimitbysize-limit", "500000"),
        ("ratelimitbysize-remaining", "499978"),
        ("ratelimitbysize-reset", "39"),
        ("ratelimitbysize-query-cost", "22"),
    ]);
    assert_eq!(older.tokens, window(500_000, 499_978, 39_000));
    assert!(older.requests.is_empty());
}

#[test]
fn generic_names() {
    let limits = snapshot(&[
        ("ratelimit-limit", "100, 100;w=60"),
        ("ratelimit-remaining", "7"),
        ("ratelimit-reset", "12"),
        ("ratelimit-remaining-tokens", "5"),
    ]);
    assert_eq!(limits.requests, window(100, 7, 12_000));
    assert_eq!(limits.tokens, LimitWindow::new(None, Some(5), None));
    let unix = snapshot(&[
        ("x-ratelimit-limit", "20"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1795977060000"),
    ]);
    assert_eq!(unix.requests, window(20, 0, 60_000));
}

#[test]
fn project_limits_do_not_mix_with_the_organisations() {
    let limits = snapshot(&[
        ("x-ratelimit-limit-tokens", "1000"),
        ("x-ratelimit-remaining-tokens", "900"),
        ("x-ratelimit-limit-project-tokens", "100"),
        ("x-ratelimit-remaining-project-tokens", "10"),
    ]);
    assert_eq!(limits.tokens, LimitWindow::new(Some(100), Some(10), None));
}

#[test]
fn what_cannot_be_read_is_not_stated() {
    let limits = snapshot(&[
        ("x-ratelimit-limit-requests", "many"),
        ("x-ratelimit-remaining-requests", "-1"),
        ("x-ratelimit-reset-requests", "soon"),
        ("x-ratelimit-limit-audio-seconds", "7200"),
        ("x-ratelimit-limit-remaining-requests", "1"),
        ("x-ratelimit-requests", "1"),
        ("x-ratelimit-limit-input", "1"),
        ("ratelimit", "limit=100, remaining=50"),
    ]);
    assert!(limits.is_empty(), "{limits:?}");
    let partly = snapshot(&[
        ("x-ratelimit-limit-requests", "many"),
        ("x-ratelimit-remaining-requests", "99999999999999999999999"),
    ]);
    assert_eq!(partly.requests, LimitWindow::new(None, Some(u64::MAX), None));
}

#[test]
fn the_figure_may_stand_before_or_behind_what_is_counted() {
    let limits = snapshot(&[
        ("x-ratelimit-limit-tokens-minute", "100"),
        ("x-ratelimit-tokens-remaining-minute", "10"),
        ("x-ratelimit-tokens-minute-reset", "7"),
    ]);
    assert_eq!(limits.tokens, window(100, 10, 7_000));
}
