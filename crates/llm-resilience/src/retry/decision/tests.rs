use super::*;
use crate::retry::Jitter;
use llm_core::{ErrorKind, Scope};
use proptest::option;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn of(kind: ErrorKind) -> Facts {
    Facts::of(&Error::new(kind, "x"))
}

fn reason(policy: &RetryPolicy, facts: &Facts) -> Option<GiveUpReason> {
    match decide(policy, facts) {
        Decision::GiveUp { reason } => Some(reason),
        Decision::Retry { .. } => None,
    }
}

fn waits(policy: &RetryPolicy, facts: &Facts) -> Duration {
    match decide(policy, facts) {
        Decision::Retry { wait } => wait,
        Decision::GiveUp { reason } => panic!("gave up: {reason:?}"),
    }
}

/// The column "same candidate again" of the architecture's table, written a second time.
#[test]
fn each_kind_is_retried_as_its_verdict_says() {
    let retried = [
        ErrorKind::RateLimit,
        ErrorKind::Overloaded,
        ErrorKind::Server,
        ErrorKind::Connection,
        ErrorKind::Timeout,
        ErrorKind::Protocol,
        ErrorKind::Interrupted,
    ];
    let policy = RetryPolicy::default();
    for kind in ErrorKind::ALL {
        let expected = (!retried.contains(&kind)).then_some(GiveUpReason::Verdict);
        assert_eq!(reason(&policy, &of(kind)), expected, "{kind}");
    }
    let deadline = Facts::of(&Error::deadline("x"));
    assert_eq!(reason(&policy, &deadline), Some(GiveUpReason::Verdict));
    let ours = Facts::of(&Error::new(ErrorKind::Timeout, "x").with_scope(Scope::Model));
    assert_eq!(reason(&policy, &ours), None);
}

#[test]
fn the_vendors_word_on_trying_again_is_obeyed() {
    let policy = RetryPolicy::default();
    let told = |kind, word| {
        let mut error = Error::new(kind, "x");
        error.vendor_mut().should_retry = Some(word);
        reason(&policy, &Facts::of(&error))
    };
    assert_eq!(told(ErrorKind::Server, false), Some(GiveUpReason::Verdict));
    assert_eq!(told(ErrorKind::RateLimit, false), Some(GiveUpReason::Verdict));
    assert_eq!(told(ErrorKind::Server, true), None);
    assert_eq!(told(ErrorKind::InvalidRequest, true), None);
    assert_eq!(told(ErrorKind::QuotaExhausted, true), Some(GiveUpReason::Verdict));
    assert_eq!(told(ErrorKind::Cancelled, true), Some(GiveUpReason::Verdict));
    let mut late = Error::deadline("x");
    late.vendor_mut().should_retry = Some(true);
    assert_eq!(reason(&policy, &Facts::of(&late)), Some(GiveUpReason::Verdict));
}

#[test]
fn an_answer_that_cannot_be_understood_is_retried_once() {
    let policy = RetryPolicy::new(9);
    let facts = of(ErrorKind::Protocol).with_attempt(2);
    assert_eq!(reason(&policy, &facts), None, "the first failure of this sort");
    assert_eq!(
        reason(&policy, &facts.with_once_spent(true)),
        Some(GiveUpReason::Once)
    );
    let other = of(ErrorKind::Server).with_attempt(2).with_once_spent(true);
    assert_eq!(reason(&policy, &other), None);
}

#[test]
fn nothing_is_replayed_after_content() {
    let policy = RetryPolicy::default();
    for kind in ErrorKind::ALL {
        let seen = of(kind).with_content_seen(true);
        assert_eq!(reason(&policy, &seen), Some(GiveUpReason::Committed));
        let streaming = Facts::of(&Error::new(kind, "x").with_phase(Phase::Streaming));
        assert_eq!(reason(&policy, &streaming), Some(GiveUpReason::Committed));
    }
}

#[test]
fn a_plan_that_is_used_up_and_a_request_that_cannot_be_sent_again_are_left_alone() {
    let policy = RetryPolicy::default();
    let exhausted = Facts::of(&Error::new(ErrorKind::Overloaded, "x").with_exhausted());
    assert_eq!(reason(&policy, &exhausted), Some(GiveUpReason::Exhausted));
    let once = of(ErrorKind::Overloaded).with_replayable(false);
    assert_eq!(reason(&policy, &once), Some(GiveUpReason::NotReplayable));
}

#[test]
fn a_stricter_verdict_of_a_layer_holds() {
    let facts = of(ErrorKind::Server).with_same(SameCandidate::No);
    assert_eq!(
        reason(&RetryPolicy::default(), &facts),
        Some(GiveUpReason::Verdict)
    );
}

#[test]
fn attempts_are_requests_the_first_included() {
    let policy = RetryPolicy::default();
    assert_eq!(reason(&policy, &of(ErrorKind::Server).with_attempt(2)), None);
    let last = of(ErrorKind::Server).with_attempt(3);
    assert_eq!(reason(&policy, &last), Some(GiveUpReason::Attempts));
    assert_eq!(
        reason(&RetryPolicy::off(), &of(ErrorKind::Server)),
        Some(GiveUpReason::Attempts)
    );
}

#[test]
fn the_hint_is_waited_first_and_chance_comes_on_top() {
    let policy = RetryPolicy::default();
    let hinted = Facts {
        retry_after: Some(SECOND * 3),
        ..of(ErrorKind::RateLimit)
    };
    assert_eq!(waits(&policy, &hinted), SECOND * 3);
    assert_eq!(
        waits(&policy, &hinted.with_random(1.0)),
        Duration::from_millis(3500)
    );
    let half = policy.with_jitter(Jitter::Half);
    assert_eq!(waits(&half, &hinted), Duration::from_millis(3250));
}

#[test]
fn a_hint_counts_whatever_the_verdict_and_zero_sets_no_floor() {
    let policy = RetryPolicy::default();
    let server = Facts {
        retry_after: Some(SECOND),
        ..of(ErrorKind::Server)
    };
    assert_eq!(waits(&policy, &server), SECOND);
    let zero = Facts {
        retry_after: Some(Duration::ZERO),
        ..of(ErrorKind::RateLimit)
    };
    assert_eq!(waits(&policy, &zero), Duration::ZERO);
    assert_eq!(
        waits(&policy, &zero.with_random(0.5)),
        waits(&policy, &of(ErrorKind::RateLimit).with_random(0.5))
    );
}

#[test]
fn a_hint_longer_than_the_longest_pause_ends_the_call_at_once() {
    let policy = RetryPolicy::default().with_max_wait(SECOND * 10);
    let hint = |seconds| Facts {
        retry_after: Some(SECOND * seconds),
        ..of(ErrorKind::RateLimit)
    };
    assert_eq!(reason(&policy, &hint(11)), Some(GiveUpReason::HintTooLong));
    assert_eq!(
        waits(&policy, &hint(10).with_random(1.0)),
        SECOND * 10,
        "chance does not lengthen it"
    );
    assert_eq!(waits(&policy.with_max_wait(None), &hint(3600)), SECOND * 3600);
}

#[test]
fn nobody_sleeps_past_the_deadline() {
    let policy = RetryPolicy::default();
    let facts = of(ErrorKind::Server).with_random(1.0);
    let left = |millis| facts.with_remaining(Some(Duration::from_millis(millis)));
    assert_eq!(reason(&policy, &left(500)), Some(GiveUpReason::Deadline));
    assert_eq!(waits(&policy, &left(501)), Duration::from_millis(500));
    let at_once = of(ErrorKind::Server).with_remaining(Some(Duration::ZERO));
    assert_eq!(
        reason(&policy, &at_once),
        Some(GiveUpReason::Deadline),
        "not even without a wait"
    );
}

#[test]
fn the_total_time_and_the_budget_are_kept() {
    let policy = RetryPolicy::default().with_max_elapsed(SECOND * 5);
    let facts = of(ErrorKind::Server).with_random(1.0);
    assert_eq!(
        reason(&policy, &facts.with_elapsed(Duration::from_millis(4500))),
        None
    );
    let late = facts.with_elapsed(Duration::from_millis(4501));
    assert_eq!(reason(&policy, &late), Some(GiveUpReason::TotalTime));
    let broke = facts.with_budget_has_room(false);
    assert_eq!(reason(&policy, &broke), Some(GiveUpReason::Budget));
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        4 => (0..20_000_u64).prop_map(Duration::from_millis),
        1 => any::<Duration>(),
    ]
}

fn policies() -> impl Strategy<Value = RetryPolicy> {
    let jitter = prop_oneof![Just(Jitter::Full), Just(Jitter::Half)];
    let limits = (option::of(duration()), option::of(duration()));
    (0..12_u32, duration(), duration(), jitter, limits).prop_map(|(attempts, base, cap, jitter, limits)| {
        RetryPolicy::new(attempts)
            .with_backoff(base, cap)
            .with_jitter(jitter)
            .with_max_wait(limits.0)
            .with_max_elapsed(limits.1)
    })
}

fn facts() -> impl Strategy<Value = Facts> {
    let kind = proptest::sample::select(ErrorKind::ALL.to_vec());
    let phase = prop_oneof![Just(Phase::NotSent), Just(Phase::Sent), Just(Phase::Streaming)];
    let said = (kind, phase, option::of(duration()), prop::bool::weighted(0.1));
    let call = (
        1..12_u32,
        any::<bool>(),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.9),
    );
    let rest = (
        duration(),
        option::of(duration()),
        prop::bool::weighted(0.9),
        0.0..=1.0_f64,
    );
    (said, call, rest).prop_map(|((kind, phase, hint, exhausted), call, rest)| {
        let mut error = Error::new(kind, "x").with_phase(phase).with_retry_after(hint);
        if exhausted {
            error = error.with_exhausted();
        }
        Facts::of(&error)
            .with_attempt(call.0)
            .with_once_spent(call.1)
            .with_content_seen(call.2)
            .with_replayable(call.3)
            .with_elapsed(rest.0)
            .with_remaining(rest.1)
            .with_budget_has_room(rest.2)
            .with_random(rest.3)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_retry_breaks_no_rule(policy in policies(), facts in facts()) {
        if let Decision::Retry { wait } = decide(&policy, &facts) {
            prop_assert!(wait >= facts.retry_after.unwrap_or_default(), "earlier than asked");
            prop_assert!(policy.max_wait.is_none_or(|longest| wait <= longest), "too long a pause");
            prop_assert!(facts.remaining.is_none_or(|left| wait < left), "past the deadline");
            let total = facts.elapsed.saturating_add(wait);
            prop_assert!(policy.max_elapsed.is_none_or(|longest| total <= longest), "too long in all");
            prop_assert!(facts.attempt < policy.max_attempts, "too many attempts");
            prop_assert!(facts.same != SameCandidate::No, "against the verdict");
            prop_assert!(!facts.content_seen && facts.phase != Phase::Streaming, "after content");
            prop_assert!(!facts.exhausted && facts.replayable && facts.budget_has_room);
        }
    }

    #[test]
    fn a_reason_is_true(policy in policies(), facts in facts()) {
        let hint = facts.retry_after.unwrap_or_default();
        let wait = wait(&policy, &facts);
        let Some(reason) = reason(&policy, &facts) else { return Ok(()) };
        let holds = match reason {
            GiveUpReason::Committed => facts.content_seen || facts.phase == Phase::Streaming,
            GiveUpReason::Exhausted => facts.exhausted,
            GiveUpReason::Verdict => facts.same == SameCandidate::No,
            GiveUpReason::Once => facts.same == SameCandidate::Once && facts.once_spent,
            GiveUpReason::NotReplayable => !facts.replayable,
            GiveUpReason::Attempts => facts.attempt >= policy.max_attempts,
            GiveUpReason::HintTooLong => policy.max_wait.is_some_and(|longest| hint > longest),
            GiveUpReason::TotalTime => policy.max_elapsed.is_some_and(|longest| facts.elapsed.saturating_add(wait) > longest),
            GiveUpReason::Deadline => facts.remaining.is_some_and(|left| wait >= left),
            GiveUpReason::Budget => !facts.budget_has_room,
        };
        prop_assert!(holds, "{reason:?}");
    }

    /// A call that fails in whatever ways makes no more attempts than allowed, and never waits past its deadline.
    #[test]
    fn a_whole_call_is_bounded(policy in policies(), failures in prop::collection::vec(facts(), 12), deadline in option::of(duration())) {
        let mut elapsed = Duration::ZERO;
        let mut attempt = 0_u32;
        let mut protocol_retries = 0;
        for failure in failures {
            attempt += 1;
            let facts = failure
                .with_attempt(attempt)
                .with_once_spent(protocol_retries > 0)
                .with_elapsed(elapsed)
                .with_remaining(deadline.map(|deadline| deadline.saturating_sub(elapsed)));
            match decide(&policy, &facts) {
                Decision::Retry { wait } => {
                    elapsed = elapsed.saturating_add(wait);
                    protocol_retries += u32::from(facts.same == SameCandidate::Once);
                }
                Decision::GiveUp { .. } => break,
            }
        }
        prop_assert!(attempt <= policy.max_attempts.max(1));
        prop_assert!(protocol_retries <= 1);
        prop_assert!(deadline.is_none_or(|deadline| elapsed <= deadline));
    }
}
