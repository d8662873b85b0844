//! What a case says of limits, and what differs from it.

use crate::case::{Fault, Fields, list};
use crate::outcome;
use serde_json::{Value, json};

/// What was seen of one step.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// So many of its calls were admitted.
    pub(super) admitted: u64,
    /// What the last refused one had no room in.
    pub(super) reason: Option<&'static str>,
}

impl Seen {
    pub(super) fn admitted(calls: u64) -> Self {
        Seen {
            admitted: calls,
            reason: None,
        }
    }

    pub(super) fn refused(reason: &'static str) -> Self {
        Seen {
            admitted: 0,
            reason: Some(reason),
        }
    }
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
        fields.flag("admitted")?;
        fields.optional_count("admitted_count")?;
        match fields.optional_text("reason")? {
            None | Some("requests" | "tokens" | "concurrency") => {}
            Some(other) => return Err(Fault::unknown("reason", other)),
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
            ("admitted", json!(seen.admitted > 0)),
            ("admitted_count", json!(seen.admitted)),
            ("reason", json!(seen.reason)),
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

    #[test]
    fn every_named_field_is_compared_and_no_other() {
        let seen = [Seen::admitted(2), Seen::refused("tokens")];
        let right = json!({"steps": [{"admitted": true, "admitted_count": 2}, {"admitted": false, "reason": "tokens"}]});
        assert!(differences(&right, &seen).is_empty());
        assert!(differences(&json!({"steps": [null, {}]}), &seen).is_empty());
        let wrong = json!({"steps": [{"admitted": false, "admitted_count": 1}, {"reason": "requests"}]});
        assert_eq!(
            differences(&wrong, &seen),
            [
                "steps[0].admitted: expected false, got true",
                "steps[0].admitted_count: expected 1, got 2",
                "steps[1].reason: expected \"requests\", got \"tokens\"",
            ]
        );
    }

    #[test]
    fn words_that_nobody_would_compare_are_faults() {
        for wrong in [
            json!({"steps": [{}]}),
            json!({"steps": [{"reason": "whim"}, {}]}),
            json!({"steps": [{"admit": true}, {}]}),
        ] {
            assert!(check(&wrong, "expect", 2).is_err(), "{wrong}");
        }
        assert!(check(&json!({"steps": [null, {"admitted": true}]}), "expect", 2).is_ok());
    }
}
