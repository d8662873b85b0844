//! Comparing an outcome with the expected one: a field that is not named is not checked.

use serde_json::{Map, Value};

/// In place of an id: any that is not empty and different from all others.
const ANY_UNIQUE: &str = "<any-unique>";
/// The most characters of a value in a message.
const LONGEST_VALUE: usize = 160;

/// What differs, a line each; empty when everything that is named is as expected.
pub(crate) fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(expected, actual, "", &mut found);
    found
}

fn compare(expected: &Value, actual: &Value, at: &str, found: &mut Vec<String>) {
    let Some(named) = expected.as_object() else {
        return found.push(differ(at, expected, actual));
    };
    for (key, want) in named {
        let place = format!("{at}{key}");
        let got = &actual[key.as_str()];
        let same = match key.as_str() {
            "partial" | "error" => {
                compare(want, got, &format!("{place}."), found);
                continue;
            }
            "usage" if !want.is_null() => {
                counts(want, got, &format!("{place}."), found);
                continue;
            }
            "tool_calls" | "incomplete_tool_calls" => {
                calls(want, got, &ids_of(actual), &place, found);
                continue;
            }
            "message_contains" => {
                let message = &actual["message"];
                if !contains(message, want) {
                    let (message, want) = (shown(message), shown(want));
                    found.push(format!("{at}message: {message} does not hold {want}"));
                }
                continue;
            }
            "usage" => got.as_object().is_none_or(Map::is_empty),
            "fires_after_ms" => within(want, got),
            "cost_usd" => same_cost(want, got),
            _ => same(want, got),
        };
        if !same {
            found.push(differ(&place, want, got));
        }
    }
}

fn counts(want: &Value, got: &Value, at: &str, found: &mut Vec<String>) {
    for (key, want) in want.as_object().unwrap_or(&Map::new()) {
        let got = &got[key.as_str()];
        let nothing = got.is_null() && want.as_f64() == Some(0.0);
        if !nothing && !same(want, got) {
            found.push(differ(&format!("{at}{key}"), want, got));
        }
    }
}

fn calls(want: &Value, got: &Value, ids: &[&str], at: &str, found: &mut Vec<String>) {
    let (want_list, got_list) = (items(want), items(got));
    if want_list.len() != got_list.len() {
        return found.push(differ(at, want, got));
    }
    for (number, (want, got)) in want_list.iter().zip(got_list).enumerate() {
        for (key, want) in want.as_object().unwrap_or(&Map::new()) {
            let got = &got[key.as_str()];
            let fits = if key == "id" && want == ANY_UNIQUE {
                let id = got.as_str().unwrap_or_default();
                !id.is_empty() && ids.iter().filter(|other| **other == id).count() == 1
            } else {
                same(want, got)
            };
            if !fits {
                found.push(differ(&format!("{at}[{number}].{key}"), want, got));
            }
        }
    }
}

/// The ids of all calls of an outcome.
fn ids_of(outcome: &Value) -> Vec<&str> {
    ["tool_calls", "incomplete_tool_calls"]
        .into_iter()
        .flat_map(|key| items(&outcome[key]))
        .filter_map(|call| call["id"].as_str())
        .collect()
}

/// Whole values: numbers by value, objects without regard to key order.
pub(crate) fn same(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Number(want), Value::Number(got)) => {
            match (want.as_i64(), got.as_i64(), want.as_u64(), got.as_u64()) {
                (Some(want), Some(got), ..) => want == got,
                (.., Some(want), Some(got)) => want == got,
                _ => want.as_f64() == got.as_f64(),
            }
        }
        (Value::Array(want), Value::Array(got)) => {
            want.len() == got.len() && want.iter().zip(got).all(|(want, got)| same(want, got))
        }
        (Value::Object(want), Value::Object(got)) => {
            want.len() == got.len()
                && want
                    .iter()
                    .all(|(key, want)| got.get(key).is_some_and(|got| same(want, got)))
        }
        _ => want == got,
    }
}

/// To 9 digits behind the point.
fn same_cost(want: &Value, got: &Value) -> bool {
    match (want.as_f64(), got.as_f64()) {
        (Some(want), Some(got)) => (want - got).abs() < 5e-10,
        _ => want == got,
    }
}

/// Is a number in a range, ends included? An end that is not named is not checked.
pub(crate) fn within(range: &Value, got: &Value) -> bool {
    got.as_f64().is_some_and(|got| {
        range["min"].as_f64().is_none_or(|min| got >= min)
            && range["max"].as_f64().is_none_or(|max| got <= max)
    })
}

fn contains(message: &Value, part: &Value) -> bool {
    match (message.as_str(), part.as_str()) {
        (Some(message), Some(part)) => message.contains(part),
        _ => false,
    }
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn differ(at: &str, want: &Value, got: &Value) -> String {
    format!("{at}: expected {}, got {}", shown(want), shown(got))
}

fn shown(value: &Value) -> String {
    if value.is_null() {
        return "nothing".to_owned();
    }
    let text = value.to_string();
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn actual() -> Value {
        json!({
            "outcome": "error", "text": "Hi", "text_len": 2, "reasoning": "", "refusal_text": "",
            "finish_reason": "stop", "cost_usd": 0.000_370_000_4, "fires_after_ms": 20,
            "usage": {"input_tokens": 9},
            "tool_calls": [
                {"id": "a", "name": "f", "arguments": {"x": 1, "y": [1, 2]}},
                {"id": "b", "name": "g", "arguments": {}},
            ],
            "incomplete_tool_calls": [{"id": "b", "name": "h", "arguments_raw": "{"}],
            "error": {"class": "server", "retryable": true, "message": "it broke"},
            "partial": {"text": "half"},
        })
    }

    fn found(expected: Value) -> String {
        differences(&expected, &actual()).join("; ")
    }

    #[test]
    fn what_is_not_named_is_not_checked() {
        assert_eq!(found(json!({"outcome": "error"})), "");
        assert_eq!(found(json!({"error": {}, "partial": {}, "usage": {}})), "");
    }

    #[test]
    fn every_field_is_compared() {
        let wrong = [
            (
                json!({"outcome": "ok"}),
                "outcome: expected \"ok\", got \"error\"",
            ),
            (json!({"text": "Ho"}), "text: expected \"Ho\", got \"Hi\""),
            (json!({"text_len": 3}), "text_len: expected 3, got 2"),
            (json!({"reasoning": "x"}), "reasoning: expected \"x\", got \"\""),
            (
                json!({"finish_reason": null}),
                "finish_reason: expected nothing, got \"stop\"",
            ),
            (
                json!({"cost_usd": 0.00038}),
                "cost_usd: expected 0.00038, got 0.0003700004",
            ),
            (
                json!({"usage": {"output_tokens": 1}}),
                "usage.output_tokens: expected 1, got nothing",
            ),
            (
                json!({"usage": {"input_tokens": 0}}),
                "usage.input_tokens: expected 0, got 9",
            ),
            (
                json!({"usage": null}),
                "usage: expected nothing, got {\"input_tokens\":9}",
            ),
            (
                json!({"error": {"class": "timeout"}}),
                "error.class: expected \"timeout\", got \"server\"",
            ),
            (
                json!({"error": {"retry_after_ms": 5}}),
                "error.retry_after_ms: expected 5, got nothing",
            ),
            (
                json!({"error": {"message_contains": "ate"}}),
                "error.message: \"it broke\" does not hold \"ate\"",
            ),
            (
                json!({"partial": {"text": "whole"}}),
                "partial.text: expected \"whole\", got \"half\"",
            ),
            (
                json!({"fires_after_ms": {"min": 21, "max": 30}}),
                "fires_after_ms: expected {\"min\":21,\"max\":30}, got 20",
            ),
            (
                json!({"replay": {"reasoning_details": []}}),
                "replay: expected {\"reasoning_details\":[]}, got nothing",
            ),
        ];
        for (expected, message) in wrong {
            assert_eq!(found(expected), message);
        }
    }

    #[test]
    fn values_are_equal_as_the_format_says() {
        assert_eq!(
            found(json!({
                "usage": {"input_tokens": 9.0, "reasoning_tokens": 0},
                "cost_usd": 0.00037,
                "error": {"retry_after_ms": null, "message_contains": "broke"},
                "fires_after_ms": {"max": 20},
            })),
            ""
        );
        assert!(!same_cost(&json!(0.37), &json!(0.370_000_001)));
        assert!(same(&json!({"a": 1, "b": [2]}), &json!({"b": [2.0], "a": 1})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(!same(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992_u64)
        ));
        assert!(!same(&json!(1), &json!("1")));
        assert!(!same(&json!(1), &json!(true)));
    }

    #[test]
    fn calls_are_compared_whole_and_in_order() {
        let call =
            |id: &str, name: &str, arguments: Value| json!({"id": id, "name": name, "arguments": arguments});
        let first = || call("a", "f", json!({"y": [1, 2], "x": 1}));
        let second = || call("b", "g", json!({}));
        assert_eq!(found(json!({"tool_calls": [first(), second()]})), "");
        assert!(found(json!({"tool_calls": [first()]})).starts_with("tool_calls: expected"));
        assert!(found(json!({"tool_calls": [second(), first()]})).contains("tool_calls[0].id"));
        assert_eq!(
            found(json!({"tool_calls": [call("a", "f", json!({"x": 1})), second()]})),
            "tool_calls[0].arguments: expected {\"x\":1}, got {\"x\":1,\"y\":[1,2]}"
        );
        assert!(found(json!({"incomplete_tool_calls": []})).contains("incomplete_tool_calls"));
    }

    #[test]
    fn any_unique_means_generated_and_used_once() {
        let call = |id: &str| json!({"id": id});
        assert_eq!(found(json!({"tool_calls": [call(ANY_UNIQUE), call("b")]})), "");
        assert_eq!(
            found(json!({"tool_calls": [call("a"), call(ANY_UNIQUE)]})),
            "tool_calls[1].id: expected \"<any-unique>\", got \"b\""
        );
    }
}
