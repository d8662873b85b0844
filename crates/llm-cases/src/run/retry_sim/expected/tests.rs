use super::*;

fn call(waits: &[u64]) -> Call {
    Call {
        attempts: waits.len() + 1,
        waits: waits.iter().map(|wait| Duration::from_millis(*wait)).collect(),
        result: json!({"outcome": "ok", "text": "fine"}),
        illegal: None,
    }
}

fn found(expected: Value, calls: &[Call]) -> String {
    check(&expected, "expect").unwrap();
    differences(&expected, calls).join("; ")
}

#[test]
fn what_is_not_named_is_not_checked() {
    let calls = [call(&[3000])];
    for expected in [
        json!({}),
        json!({"result": null}),
        json!({"attempts": 2, "waits_ms": [{"min": 3000, "max": 3000}], "result": {"outcome": "ok"}}),
        json!({"waits_spread": {"min_distinct_ms": 1, "floor_ms": 3000}}),
    ] {
        assert_eq!(found(expected, &calls), "");
    }
}

#[test]
fn every_field_is_compared() {
    let calls = [call(&[3000])];
    for (expected, message) in [
        (json!({"attempts": 3}), "attempts: expected 3, got 2"),
        (
            json!({"waits_ms": [{"min": 3001}]}),
            "waits_ms: expected [{\"min\":3001}], got [3000]",
        ),
        (json!({"waits_ms": []}), "waits_ms: expected [], got [3000]"),
        (
            json!({"result": {"outcome": "ok", "text": "good"}}),
            "result.text: expected \"good\", got \"fine\"",
        ),
        (
            json!({"waits_spread": {"floor_ms": 3001}}),
            "waits_spread.floor_ms: expected 3001, got 3000",
        ),
    ] {
        assert_eq!(found(expected, &calls), message);
    }
}

#[test]
fn each_caller_must_see_what_is_expected_and_all_together_must_spread() {
    let calls = [call(&[10]), call(&[20, 5]), call(&[10])];
    let expected = json!({"attempts": 2, "waits_spread": {"min_distinct_ms": 3, "floor_ms": 10}});
    assert_eq!(
        found(expected, &calls),
        "caller 1: attempts: expected 2, got 3; waits_spread.min_distinct_ms: expected 3, got 2"
    );
}

#[test]
fn ways_may_differ_in_their_waits_alone() {
    assert!(ways_differ(&[call(&[10])], &[call(&[20])]).is_empty());
    assert_eq!(
        ways_differ(&[call(&[10])], &[call(&[])]),
        ["1 attempts here, 2 where it comes whole"]
    );
    let mut other = call(&[10]);
    other.result["text"] = json!("good");
    assert_eq!(
        ways_differ(&[call(&[10])], &[other]),
        ["another result than where it comes whole: text: expected \"fine\", got \"good\""]
    );
}

#[test]
fn words_that_nobody_compares_are_faults() {
    let fault = |expected: Value| check(&expected, "expect").unwrap_err().to_string();
    for (expected, key) in [
        (json!({"whim": 1}), "expect.whim"),
        (json!({"waits_ms": [{"whim": 1}]}), "expect.waits_ms[0].whim"),
        (json!({"waits_spread": {"whim": 1}}), "expect.waits_spread.whim"),
        (
            json!({"result": {"outcome": "ok", "whim": 1}}),
            "expect.result.whim",
        ),
    ] {
        assert_eq!(fault(expected), format!("unknown key {key}"));
    }
    for malformed in [
        json!({"attempts": "2"}),
        json!({"waits_ms": {}}),
        json!({"waits_ms": [{"min": "0"}]}),
    ] {
        assert!(fault(malformed).starts_with("malformed"));
    }
}
