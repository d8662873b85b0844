//! `cargo xtask soak redis`: processes that share one quota while their Redis is killed, stopped and replaced.

mod judge;
mod report;
mod workers;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Context, Failure, Outcome};
use crate::services::redis::cluster::Cluster;
use crate::services::redis::node::Node;
use crate::services::redis::{self, Data};
use report::{Phase, Report};
use workers::Workers;

pub(crate) const COMMAND: Command = Command {
    name: "soak",
    summary: "Processes against one quota while their Redis fails: `soak redis`",
    details: "\
Eight processes ask for one quota as fast as they can, and use a cache and a breaker beside it. On a single Redis node that
keeps all it has confirmed: undisturbed, killed (-9) and restarted, stopped (SIGSTOP) for 5 s. At the same time
eight others on a cluster of three masters with a replica each: undisturbed, a master killed so that its replica
is promoted, the new master stopped for 5 s so that it is replaced again.

Fails when more than the limit was admitted in any window of server time; when less than 98 % of it was admitted
in a window under demand that no fault reaches; when a lost state was not waited out for a window; when a call
outlasts its timeouts; when quota, cache or breaker do not come back. Prints what was admitted and refused, the errors,
the longest call, and the fullest and emptiest window of each phase. Takes nine minutes.
",
    operands: &["WHAT"],
    flags: &[
        Flag {
            name: "--seconds",
            value: Some("N"),
            help: "undisturbed time of each phase; default 130, at least two windows of 60 s",
        },
        Flag {
            name: "--short",
            value: None,
            help: "windows of 1 s in place of 60 s, and less than half a minute in all",
        },
    ],
    run: start,
};

/// So much may be admitted in any window.
#[derive(Debug)]
struct Quota {
    limit: u64,
    window: Duration,
}

/// How long things last, and how much of the limit must be used.
#[derive(Debug)]
struct Plan {
    quota: Quota,
    undisturbed: Duration,
    stopped: Duration,
    /// How much of the limit must be used, in percent; `None` where a busy machine may decide that.
    least: Option<u64>,
}

const LONG: Plan = Plan {
    quota: Quota {
        limit: 3000,
        window: Duration::from_secs(60),
    },
    undisturbed: Duration::from_secs(130),
    stopped: Duration::from_secs(5),
    least: Some(98),
};

/// The same code in little time. How much of so short a window is used depends on what else the machine does, so it is
/// only shown; that no more is admitted than allowed does not.
const SHORT: Plan = Plan {
    quota: Quota {
        limit: 60,
        window: Duration::from_secs(1),
    },
    undisturbed: Duration::from_millis(2500),
    stopped: Duration::from_millis(1500),
    least: None,
};

/// How long a killed server is away.
const AWAY: Duration = Duration::from_secs(1);

/// How long an election may take until somebody is admitted again, beside the window that is waited out.
const ELECTION_LIMIT: Duration = Duration::from_secs(20);

fn start(arguments: &Arguments) -> Outcome {
    if arguments.operand(0) != "redis" {
        return Err(Failure::usage(format!(
            "soak: there is no `{}`; there is `redis`",
            arguments.operand(0)
        )));
    }
    let mut plan = if arguments.has("--short") { SHORT } else { LONG };
    if let Some(text) = arguments.value("--seconds") {
        let least = plan.quota.window * 2;
        plan.undisturbed = text
            .parse()
            .ok()
            .map(Duration::from_secs)
            .filter(|time| *time >= least)
            .ok_or_else(|| {
                Failure::usage(format!(
                    "soak: --seconds `{text}` is no number of seconds from {} on",
                    least.as_secs()
                ))
            })?;
    }
    run(&plan)
}

/// The short form, for `cargo xtask test`.
pub(crate) fn run_short() -> Outcome {
    run(&SHORT)
}

fn run(plan: &Plan) -> Outcome {
    let server = redis::program()?;
    let worker = workers::build()?;
    let data = Data::new()?;
    let (single, cluster) = thread::scope(|scope| {
        let single = scope.spawn(|| on_single(plan, &server, &worker, &data));
        let cluster = on_cluster(plan, &server, &worker, &data);
        let died = |_| Err(Failure::new("the soak of the single node ended in a panic"));
        (single.join().unwrap_or_else(died), cluster)
    });
    let mut failures = Vec::new();
    for (name, report) in [("single node", single?), ("cluster", cluster?)] {
        println!("{}", report.table(name));
        failures.extend(report.failures.iter().map(|failure| format!("{name}: {failure}")));
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(failures.join("\n"))),
    }
}

fn on_single(plan: &Plan, server: &Path, worker: &Path, data: &Data) -> Outcome<Report> {
    let doing = "running a Redis server";
    let mut node = Node::start(server, &data.folder("single"), &[]).while_doing(doing)?;
    let redis = config(&[node.url()], false);
    let mut workers = Workers::start(worker, &data.folder("single-records"), &redis, &plan.quota)?;
    let mut phases = vec![Phase::undisturbed(now())];
    rest(plan.undisturbed, &mut workers)?;

    phases.push(Phase::state_lost("killed and restarted", now()));
    node.kill();
    phases[1].begin(now());
    thread::sleep(AWAY);
    // From the first thing that the new process is asked.
    phases[1].closed(now());
    node.restart().while_doing(doing)?;
    phases[1].recovered(now());
    rest(plan.quota.window + plan.undisturbed, &mut workers)?;

    phases.push(Phase::silent("stopped", now()));
    node.pause().while_doing(doing)?;
    phases[2].begin(now());
    thread::sleep(plan.stopped);
    node.resume().while_doing(doing)?;
    phases[2].recovered(now());
    rest(plan.quota.window + plan.undisturbed, &mut workers)?;
    Ok(Report::new(plan, phases, now(), workers.finish()?))
}

fn on_cluster(plan: &Plan, server: &Path, worker: &Path, data: &Data) -> Outcome<Report> {
    let doing = "running a Redis cluster";
    let mut cluster = Cluster::start(server, &data.folder("cluster")).while_doing(doing)?;
    let redis = config(&cluster.urls(), true);
    let mut workers = Workers::start(worker, &data.folder("cluster-records"), &redis, &plan.quota)?;
    let mut phases = vec![Phase::undisturbed(now())];
    rest(plan.undisturbed, &mut workers)?;

    let master = master(&cluster)?;
    phases.push(Phase::state_lost("master killed", now()));
    cluster.nodes[master].kill();
    phases[1].begin(now());
    let promoted = wait_for_another(&cluster, master)?;
    phases[1].recovered(now());
    thread::sleep(AWAY);
    cluster.nodes[master].restart().while_doing(doing)?;
    rest(plan.quota.window + plan.undisturbed, &mut workers)?;

    phases.push(Phase::state_lost("master stopped", now()));
    let paused = Instant::now();
    cluster.nodes[promoted].pause().while_doing(doing)?;
    phases[2].begin(now());
    wait_for_another(&cluster, promoted)?;
    thread::sleep(plan.stopped.saturating_sub(paused.elapsed()));
    cluster.nodes[promoted].resume().while_doing(doing)?;
    phases[2].recovered(now());
    rest(plan.quota.window + plan.undisturbed, &mut workers)?;
    Ok(Report::new(plan, phases, now(), workers.finish()?))
}

/// What the workers take as their configuration.
fn config(urls: &[String], cluster: bool) -> Value {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json!({
        "urls": urls,
        "cluster": cluster,
        "connect_timeout_ms": millis(workers::CONNECT_TIMEOUT),
        "command_timeout_ms": millis(workers::COMMAND_TIMEOUT),
        // Nobody waits for a connection: a task of each kind, and some to spare.
        "pool_size": workers::TASKS * 2,
    })
}

/// Microseconds since 1970: the clock of the servers too, which run on this machine.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(u64::MAX)
}

fn rest(time: Duration, workers: &mut Workers) -> Outcome {
    let start = Instant::now();
    while start.elapsed() < time {
        thread::sleep(Duration::from_millis(200).min(time.saturating_sub(start.elapsed())));
        workers.check()?;
    }
    Ok(())
}

/// The key whose slot holds the quota: everything of one id lives there.
const KEY: &str = "{soak}";

fn master(cluster: &Cluster) -> Outcome<usize> {
    cluster
        .master_of(KEY, &[])
        .ok_or_else(|| Failure::new("no master of the cluster holds the quota"))
}

/// The master that has taken the place of this one.
fn wait_for_another(cluster: &Cluster, than: usize) -> Outcome<usize> {
    let start = Instant::now();
    while start.elapsed() < ELECTION_LIMIT {
        if let Some(promoted) = cluster.master_of(KEY, &[than]) {
            return Ok(promoted);
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err(Failure::new("no replica took the place of its master"))
}
