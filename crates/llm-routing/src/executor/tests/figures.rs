//! What the executor writes into the metrics.

use super::*;
use llm_core::rate_limit::LimitWindow;
use llm_core::stream::collect;
use llm_core::{ChatEvent, Clock, Phase};

fn of(metrics: &Metrics, fleet: &Fleet, id: &str) -> crate::CandidateMetrics {
    metrics.of(id, fleet.clock.now())
}

#[tokio::test]
async fn times_outcomes_and_use_are_fed_for_whoever_was_asked() {
    let fleet = Fleet::new(vec![driver().fails(ErrorKind::Server), driver(), driver()]);
    let metrics = Metrics::new();
    let executor = PlanExecutor::new().with_metrics(metrics.clone());
    fleet.chat(&executor).await.unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|id| of(&metrics, &fleet, id));
    assert_eq!(
        (a.failures, a.successes, a.requests, a.commit_ms),
        (1, 0, 1, None)
    );
    assert_eq!((b.failures, b.successes, b.total_ms), (0, 1, Some(0.0)));
    assert_eq!(b.commit_ms, None, "a whole answer has no commit point");
    assert_eq!((c.requests, c.in_flight), (0, 0));
}

#[tokio::test]
async fn a_stream_is_in_flight_until_its_end_and_a_break_is_a_failure() {
    let finish = finish_with(Usage::new(5, 7));
    let mut meta = llm_core::ResponseMeta::default();
    let mut limits = RateLimitSnapshot::default();
    limits.requests = LimitWindow::new(Some(10), Some(1), None);
    meta.rate_limits = Some(limits.into());
    let fleet = Fleet::new(vec![driver().then(Outcome::Stream(vec![
        Ok(ChatEvent::Start(Box::new(meta))),
        finish,
    ]))]);
    let metrics = Metrics::new();
    let executor = PlanExecutor::new().with_metrics(metrics.clone());
    let stream = fleet.stream(&executor).await.unwrap();
    assert_eq!(of(&metrics, &fleet, "a").in_flight, 1);
    fleet.clock.advance(Duration::from_secs(2));
    collect(stream).await.unwrap();
    let a = of(&metrics, &fleet, "a");
    assert_eq!((a.in_flight, a.successes, a.tokens), (0, 1, 12));
    assert_eq!((a.commit_ms, a.total_ms), (Some(0.0), Some(2_000.0)));
    assert_eq!(a.remaining_ratio, Some(0.1));

    let cut = Error::new(ErrorKind::Interrupted, "cut").with_phase(Phase::Streaming);
    let fleet = Fleet::new(vec![driver().then(Outcome::Stream(vec![
        start(),
        block(),
        text("hel"),
        Err(cut),
    ]))]);
    collect(fleet.stream(&executor).await.unwrap()).await.unwrap_err();
    let a = of(&metrics, &fleet, "a");
    assert_eq!((a.in_flight, a.failures), (0, 1));
}

#[tokio::test]
async fn a_stream_that_the_caller_leaves_says_nothing() {
    let fleet = Fleet::new(vec![driver()]);
    let metrics = Metrics::new();
    let executor = PlanExecutor::new().with_metrics(metrics.clone());
    drop(fleet.stream(&executor).await.unwrap());
    let a = of(&metrics, &fleet, "a");
    assert_eq!((a.in_flight, a.successes, a.failures, a.requests), (0, 0, 0, 1));
}

#[tokio::test]
async fn reported_usage_makes_the_next_estimate_better() {
    let usage = Usage::new(30, 1);
    let finish = finish_with(usage);
    let fleet = Fleet::new(vec![driver().then(Outcome::Stream(vec![start(), finish]))]);
    let metrics = Metrics::new();
    let executor = PlanExecutor::new().with_metrics(metrics.clone());
    let estimated = fleet.plan.needs().input_tokens();
    collect(fleet.stream(&executor).await.unwrap()).await.unwrap();
    let ratio = of(&metrics, &fleet, "a").input_ratio.unwrap();
    assert!(
        estimated < 30 && ratio > 1.0,
        "{estimated} were estimated, 30 counted: {ratio}"
    );
}

#[tokio::test]
async fn what_other_attempts_use_says_nothing_of_how_words_are_counted() {
    let fleet = Fleet::new(vec![driver()]);
    let metrics = Metrics::new();
    let executor = PlanExecutor::new().with_metrics(metrics.clone());
    let used = |_: &()| (Usage::new(8_000, 0), None);
    let embed = |_cx, _planned: &PlannedCandidate| async { Ok(()) };
    let _ = executor.run(&fleet.cx(), &fleet.plan, embed, used).await.unwrap();
    let a = of(&metrics, &fleet, "a");
    assert_eq!((a.tokens, a.input_ratio), (8_000, None));
}

#[tokio::test]
async fn an_answer_that_is_none_was_paid_for() {
    let usage = Usage::new(5, 7);
    let finish = finish_with(usage);
    let empty = vec![start(), finish];
    let fleet = Fleet::new(vec![driver().then(Outcome::Stream(empty)), driver()]);
    let metrics = Metrics::new();
    let check = ResponseCheck::new().empty();
    let executor = PlanExecutor::new()
        .with_metrics(metrics.clone())
        .with_response_check(check);
    let stream = fleet.stream(&executor).await.unwrap();
    let a = of(&metrics, &fleet, "a");
    assert_eq!((a.in_flight, a.tokens, a.successes), (0, 12, 1));
    drop(stream);

    let fleet = Fleet::new(vec![driver().then(Outcome::Text("")), driver()]);
    let metrics = Metrics::new();
    let executor = executor.with_metrics(metrics.clone());
    fleet.chat(&executor).await.unwrap();
    let a = of(&metrics, &fleet, "a");
    assert_eq!((a.in_flight, a.successes, a.total_ms), (0, 1, Some(0.0)));
}

#[tokio::test]
async fn what_a_stream_used_counts_however_it_ends() {
    let mut meta = llm_core::ResponseMeta::default();
    let mut limits = RateLimitSnapshot::default();
    limits.requests = LimitWindow::new(Some(10), Some(1), None);
    meta.rate_limits = Some(limits.into());
    let cut = Error::new(ErrorKind::Interrupted, "cut").with_phase(Phase::Streaming);
    let items = || {
        vec![
            Ok(ChatEvent::Start(Box::new(meta.clone()))),
            block(),
            text("hel"),
            Ok(ChatEvent::Usage(Usage::new(1_000, 1))),
            Err(cut.clone()),
        ]
    };
    for leaves in [false, true] {
        let fleet = Fleet::new(vec![driver().then(Outcome::Stream(items()))]);
        let metrics = Metrics::new();
        let executor = PlanExecutor::new().with_metrics(metrics.clone());
        let mut stream = fleet.stream(&executor).await.unwrap();
        for _ in 0..4 {
            stream.next_event().await.unwrap().unwrap();
        }
        if !leaves {
            stream.next_event().await.unwrap().unwrap_err();
        }
        drop(stream);
        let a = of(&metrics, &fleet, "a");
        assert_eq!((a.in_flight, a.tokens, a.remaining_ratio), (0, 1_001, Some(0.1)));
        assert_eq!(a.failures, u64::from(!leaves));
    }
}

#[tokio::test]
async fn what_was_held_back_counts_though_nobody_read_it() {
    let finish = finish_with(Usage::new(5, 7));
    let begun = vec![
        start(),
        Ok(ChatEvent::Usage(Usage::new(1_000, 1))),
        block(),
        text("hel"),
    ];
    let whole = vec![start(), finish];
    for (items, tokens, successes) in [(begun, 1_001, 0), (whole, 12, 1)] {
        let fleet = Fleet::new(vec![driver().then(Outcome::Stream(items))]);
        let metrics = Metrics::new();
        let executor = PlanExecutor::new().with_metrics(metrics.clone());
        drop(fleet.stream(&executor).await.unwrap());
        let a = of(&metrics, &fleet, "a");
        assert_eq!((a.in_flight, a.tokens, a.successes), (0, tokens, successes));
    }
}
