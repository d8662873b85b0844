//! Breakers of several processes on one server.

use super::cluster::Cluster;
use super::{Server, link, program};
use crate::{error, read, request};
use llm_core::{CallContext, ErrorKind, ModelId, Rejection, Stack};
use llm_driver_testkit::{Exhausted, Reply, ScriptedDriver, TestClock};
use llm_resilience::breaker::RedisBreakerStore;
use llm_resilience::store::redis::RedisConfig;
use llm_resilience::{BreakerLayer, BreakerPolicy, BreakerState};
use std::sync::Arc;
use std::time::Duration;

/// A process: a link, a layer and a driver of its own.
struct Process {
    driver: Arc<ScriptedDriver>,
    layer: BreakerLayer,
    stack: Stack,
    cx: CallContext,
}

impl Process {
    fn new(server: &Server, policy: BreakerPolicy, replies: impl IntoIterator<Item = Reply>) -> Self {
        Process::at(server.config(), policy, replies)
    }

    fn at(config: RedisConfig, policy: BreakerPolicy, replies: impl IntoIterator<Item = Reply>) -> Self {
        let store = RedisBreakerStore::new(link(config));
        let layer = BreakerLayer::with_store(policy, Arc::new(store));
        let driver = ScriptedDriver::new("alpha", replies).with_exhausted(Exhausted::RepeatLast);
        let driver = Arc::new(driver);
        Process {
            stack: Stack::from_arc(driver.clone()).layer(layer.clone()),
            driver,
            layer,
            cx: TestClock::context(),
        }
    }

    async fn call(&self) -> Result<(), ErrorKind> {
        let outcome = self.stack.chat(&self.cx, &request()).await;
        outcome.map(drop).map_err(|error| error.kind())
    }
}

fn down() -> Reply {
    Reply::error(error(ErrorKind::Server))
}

fn fine() -> Reply {
    Reply::text("hello")
}

#[tokio::test]
async fn what_one_process_met_all_know() {
    let Some(server) = Server::start(&[]) else { return };
    let policy = BreakerPolicy::new(2, Duration::from_secs(600));
    let one = Process::new(&server, policy.clone(), [down()]);
    let other = Process::new(&server, policy, [down(), fine()]);
    assert_eq!(one.call().await, Err(ErrorKind::Server));
    assert_eq!(other.call().await, Err(ErrorKind::Server));
    for process in [&one, &other] {
        let refused = process.stack.chat(&process.cx, &request()).await.unwrap_err();
        assert_eq!(refused.rejection(), Some(Rejection::BreakerOpen));
        assert!(refused.retry_after().unwrap() <= Duration::from_secs(600));
        assert!(
            !process
                .stack
                .availability(&ModelId::new("any").unwrap())
                .is_available()
        );
        assert_eq!(process.driver.call_count(), 1);
    }
    let (info, model) = (other.stack.info(), request().model);
    assert!(model.is_none());
    let layer = &one.layer;
    let model = one.stack.resolve(None).unwrap().id.clone();
    layer.forget(&one.cx, info, &model).await.unwrap();
    assert_eq!(other.call().await, Ok(()), "and forgotten for all");
}

#[tokio::test]
async fn one_of_many_processes_probes_and_a_dropped_probe_is_given_back() {
    let Some(server) = Server::start(&[]) else { return };
    let policy = BreakerPolicy::new(1, Duration::from_millis(1)).with_longest_open(Duration::from_millis(1));
    let first = Process::new(&server, policy.clone(), [down(), Reply::hang(), fine()]);
    let second = Process::new(&server, policy, [fine()]);
    assert_eq!(first.call().await, Err(ErrorKind::Server));
    tokio::time::sleep(Duration::from_millis(5)).await;
    {
        let mut probe = std::pin::pin!(first.call());
        while first.driver.call_count() < 2 {
            let poll = tokio::time::timeout(Duration::from_millis(1), &mut probe).await;
            assert!(poll.is_err(), "it hangs");
        }
        assert_eq!(second.call().await, Err(ErrorKind::Rejected));
        assert_eq!(second.driver.call_count(), 0);
    }
    // It was dropped; the next call of its process tells, and is the next probe.
    let stream = first.stack.chat_stream(&first.cx, &request()).await.unwrap();
    assert_eq!(second.call().await, Err(ErrorKind::Rejected));
    let (_, end) = read(stream).await;
    assert!(end.is_none());
    assert_eq!(second.call().await, Ok(()));
    let model = first.stack.resolve(None).unwrap().id.clone();
    assert_eq!(
        second.layer.state(second.stack.info(), &model),
        BreakerState::Closed
    );
}

#[tokio::test]
async fn a_call_costs_two_round_trips_one_a_decision() {
    let Some(server) = Server::start(&[]) else { return };
    let process = Process::new(&server, BreakerPolicy::default(), [fine()]);
    process.call().await.unwrap();
    server.node.ask(&["CONFIG", "RESETSTAT"]).unwrap();
    for _ in 0..10 {
        process.call().await.unwrap();
    }
    let said = server.node.ask(&["INFO", "commandstats"]).unwrap();
    assert!(said.contains("cmdstat_evalsha:calls=20,"), "{said}");
    assert!(!said.contains("cmdstat_eval:"), "{said}");
    assert!(!said.contains("cmdstat_ping:"), "{said}");
}

#[tokio::test]
async fn calls_pass_while_the_server_is_away_and_it_is_used_again_afterwards() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let process = Process::new(&server, BreakerPolicy::new(1, Duration::from_secs(600)), [down()]);
    assert_eq!(process.call().await, Err(ErrorKind::Server));
    assert_eq!(process.call().await, Err(ErrorKind::Rejected));
    server.node.kill();
    for _ in 0..3 {
        assert_eq!(process.call().await, Err(ErrorKind::Server), "it was let in");
    }
    server.node.restart().unwrap();
    // As traffic does. What was confirmed is there again.
    while process.call().await != Err(ErrorKind::Rejected) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.node.pause().unwrap();
    for _ in 0..3 {
        assert_eq!(process.call().await, Err(ErrorKind::Server));
    }
    server.node.resume().unwrap();
    while process.call().await != Err(ErrorKind::Rejected) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn vendors_of_all_slots_of_a_cluster_are_kept_apart() {
    let Some(program) = program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(&program, folder.path()).unwrap();
    let policy = BreakerPolicy::new(1, Duration::from_secs(600));
    let config = || RedisConfig::cluster(cluster.urls());
    let one = Process::at(config(), policy.clone(), [down()]);
    let other = Process::at(config(), policy, [fine()]);
    for vendor in 0..20 {
        let name = format!("vendor {{{vendor}}}");
        let [mine, theirs] = [&one, &other].map(|process| {
            let layer = process.layer.with_name(name.as_str());
            Stack::from_arc(process.driver.clone()).layer(layer)
        });
        if vendor % 2 == 0 {
            let end = mine.chat(&one.cx, &request()).await.unwrap_err();
            assert_eq!(end.kind(), ErrorKind::Server, "{name}");
        }
        let seen = theirs.chat(&other.cx, &request()).await;
        assert_eq!(seen.is_err(), vendor % 2 == 0, "{name}");
    }
}

#[tokio::test]
async fn a_process_that_is_started_anew_asks_a_refused_credential_again() {
    let Some(server) = Server::start(&[]) else { return };
    let before = Process::new(
        &server,
        BreakerPolicy::default(),
        [Reply::error(error(ErrorKind::Auth)), fine()],
    );
    assert_eq!(before.call().await, Err(ErrorKind::Auth));
    assert_eq!(before.call().await, Err(ErrorKind::Rejected));
    let after = Process::new(&server, BreakerPolicy::default(), [fine()]);
    assert_eq!(after.call().await, Ok(()));
    assert_eq!(
        before.call().await,
        Ok(()),
        "and so does whoever shares its records"
    );
}

#[tokio::test]
async fn the_next_call_tells_of_an_attempt_that_was_dropped_at_its_limit() {
    let Some(server) = Server::start(&[]) else { return };
    let policy = BreakerPolicy::new(1, Duration::from_secs(600));
    let process = Process::new(&server, policy, [Reply::hang()]);
    let cx = process.cx.clone().with_attempt_limit(process.cx.clock().now());
    let request = request();
    let asked = async {
        while process.driver.call_count() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = process.stack.chat(&cx, &request) => unreachable!("it hangs"),
        () = asked => {}
    }
    assert_eq!(process.call().await, Err(ErrorKind::Rejected));
}
