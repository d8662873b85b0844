//! What makes a key another one, and what does not.

use super::*;
use llm_core::{DriverId, VendorId};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashSet;

fn info() -> DriverInfo {
    let vendor = VendorId::from_static("alpha");
    DriverInfo::new(DriverId::from_static("alpha"), vendor, "Alpha").with_base_url("https://alpha.example/v1")
}

fn model(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

fn key_of(request: &ChatRequest) -> CacheKey {
    let asked = Asked {
        driver: &info(),
        model: &model("m1"),
        namespaces: ["", ""],
        request,
    };
    CacheKey::of(&asked).unwrap()
}

fn key(request: Value) -> CacheKey {
    key_of(&serde_json::from_value(request).unwrap())
}

/// A request with something in every field that a request, its messages and its parts have.
fn full() -> Value {
    let replay = json!({"origin": {"vendor": "alpha", "model": "m1"}, "data": {"signature": "s"}});
    json!({
        "model": "m1",
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}, {"type": "cache_point", "ttl": "long"}]},
            {"role": "user", "name": "ada", "content": [
                {"type": "text", "text": "Hi", "replay": replay},
                {"type": "image", "source": {"kind": "url", "url": "https://a.example/x"}, "detail": "low"},
                {"type": "audio", "source": {"kind": "base64", "media_type": "audio/wav", "data": "QUJD"}},
                {"type": "document", "source": {"kind": "vendor_file", "vendor": "alpha", "id": "f1"}, "name": "a.pdf"},
            ]},
            {"role": "assistant", "content": [
                {"type": "reasoning", "text": "hm", "replay": replay},
                {"type": "refusal", "text": "no"},
                {"type": "opaque", "kind": "search", "replay": replay},
                {"type": "tool_call", "id": "c1", "name": "f", "arguments": "{\"a\": 1}", "replay": replay},
            ]},
            {"role": "tool", "content": [
                {"type": "tool_result", "call_id": "c1", "name": "f", "content": [{"type": "text", "text": "yes"}], "is_error": true},
            ]},
        ],
        "tools": [{"name": "f", "description": "does f", "strict": true, "parameters":
            {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}}}],
        "tool_choice": "required",
        "parallel_tool_calls": true,
        "output": {"type": "json_schema", "name": "n", "description": "d", "strict": true, "schema": {"type": "object"}},
        "sampling": {"temperature": 0.5, "top_p": 0.5, "top_k": 3, "frequency_penalty": 0.5, "presence_penalty": 0.5, "seed": 7},
        "reasoning": {"effort": "low", "include": true},
        "max_output_tokens": 16,
        "stop": ["END"],
        "user": "u",
        "service_tier": "flex",
        "vendor": {"alpha": {"top_a": 0.5}},
    })
}

/// All places in a value, as JSON pointers.
fn places(value: &Value, at: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                places(value, format!("{at}/{name}"), into);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                places(item, format!("{at}/{number}"), into);
            }
        }
        _ => {}
    }
    into.push(at);
}

/// Other values for a place, as far as any of them makes a request.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => [
            format!("{text}x"),
            "high".into(),
            "short".into(),
            "none".into(),
            "user".into(),
            "assistant".into(),
        ]
        .map(Value::from)
        .to_vec(),
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(_) => vec![json!(1), json!(0.25)],
        Value::Array(items) => vec![
            json!([]),
            items.iter().chain(items.last()).cloned().collect(),
            items.iter().rev().cloned().collect(),
        ],
        _ => Vec::new(),
    }
}

#[test]
fn whatever_differs_in_a_request_makes_another_key() {
    let full = full();
    let request: ChatRequest = serde_json::from_value(full.clone()).unwrap();
    assert_eq!(
        serde_json::to_value(&request).unwrap(),
        full,
        "nothing is left out here"
    );
    let mut all = Vec::new();
    places(&full, String::new(), &mut all);
    let mut untried = Vec::new();
    for place in all.iter().filter(|place| !place.is_empty() && *place != "/model") {
        let mut tried = 0;
        let mut changes: Vec<Value> = others(full.pointer(place).unwrap());
        // And without the field.
        changes.push(Value::Null);
        for change in changes {
            let mut other = full.clone();
            *other.pointer_mut(place).unwrap() = change;
            let Ok(other) = serde_json::from_value::<ChatRequest>(other) else {
                continue;
            };
            if other != request {
                tried += 1;
                assert_ne!(key_of(&other), key_of(&request), "{place} is not in the key");
            }
        }
        let is_leaf = full.pointer(place).is_some_and(|value| !value.is_object());
        if tried == 0 && is_leaf {
            untried.push(place.as_str());
        }
    }
    // The word that says what a part is cannot be another by itself.
    untried.retain(|place| !place.ends_with("/type") && !place.ends_with("/source/kind"));
    assert_eq!(untried, Vec::<&str>::new());
}

#[test]
fn of_whom_and_for_whom_makes_another_key() {
    let request = ChatRequest::user("hi");
    let of = |driver: &DriverInfo, name: &str, namespaces: [&str; 2]| {
        let model = &model(name);
        CacheKey::of(&Asked {
            driver,
            model,
            namespaces,
            request: &request,
        })
        .unwrap()
    };
    let mut other_vendor = info();
    other_vendor.vendor = VendorId::from_static("beta");
    let keys = HashSet::from([
        of(&info(), "m1", ["", ""]),
        of(&info(), "m2", ["", ""]),
        of(&info().with_base_url("https://beta.example/v1"), "m1", ["", ""]),
        of(&other_vendor, "m1", ["", ""]),
        of(&info(), "m1", ["t", ""]),
        of(&info(), "m1", ["", "t"]),
        of(&info(), "m1", ["t", "t"]),
    ]);
    assert_eq!(keys.len(), 7);
}

#[test]
fn the_name_for_the_model_and_the_layers_make_none() {
    let named = ChatRequest::user("hi").with_model(model("alpha/m1"));
    assert_eq!(key_of(&named), key_of(&ChatRequest::user("hi")));
    let asked = Asked {
        driver: &info().with_layer("retry"),
        model: &model("m1"),
        namespaces: ["", ""],
        request: &named,
    };
    assert_eq!(CacheKey::of(&asked), Some(key_of(&named)));
}

fn with_parameters(parameters: &str) -> Value {
    let parameters: Value = serde_json::from_str(parameters).unwrap();
    json!({"messages": [], "tools": [{"name": "f", "parameters": parameters}]})
}

#[test]
fn the_order_of_properties_counts_and_that_of_other_keys_does_not() {
    let one = key(with_parameters(
        r#"{"type": "object", "properties": {"a": {"type": "x", "title": "t"}, "b": {}}}"#,
    ));
    let same = key(with_parameters(
        r#"{"properties": {"a": {"title": "t", "type": "x"}, "b": {}}, "type": "object"}"#,
    ));
    let other = key(with_parameters(
        r#"{"type": "object", "properties": {"b": {}, "a": {"type": "x", "title": "t"}}}"#,
    ));
    assert_eq!(one, same);
    assert_ne!(one, other);
    // A property called "properties" is a schema, not a list of properties.
    let one = key(with_parameters(
        r#"{"properties": {"properties": {"type": "x", "title": "t"}}}"#,
    ));
    let same = key(with_parameters(
        r#"{"properties": {"properties": {"title": "t", "type": "x"}}}"#,
    ));
    assert_eq!(one, same);
}

#[test]
fn numbers_count_by_value() {
    let with = |number: &str| {
        key(serde_json::from_str(&format!(
            r#"{{"messages": [], "vendor": {{"alpha": {{"n": {number}}}}}}}"#
        ))
        .unwrap())
    };
    for (one, same) in [
        ("0", "0.0"),
        ("0", "-0.0"),
        ("7", "7.0"),
        ("1e3", "1000"),
        ("0.5", "5e-1"),
    ] {
        assert_eq!(with(one), with(same), "{one} and {same}");
    }
    for (one, other) in [
        ("0", "1"),
        ("0.5", "0.25"),
        ("18446744073709551615", "18446744073709551614"),
        ("1", "\"1\""),
    ] {
        assert_ne!(with(one), with(other), "{one} and {other}");
    }
}

/// Any JSON.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z\"\\\\,:{}\\[\\]]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec(("[a-z\",:]{0,4}", inner), 0..5)
                .prop_map(|fields| { Value::Object(fields.into_iter().collect()) }),
        ]
    })
}

/// The same with the keys of every object in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .rev()
            .map(|(name, value)| (name.clone(), reversed(value)))
            .collect(),
        Value::Array(items) => items.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn equal_data_has_one_key_and_other_data_another(one in any_json(), other in any_json()) {
        let with = |value: &Value| {
            let mut request = ChatRequest::user("hi");
            request.vendor.set(VendorId::from_static("alpha"), "x", value.clone());
            key_of(&request)
        };
        prop_assert_eq!(with(&one), with(&reversed(&one)));
        prop_assert_eq!(with(&one) == with(&other), one == other);
    }
}
