//! One of several processes that share a quota, a cache and a breaker on Redis, under all the demand they can make. It
//! writes down what came of it, for `cargo xtask soak redis` to judge, and ends when its standard input does.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what it prints is what it is for"
)]

use llm_core::{CallContext, ChatRequest, Clock, ErrorKind, Rejection, Stack};
use llm_driver_testkit::{Reply, ScriptedDriver};
use llm_resilience::breaker::RedisBreakerStore;
use llm_resilience::rate_limit::{Amount, Limits, QuotaStore, RedisQuotaStore, Reserved, StoreFault};
use llm_resilience::store::KeyValueStore;
use llm_resilience::store::redis::{RedisConfig, RedisKeyValueStore, RedisLink};
use llm_resilience::{BreakerLayer, BreakerPolicy};
use serde::Deserialize;
use std::error::Error;
use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What the one argument says.
#[derive(Deserialize)]
struct Order {
    redis: RedisConfig,
    limit: u64,
    window_ms: u64,
    tasks: u32,
    /// How many processes there are.
    processes: u32,
}

/// The longest pause after a refusal: room may be given back sooner than the store said.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// While demand rises, all processes together ask for so much more than the limit, in percent.
const RISE: u64 = 110;
/// The pause after a failure, between two uses of the cache, and between two counts of refusals.
const PAUSE: Duration = Duration::from_millis(50);

struct Worker {
    clock: Arc<dyn Clock>,
    quota: RedisQuotaStore,
    cache: RedisKeyValueStore,
    behind_breaker: Stack,
    limits: Limits,
    /// Demand rises for one window, so that admissions are spread over it. A burst would come again as a burst one
    /// window later, and there the milliseconds of a busy disk are percents of the limit.
    rising_until: AtomicU64,
    window: Duration,
    rising_pause: Duration,
    refused: AtomicU64,
    longest_call: AtomicU64,
    stop: AtomicBool,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("redis_quota_worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let order = std::env::args().nth(1).ok_or("the order is missing")?;
    let order: Order = serde_json::from_str(&order)?;
    let link = RedisLink::new(order.redis)?;
    let window = Duration::from_millis(order.window_ms);
    let worker = Arc::new(Worker {
        clock: llm_http::shared_clock(),
        quota: RedisQuotaStore::new(link.clone()),
        cache: RedisKeyValueStore::new(link.clone(), "cache"),
        behind_breaker: failing_stack(link),
        limits: Limits::per_minute(Some(order.limit), None).with_window(window),
        rising_until: AtomicU64::new(0),
        window,
        rising_pause: window
            .mul_f64(f64::from(order.tasks * order.processes) * 100.0 / (order.limit * RISE) as f64),
        refused: AtomicU64::new(0),
        longest_call: AtomicU64::new(0),
        stop: AtomicBool::new(false),
    });
    let told = Arc::clone(&worker);
    std::thread::spawn(move || {
        // Whatever comes, and an error too, is the end.
        let _ = std::io::stdin().read(&mut [0]);
        told.stop.store(true, Ordering::Relaxed);
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    worker.rise();
    runtime.block_on(async {
        let demand = (0..order.tasks).map(|_| worker.ask_for_quota());
        let demand = futures_util::future::join_all(demand);
        futures_util::future::join4(
            demand,
            worker.use_cache(),
            worker.use_breaker(),
            worker.count_refusals(),
        )
        .await;
    });
    Ok(())
}

/// A vendor that always fails, behind a breaker that all processes share.
fn failing_stack(link: RedisLink) -> Stack {
    let down = llm_core::Error::new(ErrorKind::Server, "down");
    let policy = BreakerPolicy::new(5, Duration::from_secs(1)).with_longest_open(Duration::from_secs(1));
    let store = Arc::new(RedisBreakerStore::new(link));
    Stack::new(ScriptedDriver::always("soak", Reply::error(down)))
        .layer(BreakerLayer::with_store(policy, store))
}

impl Worker {
    async fn ask_for_quota(&self) {
        while self.goes_on() {
            let start = self.clock.now();
            let answer = self
                .quota
                .reserve("soak", &self.limits, Amount::new(1, 0), None)
                .await;
            let took = self.clock.now().saturating_duration_since(start);
            self.longest_call.fetch_max(micros(took), Ordering::Relaxed);
            match answer {
                Ok(Reserved::Granted { at, .. }) => {
                    println!("admitted {at}");
                    if self.wall() < self.rising_until.load(Ordering::Relaxed) {
                        // By chance, or all of them would go on in step.
                        let part = 2.0 * fastrand::f64();
                        tokio::time::sleep(self.rising_pause.mul_f64(part)).await;
                    }
                }
                Ok(Reserved::Wait { wait, .. }) => {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(wait.min(LONGEST_PAUSE)).await;
                }
                Ok(other) => eprintln!("redis_quota_worker: an answer that is new: {other:?}"),
                Err(fault) => {
                    let what = match fault {
                        StoreFault::StateLost { .. } => "state-lost",
                        _ => "unavailable",
                    };
                    println!("{what} {}", self.wall());
                    self.rise();
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    fn rise(&self) {
        self.rising_until
            .store(self.wall() + micros(self.window), Ordering::Relaxed);
    }

    async fn use_cache(&self) {
        while self.goes_on() {
            let start = self.clock.now();
            let key = self.wall().to_string();
            let minute = Duration::from_secs(60);
            let set = self.cache.set(&key, key.clone().into(), minute, None).await;
            let half = self.clock.now();
            let got = self.cache.get(&key, None).await;
            let longer = (half - start).max(self.clock.now() - half);
            self.longest_call.fetch_max(micros(longer), Ordering::Relaxed);
            let worked = set.is_ok() && got.is_ok_and(|value| value.is_some_and(|value| value == key));
            let what = if worked { "cache-worked" } else { "cache-failed" };
            println!("{what} {}", self.wall());
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// While the store answers, the breaker is open most of the time; when it does not, calls pass.
    async fn use_breaker(&self) {
        let request = ChatRequest::user("hello");
        while self.goes_on() {
            let cx = CallContext::new(Arc::clone(&self.clock));
            let outcome = self.behind_breaker.chat(&cx, &request).await;
            let refused = outcome.is_err_and(|error| error.rejection() == Some(Rejection::BreakerOpen));
            let what = if refused {
                "breaker-refused"
            } else {
                "breaker-passed"
            };
            println!("{what} {}", self.wall());
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn count_refusals(&self) {
        while self.goes_on() {
            tokio::time::sleep(PAUSE * 4).await;
            println!(
                "refused {} {}",
                self.wall(),
                self.refused.swap(0, Ordering::Relaxed)
            );
        }
        println!(
            "longest-call {} {}",
            self.wall(),
            self.longest_call.load(Ordering::Relaxed)
        );
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn wall(&self) -> u64 {
        let since = self.clock.wall().duration_since(SystemTime::UNIX_EPOCH);
        micros(since.unwrap_or_default())
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
