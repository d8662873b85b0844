//! Comparing JSON: where two values differ first, and merge patches.

use serde_json::Value;

/// The first place where two values differ, in words; `None`: they are the same. Numbers are compared by value,
/// objects without regard to the order of keys.
pub(crate) fn difference(expected: &Value, found: &Value) -> Option<String> {
    at("", expected, found)
}

fn at(path: &str, expected: &Value, found: &Value) -> Option<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                let path = format!("{path}/{key}");
                match found.get(key) {
                    None => return Some(format!("{path} is missing; expected {}", short(value))),
                    Some(other) => {
                        if let Some(difference) = at(&path, value, other) {
                            return Some(difference);
                        }
                    }
                }
            }
            let extra = found.iter().find(|(key, _)| !expected.contains_key(*key));
            extra.map(|(key, value)| format!("{path}/{key} is not expected; it is {}", short(value)))
        }
        (Value::Array(expected), Value::Array(found)) => {
            for (index, (one, other)) in expected.iter().zip(found).enumerate() {
                if let Some(difference) = at(&format!("{path}/{index}"), one, other) {
                    return Some(difference);
                }
            }
            let (expected, found) = (expected.len(), found.len());
            (expected != found).then(|| format!("{path} has {found} items; expected {expected}"))
        }
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => None,
        (expected, found) => (expected != found).then(|| {
            let path = if path.is_empty() { "the whole" } else { path };
            format!("{path} is {}; expected {}", short(found), short(expected))
        }),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A JSON merge patch (RFC 7396): objects are merged, null removes, anything else replaces.
pub(crate) fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (key, change) in changes {
        if change.is_null() {
            fields.remove(key);
        } else {
            merge_patch(fields.entry(key.clone()).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let value = json!({"a": [1, {"b": 2.0}], "c": null});
        assert_eq!(
            difference(&value, &json!({"c": null, "a": [1.0, {"b": 2}]})),
            None
        );
        let says = |found: Value| difference(&value, &found).unwrap();
        assert_eq!(
            says(json!({"a": [1, {"b": 3}], "c": null})),
            "/a/1/b is 3; expected 2.0"
        );
        assert_eq!(says(json!({"a": [1, {"b": 2}]})), "/c is missing; expected null");
        assert!(says(json!({"a": [1, {"b": 2}], "c": null, "d": 1})).starts_with("/d is not expected"));
        assert_eq!(says(json!({"a": [1], "c": null})), "/a has 1 items; expected 2");
    }

    #[test]
    fn patches_merge_and_remove() {
        let mut value = json!({"a": 1, "b": {"c": 2, "d": 3}});
        merge_patch(
            &mut value,
            &json!({"stream": true, "b": {"c": null, "e": {"f": 1}}}),
        );
        assert_eq!(
            value,
            json!({"a": 1, "b": {"d": 3, "e": {"f": 1}}, "stream": true})
        );
    }
}
