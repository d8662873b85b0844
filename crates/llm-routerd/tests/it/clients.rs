//! Clients that leave, or stop reading: the call upstream ends, its connection is free, and the log says so.

use crate::client::{Connection, until};
use crate::daemon::{Daemon, Setup};
use crate::vendor::{ask, ask_stream, event, freed, limited, opened, streams_and_closes, text, vendor};
use llm_driver_testkit::{Answer, End, FakeServer, Piece};
use serde_json::{Value, json};
use std::time::Duration;

/// The vendor was asked, and the client leaves.
async fn leaves(daemon: &Daemon, vendor: &FakeServer, id: &str, body: &Value) {
    let before = vendor.request_count();
    let connection = daemon.start_chat(id, body).await;
    assert!(
        vendor
            .wait_for_requests(crate::client::PATIENCE, before + 1)
            .await
    );
    drop(connection);
    freed(vendor).await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_first_content_ends_the_call_upstream() {
    let thinking = || opened().with_end(End::Hang);
    let cloud = vendor([Answer::silent(), Answer::silent(), thinking()]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    for (id, body) in [
        ("r-plain", ask("a")),
        ("r-silent", ask_stream("a")),
        ("r-thinking", ask_stream("a")),
    ] {
        leaves(&daemon, &cloud, id, &body).await;
        assert_eq!(daemon.log(id).await, ["a cancelled - -"]);
        assert_eq!(daemon.rows(id).await[0]["model"], "model-of-a");
    }
    // that says nothing about the backend
    let models = daemon.read("/v1/models").await.json();
    assert_eq!(models["data"][0]["router"]["status"], "unknown", "{models}");
}

#[tokio::test]
async fn a_client_that_leaves_after_the_first_content_ends_the_call_upstream() {
    let cloud = vendor([opened().with_piece(text("half of it")).with_end(End::Hang)]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut connection = daemon.start_chat("r-1", &ask_stream("a")).await;
    assert_eq!(connection.head().await.status, 200);
    connection.read_until("half of it").await;
    drop(connection);
    freed(&cloud).await;
    assert_eq!(daemon.log("r-1").await, ["a cancelled - -"]);
}

#[tokio::test]
async fn a_client_that_leaves_while_the_head_waits_no_longer_ends_the_call_upstream() {
    let cloud = vendor([Answer::silent()]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/head_wait_seconds", json!(0))
        .start()
        .await;
    let mut connection = daemon.start_chat("r-1", &ask_stream("a")).await;
    assert_eq!(connection.head().await.status, 200);
    assert!(cloud.wait_for_requests(crate::client::PATIENCE, 1).await);
    drop(connection);
    freed(&cloud).await;
    assert_eq!(daemon.log("r-1").await, ["a cancelled - -"]);
}

/// What failed before stands in the log though the caller never heard of it.
#[tokio::test]
async fn who_failed_before_the_client_left_is_not_lost() {
    let cloud = vendor([limited(1), limited(1)]).await;
    let local = vendor([Answer::silent(), Answer::silent()]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for (id, body) in [("r-1", ask("role:main")), ("r-2", ask_stream("role:main"))] {
        leaves(&daemon, &local, id, &body).await;
        assert_eq!(
            daemon.log(id).await,
            ["a fallback rate_limit 429", "b cancelled - -"]
        );
        let decision = daemon.read(&format!("/decisions/{id}")).await.json();
        assert_eq!(decision["attempts"][0]["failure"]["kind"], "rate_limit");
    }
}

#[tokio::test]
async fn a_client_that_stops_reading_loses_the_call() {
    let much = event(json!({ "content": "x".repeat(16 * 1024) }), None);
    let endless = opened().with_piece(Piece::Repeat(much.into(), usize::MAX));
    let cloud = vendor([endless]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/write_stall_seconds", json!(1))
        .start()
        .await;
    let base = daemon.memory();
    let connection = Connection::open_narrow(daemon.address).await;
    let mut connection = daemon.start_chat_on(connection, "r-1", &ask_stream("a")).await;
    assert_eq!(connection.head().await.status, 200);
    connection.read_until("xxx").await;
    // and nothing more
    freed(&cloud).await;
    assert_eq!(daemon.log("r-1").await, ["a cancelled - -"]);
    let grown = daemon.memory().saturating_sub(base);
    assert!(grown < 64 * 1024, "{grown} kB were held for one slow reader");
    drop(connection);
}

/// The same with a plain answer that no socket holds.
#[tokio::test]
async fn a_client_that_does_not_read_a_large_answer_loses_the_connection() {
    let cloud = vendor([crate::vendor::says(&"x".repeat(12 * 1024 * 1024))]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/write_stall_seconds", json!(1))
        .start()
        .await;
    daemon.read("/logs").await;
    let base = daemon.open_files();
    let connection = Connection::open_narrow(daemon.address).await;
    let connection = daemon.start_chat_on(connection, "r-1", &ask("a")).await;
    assert_eq!(daemon.log("r-1").await, ["a pass - -"]);
    // its own connection and the pooled one to the vendor
    until("the connection to be given up", || {
        daemon.open_files() <= base + 1
    })
    .await;
    drop(connection);
}

#[tokio::test]
async fn a_slow_reader_gets_everything_in_the_end() {
    let piece = "y".repeat(64 * 1024);
    let texts: Vec<&str> = (0..64).map(|_| piece.as_str()).collect();
    let cloud = vendor([streams_and_closes(&texts)]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let connection = Connection::open_narrow(daemon.address).await;
    let mut connection = daemon.start_chat_on(connection, "r-1", &ask_stream("a")).await;
    let head = connection.head().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let reply = connection.rest(head).await;
    assert!(reply.complete);
    assert_eq!(reply.streamed_text().len(), 64 * piece.len());
    assert_eq!(reply.events().last().unwrap(), "[DONE]");
    assert_eq!(daemon.log("r-1").await, ["a pass - -"]);
}

/// More requests on one connection, sent ahead: answered one after the other.
#[tokio::test]
async fn requests_that_are_sent_ahead_are_answered_in_order() {
    let cloud = vendor([streams_and_closes(&["one"]), streams_and_closes(&["two"])]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut connection: Connection = daemon.start_chat("r-1", &ask_stream("a")).await;
    let body = ask_stream("a").to_string();
    let headers = [
        crate::daemon::bearer(crate::daemon::TOKEN),
        ("x-request-id", "r-2"),
    ];
    connection
        .send("POST", "/v1/chat/completions", &headers, body.as_bytes())
        .await;
    assert_eq!(connection.reply().await.streamed_text(), "one");
    assert_eq!(connection.reply().await.streamed_text(), "two");
}
