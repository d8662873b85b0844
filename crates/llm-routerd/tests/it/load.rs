//! Many at once, and large: everything is right, and everything is given back.

use crate::client::until;
use crate::daemon::{Daemon, Setup};
use crate::vendor::{ask, ask_stream, freed, opened, says, streams_and_closes, text, vendor};
use futures_util::future::join_all;
use llm_driver_testkit::{End, FakeServer};
use serde_json::json;

const AT_ONCE: usize = 200;

/// A wave of streams, each read to its end.
async fn wave(daemon: &Daemon, number: usize) {
    let one = |turn: usize| async move {
        let id = format!("r-{number}-{turn}");
        let reply = daemon.chat_as(&id, &ask_stream("a")).await;
        assert_eq!(reply.status(), 200, "{}", reply.text());
        assert!(reply.complete);
        assert_eq!(reply.streamed_text(), "one two three");
        assert_eq!(reply.events().last().unwrap(), "[DONE]");
        assert_eq!(reply.header("x-request-id"), Some(id.as_str()));
    };
    join_all((0..AT_ONCE).map(one)).await;
}

#[tokio::test]
async fn two_hundred_streams_at_once_twice_leave_nothing_behind() {
    let slow = streams_and_closes(&["one ", "two ", "three"]).drip(200, std::time::Duration::from_millis(20));
    let cloud = FakeServer::always(slow).await.unwrap();
    let daemon = Setup::new(&[&cloud]).start().await;
    wave(&daemon, 0).await;
    let back_to_base = |base: usize| {
        let daemon = &daemon;
        async move { until("all files to be closed", || daemon.open_files() <= base).await }
    };
    freed(&cloud).await;
    let (base, memory) = (daemon.open_files(), daemon.memory());
    assert!(base < AT_ONCE, "{base} files are still open after a wave");
    for number in 1..4 {
        wave(&daemon, number).await;
        freed(&cloud).await;
    }
    back_to_base(base).await;
    let grown = daemon.memory().saturating_sub(memory);
    assert!(grown < 32 * 1024, "{grown} kB more after three further waves");
    let rows = daemon.read("/logs?limit=500").await.json();
    let rows = rows["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 500);
    assert!(rows.iter().all(|row| row["outcome"] == "pass"));
}

/// Clients that all leave in the middle give back as much.
#[tokio::test]
async fn two_hundred_that_leave_in_the_middle_leave_nothing_behind() {
    let half = opened().with_piece(text("half")).with_end(End::Hang);
    let cloud = FakeServer::always(half).await.unwrap();
    let daemon = Setup::new(&[&cloud]).start().await;
    let base = daemon.open_files();
    let leave = |turn: usize| {
        let daemon = &daemon;
        async move {
            let id = format!("r-{turn}");
            let mut connection = daemon.start_chat(&id, &ask_stream("a")).await;
            connection.head().await;
            connection.read_until("half").await;
        }
    };
    join_all((0..AT_ONCE).map(leave)).await;
    freed(&cloud).await;
    // the connection of the last log reader may still be on its way out
    until("all files to be closed", || daemon.open_files() <= base + 1).await;
    let rows = async {
        loop {
            let rows = daemon.read("/logs?limit=500").await.json();
            let rows = rows["rows"].as_array().unwrap().clone();
            if rows.len() >= AT_ONCE {
                return rows;
            }
        }
    };
    let rows = crate::client::soon("the rows of all calls", rows).await;
    assert_eq!(rows.len(), AT_ONCE, "one row for each call");
    assert!(rows.iter().all(|row| row["outcome"] == "cancelled"));
}

#[tokio::test]
async fn a_body_of_ten_megabytes_passes() {
    let cloud = vendor([says("ok"), says("ok")]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut body = ask("a");
    let long = "z".repeat(10 * 1024 * 1024);
    body["messages"][0]["content"] = json!(long);
    let reply = daemon.chat(&body).await;
    assert_eq!(reply.status(), 200, "{}", reply.text());
    let sent = cloud.requests()[0].json().unwrap();
    assert_eq!(sent["messages"][0]["content"].as_str().unwrap().len(), long.len());
}

/// One more than may be connected waits at the door until there is room.
#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/max_connections", json!(2))
        .start()
        .await;
    let mut inside = Vec::new();
    for _ in 0..2 {
        let mut connection = daemon.connect().await;
        connection.send("GET", "/healthz", &[], b"").await;
        assert_eq!(connection.reply().await.status(), 200);
        inside.push(connection);
    }
    let mut waiting = daemon.connect().await;
    waiting.send("GET", "/healthz", &[], b"").await;
    let early = tokio::time::timeout(std::time::Duration::from_millis(300), waiting.try_head()).await;
    assert!(early.is_err(), "it was let in");
    inside.pop();
    assert_eq!(waiting.reply().await.status(), 200);
}
