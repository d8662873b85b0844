//! What a case says of caching, and what differs from it.

use crate::case::{Fault, Fields, list};
use crate::outcome;
use serde_json::{Map, Value, json};

/// What came of one call.
#[derive(Debug)]
pub(super) struct Step {
    /// The vendor was asked.
    pub(super) was_asked: bool,
    /// The canonical outcome.
    pub(super) result: Value,
    /// The rule that its events break.
    pub(super) illegal: Option<String>,
}

/// The keys of a step that are not those of the canonical outcome.
const OWN: [&str; 3] = ["cache", "result", "billed_cost_usd"];

/// Checks an expected outcome for words that nobody would compare.
pub(super) fn check(expected: &Value, at: &str) -> Result<(), Fault> {
    let mut fields = Fields::of(expected, at)?;
    let at = fields.at("steps");
    for (number, step) in list(fields.required("steps")?, &at)?.iter().enumerate() {
        if step.is_null() {
            continue;
        }
        let at = format!("{at}[{number}]");
        let Value::Object(step) = step else {
            return Err(Fault::malformed(format!("{at} is no object")));
        };
        match step.get("cache").map(Value::as_str) {
            None | Some(Some("hit" | "miss")) => {}
            Some(word) => return Err(Fault::unknown("cache", word.unwrap_or("no text"))),
        }
        if step.get("billed_cost_usd").is_some_and(|cost| !cost.is_number()) {
            return Err(Fault::malformed(format!("{at}.billed_cost_usd is not a number")));
        }
        if let Some(result) = step.get("result").filter(|result| !result.is_null()) {
            outcome::check(result, &format!("{at}.result"))?;
        }
        outcome::check(&content(step), &at)?;
    }
    fields.end()
}

/// What differs, a line each.
pub(super) fn differences(expected: &Value, steps: &[Step]) -> Vec<String> {
    let Some(expected) = expected["steps"].as_array() else {
        return Vec::new();
    };
    if expected.len() != steps.len() {
        return vec![format!("steps: expected {}, got {}", expected.len(), steps.len())];
    }
    let mut found = Vec::new();
    for (number, (expected, step)) in expected.iter().zip(steps).enumerate() {
        if let Value::Object(expected) = expected {
            let lines = of_step(expected, step);
            found.extend(lines.into_iter().map(|line| format!("steps[{number}].{line}")));
        }
    }
    found
}

fn of_step(expected: &Map<String, Value>, step: &Step) -> Vec<String> {
    let mut found = Vec::new();
    let got = if step.was_asked { "miss" } else { "hit" };
    if let Some(cache) = expected.get("cache")
        && cache != got
    {
        found.push(format!("cache: expected {cache}, got \"{got}\""));
    }
    if let Some(billed) = expected.get("billed_cost_usd") {
        let got = &step.result["cost_usd"];
        if !outcome::same(billed, got) {
            found.push(format!("billed_cost_usd: expected {billed}, got {got}"));
        }
    }
    if let Some(result) = expected.get("result").filter(|result| !result.is_null()) {
        let lines = outcome::differences(result, &step.result);
        found.extend(lines.into_iter().map(|line| format!("result.{line}")));
    }
    if expected.keys().any(|key| !OWN.contains(&key.as_str())) {
        found.extend(outcome::differences(&content(expected), &step.result));
    }
    found
}

/// The fields of the canonical outcome that stand in a step itself: those of an answer.
fn content(step: &Map<String, Value>) -> Value {
    let fields = step.iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
    let mut content: Map<String, Value> = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    content.entry("outcome").or_insert_with(|| json!("ok"));
    Value::Object(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(was_asked: bool, text: &str) -> Step {
        Step {
            was_asked,
            result: json!({"outcome": "ok", "text": text, "cost_usd": 0.0}),
            illegal: None,
        }
    }

    #[test]
    fn every_word_of_a_step_is_compared() {
        let steps = [step(true, "one"), step(false, "one")];
        let met = json!({"steps": [
            {"cache": "miss", "result": {"outcome": "ok", "text": "one"}},
            {"cache": "hit", "text": "one", "billed_cost_usd": 0},
        ]});
        assert!(differences(&met, &steps).is_empty());
        assert!(differences(&json!({"steps": [null, {}]}), &steps).is_empty());
        let unmet = json!({"steps": [
            {"cache": "hit", "result": {"outcome": "error"}},
            {"text": "two", "billed_cost_usd": 1},
        ]});
        assert_eq!(
            differences(&unmet, &steps),
            [
                "steps[0].cache: expected \"hit\", got \"miss\"",
                "steps[0].result.outcome: expected \"error\", got \"ok\"",
                "steps[1].billed_cost_usd: expected 1, got 0.0",
                "steps[1].text: expected \"two\", got \"one\"",
            ]
        );
        assert_eq!(
            differences(&json!({"steps": []}), &steps),
            ["steps: expected 0, got 2"]
        );
    }

    #[test]
    fn words_that_nobody_compares_are_faults() {
        for wrong in [
            json!({}),
            json!({"steps": [{"cache": "warm"}]}),
            json!({"steps": [{"cached": "hit"}]}),
            json!({"steps": [{"billed_cost_usd": "0"}]}),
            json!({"steps": [{"result": {"text": "no outcome"}}]}),
            json!({"steps": [7]}),
            json!({"steps": [], "more": 1}),
        ] {
            assert!(check(&wrong, "expect").is_err(), "{wrong}");
        }
        check(&json!({"steps": [null, {"cache": "hit", "text": "a"}]}), "expect").unwrap();
    }
}
