//! That every figure of a router is compared, and every word read.

use super::*;

fn call(text: &str) -> Call {
    Call {
        result: json!({"outcome": "ok", "text": text}),
        answered_by: Some("b".to_owned()),
        start_events: 1,
        illegal: None,
    }
}

fn seen() -> Seen {
    let sent = |id: &str| json!({"deployment": id, "model": format!("m-{id}"), "base_url": "u", "key": "k"});
    Seen {
        steps: vec![
            (vec![call("one")], vec![sent("a"), sent("b")]),
            (vec![call("two"), call("three")], vec![sent("b"), sent("b")]),
        ],
        standing: vec![("a".to_owned(), "cooling"), ("b".to_owned(), "up")],
    }
}

fn right() -> Value {
    json!({
        "steps": [
            {
                "attempts": ["a", "b"], "answered_by": "b", "start_events": 1,
                "result": {"outcome": "ok", "text": "one"},
                "sent": [{"deployment": "b", "model": "m-b", "base_url": "u", "key": "k"}],
            },
            {"attempts": ["b", "b"], "result": null, "answered_by": "b"},
        ],
        "final": {"a": "cooling", "b": "up"},
        "picks": {
            "counts": {"a": 1, "b": {"min": 2, "max": 3}}, "first_attempt": "a", "longest_run_at_most": 3,
        },
    })
}

#[test]
fn every_named_field_is_compared_and_no_other() {
    assert_eq!(differences(&right(), &seen()), [""; 0]);
    assert_eq!(
        differences(&json!({"steps": [null, {}], "final": {}}), &seen()),
        [""; 0]
    );
    for (place, wrong, line) in [
        (
            "/steps/0/attempts",
            json!(["a"]),
            "steps[0].attempts: expected [\"a\"], got [\"a\",\"b\"]",
        ),
        (
            "/steps/0/answered_by",
            json!("a"),
            "steps[0].answered_by: expected \"a\", got \"b\"",
        ),
        (
            "/steps/0/start_events",
            json!(2),
            "steps[0].start_events: expected 2, got 1",
        ),
        (
            "/steps/1/result",
            json!({"outcome": "ok", "text": "two"}),
            "steps[1].result.text: expected \"two\", got \"three\"",
        ),
        (
            "/final/b",
            json!("cooling"),
            "final.b: expected \"cooling\", got \"up\"",
        ),
        ("/picks/counts/a", json!(2), "picks.counts.a: expected 2, got 1"),
        (
            "/picks/counts/b",
            json!([4, 9]),
            "picks.counts.b: expected [4,9], got 3",
        ),
        (
            "/picks/first_attempt",
            json!("b"),
            "picks.first_attempt: expected \"b\", got \"a\"",
        ),
        (
            "/picks/longest_run_at_most",
            json!(2),
            "picks.longest_run_at_most: expected 2, got 3",
        ),
    ] {
        let mut expected = right();
        *expected.pointer_mut(place).unwrap() = wrong;
        assert_eq!(differences(&expected, &seen()), [line]);
    }
    let mut expected = right();
    expected["steps"][0]["sent"][0]["key"] = json!("of another");
    assert!(differences(&expected, &seen())[0].starts_with("steps[0].sent: expected "));
}

#[test]
fn words_that_nobody_would_compare_are_faults() {
    let faulty = |expected: &Value| check(expected, "expect", 2, &["a", "b"]).is_err();
    assert!(!faulty(&right()));
    for place in [
        "",
        "/steps/0",
        "/steps/0/sent/0",
        "/steps/0/result",
        "/picks",
        "/picks/counts/b",
    ] {
        let mut expected = right();
        expected.pointer_mut(place).unwrap()["whim"] = json!(1);
        assert!(faulty(&expected), "{place}");
    }
    for (place, wrong) in [
        ("/steps", json!([null])),
        ("/steps/0/attempts", json!(["c"])),
        ("/steps/0/answered_by", json!("c")),
        ("/final", json!({"c": "up"})),
        ("/final/a", json!("down")),
        ("/picks/counts", json!({"c": 1})),
        ("/picks/counts/a", json!("many")),
        ("/picks/first_attempt", json!("c")),
    ] {
        let mut expected = right();
        *expected.pointer_mut(place).unwrap() = wrong;
        assert!(faulty(&expected), "{place}");
    }
}

#[test]
fn ways_must_agree_on_who_is_asked_and_on_the_results() {
    assert_eq!(ways_differ(&seen(), &seen()), [""; 0]);
    let mut other = seen();
    other.steps[0].0[0].result["text"] = json!("another");
    assert_eq!(
        ways_differ(&seen(), &other),
        ["another result than where it comes whole: text: expected \"one\", got \"another\""]
    );
    other.steps[0].1.pop();
    assert_eq!(ways_differ(&seen(), &other).len(), 2);
}
