//! Runs targets without libFuzzer: on each the corpus first, then mutations of it, seeded, for a while. An input that
//! breaks something is written to `fuzz/artifacts/TARGET`.
//!
//! `mutate SECONDS [TARGET…]`, in the folder `fuzz`.

use llm_fuzz::{TARGETS, Target, target};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Longer inputs find nothing that shorter ones do not, and take their time.
const LONGEST: usize = 8192;

/// What formats are made of.
const WORDS: [&str; 34] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "\\",
    "null",
    "true",
    "0",
    "-1",
    "1e99",
    "\"\"",
    "{}",
    "[]",
    "\n",
    "\r\n",
    "\r",
    "data: ",
    "event: error\n",
    "[DONE]",
    ": ",
    "\u{feff}",
    "\\ud800",
    "\"error\":",
    "\"index\":7,",
    "\"type\":",
    "<think>",
    "</think>",
    "\"content\":",
    "\0",
    "../",
    "%2e",
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let seconds = words.next().and_then(|word| word.parse().ok());
    let Some(seconds) = seconds else {
        eprintln!("usage: mutate SECONDS [TARGET..]");
        return ExitCode::from(2);
    };
    let names: Vec<String> = words.collect();
    if let Some(unknown) = names.iter().find(|name| target(name).is_none()) {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("no target `{unknown}`; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    let chosen = |target: &&Target| names.is_empty() || names.iter().any(|name| name == target.name);
    let mut broken = 0;
    for target in TARGETS.iter().filter(chosen) {
        match run(target, Duration::from_secs_f64(seconds)) {
            Ok(count) => println!("{:<28} {count:>9} inputs", target.name),
            Err(place) => {
                broken += 1;
                println!("{:<28} BROKEN by {place}", target.name);
            }
        }
    }
    ExitCode::from(u8::from(broken > 0))
}

/// How many inputs passed, or where the one is that did not.
fn run(target: &Target, time: Duration) -> Result<u64, String> {
    let corpus = corpus(target.name);
    // The same inputs in the same order every time: a failure in CI is one at home.
    let mut random = fastrand::Rng::with_seed(target.name.bytes().map(u64::from).sum());
    let start = Instant::now();
    for input in &corpus {
        check(target, input)?;
    }
    let mut count = corpus.len() as u64;
    while start.elapsed() < time {
        let mut input = random.choice(&corpus).cloned().unwrap_or_default();
        for _ in 0..random.u8(1..6) {
            mutate(&mut input, &corpus, &mut random);
        }
        input.truncate(LONGEST);
        check(target, &input)?;
        count += 1;
    }
    Ok(count)
}

fn check(target: &Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|_| keep(target.name, input))
}

/// Writes an input down, and says where.
fn keep(name: &str, input: &[u8]) -> String {
    let folder = Path::new("artifacts").join(name);
    let sum = input.iter().fold(14_695_981_039_346_656_037_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211)
    });
    let file = folder.join(format!("crash-{sum:016x}"));
    match fs::create_dir_all(&folder).and_then(|()| fs::write(&file, input)) {
        Ok(()) => format!("fuzz/{}", file.display()),
        Err(error) => format!(
            "an input that cannot be written ({error}): {:?}",
            String::from_utf8_lossy(input)
        ),
    }
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let files = fs::read_dir(Path::new("corpus").join(name))
        .into_iter()
        .flatten()
        .flatten();
    let mut paths: Vec<_> = files.map(|file| file.path()).collect();
    paths.sort();
    let mut corpus: Vec<Vec<u8>> = paths.into_iter().filter_map(|path| fs::read(path).ok()).collect();
    corpus.push(Vec::new());
    corpus
}

fn mutate(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut fastrand::Rng) {
    let at = random.usize(0..=input.len());
    let to = random.usize(at..=input.len().min(at + 64));
    match random.u8(0..8) {
        0 => input.truncate(at),
        1 => drop(input.drain(at..to)),
        2 => {
            let piece = input[at..to].to_vec();
            let there = random.usize(0..=input.len());
            input.splice(there..there, piece);
        }
        3 if !input.is_empty() => {
            let at = at.min(input.len() - 1);
            input[at] = random.u8(..);
        }
        4 => {
            let other = random.choice(corpus).cloned().unwrap_or_default();
            let from = random.usize(0..=other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        5 => {
            // A value of another kind in the place of one.
            let end = input[at..]
                .iter()
                .position(|byte| matches!(byte, b',' | b'}' | b'\n'))
                .map_or(to, |end| at + end);
            let word = random.choice(WORDS).unwrap_or_default();
            input.splice(at..end, word.bytes());
        }
        _ => {
            let word = random.choice(WORDS).unwrap_or_default();
            input.splice(at..at, word.bytes());
        }
    }
}
