//! The script against the functions beside it, on a real redis-server.

use super::*;
use crate::breaker::config::BreakerPolicy;
use crate::breaker::decision::{Report, Ticket};
use crate::breaker::rules::Rules;
use crate::breaker::state::BreakerRecord;
use crate::breaker::tests::model::{Step, policies, steps};
use crate::store::redis::RedisConfig;
use crate::test_node::Node;
use llm_core::{Error, ErrorKind};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use std::path::Path;
use tempfile::TempDir;

/// A server, or a note and nothing where there is none to start.
#[expect(
    clippy::disallowed_methods,
    reason = "the program is named by whoever found or installed it"
)]
fn server() -> Option<(Node, TempDir)> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let Some(program) = variable("LLM_TEST_REDIS_SERVER") else {
        assert_ne!(
            variable("CI").as_deref(),
            Some("true"),
            "LLM_TEST_REDIS_SERVER is not set"
        );
        println!("skipped: LLM_TEST_REDIS_SERVER is not set (it names a redis-server program)");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(Path::new(&program), folder.path(), &["--appendfsync", "no"]).unwrap();
    Some((node, folder))
}

fn store(node: &Node) -> RedisBreakerStore {
    RedisBreakerStore::new(RedisLink::new(RedisConfig::single(node.url())).unwrap())
}

fn keys(stack: &str) -> BreakerKeys {
    BreakerKeys::new(stack.into(), "key".into(), llm_core::ModelId::new("m1").ok())
}

/// What is kept, as text.
async fn kept(store: &RedisBreakerStore, keys: &BreakerKeys) -> [Option<String>; 4] {
    static ALL: LazyLock<Script> = LazyLock::new(|| Script::new("return redis.call('MGET', unpack(KEYS))"));
    let reply = store.link.run(store.on(&ALL, keys), None).await.unwrap();
    std::array::from_fn(|place| (!reply.is_nil(place)).then(|| reply.text(place).unwrap().to_owned()))
}

/// Both at once: the script, and the functions.
struct Both<'a> {
    store: &'a RedisBreakerStore,
    keys: BreakerKeys,
    rules: Rules,
    records: [BreakerRecord; 4],
    now: u64,
    random: u64,
}

impl Both<'_> {
    async fn ask(&mut self, asked: Asked<'_>) -> Result<BreakerReply, TestCaseError> {
        let question = BreakerQuestion {
            rules: &self.rules,
            asked,
            random: self.random,
        };
        let here = question.answer(&mut self.records, self.now);
        let there = self.store.decide_at(&self.keys, &question, self.now, None).await;
        prop_assert_eq!(&there.unwrap(), &here);
        Ok(here)
    }

    async fn compare(&self) -> Result<(), TestCaseError> {
        for (kept, record) in kept(self.store, &self.keys).await.into_iter().zip(&self.records) {
            match kept {
                None => prop_assert!(record.is_blank()),
                Some(text) => {
                    let numbers: Vec<u64> = serde_json::from_str(&text).unwrap();
                    prop_assert_eq!(numbers, record.to_numbers());
                }
            }
        }
        Ok(())
    }
}

async fn play(mut both: Both<'_>, policy: BreakerPolicy, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut running = Vec::new();
    let mut last_id = (1 << 53) - 1_000;
    for step in steps {
        match step {
            Step::Wait(ms) => both.now += ms,
            Step::Enter => {
                last_id += 1;
                let asked = match last_id % 4 {
                    0 => Asked::MayPassAnew(last_id),
                    _ => Asked::MayPass(last_id),
                };
                let reply = both.ask(asked).await?;
                if reply.passed {
                    running.push(reply.ticket);
                }
            }
            Step::End(place, kind, hint) if !running.is_empty() => {
                let ticket = running.remove(place % running.len());
                let hint = hint.map(Duration::from_secs);
                let report = match kind {
                    None => Report::of_success(),
                    Some(kind) => {
                        Report::of_error(&policy, &Error::new(kind, "scripted").with_retry_after(hint))
                    }
                };
                both.ask(Asked::Ended(&ticket, &report)).await?;
            }
            Step::Drop(place) if !running.is_empty() => {
                let ticket = running.remove(place % running.len());
                both.ask(Asked::Ended(&ticket, &Report::default())).await?;
            }
            // Somebody who heard no answer gives back what was perhaps taken.
            Step::Drop(_) => {
                let asking = Ticket::asking(last_id);
                both.ask(Asked::Ended(&asking, &Report::default())).await?;
            }
            Step::End(..) => {}
        }
    }
    both.compare().await
}

#[test]
fn the_script_decides_as_the_functions_do() {
    let Some((node, _folder)) = server() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let store = store(&node);
    let mut histories = 0;
    let histories = std::cell::Cell::from_mut(&mut histories);
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(60)
    };
    TestRunner::new(config)
        .run(
            &(policies(), any::<bool>(), steps(), 0_u64..=1000),
            |(mut policy, cool_down, steps, random)| {
                policy.cool_down = cool_down;
                histories.set(histories.get() + 1);
                let both = Both {
                    store: &store,
                    keys: keys(&format!("history {{{}}}", histories.get())),
                    rules: Rules::of(&policy),
                    records: Default::default(),
                    now: 1_000_000,
                    random,
                };
                runtime.block_on(play(both, policy, steps))
            },
        )
        .unwrap();
}

#[tokio::test]
async fn whatever_stands_there_reads_as_absent_and_is_replaced() {
    let Some((node, _folder)) = server() else { return };
    let store = store(&node);
    let policy = BreakerPolicy::new(1, Duration::from_secs(60));
    let rules = Rules::of(&policy);
    let blank = BreakerRecord::default().to_numbers();
    let changed = |place: usize, number: u64| {
        let mut numbers = blank.clone();
        numbers[place] = number;
        serde_json::to_string(&numbers).unwrap()
    };
    let long = serde_json::to_string(&vec![1_u64; 5_000]).unwrap();
    let deep = "[".repeat(5_000);
    let hostile = [
        "open".to_owned(),
        String::new(),
        "{}".to_owned(),
        "null".to_owned(),
        "[1,2]".to_owned(),
        "{\"1\":1}".to_owned(),
        changed(0, 2),
        changed(1, 3),
        changed(2, 1 << 53),
        changed(9, 6),
        changed(5, 9_007_199_254_740_991),
        changed(8, 9_007_199_254_740_991),
        serde_json::to_string(&blank).unwrap().replacen(",0", ",-1", 1),
        serde_json::to_string(&blank).unwrap().replacen(",0", ",0.5", 1),
        serde_json::to_string(&blank).unwrap().replacen(",0", ",\"0\"", 1),
        serde_json::to_string(&blank).unwrap().replacen(",0", ",null", 1),
        long,
        deep,
    ];
    let set = Script::new("return redis.call('SET', KEYS[1], ARGV[1])");
    let push = Script::new("redis.call('DEL', KEYS[1]); return redis.call('RPUSH', KEYS[1], ARGV[1])");
    let keys = keys("hostile");
    let vendor = format!("{}:vendor", store.link.key("breaker", "hostile"));
    let down = Report::of_error(&policy, &Error::new(ErrorKind::Server, "down"));
    let scripts = hostile
        .iter()
        .map(|text| (&set, text))
        .chain([(&push, &hostile[0])]);
    for (script, text) in scripts {
        store.forget(&keys, None).await.unwrap();
        store.link.run(script.on(&vendor).text(text), None).await.unwrap();
        let reply = store
            .decide(&keys, &question(&rules, Asked::MayPass(7)), node_now(), None)
            .await
            .unwrap();
        assert!(reply.passed, "{text:.40}");
        let ended = Asked::Ended(&reply.ticket, &down);
        store
            .decide(&keys, &question(&rules, ended), node_now(), None)
            .await
            .unwrap();
        let reply = store
            .decide(&keys, &question(&rules, Asked::MayPass(8)), node_now(), None)
            .await
            .unwrap();
        assert!(!reply.passed, "{text:.40}");
    }
}

#[tokio::test]
async fn what_is_kept_runs_out_by_itself() {
    let Some((node, _folder)) = server() else { return };
    let store = store(&node);
    let policy = BreakerPolicy::new(1, Duration::from_secs(60));
    let rules = Rules::of(&policy);
    let keys = keys("ending");
    let report = Report::of_error(&policy, &Error::new(ErrorKind::Auth, "no"));
    let question = BreakerQuestion {
        rules: &rules,
        asked: Asked::Ended(&Ticket::default(), &report),
        random: 0,
    };
    store.decide(&keys, &question, node_now(), None).await.unwrap();
    let ttl = Script::new("return {redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2])}");
    let reply = store.link.run(store.on(leaked(ttl), &keys), None).await.unwrap();
    assert_eq!(reply.integer(0), Ok(-2), "nothing is kept of what says nothing");
    let day = 24 * 3600 * 1000;
    let left = reply.integer(1).unwrap();
    assert!((day..=day + 600_000).contains(&left), "{left}");
}

fn question<'a>(rules: &'a Rules, asked: Asked<'a>) -> BreakerQuestion<'a> {
    BreakerQuestion {
        rules,
        asked,
        random: 0,
    }
}

/// The store asks its server for the time.
#[expect(clippy::disallowed_methods, reason = "any moment will do")]
fn node_now() -> Instant {
    Instant::now()
}

fn leaked(script: Script) -> &'static Script {
    Box::leak(Box::new(script))
}
