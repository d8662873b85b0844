//! Simulations that are not as they should be, and runs that do not come out as expected.

use crate::folders::Folder;
use serde_json::{Value, json};

fn retry_case() -> Value {
    json!({
        "id": "a", "kind": "limits", "wire": "retry-sim", "level": "must",
        "input": {
            "policy": {"max_attempts": 3, "base_ms": 100, "cap_ms": 800, "jitter": "full"},
            "upstream": [{"status": 429, "headers": {"retry-after": "2"}}, {"ok": "fine"}],
        },
        "expect": {"attempts": 2, "waits_ms": [{"min": 2000, "max": 2100}], "result": {"outcome": "ok", "text": "fine"}},
        "why": "because",
    })
}

fn timeout_case() -> Value {
    json!({
        "id": "a", "kind": "timeouts", "wire": "timeout-sim", "level": "must",
        "input": {
            "config": {"connect_ms": 500, "first_byte_ms": 3000, "idle_ms": 2000, "total_ms": 60000},
            "upstream": {"chunks": [{"hang": true}]},
        },
        "expect": {"outcome": "error", "error": {"class": "timeout"}, "fires_after_ms": {"min": 3000, "max": 3000}},
        "why": "because",
    })
}

/// What the program says of a case that was changed.
fn line(name: &str, mut case: Value, change: impl FnOnce(&mut Value)) -> String {
    change(&mut case);
    Folder::new(&format!("simulation-{name}")).with(&case).run(&[]).1[0].clone()
}

#[test]
fn they_pass_as_they_are() {
    assert_eq!(line("retry", retry_case(), |_| ()), "ok a");
    assert_eq!(line("timeout", timeout_case(), |_| ()), "ok a");
}

#[test]
fn every_figure_of_a_retry_is_compared() {
    let of = |change: fn(&mut Value)| line("retry-figures", retry_case(), change);
    assert_eq!(
        of(|case| case["expect"]["attempts"] = json!(3)),
        "FAIL a: attempts: expected 3, got 2"
    );
    let early = of(|case| case["expect"]["waits_ms"] = json!([{"min": 0, "max": 1999}]));
    assert!(
        early.starts_with("FAIL a: waits_ms: expected [{\"min\":0,\"max\":1999}], got [2"),
        "{early}"
    );
    assert_eq!(
        of(|case| case["expect"]["waits_spread"] = json!({"min_distinct_ms": 2})),
        "FAIL a: waits_spread.min_distinct_ms: expected 2, got 1"
    );
    assert_eq!(
        of(|case| case["expect"]["result"]["text"] = json!("good")),
        "FAIL a: result.text: expected \"good\", got \"fine\""
    );
    let no_callers = of(|case| case["input"]["callers"] = json!(0));
    assert_eq!(no_callers, "FAIL a: malformed: 0 callers cannot be run");
}

#[test]
fn words_of_a_retry_that_nobody_reads_are_failures() {
    let of = |change: fn(&mut Value)| line("retry-words", retry_case(), change);
    for (line, fault) in [
        (
            of(|case| case["input"]["policy"]["whim"] = json!(1)),
            "unknown key input.policy.whim",
        ),
        (
            of(|case| case["input"]["policy"]["jitter"] = json!("some")),
            "unknown jitter some",
        ),
        (
            of(|case| case["input"]["upstream"][1]["whim"] = json!(1)),
            "unknown key input.upstream[1].whim",
        ),
        (
            of(|case| case["input"]["dialect"] = json!("klingon")),
            "unknown dialect klingon",
        ),
        (
            of(|case| case["input"]["dialect"] = json!("bedrock")),
            "this build cannot run retries of the dialect bedrock yet",
        ),
        (
            of(|case| case["expect"]["waits"] = json!([])),
            "unknown key expect.waits",
        ),
        (
            of(|case| case["accept"] = json!([{"result": {"outcome": "ok", "whim": 1}}])),
            "unknown key accept[0].result.whim",
        ),
    ] {
        assert_eq!(line, format!("FAIL a: {fault}"));
    }
    let request = of(|case| case["input"]["request"] = json!({"model": "demo"}));
    assert!(
        request.starts_with("FAIL a: malformed: input.request is no request"),
        "{request}"
    );
}

#[test]
fn a_stream_is_retried_whole_and_byte_by_byte() {
    let line = line("retry-ways", retry_case(), |case| {
        case["input"]["request"] =
            json!({"model": "demo", "messages": [{"role": "user", "content": "Q"}], "stream": true});
        case["expect"]["attempts"] = json!(1);
    });
    assert_eq!(
        line,
        "FAIL a: whole: attempts: expected 1, got 2; byte by byte: attempts: expected 1, got 2"
    );
}

#[test]
fn limits_are_compared_in_both_ways_and_words_that_nobody_reads_are_failures() {
    let of = |change: fn(&mut Value)| line("timeout-words", timeout_case(), change);
    let late = of(|case| case["expect"]["fires_after_ms"] = json!({"max": 2999}));
    assert_eq!(
        late,
        "FAIL a: whole: fires_after_ms: expected {\"max\":2999}, got 3000; \
         byte by byte: fires_after_ms: expected {\"max\":2999}, got 3000"
    );
    for (line, fault) in [
        (
            of(|case| case["input"]["config"]["whim_ms"] = json!(1)),
            "unknown key input.config.whim_ms",
        ),
        (
            of(|case| case["input"]["upstream"]["whim"] = json!(1)),
            "unknown key input.upstream.whim",
        ),
        (
            of(|case| case["input"]["upstream"]["connect"] = json!("slowly")),
            "unknown connect slowly",
        ),
        (
            of(|case| case["input"]["dialect"] = json!("bedrock")),
            "this build cannot run time limits of the dialect bedrock yet",
        ),
        (
            of(|case| {
                case["input"]["config"] = json!({});
                case["input"]["upstream"]["connect"] = json!("hang");
            }),
            "malformed: input.upstream never connects without a connect_ms",
        ),
    ] {
        assert_eq!(line, format!("FAIL a: {fault}"));
    }
}

#[test]
fn a_call_that_nothing_ends_is_no_timeout() {
    let line = line("timeout-never", timeout_case(), |case| {
        case["input"]["config"] = json!({"total_ms": 60000});
        case["expect"] = json!({"outcome": "error", "error": {"class": "timeout"}});
    });
    assert!(
        line.starts_with("FAIL a: whole: outcome: expected \"error\", got \"no end\""),
        "{line}"
    );
}
