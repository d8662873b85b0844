//! What came of a soak, phase by phase, and what of it must not be.

use std::time::Duration;

use super::workers::{COMMAND_TIMEOUT, CONNECT_TIMEOUT, PROCESSES, Record};
use super::{ELECTION_LIMIT, Plan, judge};
use crate::steps::seconds;

/// How much longer than its timeouts a call may take because the machine is busy; what hangs takes for ever.
const SLACK: Duration = Duration::from_secs(3);

/// A part of the run; microseconds since 1970.
#[derive(Debug)]
pub(super) struct Phase {
    name: &'static str,
    fault: Fault,
    starts: u64,
    /// From here on the fault is there.
    began: u64,
    /// From here on nothing may be admitted for a window.
    closed: u64,
    /// From here on a server is there to answer.
    recovered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// What was admitted may be lost.
    StateLost,
    /// Nothing is lost, and what was asked in the meantime is answered to nobody.
    Silent,
}

impl Phase {
    fn new(name: &'static str, fault: Fault, starts: u64) -> Self {
        Phase {
            name,
            fault,
            starts,
            began: starts,
            closed: starts,
            recovered: starts,
        }
    }

    pub(super) fn undisturbed(starts: u64) -> Self {
        Phase::new("undisturbed", Fault::None, starts)
    }

    pub(super) fn state_lost(name: &'static str, starts: u64) -> Self {
        Phase::new(name, Fault::StateLost, starts)
    }

    pub(super) fn silent(name: &'static str, starts: u64) -> Self {
        Phase::new(name, Fault::Silent, starts)
    }

    pub(super) fn begin(&mut self, now: u64) {
        self.began = now;
        self.closed = now;
    }

    pub(super) fn closed(&mut self, now: u64) {
        self.closed = now;
    }

    pub(super) fn recovered(&mut self, now: u64) {
        self.recovered = now;
    }
}

/// The figures, and what is wrong with them.
#[derive(Debug)]
pub(super) struct Report {
    rows: Vec<[String; 10]>,
    summary: String,
    pub(super) failures: Vec<String>,
}

const HEAD: [&str; 10] = [
    "phase",
    "admitted",
    "refused",
    "unreachable",
    "state lost",
    "cache failed",
    "breaker open",
    "admits again after",
    "fullest window",
    "emptiest window",
];

impl Report {
    pub(super) fn new(plan: &Plan, phases: Vec<Phase>, ends: u64, record: Record) -> Self {
        let window = micros(plan.quota.window);
        let fullest = judge::most_in_a_window(&record.admitted, window);
        let over = (fullest as u64).saturating_sub(plan.quota.limit);
        let mut report = Report {
            rows: Vec::new(),
            summary: format!(
                "{PROCESSES} processes, {} in any {}; admitted {}, over-admission {over}, longest call {}",
                plan.quota.limit,
                seconds(plan.quota.window),
                record.admitted.len(),
                seconds(record.longest_call),
            ),
            failures: Vec::new(),
        };
        if over > 0 {
            report.fail(format!("{fullest} were admitted in one window, {over} too many"));
        }
        let bound = CONNECT_TIMEOUT + COMMAND_TIMEOUT + SLACK;
        if record.longest_call > bound {
            let took = seconds(record.longest_call);
            report.fail(format!("a call took {took}, beyond its timeouts"));
        }
        let starts: Vec<u64> = phases.iter().map(|phase| phase.starts).chain([ends]).collect();
        for (index, phase) in phases.iter().enumerate() {
            report.add(plan, phase, starts[index + 1], &record);
        }
        report
    }

    fn add(&mut self, plan: &Plan, phase: &Phase, ends: u64, record: &Record) {
        let window = micros(plan.quota.window);
        let admitted = &record.admitted;
        let first = self.first_after(phase, ends, window, admitted);
        let clean_from = match phase.fault {
            // What was granted to nobody leaves the window first.
            Fault::Silent => first.map(|first| first + window),
            Fault::None | Fault::StateLost => first,
        };
        let emptiest = clean_from.and_then(|from| judge::least_in_a_window(admitted, window, (from, ends)));
        if let Some(percent) = plan.least {
            match emptiest {
                Some(least) if (least as u64) * 100 < plan.quota.limit * percent => self.fail(format!(
                    "{}: only {least} were admitted in a window under demand, of {}",
                    phase.name, plan.quota.limit
                )),
                Some(_) => {}
                None => self.fail(format!("{}: no whole window under demand was left", phase.name)),
            }
        }
        let cache_failed = judge::count(&record.cache_failed, phase.starts, ends);
        let at_last = ends.saturating_sub(micros(plan.undisturbed)).max(phase.starts);
        if judge::count(&record.cache_worked, at_last, ends) == 0 {
            self.fail(format!("{}: the cache has not come back", phase.name));
        }
        let [refused_by_breaker, passed_by_breaker] = [&record.breaker_refused, &record.breaker_passed]
            .map(|times| judge::count(times, phase.starts, ends));
        let refused_share = refused_by_breaker * 100 / (refused_by_breaker + passed_by_breaker).max(1);
        if judge::count(&record.breaker_refused, at_last, ends) == 0 {
            self.fail(format!("{}: the breaker has not come back", phase.name));
        }
        let in_reach = &admitted[admitted.partition_point(|time| time + window < phase.starts)
            ..admitted.partition_point(|time| *time < ends)];
        let refused: u64 = record
            .refused
            .iter()
            .filter(|(time, _)| (phase.starts..ends).contains(time))
            .map(|(_, count)| count)
            .sum();
        let again = first.map_or("never".to_owned(), |first| {
            seconds(Duration::from_micros(first.saturating_sub(phase.began)))
        });
        self.rows.push([
            phase.name.to_owned(),
            judge::count(admitted, phase.starts, ends).to_string(),
            refused.to_string(),
            judge::count(&record.unavailable, phase.starts, ends).to_string(),
            judge::count(&record.state_lost, phase.starts, ends).to_string(),
            cache_failed.to_string(),
            format!("{} %", refused_share),
            again,
            judge::most_in_a_window(in_reach, window).to_string(),
            emptiest.map_or("none".to_owned(), |least| least.to_string()),
        ]);
    }

    /// When somebody was admitted again after the fault.
    fn first_after(&mut self, phase: &Phase, ends: u64, window: u64, admitted: &[u64]) -> Option<u64> {
        let from = match phase.fault {
            Fault::None | Fault::StateLost => phase.began,
            Fault::Silent => phase.recovered,
        };
        let first = judge::first_from(admitted, from).filter(|first| *first < ends);
        let latest = phase.recovered + window + micros(ELECTION_LIMIT);
        match first {
            None => self.fail(format!("{}: nobody was admitted again", phase.name)),
            Some(first) if first > latest => self.fail(format!("{}: admitted again too late", phase.name)),
            Some(first) if phase.fault == Fault::StateLost && first < phase.closed + window => {
                self.fail(format!(
                    "{}: admitted again {} after the loss, before a window was over",
                    phase.name,
                    seconds(Duration::from_micros(first.saturating_sub(phase.closed)))
                ));
            }
            Some(_) => {}
        }
        first
    }

    fn fail(&mut self, what: String) {
        self.failures.push(what);
    }

    /// The figures as a table under a title.
    pub(super) fn table(&self, title: &str) -> String {
        let head = HEAD.map(str::to_owned);
        let lines: Vec<&[String; 10]> = [&head].into_iter().chain(&self.rows).collect();
        let widths: [usize; 10] =
            std::array::from_fn(|column| lines.iter().map(|line| line[column].len()).max().unwrap_or(0));
        let mut text = format!("\n{title}: {}\n", self.summary);
        for line in lines {
            let cells = line
                .iter()
                .zip(widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 => format!("  {cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                });
            text.push_str(cells.collect::<String>().trim_end());
            text.push('\n');
        }
        for failure in &self.failures {
            text.push_str(&format!("  WRONG: {failure}\n"));
        }
        text
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::Quota;

    const SECOND: u64 = 1_000_000;

    const PLAN: Plan = Plan {
        quota: Quota {
            limit: 10,
            window: Duration::from_secs(10),
        },
        undisturbed: Duration::from_secs(30),
        stopped: Duration::from_secs(1),
        least: Some(98),
    };

    /// Ten in each ten seconds, but for some of them; and a cache that works.
    fn record(but_for: std::ops::Range<u64>) -> Record {
        Record {
            admitted: (0..100)
                .filter(|second| !but_for.contains(second))
                .map(|second| second * SECOND)
                .collect(),
            cache_worked: (0..100).map(|second| second * SECOND).collect(),
            breaker_refused: (0..100).map(|second| second * SECOND).collect(),
            ..Record::default()
        }
    }

    /// A loss just before second 40, when nobody answers until 42.
    fn judged(record: Record) -> Vec<String> {
        let loss = 40 * SECOND - SECOND / 2;
        let mut lost = Phase::state_lost("lost", loss);
        lost.begin(loss);
        lost.recovered(42 * SECOND);
        let phases = vec![Phase::undisturbed(0), lost];
        Report::new(&PLAN, phases, 99 * SECOND + SECOND / 2, record).failures
    }

    #[test]
    fn a_loss_that_is_waited_out_is_as_it_should_be() {
        assert_eq!(judged(record(40..55)), [""; 0]);
    }

    #[test]
    fn each_thing_that_must_not_be_is_found() {
        let over = || {
            let mut record = record(40..55);
            record.admitted.insert(20, 19 * SECOND);
            record
        };
        let hanging = || Record {
            longest_call: Duration::from_secs(5),
            ..record(40..55)
        };
        let uncached = || Record {
            cache_worked: vec![60 * SECOND],
            ..record(40..55)
        };
        let unbroken = || Record {
            breaker_refused: vec![60 * SECOND],
            ..record(40..55)
        };
        for (record, expected) in [
            (unbroken(), "lost: the breaker has not come back"),
            (over(), "11 were admitted in one window, 1 too many"),
            (hanging(), "a call took 5.0 s, beyond its timeouts"),
            (uncached(), "lost: the cache has not come back"),
            (
                record(40..48),
                "lost: admitted again 8.5 s after the loss, before a window was over",
            ),
            (record(40..100), "lost: nobody was admitted again"),
            (record(40..80), "lost: admitted again too late"),
            (
                record(20..22),
                "undisturbed: only 8 were admitted in a window under demand, of 10",
            ),
        ] {
            let failures = judged(record);
            assert!(
                failures.iter().any(|failure| failure == expected),
                "{expected}: {failures:?}"
            );
        }
    }
}
