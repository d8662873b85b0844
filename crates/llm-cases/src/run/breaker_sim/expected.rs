//! What a case says of a breaker, and what differs from it.

use crate::case::{Fault, Fields, list};
use crate::outcome;
use serde_json::{Value, json};

/// What was seen of one step.
#[derive(Debug)]
pub(super) struct Seen {
    /// So many of its calls reached the vendor.
    pub(super) passed: usize,
    /// Where the breaker stood after it.
    pub(super) state: &'static str,
}

/// Checks an expected outcome for words that nobody would compare.
pub(super) fn check(expected: &Value, at: &str, steps: usize) -> Result<(), Fault> {
    let mut fields = Fields::of(expected, at)?;
    let at = fields.at("steps");
    let each = list(fields.required("steps")?, &at)?;
    if each.len() != steps {
        let wrong = format!("{at} has {} entries for {steps} steps", each.len());
        return Err(Fault::malformed(wrong));
    }
    for (number, step) in each.iter().enumerate().filter(|(_, step)| !step.is_null()) {
        let mut fields = Fields::of(step, format!("{at}[{number}]"))?;
        fields.flag("passed")?;
        fields.optional_count("passed_count")?;
        match fields.optional_text("state")? {
            None | Some("closed" | "open" | "half_open") => {}
            Some(other) => return Err(Fault::unknown("state", other)),
        }
        fields.end()?;
    }
    fields.end()
}

/// What differs, a line each.
pub(super) fn differences(expected: &Value, seen: &[Seen]) -> Vec<String> {
    let steps = expected["steps"].as_array().into_iter().flatten();
    let each = steps.zip(seen).enumerate();
    each.flat_map(|(number, (expected, seen))| {
        let got = [
            ("passed", json!(seen.passed > 0)),
            ("passed_count", json!(seen.passed)),
            ("state", json!(seen.state)),
        ];
        got.into_iter().filter_map(move |(key, got)| {
            let want = expected.get(key).filter(|want| !want.is_null())?;
            let line = format!("steps[{number}].{key}: expected {want}, got {got}");
            (!outcome::same(want, &got)).then_some(line)
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Vec<Seen> {
        vec![
            Seen {
                passed: 1,
                state: "closed",
            },
            Seen {
                passed: 0,
                state: "open",
            },
        ]
    }

    #[test]
    fn every_named_field_is_compared_and_no_other() {
        let right =
            json!({"steps": [{"passed": true, "state": "closed"}, {"passed": false, "passed_count": 0}]});
        assert!(differences(&right, &seen()).is_empty());
        assert!(differences(&json!({"steps": [null, {}]}), &seen()).is_empty());
        let wrong =
            json!({"steps": [{"passed": false, "state": "open"}, {"passed_count": 2, "state": "half_open"}]});
        assert_eq!(
            differences(&wrong, &seen()),
            [
                "steps[0].passed: expected false, got true",
                "steps[0].state: expected \"open\", got \"closed\"",
                "steps[1].passed_count: expected 2, got 0",
                "steps[1].state: expected \"half_open\", got \"open\"",
            ]
        );
    }

    #[test]
    fn words_that_nobody_would_compare_are_faults() {
        for wrong in [
            json!({"steps": [{}]}),
            json!({"steps": [{"state": "ajar"}, {}]}),
            json!({"steps": [{"pass": true}, {}]}),
            json!({"steps": [{"passed": 1}, {}]}),
            json!({"step": []}),
        ] {
            assert!(check(&wrong, "expect", 2).is_err(), "{wrong}");
        }
        assert!(check(&json!({"steps": [null, {"passed": true}]}), "expect", 2).is_ok());
    }
}
