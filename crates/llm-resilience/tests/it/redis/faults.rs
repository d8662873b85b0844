//! What a link does when its server is killed, silent, new, or will not have us. Nothing here is timed: a server
//! that stays silent until the test has its answer proves by itself that nobody waits for it.

use super::cluster::Cluster;
use super::{Server, link, patient, program};
use llm_resilience::store::redis::{RedisConfig, RedisLink, Script};
use llm_resilience::store::{StoreError, StoreErrorKind};
use std::time::Duration;

async fn count(link: &RedisLink, key: &str) -> Result<(i64, String), StoreError> {
    let script = Script::new("return {redis.call('INCR', KEYS[1]), run_id()}");
    let reply = link.run(script.on(key), None).await?;
    Ok((reply.integer(0)?, reply.text(1)?.to_owned()))
}

/// Asks until it works, as traffic does.
async fn count_again(link: &RedisLink, key: &str) -> (i64, String) {
    loop {
        match count(link, key).await {
            Ok(counted) => return counted,
            Err(error) => assert!(error.is_outage(), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for_and_used_again_when_it_speaks() {
    let Some(server) = Server::start(&[]) else { return };
    let impatient = server
        .config()
        .with_connect_timeout(Duration::from_millis(500))
        .with_command_timeout(Duration::from_millis(250));
    let link = super::link(impatient.clone());
    let (_, run) = count_again(&link, "k").await;
    server.node.pause().unwrap();
    // One after the other, and more at once than there are connections.
    for _ in 0..2 {
        let error = count(&link, "k").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Timeout);
    }
    let many: Vec<_> = (0..20).map(|_| count(&link, "k")).collect();
    for outcome in futures_util::future::join_all(many).await {
        assert_eq!(outcome.unwrap_err().kind(), StoreErrorKind::Timeout);
    }
    // A caller with less time waits less.
    let script = Script::new("return 1");
    let error = link
        .run(script.on("k"), Some(Duration::from_millis(1)))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("within 1 ms"), "{error}");
    // New connections are taken by the kernel and never greeted.
    let fresh = super::link(impatient);
    assert_eq!(
        count(&fresh, "k").await.unwrap_err().kind(),
        StoreErrorKind::Timeout
    );
    server.node.resume().unwrap();
    for link in [link, fresh] {
        assert_eq!(count_again(&link, "k").await.1, run, "the same process as before");
    }
}

#[tokio::test]
async fn a_killed_server_is_found_again_with_all_it_confirmed_under_another_name() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let link = server.link();
    let (_, first) = count(&link, "k").await.unwrap();
    assert_eq!(count(&link, "k").await.unwrap(), (2, first.clone()));
    server.node.kill();
    for _ in 0..3 {
        let error = count(&link, "k").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    }
    server.node.restart().unwrap();
    let (counted, second) = count(&link, "k").await.unwrap();
    assert_eq!(counted, 3, "nothing that was confirmed is lost");
    assert_ne!(first, second, "a restart is seen");

    // Killed while connections are kept: the first call after that already works.
    let many: Vec<_> = (0..8).map(|_| count(&link, "k")).collect();
    futures_util::future::join_all(many).await;
    server.node.restart().unwrap();
    assert_eq!(count(&link, "k").await.unwrap().0, 12);
}

#[tokio::test]
async fn a_wrong_password_is_a_refusal_and_shown_nowhere() {
    let Some(server) = Server::start(&["--requirepass", "right"]) else {
        return;
    };
    for (credential, kind) in [
        (":wrong-secret@", Some(StoreErrorKind::Refused)),
        ("", Some(StoreErrorKind::Refused)),
        (":right@", None),
    ] {
        let url = format!("redis://{credential}127.0.0.1:{}", server.node.port());
        let link = link(patient(RedisConfig::single(url.clone())));
        let outcome = count(&link, "k").await;
        assert_eq!(outcome.as_ref().err().map(StoreError::kind), kind, "{outcome:?}");
        let shown = format!("{link:?} {outcome:?} {:?}", RedisConfig::single(url));
        assert!(!shown.contains("secret") && !shown.contains("right"), "{shown}");
    }
}

#[tokio::test]
async fn urls_that_cannot_be_used_are_refused_without_being_shown() {
    for url in ["http://:secret@x", "redis://:secret@x/not-a-number", "secret", ""] {
        for config in [RedisConfig::single(url), RedisConfig::cluster([url])] {
            let error = RedisLink::new(config).unwrap_err();
            assert_eq!(error.kind(), llm_core::ErrorKind::Config);
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}

/// One cluster for all of it: six processes are slow to start.
#[tokio::test]
async fn a_cluster_is_followed_through_redirections_and_elections() {
    let Some(program) = program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::start(&program, folder.path()).unwrap();
    let link = link(patient(RedisConfig::cluster(cluster.urls())));
    let key = link.key("count", "k");

    // Keys of all masters.
    for id in 0..30 {
        let key = link.key("count", &id.to_string());
        assert_eq!(count(&link, &key).await.unwrap().0, 1, "{key}");
    }
    let first = count(&link, &key).await.unwrap();
    assert_eq!(count(&link, &key).await.unwrap(), (2, first.1.clone()));

    // The script is unknown to every node after a flush, and each learns it again.
    for node in &cluster.nodes {
        node.ask(&["SCRIPT", "FLUSH"]).unwrap();
    }
    assert_eq!(count(&link, &key).await.unwrap(), (3, first.1.clone()));

    // A slot moves: first half of the way (ASK), then all of it (MOVED).
    let from = cluster.master_of(&key, &[]).unwrap();
    let to = (from + 1) % 3;
    let slot = cluster.nodes[0].ask(&["CLUSTER", "KEYSLOT", &key]).unwrap();
    let id = |index: usize| cluster.nodes[index].ask(&["CLUSTER", "MYID"]).unwrap();
    let (from_id, to_id) = (id(from), id(to));
    let set_slot = |index: usize, how: &[&str]| {
        let words = [&["CLUSTER", "SETSLOT", &slot][..], how].concat();
        assert_eq!(cluster.nodes[index].ask(&words).unwrap(), "OK");
    };
    set_slot(to, &["IMPORTING", &from_id]);
    set_slot(from, &["MIGRATING", &to_id]);
    let port = cluster.nodes[to].port().to_string();
    let moved = ["MIGRATE", "127.0.0.1", &port, &key, "0", "5000"];
    assert_eq!(cluster.nodes[from].ask(&moved).unwrap(), "OK");
    let asked = count(&link, &key).await.unwrap();
    assert_eq!(asked.0, 4, "the key moved with its value");
    assert_ne!(asked.1, first.1, "a move to another node is seen");
    set_slot(to, &["NODE", &to_id]);
    set_slot(from, &["NODE", &to_id]);
    assert_eq!(count(&link, &key).await.unwrap(), (5, asked.1.clone()));

    // The master is killed and its replica promoted.
    let replicated = cluster.nodes[to].ask(&["WAIT", "1", "5000"]).unwrap();
    assert_eq!(replicated, "1");
    cluster.nodes[to].kill();
    let promoted = count_again(&link, &key).await;
    assert_eq!(promoted.0, 6, "the replica had it all");
    assert_ne!(promoted.1, asked.1, "a promotion is seen");
    let now = cluster.master_of(&key, &[]).unwrap();
    assert!(now >= 3, "a former replica holds it");

    // The old master comes back as a replica, and the new one falls silent: it is replaced in its turn.
    cluster.nodes[to].restart().unwrap();
    while !cluster.nodes[to]
        .ask(&["INFO", "replication"])
        .unwrap()
        .contains("master_link_status:up")
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    cluster.nodes[now].pause().unwrap();
    let replaced = count_again(&link, &key).await;
    assert_eq!(replaced.0, 7);
    assert_ne!(replaced.1, promoted.1);
    cluster.nodes[now].resume().unwrap();
    assert_eq!(count_again(&link, &key).await, (8, replaced.1));
}
