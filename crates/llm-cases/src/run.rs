//! Running one case: which wires this build can run, and whether the outcome is an expected one.

mod http_error;
mod plain;
mod stream;
mod translation;

use crate::case::{Case, Fault, Wire};
use crate::outcome;
use serde_json::Value;

/// Runs a case. What differs comes back, a line each; nothing differs when it passes.
pub(crate) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    supported(case.wire, &case.input)?;
    match case.wire {
        Wire::OpenAiChatSse => stream::run(case),
        Wire::OpenAiChatJson => plain::run(case),
        Wire::HttpError => http_error::run(case),
        Wire::RequestTranslation => translation::run(case),
        other => Err(unsupported_wire(other)),
    }
}

/// Can this build run such an input?
pub(crate) fn supported(wire: Wire, input: &Value) -> Result<(), Fault> {
    match wire {
        Wire::OpenAiChatSse | Wire::OpenAiChatJson => Ok(()),
        Wire::HttpError => http_error::supported(input),
        Wire::RequestTranslation => translation::supported(input),
        other => Err(unsupported_wire(other)),
    }
}

fn unsupported_wire(wire: Wire) -> Fault {
    Fault::unsupported(format!("the wire {wire} yet"))
}

/// One way a case was run, and what came of it.
struct Outcome {
    /// How it was run, where there are several ways.
    way: &'static str,
    value: Value,
    /// The events of the stream were not a legal sequence.
    illegal: Option<String>,
}

impl Outcome {
    fn new(way: &'static str, value: Value) -> Self {
        Outcome {
            way,
            value,
            illegal: None,
        }
    }
}

/// Checks the expected outcomes of a case for words that nobody would compare.
fn check_expected(case: &Case) -> Result<(), Fault> {
    case.places()
        .try_for_each(|(place, expected)| outcome::check(expected, &place))
}

/// Every way of running a case must give an expected outcome, and all ways the same.
fn judge(case: &Case, outcomes: &[Outcome]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, outcome) in outcomes.iter().enumerate() {
        let way = match outcome.way {
            "" => String::new(),
            way => format!("{way}: "),
        };
        if let Some(rule) = &outcome.illegal {
            found.push(format!("{way}{rule}"));
        }
        let mut all = case
            .outcomes
            .iter()
            .map(|expected| outcome::differences(expected, &outcome.value))
            .collect::<Vec<_>>();
        if !all.iter().any(Vec::is_empty) {
            found.extend(all.swap_remove(0).into_iter().map(|line| format!("{way}{line}")));
        }
        if let Some(first) = outcomes[..number].first()
            && !outcome::same(&first.value, &outcome.value)
        {
            let differ = outcome::differences(&first.value, &outcome.value).join("; ");
            found.push(format!("{} and {} differ: {differ}", first.way, outcome.way));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case() -> Case {
        Case {
            wire: Wire::OpenAiChatSse,
            input: json!({}),
            outcomes: vec![
                json!({"outcome": "ok", "text": "a", "finish_reason": "stop"}),
                json!({"outcome": "ok", "text": "b"}),
            ],
        }
    }

    fn outcome(way: &'static str, text: &str) -> Outcome {
        Outcome::new(
            way,
            json!({"outcome": "ok", "text": text, "finish_reason": "stop"}),
        )
    }

    #[test]
    fn an_alternative_passes_and_the_first_is_what_a_failure_is_told_against() {
        assert!(judge(&case(), &[outcome("", "a")]).is_empty());
        assert!(judge(&case(), &[outcome("", "b")]).is_empty());
        assert_eq!(
            judge(&case(), &[outcome("", "c")]),
            ["text: expected \"a\", got \"c\""]
        );
    }

    #[test]
    fn all_ways_must_pass_and_agree() {
        assert!(judge(&case(), &[outcome("whole", "a"), outcome("bytewise", "a")]).is_empty());
        assert_eq!(
            judge(&case(), &[outcome("whole", "a"), outcome("bytewise", "b")]),
            ["whole and bytewise differ: text: expected \"a\", got \"b\""]
        );
        let mut illegal = outcome("whole", "a");
        illegal.illegal = Some("a second start".to_owned());
        assert_eq!(judge(&case(), &[illegal]), ["whole: a second start"]);
    }
}
