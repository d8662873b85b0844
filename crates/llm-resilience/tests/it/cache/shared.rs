//! Equal calls at once.

use super::*;
use crate::cache::shelf::Mood;
use std::sync::Mutex;
use tokio::task::JoinSet;

type Ended = (usize, Result<ChatResponse>, u64);

/// Equal calls that begin together, with their time; how each ended, in the order in which they did, and after how
/// many seconds.
async fn at_once(cached: &Cached, times: &[Option<u64>]) -> Vec<Ended> {
    let ended = Arc::new(Mutex::new(Vec::new()));
    let mut running = JoinSet::new();
    for (call, time) in times.iter().copied().enumerate() {
        let (stack, ended) = (cached.stack.clone(), ended.clone());
        running.spawn(async move {
            let mut cx = TestClock::context();
            if let Some(seconds) = time {
                cx = cx.with_timeout(SECOND * u32::try_from(seconds).unwrap());
            }
            let (outcome, took) = timed(&cx, stack.chat(&cx, &request())).await;
            ended.lock().unwrap().push((call, outcome, took.as_secs()));
        });
    }
    running.join_all().await;
    std::mem::take(&mut *ended.lock().unwrap())
}

fn slow(replies: impl IntoIterator<Item = Reply>) -> ScriptedDriver {
    ScriptedDriver::new(
        "alpha",
        replies.into_iter().map(|reply| reply.with_pause(SECOND * 10)),
    )
}

#[tokio::test(start_paused = true)]
async fn equal_calls_at_once_are_asked_once() {
    let cached = Cached::new(slow([Reply::text("hello")]), CachePolicy::default());
    let ended = at_once(&cached, &[None; 20]).await;
    let mut from_cache = 0;
    for (_, outcome, took) in ended {
        let response = outcome.unwrap();
        assert_eq!((response.text().as_str(), took), ("hello", 10));
        from_cache += usize::from(response.meta.from_cache);
    }
    assert_eq!((cached.driver.call_count(), from_cache), (1, 19));
    assert_eq!(
        cached.shelf.take_steps(),
        ["get", "set"],
        "the others do not ask the store either"
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_not_equal_or_not_kept_do_not_wait() {
    let driver = ScriptedDriver::always("alpha", Reply::text("hello").with_pause(SECOND * 10));
    let cached = Cached::new(driver, CachePolicy::default());
    let cx = TestClock::context();
    let (a, b) = (request(), ChatRequest::user("other"));
    let warm = request().with_temperature(1.0);
    let (_, took) = timed(&cx, async {
        tokio::join!(
            cached.stack.chat(&cx, &a),
            cached.stack.chat(&cx, &b),
            cached.stack.chat(&cx, &warm),
            cached.stack.chat(&cx, &warm),
        )
    })
    .await;
    assert_eq!((took, cached.driver.call_count()), (SECOND * 10, 4));
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_the_next_one_asks() {
    let cached = Cached::new(
        slow([Reply::error(error(ErrorKind::Server)), Reply::text("hello")]),
        CachePolicy::default(),
    );
    let ended = at_once(&cached, &[None; 4]).await;
    let took: Vec<_> = ended
        .iter()
        .map(|(call, outcome, took)| (*call, outcome.is_ok(), *took))
        .collect();
    assert_eq!(
        took,
        [(0, false, 10), (1, true, 20), (2, true, 20), (3, true, 20)]
    );
    assert_eq!(cached.driver.call_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn each_keeps_its_own_deadline_and_the_leaders_is_not_the_others() {
    let cached = Cached::new(
        ScriptedDriver::always("alpha", Reply::text("hello").with_pause(SECOND * 10)),
        CachePolicy::default(),
    );
    let ended = at_once(&cached, &[Some(4), Some(2), None, Some(60)]).await;
    let ends: Vec<_> = ended
        .iter()
        .map(|(call, outcome, took)| (*call, outcome.as_ref().err().map(|error| error.kind()), *took))
        .collect();
    let late = Some(ErrorKind::Timeout);
    assert_eq!(ends, [(1, late, 2), (0, late, 4), (2, None, 14), (3, None, 14)]);
    let follower = ended[0].1.as_ref().unwrap_err();
    assert_eq!(
        (follower.scope(), follower.phase()),
        (llm_core::Scope::Request, Phase::NotSent)
    );
    assert_eq!(cached.driver.call_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_goes_away_is_followed() {
    let driver = ScriptedDriver::always("alpha", Reply::text("hello").with_pause(SECOND * 10));
    let cached = Cached::new(driver, CachePolicy::default());
    let cx = TestClock::context();
    let ask = request();
    let leader = cached.stack.chat(&cx, &ask);
    let follower = cached.stack.chat(&cx, &ask);
    let leader = tokio::time::timeout(SECOND * 3, leader);
    let ((gone, answered), took) = timed(&cx, async { tokio::join!(leader, follower) }).await;
    assert!(gone.is_err());
    assert_eq!((answered.unwrap().text().as_str(), took), ("hello", SECOND * 13));
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_not_kept_are_each_callers_own() {
    let cut = ended(FinishKind::Length, vec![said("hel")]);
    let driver = ScriptedDriver::always("alpha", Reply::response(cut).with_pause(SECOND * 10));
    let cached = Cached::new(driver, CachePolicy::default());
    let ended = at_once(&cached, &[None; 5]).await;
    assert!(
        ended
            .iter()
            .all(|(_, outcome, _)| !outcome.as_ref().unwrap().meta.from_cache)
    );
    assert_eq!(
        ended.iter().map(|(_, _, took)| *took).max(),
        Some(20),
        "nobody queues behind another"
    );
    assert_eq!(cached.driver.call_count(), 5);
}

#[tokio::test(start_paused = true)]
async fn while_an_answer_is_put_away_newcomers_get_it() {
    let cached = Cached::new(counting(), CachePolicy::default());
    let cx = TestClock::context();
    cached.shelf.feel(Mood::Slow(Duration::from_millis(200)));
    let first = async { cached.text(&cx, &request()).await };
    let newcomer = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let (text, took) = timed(&cx, cached.text(&cx, &request())).await;
        assert_eq!((text.as_str(), took), ("1", Duration::ZERO));
    };
    tokio::join!(first, newcomer);
    assert_eq!(cached.driver.call_count(), 1);
}
