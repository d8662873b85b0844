//! Being told to stop: running calls finish, nothing new begins, and everything recorded is on disk.

use crate::client::{Connection, soon, until};
use crate::daemon::{Daemon, Setup};
use crate::vendor::{ask, ask_stream, closing, freed, opened, pause, says, text, vendor};
use llm_driver_testkit::{Answer, End};
use serde_json::json;

/// The outcomes in the file of a daemon that has ended, oldest first.
fn outcomes(folder: &tempfile::TempDir) -> Vec<(String, Option<String>)> {
    let store = rusqlite::Connection::open(folder.path().join("state/state.db")).unwrap();
    let mut rows = store
        .prepare("SELECT outcome, error_type FROM call_log ORDER BY id")
        .unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Waits until nothing can connect any more.
async fn refuses(daemon: &Daemon) {
    soon("the door to be closed", async {
        while Connection::try_open(daemon.address).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_running_stream_completes_while_nothing_new_is_taken() {
    let cloud = vendor([opened()
        .with_piece(text("first"))
        .with_piece(pause(5))
        .with_piece(text(" last"))
        .with_piece(closing())])
    .await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut idle = daemon.connect().await;
    idle.send("GET", "/readyz", &[], b"").await;
    assert_eq!(idle.reply().await.status(), 200);
    let mut connection = daemon.start_chat("r-1", &ask_stream("a")).await;
    let head = connection.head().await;
    connection.read_until("first").await;
    daemon.terminate();
    refuses(&daemon).await;
    // who asks on an open connection hears that it drains, and that this was the last answer there
    idle.send("GET", "/readyz", &[], b"").await;
    let reply = idle.reply().await;
    assert_eq!((reply.status(), reply.text()), (503, "draining"));
    assert_eq!(reply.header("connection"), Some("close"));
    idle.closed().await;
    let reply = connection.rest(head).await;
    assert!(reply.complete);
    assert_eq!(reply.streamed_text(), " last");
    assert_eq!(reply.events().last().unwrap(), "[DONE]");
    connection.closed().await;
    let (code, said, folder) = daemon.ended().await;
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(outcomes(&folder), [("pass".to_owned(), None)]);
}

#[tokio::test]
async fn a_running_plain_call_completes_too() {
    let cloud = vendor([says("done").with_pause(std::time::Duration::from_secs(2))]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut connection = daemon.start_chat("r-1", &ask("a")).await;
    assert!(cloud.wait_for_requests(crate::client::PATIENCE, 1).await);
    daemon.terminate();
    let reply = connection.reply().await;
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "done");
    let (code, _, folder) = daemon.ended().await;
    assert_eq!((code, outcomes(&folder).len()), (Some(0), 1));
}

#[tokio::test]
async fn idle_connections_do_not_keep_it() {
    let cloud = vendor([says("ok")]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let mut silent = daemon.connect().await;
    let mut used = daemon.start_chat("r-1", &ask("a")).await;
    assert_eq!(used.reply().await.status(), 200);
    daemon.terminate();
    used.closed().await;
    silent.closed().await;
    let (code, said, folder) = daemon.ended().await;
    assert_eq!(code, Some(0));
    assert!(!said.contains("was cut"), "{said}");
    assert_eq!(outcomes(&folder).len(), 1);
}

#[tokio::test]
async fn what_never_ends_is_cut_at_the_limit() {
    let cloud = vendor([
        opened().with_piece(text("on and on")).with_end(End::Hang),
        Answer::silent(),
    ])
    .await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/drain_seconds", json!(1))
        .start()
        .await;
    let mut stream = daemon.start_chat("r-1", &ask_stream("a")).await;
    let head = stream.head().await;
    stream.read_until("on and on").await;
    let mut plain = daemon.start_chat("r-2", &ask("a")).await;
    assert!(cloud.wait_for_requests(crate::client::PATIENCE, 2).await);
    daemon.terminate();
    let reply = stream.rest(head).await;
    assert!(!reply.complete && !reply.text().contains("[DONE]"), "no good end");
    assert!(
        soon("the end of the plain call", plain.try_head())
            .await
            .is_none()
    );
    let (code, said, folder) = daemon.ended().await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("was cut"), "{said}");
    let cut = ("interrupted".to_owned(), Some("shutdown".to_owned()));
    assert_eq!(outcomes(&folder), [cut.clone(), cut]);
    freed(&cloud).await;
}

#[tokio::test]
async fn a_second_signal_cuts_at_once() {
    let cloud = vendor([Answer::silent()]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/drain_seconds", json!(3600))
        .start()
        .await;
    let mut connection = daemon.start_chat("r-1", &ask("a")).await;
    assert!(cloud.wait_for_requests(crate::client::PATIENCE, 1).await);
    daemon.terminate();
    until("the first signal", || daemon.said().contains("stopping")).await;
    daemon.terminate();
    let (code, _, folder) = daemon.ended().await;
    assert_eq!((code, outcomes(&folder).len()), (Some(0), 1));
    connection.closed().await;
}

/// A thousand calls just before the end: every row is there.
#[tokio::test]
async fn nothing_recorded_is_lost_at_the_end() {
    let cloud = llm_driver_testkit::FakeServer::always(says("ok")).await.unwrap();
    let daemon = Setup::new(&[&cloud]).start().await;
    let many = |lane: usize| {
        let daemon = &daemon;
        async move {
            for turn in 0..50 {
                daemon.chat_as(&format!("r-{lane}-{turn}"), &ask("a")).await;
            }
        }
    };
    futures_util::future::join_all((0..20).map(many)).await;
    daemon.terminate();
    let (code, _, folder) = daemon.ended().await;
    assert_eq!((code, outcomes(&folder).len()), (Some(0), 1_000));
}

/// Whoever read its log is gone: it serves on, and stops as ever.
#[tokio::test]
async fn a_log_that_nobody_reads_any_more_harms_nobody() {
    let cloud = vendor([says("ok"), says("ok"), opened().with_piece(text("half"))]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    daemon.stop_reading();
    for body in [ask("a"), ask_stream("nope"), ask("a"), ask_stream("a")] {
        let reply = daemon.chat(&body).await;
        assert!(matches!(reply.status(), 200 | 404));
    }
    daemon.terminate();
    let (code, _, folder) = daemon.ended().await;
    assert_eq!(code, Some(0));
    let outcomes: Vec<_> = outcomes(&folder)
        .into_iter()
        .map(|(outcome, _)| outcome)
        .collect();
    assert_eq!(outcomes, ["pass", "pass", "interrupted"]);
}

/// Whoever reads its log is asleep: the pipe is full, and calls are served all the same.
#[tokio::test]
async fn a_log_that_nobody_reads_for_a_while_stops_nobody() {
    let cloud = llm_driver_testkit::FakeServer::always(says("ok")).await.unwrap();
    let daemon = Setup::new(&[&cloud]).start().await;
    daemon.pause_reading(true);
    let mut logged = 0;
    while logged < 256 * 1024 {
        // each call logs its id twice at least; a pipe holds 64 kB
        let id = format!("r-{logged}-{}", "x".repeat(100));
        assert_eq!(daemon.chat_as(&id, &ask("a")).await.status(), 200);
        logged += 2 * id.len();
    }
    daemon.pause_reading(false);
    daemon.terminate();
    let (code, said, _) = daemon.ended().await;
    assert_eq!(code, Some(0));
    assert!(said.contains("stopping"), "the last lines came out");
}
