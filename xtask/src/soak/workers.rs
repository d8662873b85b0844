//! The processes that share one quota, and what they wrote down.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Quota;
use crate::failure::{Context, Failure, Outcome};
use crate::workspace;

pub(super) const PROCESSES: usize = 8;
/// Enough of them that all room which comes free at a time is asked for at once.
pub(super) const TASKS: usize = 8;

/// How long one call waits for a connection, and for its answer.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_millis(1000);
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a process may take to leave after it was told to.
const STOP_LIMIT: Duration = Duration::from_secs(10);

const EXAMPLE: &str = "redis_quota_worker";

/// The running processes. They end when their standard input closes: when this value goes, or this process dies.
pub(super) struct Workers {
    running: Vec<(Child, PathBuf)>,
}

/// What all processes wrote down, in order of time; microseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// By the server's clock.
    pub(super) admitted: Vec<u64>,
    /// How many, and when they were counted.
    pub(super) refused: Vec<(u64, u64)>,
    pub(super) unavailable: Vec<u64>,
    /// The store answered that it may have lost what was admitted.
    pub(super) state_lost: Vec<u64>,
    pub(super) cache_worked: Vec<u64>,
    pub(super) cache_failed: Vec<u64>,
    /// The shared breaker was open.
    pub(super) breaker_refused: Vec<u64>,
    /// It was not, or could not be asked.
    pub(super) breaker_passed: Vec<u64>,
    pub(super) longest_call: Duration,
}

/// Builds the program and says where it is.
pub(super) fn build() -> Outcome<PathBuf> {
    let words = [
        "build",
        "--package",
        "llm-resilience",
        "--features",
        "redis",
        "--example",
        EXAMPLE,
    ];
    workspace::run(&mut workspace::cargo(&words)?)?;
    Ok(workspace::target_folder()?.join("debug/examples").join(EXAMPLE))
}

impl Workers {
    pub(super) fn start(program: &Path, folder: &Path, redis: &Value, quota: &Quota) -> Outcome<Self> {
        fs::create_dir_all(folder).while_doing("making a folder for the records")?;
        let order = json!({
            "redis": redis,
            "limit": quota.limit,
            "window_ms": u64::try_from(quota.window.as_millis()).unwrap_or(u64::MAX),
            "tasks": TASKS,
            "processes": PROCESSES,
        });
        let mut workers = Workers { running: Vec::new() };
        for index in 0..PROCESSES {
            let path = folder.join(format!("worker-{index}"));
            let record = File::create(&path).while_doing("making a record")?;
            let child = Command::new(program)
                .arg(order.to_string())
                .stdin(Stdio::piped())
                .stdout(record)
                .spawn()
                .while_doing("starting a worker")?;
            workers.running.push((child, path));
        }
        Ok(workers)
    }

    /// Fails when one of them has ended by itself.
    pub(super) fn check(&mut self) -> Outcome {
        for (child, _) in &mut self.running {
            if let Some(status) = child.try_wait().while_doing("looking after a worker")? {
                return Err(Failure::new(format!("a worker ended before its time: {status}")));
            }
        }
        Ok(())
    }

    /// Tells them to end and reads what they wrote down.
    pub(super) fn finish(mut self) -> Outcome<Record> {
        self.check()?;
        for (child, _) in &mut self.running {
            drop(child.stdin.take());
        }
        let start = Instant::now();
        for (child, _) in &mut self.running {
            while child.try_wait().while_doing("waiting for a worker")?.is_none() {
                if start.elapsed() > STOP_LIMIT {
                    return Err(Failure::new("a worker hangs: it did not end when it was told to"));
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
        let mut record = Record::default();
        for (_, path) in &self.running {
            let text = fs::read_to_string(path).while_doing("reading a record")?;
            for line in text.lines() {
                record
                    .add(line)
                    .ok_or_else(|| Failure::new(format!("a worker wrote `{line}`")))?;
            }
        }
        record.sort();
        Ok(record)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (child, _) in &mut self.running {
            if !matches!(child.try_wait(), Ok(Some(_))) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

impl Record {
    /// One line of a worker; `None` when it is none.
    fn add(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let what = words.next()?;
        let time: u64 = words.next()?.parse().ok()?;
        match what {
            "admitted" => self.admitted.push(time),
            "refused" => self.refused.push((time, words.next()?.parse().ok()?)),
            "unavailable" => self.unavailable.push(time),
            "state-lost" => self.state_lost.push(time),
            "cache-worked" => self.cache_worked.push(time),
            "cache-failed" => self.cache_failed.push(time),
            "breaker-refused" => self.breaker_refused.push(time),
            "breaker-passed" => self.breaker_passed.push(time),
            "longest-call" => {
                let micros = words.next()?.parse().ok()?;
                self.longest_call = self.longest_call.max(Duration::from_micros(micros));
            }
            _ => return None,
        }
        Some(())
    }

    fn sort(&mut self) {
        self.refused.sort_unstable();
        for times in [
            &mut self.admitted,
            &mut self.unavailable,
            &mut self.state_lost,
            &mut self.cache_worked,
            &mut self.cache_failed,
            &mut self.breaker_refused,
            &mut self.breaker_passed,
        ] {
            times.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_workers_are_read_and_others_are_not() {
        let mut record = Record::default();
        for line in [
            "admitted 9",
            "admitted 7",
            "refused 8 30",
            "state-lost 5",
            "longest-call 8 1500",
        ] {
            record.add(line).unwrap();
        }
        record.sort();
        assert_eq!(
            (record.admitted.as_slice(), record.refused[0]),
            (&[7, 9][..], (8, 30))
        );
        assert_eq!(
            (record.state_lost.len(), record.longest_call.as_micros()),
            (1, 1500)
        );
        for line in ["", "admitted", "admitted x", "refused 1", "thought 1"] {
            assert!(record.add(line).is_none(), "{line}");
        }
    }
}
