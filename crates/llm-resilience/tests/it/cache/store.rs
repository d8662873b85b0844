//! A store that is down, slow, or holds what nobody can have written.

use super::*;
use crate::cache::shelf::Mood;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tracing::{Event, Level, Metadata, Subscriber, span};

/// Counts what is logged at warning level, on this thread.
#[derive(Default)]
struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        if *event.metadata().level() == Level::WARN {
            self.0.fetch_add(1, SeqCst);
        }
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// What becomes of a value.
type Damage = dyn Fn(&[u8]) -> Vec<u8>;

fn listen() -> (Arc<AtomicUsize>, tracing::subscriber::DefaultGuard) {
    let count = Arc::<AtomicUsize>::default();
    let guard = tracing::subscriber::set_default(Warnings(count.clone()));
    (count, guard)
}

#[tokio::test(start_paused = true)]
async fn when_the_store_is_down_calls_go_on_and_one_warning_says_so() {
    for mood in [Mood::Down, Mood::Silent, Mood::Slow(SECOND)] {
        let (warnings, _listening) = listen();
        let cached = Cached::new(counting(), CachePolicy::default());
        cached.shelf.feel(mood);
        let cx = TestClock::context();
        for call in 1..=10 {
            let (text, took) = timed(&cx, cached.text(&cx, &request())).await;
            assert_eq!(text, call.to_string());
            assert!(took <= Duration::from_millis(250), "{mood:?}: {took:?}");
        }
        assert_eq!(cached.shelf.take_steps(), ["get"], "it is left alone for a while");
        tokio::time::sleep(SECOND * 5).await;
        cached.text(&cx, &request()).await;
        assert_eq!(cached.shelf.take_steps(), ["get"], "then one call tries it");
        assert_eq!(warnings.load(SeqCst), 1, "{mood:?}");

        // It comes back by itself, and the next outage is told again.
        cached.shelf.feel(Mood::Well);
        tokio::time::sleep(SECOND * 5).await;
        let kept = cached.text(&cx, &request()).await;
        assert_eq!(cached.text(&cx, &request()).await, kept);
        assert_eq!(warnings.load(SeqCst), 1);
        cached.shelf.feel(mood);
        cached.text(&cx, &request()).await;
        assert_eq!(warnings.load(SeqCst), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_with_little_time_does_not_wait_for_the_store_and_does_not_accuse_it() {
    let (warnings, _listening) = listen();
    let cached = Cached::new(counting(), CachePolicy::default());
    cached.shelf.feel(Mood::Slow(Duration::from_millis(200)));
    let cx = TestClock::context().with_timeout(Duration::from_millis(100));
    let (outcome, took) = timed(&cx, cached.stack.chat(&cx, &request())).await;
    assert!(outcome.is_err() && took == Duration::from_millis(100));
    assert_eq!(
        cached.text(&TestClock::context(), &request()).await,
        cached.text(&TestClock::context(), &request()).await
    );
    assert_eq!(warnings.load(SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_absent_and_told_once_a_minute() {
    let (warnings, _listening) = listen();
    let cached = Cached::new(counting(), CachePolicy::default());
    let cx = TestClock::context();
    let replace = |from: &'static str, to: &'static str| {
        move |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(from, to).into_bytes()
    };
    cached.text(&cx, &request()).await;
    let mut last = 1;
    let damages: [&Damage; 5] = [
        &|bytes| bytes[..bytes.len() / 2].to_vec(),
        &|_| b"\xff\xfe".to_vec(),
        &|_| Vec::new(),
        &replace("\"version\":1", "\"version\":2"),
        &replace("\"stop\"", "\"won\""),
    ];
    for damage in damages {
        cached.shelf.tamper(damage);
        last += 1;
        assert_eq!(cached.text(&cx, &request()).await, last.to_string());
        assert_eq!(
            cached.text(&cx, &request()).await,
            last.to_string(),
            "and replaced"
        );
    }
    assert_eq!(warnings.load(SeqCst), 1);
    // A record that reads well but that nobody would have kept is not served either.
    cached.shelf.tamper(replace("\"stop\"", "\"length\""));
    assert_eq!(cached.text(&cx, &request()).await, (last + 1).to_string());
}

#[tokio::test(start_paused = true)]
async fn nothing_that_was_asked_or_answered_shows_when_a_cache_is_printed() {
    let cached = Cached::new(counting(), CachePolicy::default());
    let ask = ChatRequest::user("a secret");
    cached.stack.chat(&TestClock::context(), &ask).await.unwrap();
    assert!(!format!("{:?}", cached.stack).contains("secret"));
}
