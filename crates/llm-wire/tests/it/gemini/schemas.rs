//! Schemas of tools: whatever comes, what is sent holds only what the service reads.

use crate::neutral::json_value;
use llm_core::{ChatRequest, ModelId, ResolvedModel, ToolSpec};
use llm_wire::generate_content::{Dialect, encode_request};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Something like a schema, right more often than not.
fn schema() -> impl Strategy<Value = Value> {
    let kinds = || select(vec!["string", "integer", "array", "object", "null", "BOOLEAN"]);
    let leaf = prop_oneof![
        kinds().prop_map(|kind| json!({"type": kind})),
        vec(kinds(), 1..4).prop_map(|kinds| json!({"type": kinds})),
        json_value().prop_map(|value| json!({"const": value})),
        vec(json_value(), 1..4).prop_map(|values| json!({"enum": values})),
        select(vec!["#/$defs/a", "#/$defs/b", "#"]).prop_map(|place| json!({"$ref": place})),
        any::<bool>().prop_map(Value::from),
        Just(json!({"type": "string", "pattern": "^a", "nullable": true, "description": "d"})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = || vec(inner.clone(), 1..3);
        prop_oneof![
            btree_map("[a-c]", inner.clone(), 0..3).prop_map(|properties| {
                let required: Vec<_> = properties.keys().cloned().collect();
                let properties: Map<_, _> = properties.into_iter().collect();
                json!({"type": "object", "properties": properties, "required": required})
            }),
            inner
                .clone()
                .prop_map(|items| json!({"type": ["array", "null"], "items": items})),
            list().prop_map(|parts| json!({"anyOf": parts})),
            list().prop_map(|parts| json!({"allOf": parts, "title": "t"})),
            inner
                .clone()
                .prop_map(|not| json!({"type": "object", "not": not, "additionalProperties": not})),
        ]
    })
}

fn sent(schema: &Value) -> Result<Option<Value>, llm_core::Error> {
    let request = ChatRequest::user("hi").with_tools([ToolSpec::new("f").with_parameters(schema.clone())]);
    let model = ResolvedModel::unknown(ModelId::new("demo")?);
    let encoded = encode_request(&Dialect::gemini(), &model, &request)?;
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    Ok(body["tools"][0]["functionDeclarations"][0]
        .get("parametersJsonSchema")
        .cloned())
}

/// Checks a schema and all that it holds.
fn check(schema: &Value) -> Result<(), TestCaseError> {
    let fields = schema.as_object().unwrap();
    for (key, value) in fields {
        match key.as_str() {
            "properties" => value.as_object().unwrap().values().try_for_each(check)?,
            "items" => check(value)?,
            "additionalProperties" if value.is_boolean() => {}
            "additionalProperties" => check(value)?,
            "anyOf" | "oneOf" | "prefixItems" => value.as_array().unwrap().iter().try_for_each(check)?,
            "type" => {
                let kind = value.as_str().is_some_and(|kind| kind == kind.to_lowercase());
                let nullable = value
                    .as_array()
                    .is_some_and(|kinds| kinds.len() == 2 && kinds[1] == "null");
                prop_assert!(kind || nullable || fields.contains_key("anyOf"), "{}", value);
            }
            "enum" => prop_assert!(value.as_array().unwrap().iter().all(|value| !value.is_null())),
            other => {
                let taken = ["description", "title", "required", "pattern"];
                prop_assert!(taken.contains(&other), "{} is not read", other);
            }
        }
    }
    for name in fields
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        prop_assert!(fields["properties"].get(name.as_str().unwrap()).is_some());
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_schema_is_made_legal_or_refused(root in schema(), a in schema(), b in schema()) {
        let mut root = root;
        if let Value::Object(fields) = &mut root {
            fields.insert("$defs".to_owned(), json!({"a": a, "b": b}));
        }
        match sent(&root) {
            Err(error) => prop_assert_eq!(error.vendor().param.as_deref(), Some("tools[0].parameters")),
            Ok(None) => {}
            Ok(Some(schema)) => {
                check(&schema)?;
                // what is legal stays as it is
                prop_assert_eq!(sent(&schema).unwrap(), Some(schema));
            }
        }
    }

    #[test]
    fn json_of_any_form_never_panics(value in json_value()) {
        let _ = sent(&value);
        let _ = sent(&json!({"type": value, "properties": value, "required": value, "enum": value, "allOf": value}));
    }
}
