//! Running one case: which wires this build can run, and whether the outcome is an expected one.

mod breaker_sim;
mod cache_sim;
mod http_error;
mod limiter_sim;
mod plain;
mod request;
mod retry_sim;
mod router_sim;
mod stream;
mod stream_translation;
mod timeout_sim;
mod translation;

use crate::case::{Case, Fault, Wire};
use crate::form::{Form, unsupported_wire};
use crate::outcome;
use crate::subject::{Subject, patiently};
use llm_core::{Attempt, ChatRequest};
use serde_json::Value;
use std::time::Duration;

/// Runs a case. What differs comes back, a line each; nothing differs when it passes.
pub(crate) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    supported(case.wire, &case.input)?;
    match case.wire {
        Wire::OpenAiChatSse
        | Wire::OpenAiResponsesSse
        | Wire::AnthropicSse
        | Wire::GeminiSse
        | Wire::GeminiArrayStream
        | Wire::OllamaNdjson => stream::run(case),
        Wire::OpenAiChatJson | Wire::OpenAiResponsesJson | Wire::AnthropicJson => plain::run(case),
        Wire::HttpError => http_error::run(case),
        Wire::RequestTranslation => translation::run(case),
        Wire::StreamTranslation => stream_translation::run(case),
        Wire::BreakerSim => breaker_sim::run(case),
        Wire::CacheSim => cache_sim::run(case),
        Wire::LimiterSim => limiter_sim::run(case),
        Wire::RetrySim => retry_sim::run(case),
        Wire::RouterSim => router_sim::run(case),
        Wire::TimeoutSim => timeout_sim::run(case),
        other => Err(unsupported_wire(other)),
    }
}

/// Can this build run such an input?
pub(crate) fn supported(wire: Wire, input: &Value) -> Result<(), Fault> {
    match wire {
        Wire::OpenAiChatSse
        | Wire::OpenAiChatJson
        | Wire::OpenAiResponsesSse
        | Wire::OpenAiResponsesJson
        | Wire::AnthropicSse
        | Wire::AnthropicJson
        | Wire::GeminiSse
        | Wire::GeminiArrayStream
        | Wire::OllamaNdjson => Form::of_wire(wire).map(drop),
        Wire::HttpError => http_error::supported(input),
        Wire::RequestTranslation => translation::supported(input),
        Wire::StreamTranslation => stream_translation::supported(input),
        Wire::BreakerSim => breaker_sim::supported(input),
        Wire::CacheSim => cache_sim::supported(input),
        Wire::LimiterSim => limiter_sim::supported(input),
        Wire::RetrySim => retry_sim::supported(input),
        Wire::RouterSim => router_sim::supported(input),
        Wire::TimeoutSim => timeout_sim::supported(input),
        other => Err(unsupported_wire(other)),
    }
}

/// What came of asking.
struct Asked {
    outcome: Value,
    /// When the outcome was known, counted from the call.
    known_at: Duration,
    /// The rule that the events break.
    illegal: Option<String>,
    /// So many events said that an answer begins.
    starts: u64,
    /// The candidate whose answer it is, where a router was asked.
    served_by: Option<String>,
}

impl Asked {
    fn new(outcome: Value, known_at: Duration) -> Self {
        Asked {
            outcome,
            known_at,
            illegal: None,
            starts: 0,
            served_by: None,
        }
    }
}

/// Who served, by the log of an answer.
fn server(attempts: &[Attempt]) -> Option<String> {
    let served = attempts.last().filter(|last| last.failure.is_none())?;
    Some(served.candidate.clone())
}

/// Asks for a stream and reads it to its end, or asks for the whole answer.
async fn ask(subject: &Subject, request: &ChatRequest, stream: bool) -> Asked {
    if stream {
        stream::ask(subject, request, None).await
    } else {
        plain::ask(subject, request).await
    }
}

/// Asks where nothing but the layers under test limits the call.
async fn ask_patiently(subject: &Subject, request: &ChatRequest, stream: bool) -> Asked {
    match patiently(ask(subject, request, stream)).await {
        Some(asked) => asked,
        None => Asked::new(outcome::of_no_end(), subject.elapsed()),
    }
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

    /// What came of asking, and how long after the last byte it was known.
    fn timed(way: &'static str, asked: Asked, after: Duration) -> Self {
        Outcome {
            way,
            value: outcome::with_time(asked.outcome, after),
            illegal: asked.illegal,
        }
    }
}

/// Checks the expected outcomes of a case for words that nobody would compare.
fn check_expected(case: &Case) -> Result<(), Fault> {
    case.places()
        .try_for_each(|(place, expected)| outcome::check(expected, &place))
}

/// What differs from the first expected outcome, a line each; empty when one of them is met.
fn unmet<E>(expected: &[E], differences: impl Fn(&E) -> Vec<String>) -> Vec<String> {
    let mut all: Vec<Vec<String>> = expected.iter().map(differences).collect();
    match all.iter().position(Vec::is_empty) {
        Some(_) => Vec::new(),
        None => all.swap_remove(0),
    }
}

/// Lines about one way of running a case.
fn told(way: &str, lines: Vec<String>) -> Vec<String> {
    if way.is_empty() {
        return lines;
    }
    lines.into_iter().map(|line| format!("{way}: {line}")).collect()
}

/// Every way of running a case must give an expected outcome, and all ways the same.
fn judge(case: &Case, outcomes: &[Outcome]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, outcome) in outcomes.iter().enumerate() {
        let mut lines: Vec<String> = outcome.illegal.iter().cloned().collect();
        lines.extend(unmet(&case.outcomes, |expected| {
            outcome::differences(expected, &outcome.value)
        }));
        found.extend(told(outcome.way, lines));
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
