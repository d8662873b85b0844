//! Benches as ratios: contestants take turns in one run, and each is told as a multiple of a named peer.
//!
//! A time alone says more about the machine than about the code. So every figure here is divided by what a peer took in
//! the same round, a moment before or after, and the middle of all rounds is told. Nothing is asserted: a bench shows,
//! tests decide.
//!
//! ```
//! let text = "[1,2,3]".repeat(9);
//! llm_bench_ratio::Contest::new("count brackets")
//!     .peer("by characters", || text.chars().filter(|c| *c == '[').count())
//!     .entry("by bytes", || text.bytes().filter(|b| *b == b'[').count())
//!     .run();
//! ```

#![deny(missing_docs)]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, measures time and is told by the environment how thorough to be"
)]

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Set by `cargo xtask bench --quick`: fewer and shorter rounds, for a first look.
pub const QUICK_VARIABLE: &str = "LLM_BENCH_QUICK";

/// A comparison: one peer, and those that are told as a multiple of it.
#[must_use = "nothing is measured before `run`"]
pub struct Contest<'a> {
    title: String,
    contestants: Vec<Contestant<'a>>,
}

struct Contestant<'a> {
    name: String,
    work: Box<dyn FnMut() + 'a>,
    /// Seconds that one piece of work took, round by round.
    times: Vec<f64>,
}

/// How thorough to be.
struct Effort {
    rounds: usize,
    /// How long a turn of the peer takes, about.
    turn: Duration,
}

impl<'a> Contest<'a> {
    /// A comparison without contestants. The title says what all of them do.
    pub fn new(title: impl Into<String>) -> Self {
        Contest {
            title: title.into(),
            contestants: Vec::new(),
        }
    }

    /// Adds the peer that the others are compared with. It comes first.
    pub fn peer<R>(mut self, name: &str, work: impl FnMut() -> R + 'a) -> Self {
        self.contestants.insert(0, Contestant::new(name, work));
        self
    }

    /// Adds one that is compared with the peer.
    pub fn entry<R>(mut self, name: &str, work: impl FnMut() -> R + 'a) -> Self {
        self.contestants.push(Contestant::new(name, work));
        self
    }

    /// Measures, and prints one line for each contestant.
    pub fn run(mut self) {
        let effort = Effort::from_environment();
        let Some(peer) = self.contestants.first_mut() else {
            return;
        };
        let repeats = peer.repeats_within(effort.turn);
        for round in 0..effort.rounds {
            // Another one begins each round, so that nobody always has the cache that somebody else left.
            let length = self.contestants.len();
            for turn in 0..length {
                self.contestants[(round + turn) % length].take_turn(repeats);
            }
        }
        println!("{self}");
    }
}

impl fmt::Display for Contest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        let Some(peer) = self.contestants.first() else {
            return Ok(());
        };
        for contestant in &self.contestants {
            let ratios = contestant.times.iter().zip(&peer.times);
            let (ratio, spread) = middle(ratios.map(|(own, peers)| own / peers).collect());
            let (time, _) = middle(contestant.times.clone());
            let best = best_of(&contestant.times) / best_of(&peer.times);
            writeln!(
                f,
                "  {:<34} {:>10}   {ratio:>5.2} x  (middle half {:.2} to {:.2}, best against best {best:.2})",
                contestant.name,
                readable(time),
                spread.0,
                spread.1
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for Contest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.contestants.iter().map(|contestant| &contestant.name);
        f.debug_struct("Contest")
            .field("title", &self.title)
            .field("contestants", &names.collect::<Vec<_>>())
            .finish()
    }
}

impl<'a> Contestant<'a> {
    fn new<R>(name: &str, mut work: impl FnMut() -> R + 'a) -> Self {
        Contestant {
            name: name.to_owned(),
            work: Box::new(move || {
                black_box(work());
            }),
            times: Vec::new(),
        }
    }

    /// How often the work is done in about this time; at least once.
    fn repeats_within(&mut self, turn: Duration) -> u32 {
        let mut repeats = 1;
        loop {
            let took = self.time(repeats);
            if took >= turn / 2 || repeats >= 1 << 24 {
                let fitting = turn.as_secs_f64() / took.as_secs_f64().max(1e-9) * f64::from(repeats);
                return (fitting as u32).max(1);
            }
            repeats *= 2;
        }
    }

    fn take_turn(&mut self, repeats: u32) {
        let took = self.time(repeats);
        self.times.push(took.as_secs_f64() / f64::from(repeats));
    }

    fn time(&mut self, repeats: u32) -> Duration {
        let start = Instant::now();
        for _ in 0..repeats {
            (self.work)();
        }
        start.elapsed()
    }
}

impl Effort {
    fn from_environment() -> Self {
        match std::env::var_os(QUICK_VARIABLE) {
            Some(_) => Effort {
                rounds: 15,
                turn: Duration::from_micros(500),
            },
            None => Effort {
                rounds: 201,
                turn: Duration::from_millis(2),
            },
        }
    }
}

fn best_of(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The median, and the first and third quarter.
fn middle(mut values: Vec<f64>) -> (f64, (f64, f64)) {
    values.sort_by(f64::total_cmp);
    let at = |share: usize| values.get((values.len() * share / 4).min(values.len().saturating_sub(1)));
    let value = |share| at(share).copied().unwrap_or(f64::NAN);
    (value(2), (value(1), value(3)))
}

fn readable(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s => format!("{:.2} ms", s * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_contestant_is_told_as_a_multiple_of_the_peer() {
        let mut contest = Contest::new("sum")
            .entry("twice", || 2)
            .peer("once", || 1)
            .entry("half", || 0);
        for (contestant, times) in contest
            .contestants
            .iter_mut()
            .zip([[1e-3; 3], [2e-3; 3], [5e-4; 3]])
        {
            contestant.times = times.to_vec();
        }
        let told = contest.to_string();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "sum");
        for (line, (name, ratio)) in
            lines[1..]
                .iter()
                .zip([("once", "1.00 x"), ("twice", "2.00 x"), ("half", "0.50 x")])
        {
            assert!(line.contains(name) && line.contains(ratio), "{line}");
        }
    }

    #[test]
    fn the_middle_and_its_half() {
        assert_eq!(middle(vec![4.0, 0.0, 3.0, 1.0, 2.0]), (2.0, (1.0, 3.0)));
        assert!(middle(Vec::new()).0.is_nan());
    }

    #[test]
    fn every_contestant_takes_the_same_turns() {
        let (mut first, mut second) = (0_u32, 0_u32);
        let mut one = Contestant::new("one", || first += 1);
        one.take_turn(7);
        let mut two = Contestant::new("two", || second += 1);
        two.take_turn(7);
        drop((one, two));
        assert_eq!((first, second), (7, 7));
    }

    #[test]
    fn times_read_well() {
        assert_eq!(readable(2.5e-7), "250 ns");
        assert_eq!(readable(4.25e-5), "42.5 µs");
        assert_eq!(readable(0.0123), "12.30 ms");
    }
}
