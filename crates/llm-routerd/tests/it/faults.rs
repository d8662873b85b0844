//! Vendors that fail in the middle: cut, reset, silent. Before the first content nobody notices; after it the caller
//! is told, and nothing looks like a whole answer.

use crate::client::Reply;
use crate::daemon::{Daemon, Setup};
use crate::vendor::{ask, ask_stream, closing, freed, opened, pause, says, streams, text, vendor};
use llm_driver_testkit::{Answer, End, Framing};
use serde_json::{Value, json};

/// The stream told of its failure, and of no good end.
fn ends_with_an_error(reply: &Reply, code: &str) {
    assert!(reply.complete, "the connection itself is not cut");
    let events = reply.events();
    let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
    assert_eq!(last["error"]["code"], code, "{}", reply.text());
    assert!(last["error"]["message"].is_string() && last["error"]["type"] == "server_error");
    assert!(!reply.text().contains("[DONE]"));
    assert!(!reply.text().contains("\"stop\""), "no finish reason was made up");
    assert!(!reply.text().contains("sentinel"));
}

#[tokio::test]
async fn a_stream_that_is_cut_after_its_first_content_ends_with_an_error() {
    let half = || opened().with_piece(text("half of it"));
    let midway = opened()
        .with_piece(text("half of it"))
        .with_piece("data: {\"error\":{\"message\":\"vendor-text-sentinel\",\"type\":\"server_error\",\"code\":\"boom\"}}\n\n");
    let ends = [
        (half().with_end(End::Cut), "interrupted"),
        (half().with_end(End::Reset), "interrupted"),
        // without its end mark
        (half().with_framing(Framing::UntilClose), "interrupted"),
        (midway.with_framing(Framing::UntilClose), "server"),
    ];
    let codes: Vec<_> = ends.iter().map(|(_, code)| *code).collect();
    let cloud = vendor(ends.into_iter().map(|(answer, _)| answer)).await;
    let local = vendor([streams(&["never"])]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for (turn, code) in codes.iter().enumerate() {
        let id = format!("r-{turn}");
        let reply = daemon.chat_as(&id, &ask_stream("role:main")).await;
        assert_eq!(reply.status(), 200);
        assert_eq!(reply.header("x-router-backend"), Some("a"));
        let told = reply.text().find("half of it").unwrap();
        assert!(told < reply.text().find("error").unwrap());
        ends_with_an_error(&reply, code);
        assert_eq!(daemon.log(&id).await, [format!("a interrupted {code} -")]);
        let decision = daemon.read(&format!("/decisions/{id}")).await.json();
        assert_eq!(decision["attempts"][0]["failure"]["kind"], *code, "{decision}");
    }
    assert_eq!(local.request_count(), 0, "nothing is replayed after content");
    // no content, but a failure of the backend's own: it counts
    let models = daemon.read("/v1/models").await.json();
    assert_eq!(models["data"][0]["router"]["consecutive_failures"], 4, "{models}");
    assert_eq!(daemon.read("/health").await.json()["backends"]["a"], "degraded");
    freed(&cloud).await;
}

#[tokio::test]
async fn what_breaks_before_the_first_content_is_replaced_unseen() {
    let breaks = || {
        [
            Answer::closed(),
            opened().with_end(End::Cut),
            opened().with_end(End::Reset),
            opened(),
            Answer::sse("data: {\"error\":{\"message\":\"x\",\"type\":\"server_error\"}}\n\n"),
            Answer::sse(": nothing\n\n"),
            Answer::sse("data: no json\n\n"),
        ]
    };
    let count = breaks().len();
    let cloud = vendor(breaks()).await;
    let local = vendor((0..count).map(|_| streams(&["whole"]))).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for turn in 0..count {
        let id = format!("r-{turn}");
        let reply = daemon.chat_as(&id, &ask_stream("role:main")).await;
        assert_eq!(reply.status(), 200, "{}", reply.text());
        assert_eq!(reply.header("x-router-backend"), Some("b"));
        assert_eq!(reply.streamed_text(), "whole");
        assert_eq!(reply.events().last().unwrap(), "[DONE]");
        let log = daemon.log(&id).await;
        assert!(
            log[0].starts_with("a fallback ") && log[1] == "b pass - -",
            "{log:?}"
        );
    }
}

#[tokio::test]
async fn plain_calls_that_are_cut_fall_back_too() {
    let broken = [
        Answer::closed(),
        says("half").cut_after(20),
        says("half").reset_after(20),
        says("half").with_too_long_length(5),
    ];
    let cloud = vendor(broken).await;
    let local = vendor((0..4).map(|_| says("whole"))).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for _ in 0..4 {
        let reply = daemon.chat(&ask("role:main")).await;
        assert_eq!(reply.header("x-router-backend"), Some("b"), "{}", reply.text());
    }
    freed(&cloud).await;
}

#[tokio::test]
async fn nobody_who_answers_is_a_502() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud])
        .with("backends/a/url", json!("http://127.0.0.1:9/v1"))
        .start()
        .await;
    for (id, body) in [("r-1", ask("a")), ("r-2", ask_stream("a"))] {
        let reply = daemon.chat_as(id, &body).await;
        assert_eq!((reply.status(), reply.error_code()), (502, json!("connection")));
        assert!(!reply.text().contains("127.0.0.1"), "{}", reply.text());
        assert_eq!(
            daemon.log(id).await,
            ["a fallback connection -", "- degraded connection -"]
        );
    }
}

/// A daemon that waits a second for the first of these.
async fn impatient(vendors: &[&llm_driver_testkit::FakeServer]) -> Daemon {
    let setup = Setup::new(vendors).with("backends/a/timeout_seconds", json!(1));
    setup.start().await
}

#[tokio::test]
async fn a_silent_backend_is_left_for_the_next() {
    let silences = [
        Answer::silent(),
        Answer::silent(),
        opened().with_end(End::Hang),
        // shows life, but no content
        Answer::sse(": thinking\n\n").with_end(End::Hang),
    ];
    let cloud = vendor(silences).await;
    let local = vendor([
        says("whole"),
        streams(&["whole"]),
        streams(&["whole"]),
        streams(&["whole"]),
    ])
    .await;
    let daemon = impatient(&[&cloud, &local]).await;
    for turn in 0..4 {
        let id = format!("r-{turn}");
        let body = if turn == 0 {
            ask("role:main")
        } else {
            ask_stream("role:main")
        };
        let reply = daemon.chat_as(&id, &body).await;
        assert_eq!(reply.status(), 200, "{}", reply.text());
        assert_eq!(reply.header("x-router-fallback-reason"), Some("timeout"));
        assert_eq!(daemon.log(&id).await, ["a fallback timeout -", "b pass - -"]);
    }
    freed(&cloud).await;
}

#[tokio::test]
async fn when_all_are_silent_it_is_a_504() {
    let cloud = vendor([Answer::silent(), Answer::silent()]).await;
    let daemon = impatient(&[&cloud]).await;
    for (id, body) in [("r-1", ask("a")), ("r-2", ask_stream("a"))] {
        let reply = daemon.chat_as(id, &body).await;
        assert_eq!((reply.status(), reply.error_code()), (504, json!("timeout")));
        assert_eq!(
            daemon.log(id).await,
            ["a fallback timeout -", "- degraded timeout -"]
        );
    }
    freed(&cloud).await;
}

#[tokio::test]
async fn a_stream_that_falls_silent_in_the_middle_ends_with_an_error() {
    let cloud = vendor([opened().with_piece(text("half of it")).with_end(End::Hang)]).await;
    let daemon = Setup::new(&[&cloud])
        .with("backends/a/idle_timeout_seconds", json!(1))
        .start()
        .await;
    let reply = daemon.chat_as("r-1", &ask_stream("a")).await;
    ends_with_an_error(&reply, "timeout");
    assert_eq!(daemon.log("r-1").await, ["a interrupted timeout -"]);
    freed(&cloud).await;
}

/// Comments of the vendor are life; the deadline of the request holds all the same, and is nobody's fault.
#[tokio::test]
async fn a_stream_that_goes_on_for_ever_ends_at_the_deadline() {
    let mut endless = opened().with_piece(text("on "));
    for _ in 0..200 {
        endless = endless
            .with_piece(std::time::Duration::from_millis(100))
            .with_piece(text("and on "));
    }
    let cloud = vendor([endless]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/max_request_seconds", json!(1))
        .start()
        .await;
    let reply = daemon.chat_as("r-1", &ask_stream("a")).await;
    ends_with_an_error(&reply, "timeout");
    assert!(reply.text().contains("and on"));
    assert_eq!(daemon.log("r-1").await, ["a request_deadline timeout -"]);
    let models = daemon.read("/v1/models").await.json();
    assert_eq!(models["data"][0]["router"]["consecutive_failures"], 0, "{models}");
    freed(&cloud).await;
}

/// A stream that is silent for a while, but not for too long, is kept alive and whole.
#[tokio::test]
async fn comments_keep_a_silent_stream_alive() {
    let cloud = vendor([opened()
        .with_piece(text("first"))
        .with_piece(pause(3))
        .with_piece(text(" and last"))
        .with_piece(closing())])
    .await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/keep_alive_seconds", json!(1))
        .start()
        .await;
    let reply = daemon.chat_as("r-1", &ask_stream("a")).await;
    assert_eq!(reply.streamed_text(), "first and last");
    let comments = reply.comments();
    assert!(!comments.is_empty() && comments.iter().all(|said| said == "keep-alive"));
    assert_eq!(daemon.log("r-1").await, ["a pass - -"]);
}

/// A vendor's own comments come through once each.
#[tokio::test]
async fn signs_of_life_of_the_vendor_are_passed_on_once() {
    let cloud = vendor([opened()
        .with_piece(text("first"))
        .with_piece(": vendor\n\n")
        .with_piece(pause(1))
        .with_piece(closing())])
    .await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let reply = daemon.chat(&ask_stream("a")).await;
    assert_eq!(reply.comments(), ["keep-alive"]);
}
