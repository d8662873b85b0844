use super::*;
use serde_json::json;

fn sent(schema: &Value) -> Sent<'_> {
    StrictSchemas::Closed.sent(Cow::Borrowed(schema), Some(true))
}

/// What is not strict is sent as it is given.
fn why_not(schema: Value) -> String {
    let sent = sent(&schema);
    assert_eq!(
        (sent.schema.as_ref(), sent.strict),
        (&schema, Some(false)),
        "{schema}"
    );
    sent.why_not.unwrap()
}

fn with(name: &str, value: Value) -> Value {
    let mut schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    schema[name] = value;
    schema
}

/// A required property of this schema.
fn of(inner: Value) -> Value {
    json!({"type": "object", "properties": {"a": inner}, "required": ["a"]})
}

#[test]
fn objects_are_closed_wherever_they_stand() {
    let inner = json!({"type": ["object", "null"], "properties": {}});
    let schema = json!({
        "type": "object",
        "properties": {
            "a": inner, "b": {"type": "array", "items": inner}, "c": {"anyOf": [inner, {"type": "null"}]},
            "d": {"$ref": "#/$defs/e"}, "f": {"type": "array", "prefixItems": [inner]},
            "additionalProperties": {"type": "string", "default": {"properties": {}}},
        },
        "required": ["a", "b", "c", "d", "f", "additionalProperties"],
        "$defs": {"e": {"properties": {"e": {"$ref": "#/$defs/e"}}, "required": ["e"]}},
    });
    let sent = sent(&schema);
    assert_eq!((sent.strict, sent.why_not), (Some(true), None));
    for path in [
        "",
        "/properties/a",
        "/properties/b/items",
        "/properties/c/anyOf/0",
        "/properties/f/prefixItems/0",
        "/$defs/e",
    ] {
        let closed = sent.schema.pointer(&format!("{path}/additionalProperties"));
        assert_eq!(closed, Some(&json!(false)), "{path}");
    }
    let named = &schema["properties"]["additionalProperties"];
    assert_eq!(
        sent.schema.pointer("/properties/additionalProperties"),
        Some(named)
    );
}

#[test]
fn what_is_closed_is_sent_as_it_is_and_keys_keep_their_order() {
    let open = json!({"required": ["b", "a"], "properties": {"b": {"type": "string"}, "a": {"properties": {}}},
        "type": "object", "title": "t"});
    let closed = sent(&open).schema.into_owned();
    let text = concat!(
        r#"{"required":["b","a"],"properties":{"b":{"type":"string"},"#,
        r#""a":{"properties":{},"additionalProperties":false}},"#,
        r#""type":"object","title":"t","additionalProperties":false}"#
    );
    assert_eq!(closed.to_string(), text);
    let again = sent(&closed);
    assert!(matches!(again.schema, Cow::Borrowed(_)));
    assert_eq!(again.strict, Some(true));
}

#[test]
fn what_the_host_refuses_is_not_strict() {
    let string = || json!({"type": "string"});
    for (schema, reason) in [
        (
            json!({"type": "object", "properties": {"a": string()}}),
            "optional",
        ),
        (
            json!({"type": "object", "properties": {"a": string()}, "required": []}),
            "optional",
        ),
        (of(json!({"properties": {"b": string()}})), "optional"),
        (
            of(json!({"anyOf": [{"properties": {"b": string()}}]})),
            "optional",
        ),
        (json!({"type": "object"}), "any properties"),
        (of(json!({"type": "object"})), "any properties"),
        (with("additionalProperties", json!(true)), "any properties"),
        (with("additionalProperties", string()), "any properties"),
        (
            of(json!({"type": "array", "items": {"properties": {}, "additionalProperties": true}})),
            "any prop",
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {}}}}),
            "of type object",
        ),
        (json!({"anyOf": [{"properties": {}}]}), "of type object"),
        (
            json!({"type": ["object", "null"], "properties": {}}),
            "of type object",
        ),
        (json!(true), "is no object"),
        (with("$ref", json!("#")), "begins with"),
        (with("anyOf", json!([])), "begins with"),
        (with("patternProperties", json!({})), "keyword"),
        (with("allOf", json!([])), "keyword"),
        (with("if", json!({})), "keyword"),
        (with("dependentRequired", json!({})), "keyword"),
        (of(json!({"not": {}, "type": "string"})), "keyword"),
        (
            of(json!({"$ref": "https://host.example/s.json"})),
            "another document",
        ),
        (with("required", json!(["a", "b"])), "does not have"),
        (
            json!({"type": "object", "additionalProperties": false, "required": ["a"]}),
            "does not have",
        ),
        (of(json!({"type": "array"})), "list of any values"),
        (of(json!({"type": ["null", "array"]})), "list of any values"),
        (of(json!({"$ref": "#/properties/a"})), "no definition"),
        (
            of(json!({"anyOf": [{"$ref": "#a"}, {"type": "null"}]})),
            "no definition",
        ),
        (of(json!({"type": "string", "pattern": "^(?!a)"})), "looks around"),
        (of(json!({})), "any value"),
        (of(json!(true)), "any value"),
        (
            of(json!({"type": "string", "enum": vec!["x"; 1001]})),
            "1000 values",
        ),
        (
            of(json!({"type": "string", "enum": ["x".repeat(120_001)]})),
            "characters",
        ),
    ] {
        let said = why_not(schema.clone());
        assert!(
            said.starts_with("is sent as false: the schema ") && said.contains(reason),
            "{schema}: {said}"
        );
    }
}

#[test]
fn references_to_definitions_and_to_the_whole_are_taken() {
    for to in ["#", "#/$defs/b", "#/definitions/b"] {
        let mut schema = of(json!({"anyOf": [{"$ref": to}, {"type": "null"}]}));
        schema["$defs"] = json!({"b": {"type": "array", "items": {"type": "string"}}});
        assert_eq!(sent(&schema).strict, Some(true), "{to}");
    }
}

#[test]
fn ten_levels_are_taken() {
    let nested = |levels: usize| (1..levels).fold(of(json!({"type": "string"})), |inner, _| of(inner));
    assert_eq!(sent(&nested(10)).strict, Some(true));
    assert!(why_not(nested(11)).contains("10 levels"));
    let lists = (0..100).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "array", "items": inner}),
    );
    assert!(why_not(of(lists)).contains("levels"));
}

#[test]
fn a_host_without_such_rules_gets_what_is_given() {
    let schema = json!({"type": "object"});
    for (rule, asked) in [
        (StrictSchemas::AsGiven, Some(true)),
        (StrictSchemas::Closed, Some(false)),
        (StrictSchemas::Closed, None),
    ] {
        let sent = rule.sent(Cow::Borrowed(&schema), asked);
        assert!(matches!(sent.schema, Cow::Borrowed(_)));
        assert_eq!((sent.strict, sent.why_not), (asked, None));
    }
}
