//! Streams whose first content is late: the head goes out without it, and everything else follows in-band.

use crate::daemon::Setup;
use crate::vendor::{ask_stream, closing, limited, opened, pause, streams, text, vendor};
use llm_driver_testkit::{Answer, End, FakeServer};
use serde_json::{Value, json};

fn hasty(vendors: &[&FakeServer]) -> Setup {
    Setup::new(vendors)
        .with("proxy/head_wait_seconds", json!(1))
        .with("proxy/keep_alive_seconds", json!(1))
}

#[tokio::test]
async fn the_head_goes_out_first_then_comments_then_the_content() {
    let late = || {
        opened()
            .with_piece(pause(4))
            .with_piece(text("late"))
            .with_piece(closing())
    };
    let cloud = vendor([late(), Answer::silent()]).await;
    let daemon = hasty(&[&cloud]).start().await;
    let mut connection = daemon.start_chat("r-1", &ask_stream("a")).await;
    let head = connection.head().await;
    assert_eq!(head.status, 200);
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    for name in [
        "x-router-backend",
        "x-router-chain-position",
        "x-router-latency-ms",
        "x-router-fallback-reason",
    ] {
        assert_eq!(head.header(name), None, "nobody serves yet");
    }
    assert_eq!(head.header("x-request-id"), Some("r-1"));
    let reply = connection.rest(head).await;
    assert_eq!(reply.streamed_text(), "late");
    assert_eq!(reply.events().last().unwrap(), "[DONE]");
    let comments = reply.comments();
    assert_eq!(comments[0], "keep-alive");
    assert!(
        comments.contains(&"x-router-backend: a".to_owned()),
        "{comments:?}"
    );
    assert_eq!(daemon.log("r-1").await, ["a pass - -"]);
}

#[tokio::test]
async fn falling_back_still_works_behind_the_head() {
    let cloud = vendor([limited(1).with_pause(std::time::Duration::from_secs(4))]).await;
    let local = vendor([streams(&["local"])]).await;
    let daemon = hasty(&[&cloud, &local]).start().await;
    let reply = daemon.chat_as("r-1", &ask_stream("role:main")).await;
    assert_eq!(reply.header("x-router-backend"), None);
    assert_eq!(reply.streamed_text(), "local");
    assert!(reply.comments().contains(&"x-router-backend: b".to_owned()));
    assert_eq!(
        daemon.log("r-1").await,
        ["a fallback rate_limit 429", "b pass - -"]
    );
}

#[tokio::test]
async fn a_failure_behind_the_head_is_an_event_of_the_stream() {
    let slow = std::time::Duration::from_secs(4);
    let cloud = vendor([
        limited(7).with_pause(slow),
        crate::vendor::fails(400, "invalid_request_error", "bad").with_pause(slow),
        // a kept connection that closes under a request is tried once more on a fresh one
        Answer::closed().with_pause(slow),
        Answer::closed(),
    ])
    .await;
    let daemon = hasty(&[&cloud]).start().await;
    for (id, code, log) in [
        ("r-1", "rate_limit_exceeded", "- degraded rate_limit -"),
        ("r-2", "bad", "a failed invalid_request 400"),
        ("r-3", "connection", "- degraded connection -"),
    ] {
        let reply = daemon.chat_as(id, &ask_stream("a")).await;
        assert_eq!((reply.status(), reply.complete), (200, true));
        let events = reply.events();
        assert_eq!(events.len(), 1, "{}", reply.text());
        let last: Value = serde_json::from_str(&events[0]).unwrap();
        assert_eq!(last["error"]["code"], code, "{last}");
        assert!(!reply.text().contains("[DONE]"));
        if code != "bad" {
            assert!(!reply.text().contains("sentinel"), "{}", reply.text());
        }
        assert_eq!(daemon.log(id).await.last().unwrap(), log);
    }
}

#[tokio::test]
async fn the_deadline_behind_the_head_is_an_event_too() {
    let cloud = vendor([opened().with_end(End::Hang)]).await;
    let daemon = hasty(&[&cloud])
        .with("proxy/max_request_seconds", json!(3))
        .start()
        .await;
    let reply = daemon.chat_as("r-1", &ask_stream("a")).await;
    assert_eq!(reply.status(), 200);
    let last: Value = serde_json::from_str(reply.events().last().unwrap()).unwrap();
    assert_eq!(last["error"]["code"], "timeout");
    let log = daemon.log("r-1").await;
    assert!(
        log.len() == 1 && log[0].starts_with("a request_deadline timeout"),
        "{log:?}"
    );
    crate::vendor::freed(&cloud).await;
}
