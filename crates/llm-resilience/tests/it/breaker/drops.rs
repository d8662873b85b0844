//! Calls that are dropped: by a caller who left, and by a router whose time for the attempt is over.

use super::{Broken, SECOND, down, fine};
use crate::request;
use llm_core::CallContext;
use llm_driver_testkit::Reply;
use llm_resilience::BreakerState;
use std::time::Duration;

/// A context whose attempt must have shown content in this time.
fn limited(broken: &Broken, limit: Option<Duration>) -> CallContext {
    let cx = broken.cx.clone();
    match limit {
        Some(limit) => {
            let at = cx.clock().now() + limit;
            cx.with_attempt_limit(at)
        }
        None => cx,
    }
}

#[tokio::test(start_paused = true)]
async fn a_drop_counts_as_a_timeout_only_when_the_attempts_limit_has_passed() {
    for (limit, dropped_after, state) in [
        (None, SECOND * 100, BreakerState::Closed),
        (Some(SECOND * 5), SECOND * 4, BreakerState::Closed),
        (Some(SECOND * 5), SECOND * 5, BreakerState::Open),
        (Some(SECOND * 5), SECOND * 9, BreakerState::Open),
    ] {
        let what = format!("{limit:?} {dropped_after:?}");
        let broken = Broken::new([Reply::hang()]);
        let cx = limited(&broken, limit);
        let request = request();
        let call = broken.stack.chat(&cx, &request);
        assert!(tokio::time::timeout(dropped_after, call).await.is_err());
        assert_eq!(broken.state(), state, "{what}");

        // A stream that does not begin, and one that begins and shows nothing.
        for reply in [Reply::hang(), fine().hanging_after(1)] {
            let broken = Broken::new([reply]);
            let cx = limited(&broken, limit);
            let read = async {
                let mut stream = broken.stack.chat_stream(&cx, &request).await.unwrap();
                stream.next_text().await
            };
            assert!(tokio::time::timeout(dropped_after, read).await.is_err());
            assert_eq!(broken.state(), state, "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_has_shown_content_has_met_its_limit() {
    let broken = Broken::new([fine().with_event_pause(SECOND)]);
    let cx = limited(&broken, Some(SECOND * 5));
    let mut stream = broken.stack.chat_stream(&cx, &request()).await.unwrap();
    assert_eq!(stream.next_text().await.unwrap().as_deref(), Some("hello"));
    tokio::time::advance(SECOND * 60).await;
    drop(stream);
    assert_eq!(broken.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_was_too_slow_opens_it_again() {
    let broken = Broken::new([down(), Reply::hang()]);
    broken.call().await.unwrap_err();
    tokio::time::advance(SECOND * 60).await;
    assert_eq!(broken.state(), BreakerState::HalfOpen);
    let cx = limited(&broken, Some(SECOND * 5));
    let request = request();
    let call = broken.stack.chat(&cx, &request);
    assert!(tokio::time::timeout(SECOND * 5, call).await.is_err());
    assert_eq!(broken.state(), BreakerState::Open);
}
