use super::*;
use llm_core::Clock;

#[tokio::test]
async fn exhaustion_tells_of_the_failure_that_may_be_retried_soonest() {
    let hinted = |kind, seconds| {
        let error =
            Error::new(kind, format!("after {seconds}")).with_retry_after(Duration::from_secs(seconds));
        driver().then(Outcome::Fails(error))
    };
    let fleet = Fleet::new(vec![
        hinted(ErrorKind::RateLimit, 20),
        hinted(ErrorKind::Overloaded, 7),
        driver().fails(ErrorKind::QuotaExhausted),
    ]);
    let error = fleet.chat(&PlanExecutor::new()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.retry_after()),
        (ErrorKind::Overloaded, Some(Duration::from_secs(7)))
    );
    assert!(error.is_exhausted());
    assert_eq!(
        error.message(),
        "no candidate of the plan is left; b (m): after 7 (also a (m): rate_limit; c (m): quota_exhausted)"
    );
    assert_eq!(
        log(error.attempts()),
        ["a rate_limit", "b overloaded", "c quota_exhausted"]
    );
    // nothing to retry: the last
    let fleet = Fleet::new(vec![
        driver().fails(ErrorKind::NotFound),
        driver().fails(ErrorKind::QuotaExhausted),
    ]);
    assert_eq!(
        fleet.chat(&PlanExecutor::new()).await.unwrap_err().kind(),
        ErrorKind::QuotaExhausted
    );
}

#[tokio::test]
async fn when_all_are_skipped_the_hint_is_the_earliest_end() {
    use UnavailableReason::{BreakerOpen, Disabled, Quota, RateLimit};
    for (reasons, kind, hint) in [
        (
            vec![(RateLimit, Some(9)), (Quota, Some(4))],
            ErrorKind::RateLimit,
            Some(4),
        ),
        (
            vec![(BreakerOpen, Some(9)), (Disabled, None)],
            ErrorKind::Overloaded,
            Some(9),
        ),
        (
            vec![(BreakerOpen, Some(9)), (RateLimit, Some(4))],
            ErrorKind::RateLimit,
            Some(4),
        ),
        (
            vec![(BreakerOpen, Some(3)), (RateLimit, Some(4))],
            ErrorKind::Overloaded,
            Some(3),
        ),
        (vec![(RateLimit, None), (Quota, None)], ErrorKind::RateLimit, None),
        (
            vec![(RateLimit, None), (Disabled, None)],
            ErrorKind::Overloaded,
            None,
        ),
    ] {
        let clock = TestClock::new();
        let now = context(&clock).clock().now();
        let closed = |(reason, seconds): &(_, Option<u64>)| {
            let until = seconds.map(|seconds| now + Duration::from_secs(seconds));
            driver().being(Availability::unavailable(*reason, until))
        };
        let mut fleet = Fleet::new(reasons.iter().map(closed).collect());
        fleet.clock = clock;
        let error = fleet.chat(&PlanExecutor::new()).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry_after()),
            (kind, hint.map(Duration::from_secs)),
            "{reasons:?}"
        );
        assert_eq!((error.phase(), error.is_exhausted()), (Phase::NotSent, false));
        assert_eq!((error.skipped().len(), error.attempts().len()), (2, 0));
        assert!(
            error.message().starts_with("no candidate is available now"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn the_deadline_is_checked_before_each_attempt() {
    let clock = TestClock::new();
    let slow = driver()
        .taking(&clock, Duration::from_secs(2))
        .fails(ErrorKind::Server);
    let mut fleet = Fleet::new(vec![slow, driver()]);
    fleet.clock = clock;
    let cx = fleet.cx().with_timeout(Duration::from_secs(1));
    let error = PlanExecutor::new()
        .chat(&cx, &fleet.plan, &ChatRequest::user("hi"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.scope()),
        (ErrorKind::Timeout, Scope::Request)
    );
    assert_eq!(log(error.attempts()), ["a server"]);
    assert_eq!(error.attempts()[0].elapsed_ms, 2000);
    assert_eq!(fleet.called(), [1, 0]);
}

#[tokio::test]
async fn a_refused_turn_and_a_quota_end_too() {
    let says = |kind, seconds: u64| {
        let error =
            Error::new(kind, "x").with_retry_after((seconds > 0).then(|| Duration::from_secs(seconds)));
        driver().then(Outcome::Fails(error))
    };
    use ErrorKind::{Auth, QuotaExhausted, RateLimit, Rejected};
    for (fails, kind, seconds) in [
        ([(Rejected, 2), (Rejected, 60)], Rejected, Some(2)),
        (
            [(QuotaExhausted, 10), (QuotaExhausted, 86_400)],
            QuotaExhausted,
            Some(10),
        ),
        ([(Rejected, 2), (Auth, 0)], Rejected, Some(2)),
        ([(RateLimit, 60), (Rejected, 2)], Rejected, Some(2)),
        ([(QuotaExhausted, 0), (Auth, 0)], Auth, None),
    ] {
        let fleet = Fleet::new(
            fails
                .into_iter()
                .map(|(kind, seconds)| says(kind, seconds))
                .collect(),
        );
        let error = fleet.chat(&PlanExecutor::new()).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry_after()),
            (kind, seconds.map(Duration::from_secs))
        );
    }
}

#[tokio::test]
async fn a_router_that_could_ask_nobody_has_tried_nothing() {
    let until = |seconds| {
        Skip::new(
            "x",
            UnavailableReason::RateLimit,
            Some(Duration::from_secs(seconds)),
        )
    };
    let busy = |seconds| {
        let error = Error::new(ErrorKind::RateLimit, "nobody")
            .with_retry_after(Duration::from_secs(seconds))
            .with_skipped(vec![until(seconds)]);
        driver().a_router().then(Outcome::Fails(error))
    };
    let error = Fleet::new(vec![busy(9), busy(3)])
        .chat(&PlanExecutor::new())
        .await
        .unwrap_err();
    assert_eq!(
        (error.is_exhausted(), error.retry_after()),
        (false, Some(Duration::from_secs(3)))
    );
    assert!(error.attempts().is_empty());
    let skipped: Vec<_> = error
        .skipped()
        .iter()
        .map(|skip| skip.candidate.as_str())
        .collect();
    assert_eq!(skipped, ["a/x", "b/x"]);
    let tried = Fleet::new(vec![busy(3), driver().fails(ErrorKind::Server)]);
    assert!(tried.chat(&PlanExecutor::new()).await.unwrap_err().is_exhausted());
}

#[tokio::test]
async fn everybody_was_skipped_below_and_here() {
    let skip = Skip::new("x", UnavailableReason::RateLimit, Some(Duration::from_secs(60)));
    let error = Error::new(ErrorKind::RateLimit, "nobody")
        .with_retry_after(Duration::from_secs(60))
        .with_skipped(vec![skip]);
    let inner = driver().a_router().then(Outcome::Fails(error));
    let clock = TestClock::new();
    let until = context(&clock).clock().now() + Duration::from_secs(1);
    let closed = driver().being(Availability::unavailable(
        UnavailableReason::RateLimit,
        Some(until),
    ));
    let mut fleet = Fleet::new(vec![inner, closed]);
    fleet.clock = clock;
    let metrics = Metrics::new();
    let executor = PlanExecutor::new().with_metrics(metrics.clone());
    let error = fleet.chat(&executor).await.unwrap_err();
    assert_eq!(
        (error.retry_after(), error.is_exhausted()),
        (Some(Duration::from_secs(1)), false)
    );
    let inner = metrics.of("a", fleet.clock.now());
    assert_eq!(
        (inner.failures, inner.remaining_ratio),
        (0, None),
        "it has tried nothing"
    );
}
