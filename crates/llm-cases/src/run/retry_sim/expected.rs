//! What a case says of retries, and what differs from it.

use crate::case::{Fault, Fields, list};
use crate::outcome::{self, milliseconds};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// What came of one caller's call.
#[derive(Debug)]
pub(super) struct Call {
    /// The HTTP requests.
    pub(super) attempts: usize,
    /// The pauses between a failure and the next request.
    pub(super) waits: Vec<Duration>,
    /// The canonical outcome.
    pub(super) result: Value,
    /// The rule that its events break.
    pub(super) illegal: Option<String>,
}

/// Checks an expected outcome for words that nobody would compare.
pub(super) fn check(expected: &Value, at: &str) -> Result<(), Fault> {
    let mut fields = Fields::of(expected, at)?;
    fields.optional_count("attempts")?;
    if let Some(waits) = fields.optional("waits_ms") {
        let at = fields.at("waits_ms");
        for (number, range) in list(waits, &at)?.iter().enumerate() {
            outcome::check_range(range, &format!("{at}[{number}]"))?;
        }
    }
    if let Some(spread) = fields.optional("waits_spread") {
        let mut spread = Fields::of(spread, fields.at("waits_spread"))?;
        spread.optional_count("min_distinct_ms")?;
        spread.optional_count("floor_ms")?;
        spread.end()?;
    }
    if let Some(result) = fields.optional("result").filter(|result| !result.is_null()) {
        outcome::check(result, &fields.at("result"))?;
    }
    fields.end()
}

/// What differs, a line each: that of the first caller who saw something else, and of all callers together.
pub(super) fn differences(expected: &Value, calls: &[Call]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let lines = of_call(expected, call);
        if !lines.is_empty() {
            let who = match calls.len() {
                1 => String::new(),
                _ => format!("caller {number}: "),
            };
            found.extend(lines.into_iter().map(|line| format!("{who}{line}")));
            break;
        }
    }
    if let Some(spread) = expected.get("waits_spread") {
        found.extend(of_spread(spread, calls));
    }
    found
}

fn of_call(expected: &Value, call: &Call) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(attempts) = expected.get("attempts")
        && !outcome::same(attempts, &json!(call.attempts))
    {
        found.push(format!("attempts: expected {attempts}, got {}", call.attempts));
    }
    if let Some(ranges) = expected.get("waits_ms").and_then(Value::as_array) {
        let waits: Vec<Value> = call.waits.iter().map(|wait| milliseconds(*wait)).collect();
        let in_range = ranges.len() == waits.len()
            && ranges
                .iter()
                .zip(&waits)
                .all(|(range, wait)| outcome::within(range, wait));
        if !in_range {
            let (ranges, waits) = (json!(ranges), json!(waits));
            found.push(format!("waits_ms: expected {ranges}, got {waits}"));
        }
    }
    if let Some(result) = expected.get("result").filter(|result| !result.is_null()) {
        let lines = outcome::differences(result, &call.result);
        found.extend(lines.into_iter().map(|line| format!("result.{line}")));
    }
    found
}

fn of_spread(spread: &Value, calls: &[Call]) -> Vec<String> {
    let mut found = Vec::new();
    let first: Vec<Duration> = calls
        .iter()
        .filter_map(|call| call.waits.first().copied())
        .collect();
    let distinct: HashSet<u128> = first.iter().map(Duration::as_millis).collect();
    if let Some(least) = spread["min_distinct_ms"].as_u64()
        && (distinct.len() as u64) < least
    {
        found.push(format!(
            "waits_spread.min_distinct_ms: expected {least}, got {}",
            distinct.len()
        ));
    }
    if let Some(floor) = spread["floor_ms"].as_u64()
        && let Some(shortest) = first.iter().min()
        && *shortest < Duration::from_millis(floor)
    {
        found.push(format!(
            "waits_spread.floor_ms: expected {floor}, got {}",
            milliseconds(*shortest)
        ));
    }
    found
}

/// How the bytes are cut must not matter. (Waits are random, and not compared.)
pub(super) fn ways_differ(first: &[Call], second: &[Call]) -> Vec<String> {
    let differ = |(one, other): (&Call, &Call)| {
        if one.attempts != other.attempts {
            return Some(format!(
                "{} attempts here, {} where it comes whole",
                other.attempts, one.attempts
            ));
        }
        (!outcome::same(&one.result, &other.result)).then(|| {
            let lines = outcome::differences(&one.result, &other.result);
            format!("another result than where it comes whole: {}", lines.join("; "))
        })
    };
    first.iter().zip(second).find_map(differ).into_iter().collect()
}

#[cfg(test)]
mod tests;
