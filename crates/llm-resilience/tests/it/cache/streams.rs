//! Streams and the cache.

use super::*;
use crate::cache::shelf::Mood;
use crate::{read, text};
use llm_core::{ChatEvent, Grammar};

fn replaying(driver: ScriptedDriver) -> Cached {
    Cached::new(driver, CachePolicy::default().with_streams(CachedStreams::Replay))
}

#[tokio::test(start_paused = true)]
async fn streams_pass_by_unless_asked() {
    let cached = Cached::new(counting(), CachePolicy::default());
    let cx = TestClock::context();
    for expected in ["1", "2"] {
        let stream = cached.stack.chat_stream(&cx, &request()).await.unwrap();
        assert_eq!(text(&read(stream).await.0), expected);
    }
    assert!(cached.shelf.take_steps().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ended_well_is_replayed_as_a_legal_one() {
    let cached = replaying(counting());
    let cx = TestClock::context();
    let first = read(cached.stack.chat_stream(&cx, &request()).await.unwrap()).await;
    let again = cached.stack.chat_stream(&cx, &request()).await.unwrap();
    assert!(again.meta().from_cache && again.attempts().is_empty());
    let (events, end) = read(again).await;
    let mut grammar = Grammar::default();
    for event in &events {
        grammar.check(event).unwrap();
    }
    grammar.end().unwrap();
    assert!(end.is_none() && first.1.is_none());
    assert_eq!((text(&events), text(&first.0)), ("1".to_owned(), "1".to_owned()));
    // Whole or in pieces, it is one answer.
    assert_eq!(cached.text(&cx, &request()).await, "1");
    assert_eq!(cached.text(&cx, &ChatRequest::user("other")).await, "2");
    let stream = cached
        .stack
        .chat_stream(&cx, &ChatRequest::user("other"))
        .await
        .unwrap();
    assert_eq!(text(&read(stream).await.0), "2");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_left_or_not_for_keeping_is_not_kept() {
    let cut = Reply::text("hello").broken_after(3, error(ErrorKind::Interrupted));
    let long = Reply::response(ended(FinishKind::Length, vec![said("hel")]));
    for (reply, reads) in [(cut, usize::MAX), (Reply::text("hello"), 4), (long, usize::MAX)] {
        let cached = replaying(ScriptedDriver::new("alpha", [reply, Reply::text("whole")]));
        let cx = TestClock::context();
        let mut stream = cached.stack.chat_stream(&cx, &request()).await.unwrap();
        let mut read = 0;
        while read < reads && stream.next_event().await.is_some() {
            read += 1;
        }
        drop(stream);
        assert_eq!(cached.text(&cx, &request()).await, "whole");
    }
}

#[tokio::test(start_paused = true)]
async fn who_reads_no_further_than_the_finish_has_it_kept() {
    let cached = replaying(counting());
    cached.shelf.feel(Mood::Slow(Duration::from_millis(100)));
    let cx = TestClock::context();
    let mut stream = cached.stack.chat_stream(&cx, &request()).await.unwrap();
    while stream.finish_reason().is_none() {
        stream.next_event().await.unwrap().unwrap();
    }
    drop(stream);
    assert_eq!(cached.text(&cx, &request()).await, "1");
}

#[tokio::test(start_paused = true)]
async fn the_first_events_are_not_held_back_and_a_silent_store_holds_the_finish_no_longer_than_allowed() {
    let cached = replaying(ScriptedDriver::always("alpha", Reply::text("hello")));
    let cx = TestClock::context();
    let mut stream = cached.stack.chat_stream(&cx, &request()).await.unwrap();
    cached.shelf.feel(Mood::Silent);
    let start = cx.clock().now();
    let mut finished = None;
    while let Some(event) = stream.next_event().await {
        let at = cx.clock().now() - start;
        match event.unwrap() {
            ChatEvent::Finish { .. } => finished = Some(at),
            event => assert_eq!(at, Duration::ZERO, "{event:?}"),
        }
    }
    assert_eq!(finished, Some(CachePolicy::default().store_wait));
}

#[tokio::test(start_paused = true)]
async fn a_stream_too_large_to_keep_passes_all_the_same() {
    let policy = CachePolicy::default()
        .with_streams(CachedStreams::Replay)
        .with_max_entry_bytes(1000);
    let cached = Cached::new(
        ScriptedDriver::always("alpha", Reply::text("x".repeat(1001))),
        policy,
    );
    let cx = TestClock::context();
    for calls in [1, 2] {
        let stream = cached.stack.chat_stream(&cx, &request()).await.unwrap();
        assert_eq!(text(&read(stream).await.0).len(), 1001);
        assert_eq!(cached.driver.call_count(), calls);
    }
}
