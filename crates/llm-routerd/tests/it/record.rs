//! What is remembered: rows, decisions, and never what was said.

use crate::daemon::{Daemon, Setup, VENDOR_KEY};
use crate::vendor::{ask, ask_stream, fails, limited, opened, says, text, vendor};
use llm_driver_testkit::{Answer, End};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;

fn open(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

fn words(store: &Connection, sql: &str) -> Vec<String> {
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The ids whose decisions are in the file of a daemon that has ended.
async fn decided(daemon: Daemon) -> Vec<String> {
    daemon.terminate();
    let (_, _, folder) = daemon.ended().await;
    let store = open(&folder.path().join("state/state.db"));
    words(&store, "SELECT request_id FROM decisions ORDER BY ts, request_id")
}

#[tokio::test]
async fn the_file_has_its_columns_and_its_write_ahead_log() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let path = daemon.state("state.db");
    let store = open(&path);
    assert_eq!(words(&store, "PRAGMA journal_mode"), ["wal"]);
    let columns = words(&store, "SELECT name FROM pragma_table_info('call_log')");
    let wanted = [
        "id",
        "ts",
        "backend_id",
        "tier_alias",
        "chain_position",
        "outcome",
        "error_type",
        "prompt_tokens_est",
        "completion_tokens_est",
        "latency_ms",
        "cost_usd_est",
        "model",
        "score",
        "request_id",
        "rate_limit_type",
        "utilization",
        "fallback_count",
        "tools_present",
        "vendor_status",
    ];
    assert_eq!(columns, wanted);
    let indexes = words(
        &store,
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'call_log' ORDER BY name",
    );
    assert_eq!(
        indexes,
        [
            "call_log_backend_ts",
            "call_log_model_ts",
            "call_log_request",
            "call_log_ts"
        ]
    );
    #[cfg(unix)]
    for file in ["state.db", "state.db-wal"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(daemon.state(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{file}");
    }
}

/// One call of each sort, under these ids.
async fn one_of_each(setup: Setup) -> Daemon {
    let daemon = setup.start().await;
    daemon.chat_as("r-first", &ask("role:main")).await;
    daemon.chat_as("r-second", &ask("role:main")).await;
    daemon.chat_as("r-fault", &ask("role:main")).await;
    daemon
}

#[tokio::test]
async fn decisions_are_recorded_as_the_configuration_says() {
    for (record, expected) in [
        (None, &["r-second", "r-fault"][..]),
        (Some("fallbacks"), &["r-second", "r-fault"]),
        (Some("all"), &["r-first", "r-second", "r-fault"]),
        (Some("off"), &[]),
    ] {
        let cloud = vendor([says("a"), limited(1), fails(400, "invalid_request_error", "bad")]).await;
        let local = vendor([says("b")]).await;
        let mut setup = Setup::new(&[&cloud, &local]);
        if let Some(record) = record {
            setup = setup.with("routing", json!({ "record_decisions": record }));
        }
        let daemon = one_of_each(setup).await;
        // the latest are in memory in any case
        for id in ["r-first", "r-second", "r-fault"] {
            assert_eq!(daemon.read(&format!("/decisions/{id}")).await.status(), 200);
        }
        assert_eq!(decided(daemon).await, expected, "{record:?}");
    }
}

#[tokio::test]
async fn a_decision_reads_the_same_from_memory_and_from_the_store() {
    let cloud = vendor([limited(3)]).await;
    let local = vendor([says("b")]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    daemon.chat_as("r-1", &ask("role:main")).await;
    let in_memory = daemon.read("/decisions/r-1").await.json();
    assert_eq!(in_memory["request_id"], "r-1");
    assert_eq!(in_memory["decision"]["selected"], "a");
    assert_eq!(in_memory["decision"]["fallbacks"], json!(["b"]));
    assert_eq!(in_memory["attempts"][0]["candidate"], "a");
    assert_eq!(in_memory["attempts"][0]["failure"]["retry_after_ms"], 3000);
    assert_eq!(in_memory["attempts"][1]["failure"], Value::Null);
    assert!(in_memory["explanation"].as_str().unwrap().contains("model-of-b"));
    daemon.terminate();
    let (_, _, folder) = daemon.ended().await;
    let daemon = Setup::new(&[&cloud, &local]).start_in(folder).await;
    let from_store = daemon.read("/decisions/r-1").await.json();
    assert_eq!(from_store, in_memory);
    let unknown = daemon.read("/decisions/r-nope").await;
    assert_eq!(
        (unknown.status(), unknown.error_code()),
        (404, json!("not_found"))
    );
}

#[tokio::test]
async fn the_log_is_filtered_and_outlives_a_restart() {
    let cloud = vendor([limited(1), says("a"), says("a")]).await;
    let local = vendor([says("b")]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for id in ["r-1", "r-2", "r-3"] {
        daemon.chat_as(id, &ask("role:main")).await;
    }
    daemon.terminate();
    let (_, _, folder) = daemon.ended().await;
    let daemon = Setup::new(&[&cloud, &local]).start_in(folder).await;
    let count = |query: &'static str| {
        let daemon = &daemon;
        async move {
            let reply = daemon.read(&format!("/logs{query}")).await.json();
            let rows = reply["rows"].as_array().unwrap();
            let times: Vec<_> = rows.iter().map(|row| row["ts"].as_i64().unwrap()).collect();
            assert!(times.is_sorted_by(|a, b| a >= b), "the newest first");
            rows.len()
        }
    };
    assert_eq!(count("").await, 4);
    assert_eq!(count("?backend=a").await, 3);
    assert_eq!(count("?backend=b").await, 1);
    assert_eq!(count("?request_id=r-1").await, 2);
    assert_eq!(count("?limit=1").await, 1);
    assert_eq!(count("?from=0").await, 4);
    assert_eq!(count("?to=1").await, 0);
    assert_eq!(count("?backend=nope").await, 0);
    for bad in [
        "?limit=0",
        "?limit=501",
        "?limit=many",
        "?from=yesterday",
        "?from=5&to=5",
        "?form=1",
        "?limit=1&limit=2",
    ] {
        let reply = daemon.read(&format!("/logs{bad}")).await;
        assert_eq!(reply.status(), 400, "{bad}");
        reply.error_code();
    }
    assert_eq!(daemon.read("/health").await.json()["log_rows_dropped"], 0);
}

/// Whatever happens to a call, neither the file nor the log nor an answer holds what was said, or a key.
#[tokio::test]
async fn nothing_of_what_is_said_is_kept_anywhere() {
    let echo = json!({ "error": {
        "message": "cannot answer 'prompt-sentinel' with key sk-vendor-sentinel", "type": "x", "code": "y" } });
    let cloud = vendor([
        says("answer-sentinel"),
        opened().with_piece(text("answer-sentinel")).with_end(End::Cut),
        Answer::json(500, echo.to_string()),
        Answer::json(400, echo.to_string()),
        Answer::html(502, "<p>prompt-sentinel</p>"),
        Answer::json(200, r#"{"choices": "prompt-sentinel sk-vendor-sentinel"}"#),
        Answer::json(401, echo.to_string()),
    ])
    .await;
    let daemon = Setup::new(&[&cloud])
        .with("routing", json!({ "record_decisions": "all" }))
        .with_argument("--log-level=trace")
        .start()
        .await;
    for turn in 0..7 {
        let streamed = turn == 1;
        let body = if streamed { ask_stream("a") } else { ask("a") };
        let reply = daemon.chat_as(&format!("r-{turn}"), &body).await;
        assert!(!reply.text().contains(VENDOR_KEY), "{}", reply.text());
        let head = format!("{:?}", reply.head);
        assert!(!head.contains("sentinel"), "{head}");
        if turn > 1 {
            assert!(!reply.text().contains("sentinel"), "{turn}: {}", reply.text());
        }
    }
    let decisions = daemon.read("/decisions/r-2").await;
    assert!(!decisions.text().contains("sentinel"), "{}", decisions.text());
    daemon.terminate();
    let (_, said, folder) = daemon.ended().await;
    assert!(!said.contains("sentinel"), "{said}");
    for file in std::fs::read_dir(folder.path().join("state")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let found = bytes.windows(8).any(|window| window == b"sentinel");
        assert!(!found, "the store holds what was said");
    }
}

#[tokio::test]
async fn models_lists_every_name_a_caller_may_use() {
    let cloud = vendor([says("a")]).await;
    let local = vendor([]).await;
    let daemon = Setup::new(&[&cloud, &local])
        .with("tiers", json!({ "fast": ["a", "b"] }))
        .start()
        .await;
    daemon.chat(&ask("a")).await;
    let list = daemon.read_with(crate::daemon::TOKEN, "/v1/models").await.json();
    assert_eq!(list["object"], "list");
    let entries = list["data"].as_array().unwrap();
    let names: Vec<_> = entries
        .iter()
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b", "fast", "role:main"]);
    for entry in entries {
        assert_eq!(entry["object"], "model");
        assert!(
            entry["created"].is_u64() && entry["owned_by"].is_string(),
            "{entry}"
        );
    }
    assert_eq!(entries[0]["router"]["status"], "healthy");
    assert_eq!(entries[0]["router"]["total_calls"], 1);
    assert_eq!(entries[1]["router"]["status"], "unknown");
    assert_eq!(entries[2]["router"]["members"], json!(["a", "b"]));
    assert_eq!(entries[3]["router"]["kind"], "chain");
}
