use super::*;
use llm_core::ErrorKind;
use llm_core::rate_limit::LimitWindow;

#[expect(clippy::disallowed_methods, reason = "some moment to count from")]
fn start() -> Instant {
    Instant::now()
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A call that took so many milliseconds to its commit point and twice that in all.
fn call(metrics: &Metrics, at: Instant, millis: u64) -> Instant {
    let committed = at + Duration::from_millis(millis);
    let ended = committed + Duration::from_millis(millis);
    metrics
        .begin("a", at)
        .succeeded(committed, ended, &Usage::new(3, 4), None);
    ended
}

#[test]
fn nothing_is_known_before_the_first_call() {
    assert_eq!(Metrics::new().of("a", start()), CandidateMetrics::default());
}

#[test]
fn each_new_call_weighs_a_fifth() {
    let (metrics, start) = (Metrics::new(), start());
    let now = call(&metrics, start, 100);
    assert_eq!(
        metrics.of("a", now).commit_ms,
        Some(100.0),
        "the first is taken as it is"
    );
    let now = call(&metrics, now, 200);
    let measured = metrics.of("a", now);
    assert!((measured.commit_ms.unwrap() - 120.0).abs() < 1e-9);
    assert!((measured.total_ms.unwrap() - 240.0).abs() < 1e-9);
    assert_eq!(
        (measured.requests, measured.tokens, measured.successes),
        (2, 14, 2)
    );
}

#[test]
fn a_peak_rises_at_once_and_falls_towards_the_average() {
    let (metrics, start) = (Metrics::new(), start());
    call(&metrics, start, 100);
    let now = call(&metrics, start + secs(1), 1_000);
    let peak = |now| metrics.of("a", now).peak_ms.unwrap();
    assert!((peak(now) - 1_000.0).abs() < 1e-9);
    let average = metrics.of("a", now).commit_ms.unwrap();
    let later = peak(now + secs(10));
    assert!(average < later && later < 600.0, "{average} < {later}");
    call(&metrics, now + secs(30), 100);
    assert!(peak(now + secs(31)) > 100.0, "a quick call does not undo it");
}

#[test]
fn what_is_older_than_the_window_is_forgotten() {
    let (metrics, start) = (Metrics::new(), start());
    let now = call(&metrics, start, 100);
    metrics
        .begin("a", now)
        .failed(&Error::new(ErrorKind::Server, "x"), now);
    assert_eq!(metrics.of("a", now + secs(500)).failures, 1);
    assert_eq!(metrics.of("a", now + secs(601)), CandidateMetrics::default());
    // and it goes on counting after a long silence
    let now = call(&metrics, now + secs(10_000), 50);
    let measured = metrics.of("a", now);
    assert_eq!(
        (measured.successes, measured.failures, measured.commit_ms),
        (1, 0, Some(50.0))
    );
}

#[test]
fn older_outcomes_weigh_less() {
    let (metrics, start) = (Metrics::new(), start());
    let fail = |at| {
        metrics
            .begin("a", at)
            .failed(&Error::new(ErrorKind::Server, "x"), at)
    };
    fail(start);
    call(&metrics, start + secs(300), 1);
    let rate = metrics.of("a", start + secs(301)).success_rate.unwrap();
    assert!(rate > 0.6, "the newer success weighs more: {rate}");
    fail(start + secs(302));
    fail(start + secs(302));
    assert!(metrics.of("a", start + secs(302)).success_rate.unwrap() < 0.35);
}

#[test]
fn a_fault_of_the_caller_says_nothing_about_the_candidate() {
    let (metrics, now) = (Metrics::new(), start());
    for kind in [
        ErrorKind::InvalidRequest,
        ErrorKind::ContentFilter,
        ErrorKind::Cancelled,
        ErrorKind::Auth,
    ] {
        metrics.begin("a", now).failed(&Error::new(kind, "x"), now);
    }
    let measured = metrics.of("a", now);
    assert_eq!(
        (measured.failures, measured.success_rate, measured.requests),
        (0, None, 4)
    );
}

#[test]
fn a_call_that_is_given_up_is_in_flight_no_longer_and_counts_as_nothing() {
    let (metrics, now) = (Metrics::new(), start());
    let calls: Vec<_> = (0..5).map(|_| metrics.begin("a", now)).collect();
    assert_eq!(metrics.of("a", now).in_flight, 5);
    drop(calls);
    let measured = metrics.of("a", now);
    assert_eq!(
        (measured.in_flight, measured.successes, measured.failures),
        (0, 0, 0)
    );
}

#[test]
fn limits_hold_until_their_reset() {
    let (metrics, now) = (Metrics::new(), start());
    let mut limits = RateLimitSnapshot::default();
    limits.requests = LimitWindow::new(Some(100), Some(25), Some(secs(20)));
    limits.tokens = LimitWindow::new(Some(100), Some(50), None);
    metrics
        .begin("a", now)
        .succeeded(now, now, &Usage::default(), Some(&limits));
    assert_eq!(metrics.of("a", now).remaining_ratio, Some(0.25));
    assert_eq!(metrics.of("a", now + secs(21)).remaining_ratio, Some(0.5));
    assert_eq!(metrics.of("a", now + secs(61)).remaining_ratio, None);
    let limit = Error::new(ErrorKind::RateLimit, "x").with_retry_after(secs(5));
    metrics.begin("a", now).failed(&limit, now);
    assert_eq!(metrics.of("a", now + secs(4)).remaining_ratio, Some(0.0));
    assert_eq!(metrics.of("a", now + secs(5)).remaining_ratio, Some(0.25));
}

#[test]
fn clones_share_and_ids_do_not() {
    let (metrics, now) = (Metrics::new(), start());
    let guard = metrics.clone().begin("a", now);
    assert_eq!(metrics.of("a", now).in_flight, 1);
    assert_eq!(metrics.of("b", now).in_flight, 0);
    metrics.forget("a");
    assert_eq!(metrics.of("a", now).requests, 0);
    drop(guard);
    assert_eq!(
        metrics.of("a", now).in_flight,
        0,
        "a forgotten call does not count down the new one"
    );
}

#[test]
fn a_total_that_nobody_divided_counts() {
    let (metrics, now) = (Metrics::new(), start());
    let mut usage = Usage::default();
    usage.undivided_tokens = Some(50);
    metrics.begin("a", now).succeeded(now, now, &usage, None);
    assert_eq!(metrics.of("a", now).tokens, 50);
}
