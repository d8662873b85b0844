//! The scripts on a real redis-server: against the window in Rust, on the same random histories, and on hostile state.

use super::*;
use crate::rate_limit::window::{Asked, Window};
use crate::store::redis::RedisConfig;
use crate::test_node::Node;
use std::path::PathBuf;
use tempfile::TempDir;

const SECOND: u64 = 1_000_000;
const MINUTE: u64 = 60 * SECOND;
/// Some day in 2026.
const START: u64 = 1_795_910_400 * SECOND;

/// A server with nothing in it, and where its files are; `None` where there is no redis-server to start.
#[expect(
    clippy::disallowed_methods,
    reason = "the program is named by whoever found or installed it"
)]
fn server() -> Option<(Node, TempDir)> {
    let program = std::env::var("LLM_TEST_REDIS_SERVER")
        .ok()
        .filter(|program| !program.is_empty());
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(
        program.is_some() || !in_ci,
        "LLM_TEST_REDIS_SERVER is not set; run `cargo xtask test`"
    );
    let folder = tempfile::tempdir().unwrap();
    let node = Node::start(&PathBuf::from(program?), folder.path(), &[]).unwrap();
    Some((node, folder))
}

fn store(node: &Node) -> RedisQuotaStore {
    let config = RedisConfig::single(node.url()).with_command_timeout(Duration::from_secs(2));
    RedisQuotaStore::new(RedisLink::new(config).unwrap())
}

/// The same question to both; what they say must be the same.
async fn ask(
    store: &RedisQuotaStore,
    (window, newest): (&mut Window, &mut u64),
    budget: &str,
    now: u64,
    limits: &Limits,
    amount: Amount,
) -> Asked {
    let ours = window.reserve(now, limits, amount);
    let theirs = store.reserve_at(now, budget, limits, amount, None).await.unwrap();
    match (ours, theirs) {
        (Asked::Granted { lease }, Reserved::Granted { lease: theirs, .. }) => {
            assert_eq!(lease, theirs, "{budget} at {now}");
            *newest = now.max(*newest);
        }
        (Asked::Wait { until, reason }, Reserved::Wait { wait, reason: theirs }) => {
            // Where the clock was set back, it stands still for both, and the store's wait is from there.
            let (wait, at_most) = (micros(wait), until - now);
            let same = wait == at_most || (now < *newest && wait < at_most);
            assert!(same, "{budget} at {now}, after {newest}: {at_most} {wait}");
            assert_eq!(reason, theirs, "{budget} at {now}");
        }
        (ours, theirs) => unreachable!("{budget} at {now}: {ours:?} {theirs:?}"),
    }
    ours
}

#[tokio::test]
async fn the_script_decides_as_the_window_does() {
    let Some((node, _folder)) = server() else { return };
    let store = store(&node);
    let (mut granted, mut waits, mut settled) = (0, 0, 0);
    for history in 0..24 {
        let mut random = fastrand::Rng::with_seed(history);
        let budget = format!("history-{history}");
        let requests = random.bool().then(|| random.u64(1..300));
        let tokens = (requests.is_none() || random.bool()).then(|| random.u64(400..6000));
        let limits = Limits::per_minute(requests, tokens);
        let most_gap = [20_000, 300_000, 3 * SECOND][random.usize(0..3)];
        let (mut window, mut newest) = (Window::default(), 0);
        let mut leases = Vec::new();
        let mut now = START;
        for _ in 0..150 {
            now = match random.u8(0..40) {
                0 => now + random.u64(0..3 * MINUTE),
                1 => now.saturating_sub(random.u64(0..SECOND)),
                2 => now.saturating_sub(random.u64(0..3 * MINUTE)),
                3..8 => now,
                _ => now + random.u64(0..most_gap),
            };
            let amount = Amount::new(1, random.u64(0..400));
            match ask(&store, (&mut window, &mut newest), &budget, now, &limits, amount).await {
                Asked::Granted { lease } => {
                    granted += 1;
                    leases.push((lease, amount));
                }
                Asked::Wait { until, .. } => {
                    waits += 1;
                    if random.u8(0..3) == 0 {
                        now = until;
                    }
                }
            }
            if random.bool() && !leases.is_empty() {
                let (lease, reserved) = leases.swap_remove(random.usize(0..leases.len()));
                let used = Amount::new(random.u64(0..2), random.u64(0..500));
                let mut settlement = Settlement::new(lease, reserved, used);
                let mut left = || {
                    Some((
                        random.u64(0..6000),
                        Duration::from_micros(random.u64(0..2 * MINUTE)),
                    ))
                };
                match settled % 5 {
                    0 => settlement.requests_left = left(),
                    1 => settlement.tokens_left = left(),
                    2 if settled % 7 == 0 => settlement.closed_for = Duration::from_secs(random.u64(0..20)),
                    _ => {}
                }
                settled += 1;
                window.settle(lease, reserved, used);
                window.heed(now, &limits, &settlement.vendor_says());
                store.settle_at(now, &budget, &limits, &settlement).await.unwrap();
            }
        }
    }
    assert!(
        granted > 500 && waits > 500 && settled > 500,
        "{granted} {waits} {settled}"
    );
}

#[tokio::test]
async fn what_cannot_have_been_written_here_is_absent() {
    let Some((node, _folder)) = server() else { return };
    let store = store(&node);
    let limits = Limits::per_minute(Some(2), Some(100));
    let key = store.link.key("rate_limit", "b");
    let head = format!("{key}:head");
    let far = (START + 2 * MINUTE).to_string();
    let now = START.to_string();
    let bucket = |words: [&str; 4]| {
        [
            vec!["RPUSH".to_owned(), key.clone()],
            words.map(str::to_owned).to_vec(),
        ]
        .concat()
    };
    let hostile: Vec<Vec<String>> = vec![
        vec!["SET".into(), key.clone(), "junk".into()],
        vec!["HSET".into(), key.clone(), "a".into(), "1".into()],
        vec!["RPUSH".into(), key.clone(), "1".into()],
        bucket(["x", &now, "2", "2"]),
        bucket([&now, &now, "-2", "2"]),
        bucket([&now, &now, "2.5", "2"]),
        bucket([&now, &now, "1e9", "2"]),
        bucket([&now, &now, "99999999999999999", "2"]),
        bucket([&far, &far, "2", "2"]),
        [
            bucket([&now, &now, "2", "2"]),
            vec![now.clone(), now.clone(), "2".into(), "2".into()],
        ]
        .concat(),
        [
            vec!["RPUSH".to_owned(), key.clone()],
            vec!["1".to_owned(); 40_000],
        ]
        .concat(),
        vec!["SET".into(), head.clone(), "junk".into()],
        vec!["SET".into(), head.clone(), "0123 1 2 3".into()],
        vec!["SET".into(), head.clone(), format!("0 0 {} 0 0 0 0", u64::MAX)],
        vec!["RPUSH".into(), head.clone(), "1".into()],
    ];
    for command in hostile {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        node.ask(&["DEL", &key, &head]).unwrap();
        node.ask(&words).unwrap();
        let told = || words.iter().take(7).copied().collect::<Vec<_>>().join(" ");
        for expected in [true, true, false] {
            let reserved = store
                .reserve_at(START, "b", &limits, Amount::new(1, 1), None)
                .await
                .unwrap();
            assert_eq!(
                matches!(reserved, Reserved::Granted { .. }),
                expected,
                "{}",
                told()
            );
        }
        let settlement = Settlement::new(START, Amount::new(1, 1), Amount::new(0, 0));
        store.settle_at(START, "b", &limits, &settlement).await.unwrap();
        let reserved = store
            .reserve_at(START, "b", &limits, Amount::new(1, 1), None)
            .await;
        assert!(matches!(reserved, Ok(Reserved::Granted { .. })), "{}", told());
    }
}

#[tokio::test]
async fn one_round_trip_to_reserve_and_one_to_settle_and_everything_runs_out() {
    let Some((node, _folder)) = server() else { return };
    let store = store(&node);
    let limits = Limits::per_minute(Some(1000), Some(100_000));
    let amount = Amount::new(1, 10);
    let decide = async || {
        let reserved = store.reserve("b", &limits, amount, None).await.unwrap();
        let Reserved::Granted { lease, .. } = reserved else {
            unreachable!("{reserved:?}");
        };
        let settlement = Settlement::new(lease, amount, Amount::new(1, 5));
        store.settle("b", &limits, &settlement).await.unwrap();
    };
    decide().await;
    node.ask(&["CONFIG", "RESETSTAT"]).unwrap();
    for _ in 0..50 {
        decide().await;
    }
    let statistics = node.ask(&["INFO", "commandstats"]).unwrap();
    let calls = |name: &str| {
        let line = statistics
            .lines()
            .find(|line| line.starts_with(&format!("cmdstat_{name}:")));
        line.map_or("none", |line| line.split([':', ',']).nth(1).unwrap_or("none"))
            .to_owned()
    };
    assert_eq!(
        (calls("evalsha"), calls("eval")),
        ("calls=100".to_owned(), "none".to_owned())
    );
    let keys = node.ask(&["KEYS", "*"]).unwrap();
    assert_eq!(
        keys.lines().filter(|line| line.contains("llm_router:")).count(),
        2,
        "{keys}"
    );
    for key in ["llm_router:rate_limit:{b}", "llm_router:rate_limit:{b}:head"] {
        let left = node.ask(&["PTTL", key]).unwrap();
        let left: u64 = left.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        assert!((60_000..=120_000).contains(&left), "{key}: {left} ms");
    }
}

#[tokio::test]
async fn a_server_started_anew_counts_as_lost_for_one_window_for_everybody() {
    let Some((mut node, _folder)) = server() else {
        return;
    };
    let [one, two] = [0, 1].map(|_| store(&node));
    let limits = Limits::per_minute(Some(10), None).with_window(Duration::from_millis(600));
    let amount = Amount::new(1, 0);
    let admitted = |reserved: &Result<Reserved, StoreFault>| matches!(reserved, Ok(Reserved::Granted { .. }));
    for budget in ["kept", "gone"] {
        let reserved = one.reserve(budget, &limits, amount, None).await;
        assert!(admitted(&reserved), "{reserved:?}");
    }
    node.restart().unwrap();
    node.ask(&[
        "DEL",
        "llm_router:rate_limit:{gone}",
        "llm_router:rate_limit:{gone}:head",
    ])
    .unwrap();
    // Who knew the old server sees it even where nothing is left; then the others are told by what it left behind.
    for store in [&one, &two] {
        for budget in ["kept", "gone"] {
            let reserved = store.reserve(budget, &limits, amount, None).await;
            let Err(StoreFault::StateLost { trusted_in }) = reserved else {
                unreachable!("{budget}: {reserved:?}");
            };
            assert!(trusted_in <= Duration::from_millis(600), "{trusted_in:?}");
        }
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    for store in [&two, &one] {
        for budget in ["kept", "gone"] {
            let reserved = store.reserve(budget, &limits, amount, None).await;
            assert!(admitted(&reserved), "{reserved:?}");
        }
    }
    node.kill();
    let reserved = one.reserve("kept", &limits, amount, None).await;
    assert!(
        matches!(reserved, Err(StoreFault::Unavailable(_))),
        "{reserved:?}"
    );
}

/// Whoever comes first after the loss, a settlement or a process that knows nothing, must not make the new state look
/// whole to those who know better.
#[tokio::test]
async fn who_comes_first_after_a_loss_does_not_hide_it() {
    let Some((mut node, _folder)) = server() else {
        return;
    };
    let [one, newcomer] = [0, 1].map(|_| store(&node));
    let limits = Limits::per_minute(Some(10), None).with_window(Duration::from_secs(2));
    let amount = Amount::new(1, 0);
    let mut leases = Vec::new();
    for budget in ["settled", "asked"] {
        match one.reserve(budget, &limits, amount, None).await {
            Ok(Reserved::Granted { lease, .. }) => leases.push(lease),
            other => unreachable!("{budget}: {other:?}"),
        }
    }
    node.restart().unwrap();
    node.ask(&["FLUSHALL"]).unwrap();
    // A settlement is not sent twice, so something else has to find the connection closed.
    let connects = one.reserve("another", &limits, amount, None).await;
    assert!(
        !matches!(connects, Err(StoreFault::Unavailable(_))),
        "{connects:?}"
    );
    let mut settlement = Settlement::new(leases[0], amount, amount);
    settlement.requests_left = Some((3, Duration::from_secs(1)));
    one.settle("settled", &limits, &settlement).await.unwrap();
    let reserved = newcomer.reserve("asked", &limits, amount, None).await;
    assert!(matches!(reserved, Ok(Reserved::Granted { .. })), "{reserved:?}");
    // Of these, only the settlement and the one who saw the old server can have told.
    for (budget, stores) in [("settled", [&newcomer, &one]), ("asked", [&one, &newcomer])] {
        for store in stores {
            let reserved = store.reserve(budget, &limits, amount, None).await;
            let Err(StoreFault::StateLost { trusted_in }) = reserved else {
                unreachable!("{budget}: {reserved:?}");
            };
            assert!(trusted_in <= Duration::from_secs(2), "{trusted_in:?}");
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    for budget in ["settled", "asked"] {
        let reserved = one.reserve(budget, &limits, amount, None).await;
        assert!(
            matches!(reserved, Ok(Reserved::Granted { .. })),
            "{budget}: {reserved:?}"
        );
    }
}
