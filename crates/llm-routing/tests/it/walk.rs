//! A random plan with random failures is walked exactly as the rules say.

use crate::fleet::{Asked, Closed, Ending, Point, Script, Time, cast};
use crate::reference::{End, Play, RULES, Seen, expect};
use llm_core::error::{Error, ErrorKind};
use llm_core::stream::collect;
use llm_core::{
    Attempt, CallContext, Capabilities, ChatDriver, ChatRequest, ModelId, Phase, Scope, Skip,
    UnavailableReason,
};
use llm_routing::{PlanExecutor, Router, RoutingPolicy};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn model() -> impl Strategy<Value = ModelId> {
    select(vec!["m", "n"]).prop_map(|name| ModelId::new(name).unwrap())
}

fn closed() -> impl Strategy<Value = Closed> {
    use UnavailableReason as R;
    let reason = select(vec![
        R::RateLimit,
        R::Quota,
        R::BreakerOpen,
        R::BulkheadFull,
        R::Credential,
    ]);
    (
        reason,
        prop_oneof![Just(0), 0..60u64],
        prop::option::of(0..120u64),
    )
        .prop_map(|(reason, from, until)| Closed { reason, from, until })
}

fn ending() -> impl Strategy<Value = Ending> {
    let scope = select(vec![
        Scope::Request,
        Scope::Model,
        Scope::Credential,
        Scope::Vendor,
    ]);
    let phase = select(vec![Phase::NotSent, Phase::Sent, Phase::Streaming]);
    let hint = prop::option::of(0..50_000u64);
    let fails =
        (select(ErrorKind::ALL.to_vec()), scope, hint, phase).prop_map(|(kind, scope, hint_ms, phase)| {
            Ending::Fails {
                kind,
                scope,
                hint_ms,
                phase,
            }
        });
    prop_oneof![2 => Just(Ending::Serves), 1 => Just(Ending::JustStops), 9 => fails]
}

fn script() -> impl Strategy<Value = Script> {
    let at = select(vec![Point::AtOnce, Point::BeforeContent, Point::AfterContent]);
    let window = select(vec![None, Some(4_000), Some(8_000), Some(16_000)]);
    let who = (
        prop::option::weighted(0.4, model()),
        window,
        prop::bool::weighted(0.25),
    );
    (who, prop::option::weighted(0.3, closed()), 0..40u64, ending(), at).prop_map(
        |((model, window, is_router), closed, takes_ms, ending, at)| Script {
            model,
            window,
            capabilities: Capabilities::unknown(),
            is_router,
            closed,
            takes_ms,
            ending,
            at,
        },
    )
}

fn play() -> impl Strategy<Value = Play> {
    let cast = prop::collection::vec((script(), 0..2u32), 1..7);
    let deadline = prop::option::weighted(0.3, 0..150u64);
    (
        cast,
        prop::option::weighted(0.3, model()),
        any::<bool>(),
        deadline,
        any::<bool>(),
    )
        .prop_map(|(cast, named, streamed, deadline_ms, content_filter_failover)| {
            let (scripts, groups) = cast.into_iter().unzip();
            Play {
                scripts,
                groups,
                named,
                streamed,
                deadline_ms,
                content_filter_failover,
            }
        })
}

/// Runs the play on the real router.
fn perform(play: &Play) -> Seen {
    let (time, asked) = (Time::new(), Arc::new(Mutex::new(Vec::<Asked>::new())));
    let candidates = cast(&play.scripts, &time, &asked)
        .into_iter()
        .zip(&play.groups)
        .map(|(candidate, group)| candidate.with_group(*group))
        .collect();
    let executor = PlanExecutor::new().with_content_filter_failover(play.content_filter_failover);
    let router = Router::new("play", candidates, RoutingPolicy::default())
        .unwrap()
        .with_executor(executor);
    let mut cx = CallContext::new(time);
    if let Some(deadline) = play.deadline_ms {
        cx = cx.with_timeout(Duration::from_millis(deadline));
    }
    let request = ChatRequest::user("hi").with_model(play.named.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut seen = runtime.block_on(async {
        let result = if play.streamed {
            match router.chat_stream(&cx, &request).await {
                Ok(stream) => {
                    let attempts = stream.attempts().to_vec();
                    return match collect(stream).await {
                        Ok(response) => served(&response.attempts),
                        Err(error) => broken(&attempts, &error),
                    };
                }
                Err(error) => Err(error),
            }
        } else {
            router.chat(&cx, &request).await
        };
        result.map_or_else(|error| failed(&error), |response| served(&response.attempts))
    });
    seen.asked = asked.lock().unwrap().clone();
    seen
}

fn index(id: &str) -> usize {
    id.strip_prefix('c').unwrap().parse().unwrap()
}

fn seen(attempts: &[Attempt], skipped: &[Skip], end: End) -> Seen {
    let log = attempts.iter().map(|attempt| {
        let failure = attempt.failure.as_ref().map(|failure| failure.kind);
        (index(&attempt.candidate), failure, attempt.elapsed_ms)
    });
    let skipped = skipped
        .iter()
        .map(|skip| (index(&skip.candidate), skip.reason, skip.available_in_ms));
    Seen {
        asked: vec![],
        log: log.collect(),
        skipped: skipped.collect(),
        end,
    }
}

fn served(attempts: &[Attempt]) -> Seen {
    seen(
        attempts,
        &[],
        End::Served(index(&attempts.last().unwrap().candidate)),
    )
}

fn broken(attempts: &[Attempt], error: &Error) -> Seen {
    // a stream that just stops has no error of its own to carry a log
    if !error.attempts().is_empty() {
        assert_eq!(error.phase(), Phase::Streaming);
        assert_eq!(error.attempts().len(), attempts.len());
        assert_eq!(
            error.attempts().last().unwrap().failure.as_ref().unwrap().kind,
            error.kind()
        );
    }
    seen(
        attempts,
        &[],
        End::Broken(index(&attempts.last().unwrap().candidate), error.kind()),
    )
}

fn failed(error: &Error) -> Seen {
    let end = End::Failed {
        kind: error.kind(),
        scope: error.scope(),
        hint_ms: error.retry_after().map(|hint| hint.as_millis() as u64),
        phase: error.phase(),
        exhausted: error.is_exhausted(),
    };
    seen(error.attempts(), error.skipped(), end)
}

/// Performs the play and compares with what the rules say.
fn check(play: &Play, rules: &str) -> Result<(), TestCaseError> {
    let real = perform(play);
    let mut expected = expect(play, rules);
    if !matches!(expected.end, End::Failed { .. }) {
        // an answer tells who was tried, not who was skipped
        expected.skipped.clear();
    }
    prop_assert_eq!(&real, &expected);

    // everybody is in one place only, and nobody else was called
    let mut places = BTreeSet::new();
    let tried = real.log.iter().map(|(index, ..)| index);
    for index in tried.chain(real.skipped.iter().map(|(index, ..)| index)) {
        prop_assert!(
            *index < play.scripts.len() && places.insert(*index),
            "{} twice",
            index
        );
    }
    let asked: Vec<_> = real.asked.iter().map(|asked| asked.index).collect();
    let logged: Vec<_> = real.log.iter().map(|(index, ..)| *index).collect();
    prop_assert_eq!(asked, logged);
    Ok(())
}

fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        max_shrink_iters: 0,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

proptest! {
    #![proptest_config(Config { cases: 2048, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_random_plan_is_walked_exactly_as_the_rules_say(play in play()) {
        check(&play, RULES)?;
    }
}

/// Were the comparison blind to a rule, a wrong one would pass: every cell of the table is broken in turn.
#[test]
fn a_wrong_cell_is_noticed() {
    runner(256).run(&play(), |play| check(&play, RULES)).unwrap();
    for (row, text) in RULES.lines().enumerate() {
        let words: Vec<_> = text.split_whitespace().collect();
        let other = if words[1] == "stop" { "next" } else { "stop" };
        let again = if words[2] == "again" { "final" } else { "again" };
        for broken in [
            format!("{} {other} {}", words[0], words[2]),
            format!("{} {} {again}", words[0], words[1]),
        ] {
            if words[1] == "stop" && broken.contains("stop") {
                // whether a failure may be retried is not seen of one that ends the call
                continue;
            }
            let rules: Vec<_> = RULES
                .lines()
                .enumerate()
                .map(|(place, line)| if place == row { broken.as_str() } else { line })
                .collect();
            let result = runner(8192).run(&play(), |play| check(&play, &rules.join("\n")));
            assert!(result.is_err(), "nobody notices {broken:?} in place of {text:?}");
        }
    }
}
