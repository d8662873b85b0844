use super::*;
use serde_json::json;

fn check(schema: Value, expected: Value) -> Legal {
    let legal = legal(&schema).unwrap();
    assert_eq!(legal.schema.to_string(), expected.to_string(), "of {schema}");
    legal
}

fn flaw(schema: Value) -> Flaw {
    legal(&schema).unwrap_err()
}

#[test]
fn references_are_written_out_where_they_stand() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"Pt": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": false}},
        "definitions": {"P": {"$ref": "#/$defs/Pt"}},
        "type": "object",
        "properties": {
            "p": {"$ref": "#/definitions/P", "description": "where"},
            "ps": {"type": "array", "items": {"$ref": "#/$defs/Pt"}},
            "again": {"$ref": "#/properties/p"},
        },
        "required": ["p"],
    });
    let point = |description: Option<&str>| {
        let mut point =
            json!({"additionalProperties": false, "properties": {"x": {"type": "number"}}, "type": "object"});
        if let Some(description) = description {
            point = json!({"description": description, "additionalProperties": false,
                "properties": {"x": {"type": "number"}}, "type": "object"});
        }
        point
    };
    let legal = check(
        schema,
        json!({
            "properties": {
                "p": point(Some("where")),
                "ps": {"items": point(None), "type": "array"},
                "again": point(Some("where")),
            },
            "required": ["p"],
            "type": "object",
        }),
    );
    assert!(!legal.cut && legal.not_read.is_empty());
}

#[test]
fn references_are_read_as_fragments_of_an_address() {
    let names = [
        ("A b", "#/$defs/A%20b"),
        ("A b", "#/$defs/A b"),
        ("a/ü", "#/%24defs/a~1%C3%bc"),
        ("100%", "#/$defs/100%"),
    ];
    for (name, reference) in names {
        let schema = json!({"$defs": {name: {"type": "string"}}, "properties": {"x": {"$ref": reference}}});
        let expected = json!({"properties": {"x": {"type": "string"}}});
        assert_eq!(
            legal(&schema).unwrap().schema["properties"],
            expected["properties"],
            "{reference}"
        );
    }
    assert_eq!(
        flaw(json!({"$ref": "#/$defs/A%2", "$defs": {"A b": {}}})),
        Flaw::Reference
    );
}

#[test]
fn a_schema_that_contains_itself_is_cut_at_the_repetition() {
    let node = json!({
        "$defs": {"Node": {"type": "object", "title": "Node", "properties": {
            "value": {"type": "string"}, "next": {"$ref": "#/$defs/Node"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}},
        "$ref": "#/$defs/Node",
    });
    let again = json!({"title": "Node", "type": "object"});
    let legal = check(
        node,
        json!({"title": "Node", "properties": {"value": {"type": "string"}, "next": again,
            "all": {"items": again, "type": "array"}}, "type": "object"}),
    );
    assert!(legal.cut);
    let whole = json!({"type": "object", "properties": {"me": {"$ref": "#"}}});
    assert!(
        check(
            whole.clone(),
            json!({"properties": {"me": {"type": "object"}}, "type": "object"})
        )
        .cut
    );
    let circle =
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
    assert!(!check(circle, json!({})).cut, "nothing is lost");
    let twice = json!({"$defs": {"a": {"type": "string"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]});
    assert!(!check(twice, json!({"type": "string"})).cut);
}

#[test]
fn references_that_lead_out_are_refused() {
    for reference in [
        "https://example.com/s.json",
        "#/$defs/none",
        "#anchor",
        "other.json#/a",
    ] {
        assert_eq!(flaw(json!({"$ref": reference})), Flaw::Reference, "{reference}");
    }
}

#[test]
fn a_schema_that_grows_without_end_is_refused() {
    let mut defs = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let both = json!({"type": "object", "properties": {"a": next, "b": next}});
        defs.insert(format!("d{level}"), both);
    }
    defs.insert("d40".to_owned(), json!({"type": "string"}));
    assert_eq!(flaw(json!({"$defs": defs, "$ref": "#/$defs/d0"})), Flaw::Size);
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({"items": deep});
    }
    assert_eq!(flaw(deep), Flaw::Size);
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({"allOf": [deep]});
    }
    assert_eq!(flaw(deep), Flaw::Size);
}

#[test]
fn all_of_is_merged() {
    check(
        json!({"description": "d", "allOf": [
            {"properties": {"a": {"type": ["string", "integer"]}}, "required": ["a"]},
            {"type": "object", "description": "other", "properties": {"a": {"type": "integer", "minimum": 1}, "b": {}},
                "required": ["a", "b"]},
        ]}),
        json!({"description": "d", "properties": {"a": {"minimum": 1, "type": "integer"}, "b": {}},
            "required": ["a", "b"], "type": "object"}),
    );
}

#[test]
fn const_is_an_enum_of_one() {
    check(
        json!({"const": "insert"}),
        json!({"type": "string", "enum": ["insert"]}),
    );
    check(json!({"const": 3}), json!({"type": "integer", "enum": [3]}));
    check(json!({"const": true}), json!({"type": "boolean", "enum": [true]}));
    check(json!({"const": null}), json!({"type": "null"}));
}

#[test]
fn null_stays_possible() {
    check(
        json!({"type": ["null", "array"], "items": {"type": "integer"}}),
        json!({"items": {"type": "integer"}, "type": ["array", "null"]}),
    );
    check(
        json!({"type": "STRING", "nullable": true}),
        json!({"type": ["string", "null"]}),
    );
    check(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "t"}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "t"}),
    );
    check(
        json!({"enum": ["a", null], "description": "d"}),
        json!({"description": "d", "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
    );
    check(
        json!({"enum": ["a"], "type": ["string", "null"]}),
        json!({"type": "string", "enum": ["a"]}),
    );
    check(json!({"type": "null"}), json!({"type": "null"}));
    check(
        json!({"anyOf": [{"type": "string"}, {"type": "array"}], "nullable": true}),
        json!({"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]}),
    );
}

#[test]
fn several_types_are_alternatives_with_what_is_about_each() {
    check(
        json!({"type": ["string", "array", "null"], "items": {"type": "string"}, "minItems": 1, "title": "t"}),
        json!({"title": "t", "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            {"type": "null"}]}),
    );
    check(
        json!({"type": ["string", "integer"], "enum": ["a", 1]}),
        json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}]}),
    );
}

#[test]
fn older_and_sloppy_forms_are_read() {
    check(
        json!({"type": "array", "items": [{"type": "string"}, true], "additionalItems": {"type": "null"}}),
        json!({"prefixItems": [{"type": "string"}, {}], "items": {"type": "null"}, "type": "array"}),
    );
    check(
        json!({"properties": {"a": {"type": "string", "required": true}, "never": false}, "required": ["b"]}),
        json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["b"], "type": "object"}),
    );
}

#[test]
fn what_is_not_read_is_named() {
    let legal = check(
        json!({"type": "string", "pattern": "^a", "format": "date", "not": {"const": "b"}, "default": "a"}),
        json!({"pattern": "^a", "format": "date", "default": "a", "type": "string"}),
    );
    let names: Vec<_> = legal.not_read.into_iter().collect();
    assert_eq!(names, ["not", "pattern"]);
}

#[test]
fn what_is_no_schema_is_refused() {
    for schema in [
        json!("string"),
        json!(null),
        json!({"type": 7}),
        json!({"type": "strnig"}),
        json!({"properties": []}),
        json!({"properties": {"a": "string"}}),
        json!({"anyOf": {}}),
        json!({"required": "a"}),
        json!({"enum": "a"}),
        json!({"$ref": 1}),
    ] {
        assert_eq!(flaw(schema.clone()), Flaw::NotASchema, "{schema}");
    }
}
