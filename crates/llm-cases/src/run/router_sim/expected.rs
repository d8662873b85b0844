//! What a case says of a router, and what differs from it.

use crate::case::{Fault, Fields, list, text};
use crate::outcome;
use crate::run::Asked;
use serde_json::{Value, json};

/// What was seen of a run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The calls of each step, and the requests sent in it, in order.
    pub(super) steps: Vec<(Vec<Call>, Vec<Value>)>,
    /// Each deployment after the last step: `up` or `cooling`.
    pub(super) standing: Vec<(String, &'static str)>,
}

/// What came of one call.
#[derive(Debug)]
pub(super) struct Call {
    result: Value,
    answered_by: Option<String>,
    start_events: u64,
    illegal: Option<String>,
}

impl Call {
    pub(super) fn of(asked: Asked) -> Call {
        Call {
            result: asked.outcome,
            answered_by: asked.served_by,
            start_events: asked.starts,
            illegal: asked.illegal,
        }
    }
}

impl Seen {
    /// The rules that events break.
    pub(super) fn illegal(&self) -> Vec<String> {
        let calls = self.steps.iter().flat_map(|(calls, _)| calls);
        calls.filter_map(|call| call.illegal.clone()).collect()
    }

    /// The deployments of all requests, in order.
    fn asked(&self) -> Vec<&str> {
        self.steps.iter().flat_map(|(_, sent)| asked(sent)).collect()
    }
}

fn asked(sent: &[Value]) -> impl Iterator<Item = &str> {
    sent.iter().filter_map(|request| request["deployment"].as_str())
}

/// Checks an expected outcome for words that nobody would compare.
pub(super) fn check(expected: &Value, at: &str, steps: usize, ids: &[&str]) -> Result<(), Fault> {
    let known = |id: &str| match ids.contains(&id) {
        true => Ok(()),
        false => Err(Fault::unknown("deployment", id)),
    };
    let mut fields = Fields::of(expected, at)?;
    if let Some(each) = fields.optional("steps") {
        let at = fields.at("steps");
        let each = list(each, &at)?;
        if each.len() != steps {
            let wrong = format!("{at} has {} entries for {steps} steps", each.len());
            return Err(Fault::malformed(wrong));
        }
        for (number, step) in each.iter().enumerate().filter(|(_, step)| !step.is_null()) {
            check_step(Fields::of(step, format!("{at}[{number}]"))?, &known)?;
        }
    }
    if let Some(standing) = fields.optional("final") {
        for (id, word) in Fields::of(standing, fields.at("final"))?.entries() {
            known(id)?;
            match word.as_str() {
                Some("up" | "cooling") => {}
                _ => return Err(Fault::unknown("standing", word.to_string())),
            }
        }
    }
    if let Some(picks) = fields.optional("picks") {
        let mut picks = Fields::of(picks, fields.at("picks"))?;
        if let Some(counts) = picks.optional("counts") {
            let at = picks.at("counts");
            for (id, count) in Fields::of(counts, &at)?.entries() {
                known(id)?;
                if !count.is_u64() {
                    outcome::check_range(&range(count), &format!("{at}.{id}"))?;
                }
            }
        }
        picks.optional_text("first_attempt")?.map(known).transpose()?;
        picks.optional_count("longest_run_at_most")?;
        picks.end()?;
    }
    fields.end()
}

fn check_step(mut fields: Fields<'_>, known: &impl Fn(&str) -> Result<(), Fault>) -> Result<(), Fault> {
    if let Some(attempts) = fields.optional("attempts").filter(|attempts| !attempts.is_null()) {
        let at = fields.at("attempts");
        list(attempts, &at)?
            .iter()
            .try_for_each(|id| known(text(id, &at)?))?;
    }
    if let Some(result) = fields.optional("result").filter(|result| !result.is_null()) {
        outcome::check(result, &fields.at("result"))?;
    }
    if let Some(sent) = fields.optional("sent") {
        let at = fields.at("sent");
        for (number, request) in list(sent, &at)?.iter().enumerate() {
            let mut request = Fields::of(request, format!("{at}[{number}]"))?;
            request.optional_text("deployment")?.map(known).transpose()?;
            for key in ["model", "base_url", "key"] {
                request.optional_text(key)?;
            }
            request.end()?;
        }
    }
    fields.optional_text("answered_by")?.map(known).transpose()?;
    fields.optional_count("start_events")?;
    fields.end()
}

/// A range of counts as `{"min", "max"}`; `[min, max]` is the same.
fn range(count: &Value) -> Value {
    match count.as_array().map(Vec::as_slice) {
        Some([min, max]) => json!({"min": min, "max": max}),
        _ => count.clone(),
    }
}

/// What differs, a line each.
pub(super) fn differences(expected: &Value, seen: &Seen) -> Vec<String> {
    let mut found = Vec::new();
    let steps = expected["steps"].as_array().into_iter().flatten();
    for (number, (step, (calls, sent))) in steps.zip(&seen.steps).enumerate() {
        let lines = of_step(step, calls, sent);
        found.extend(lines.into_iter().map(|line| format!("steps[{number}].{line}")));
    }
    for (id, word) in &seen.standing {
        if let Some(want) = expected["final"].get(id)
            && want != word
        {
            found.push(format!("final.{id}: expected {want}, got \"{word}\""));
        }
    }
    found.extend(of_picks(&expected["picks"], &seen.asked()));
    found
}

fn of_step(expected: &Value, calls: &[Call], sent: &[Value]) -> Vec<String> {
    let named = |key: &str| expected.get(key).filter(|want| !want.is_null());
    let mut found = Vec::new();
    if let Some(want) = named("attempts") {
        let got = json!(asked(sent).collect::<Vec<_>>());
        if !outcome::same(want, &got) {
            found.push(format!("attempts: expected {want}, got {got}"));
        }
    }
    for want in named("sent").and_then(Value::as_array).into_iter().flatten() {
        if !sent.iter().any(|request| holds(request, want)) {
            found.push(format!("sent: expected {want}, got {}", json!(sent)));
        }
    }
    // of several calls, the first that is not as it should be
    let mut calls = calls.iter().map(|call| of_call(&named, call));
    found.extend(calls.find(|lines| !lines.is_empty()).unwrap_or_default());
    found
}

fn of_call<'e>(named: &impl Fn(&str) -> Option<&'e Value>, call: &Call) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(want) = named("result") {
        let lines = outcome::differences(want, &call.result);
        found.extend(lines.into_iter().map(|line| format!("result.{line}")));
    }
    let figures = [
        ("answered_by", json!(call.answered_by)),
        ("start_events", json!(call.start_events)),
    ];
    for (key, got) in figures {
        if let Some(want) = named(key)
            && !outcome::same(want, &got)
        {
            found.push(format!("{key}: expected {want}, got {got}"));
        }
    }
    found
}

fn holds(request: &Value, want: &Value) -> bool {
    let mut fields = want.as_object().into_iter().flatten();
    fields.all(|(key, want)| outcome::same(want, &request[key.as_str()]))
}

fn of_picks(expected: &Value, asked: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (id, want) in expected["counts"].as_object().into_iter().flatten() {
        let got = json!(asked.iter().filter(|asked| *asked == id).count());
        let met = match want.is_u64() {
            true => outcome::same(want, &got),
            false => outcome::within(&range(want), &got),
        };
        if !met {
            found.push(format!("picks.counts.{id}: expected {want}, got {got}"));
        }
    }
    if let Some(want) = expected["first_attempt"].as_str()
        && asked.first() != Some(&want)
    {
        let got = json!(asked.first());
        found.push(format!("picks.first_attempt: expected \"{want}\", got {got}"));
    }
    let runs = asked.chunk_by(|one, next| one == next).map(<[_]>::len);
    let longest = runs.max().unwrap_or(0);
    if let Some(most) = expected["longest_run_at_most"].as_u64()
        && longest as u64 > most
    {
        found.push(format!(
            "picks.longest_run_at_most: expected {most}, got {longest}"
        ));
    }
    found
}

/// How the bytes are cut must not matter.
pub(super) fn ways_differ(first: &Seen, second: &Seen) -> Vec<String> {
    let mut found = Vec::new();
    if first.asked() != second.asked() {
        found.push("other deployments are asked than where it comes whole".to_owned());
    }
    let calls = |seen: &Seen| -> Vec<Value> {
        let calls = seen.steps.iter().flat_map(|(calls, _)| calls);
        calls.map(|call| call.result.clone()).collect()
    };
    let differ = calls(first).iter().zip(calls(second)).find_map(|(one, other)| {
        (!outcome::same(one, &other)).then(|| outcome::differences(one, &other).join("; "))
    });
    found.extend(differ.map(|lines| format!("another result than where it comes whole: {lines}")));
    found
}

#[cfg(test)]
mod tests;
