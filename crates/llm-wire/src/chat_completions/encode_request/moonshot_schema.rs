//! JSON schemas in Moonshot's own dialect: the same meaning, in the forms that it takes.
//!
//! Source: `kimi.md` of the project's wire notes ("Structured output"), state of 2026-11-29.

use crate::fault::unsupported;
use llm_core::Result;
use serde_json::{Map, Value};

/// The schema as it is sent: the list form of `items` is `prefixItems`, a `type` beside `anyOf` stands in each of its
/// branches, and there is no `$schema`.
pub(super) fn rewritten(schema: &Value) -> Result<Value> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        let message = "has a schema that is not one of an object, which this host does not take";
        return Err(unsupported("output.schema", message));
    }
    Ok(schema_of(schema))
}

fn schema_of(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    let mut out = Map::new();
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("$schema", _) => {}
            ("items", Value::Array(items)) => {
                out.insert("prefixItems".into(), items.iter().map(schema_of).collect());
            }
            // what goes for the items behind the list
            ("additionalItems", rest) if keywords.get("items").is_some_and(Value::is_array) => {
                out.insert("items".into(), schema_of(rest));
            }
            // schemas by name
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => {
                let named = named
                    .iter()
                    .map(|(name, schema)| (name.clone(), schema_of(schema)));
                out.insert(keyword.clone(), Value::Object(named.collect()));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(branches)) => {
                out.insert(keyword.clone(), branches.iter().map(schema_of).collect());
            }
            ("items" | "additionalProperties" | "not" | "contains" | "propertyNames", schema) => {
                out.insert(keyword.clone(), schema_of(schema));
            }
            _ => {
                out.insert(keyword.clone(), value.clone());
            }
        }
    }
    move_type_into_branches(&mut out);
    Value::Object(out)
}

/// A branch that has a type of its own keeps it.
fn move_type_into_branches(keywords: &mut Map<String, Value>) {
    if !keywords.get("anyOf").is_some_and(Value::is_array) {
        return;
    }
    let Some(kind) = keywords.shift_remove("type") else {
        return;
    };
    for branch in keywords
        .get_mut("anyOf")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Value::Object(branch) = branch
            && !branch.contains_key("type")
        {
            branch.insert("type".into(), kind.clone());
            move_type_into_branches(branch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_are_rewritten_and_say_the_same() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "pair": { "type": "array", "items": [{ "type": "string" }, { "$schema": "x", "type": "integer" }],
                    "additionalItems": false },
                "type": { "type": "string", "anyOf": [{ "maxLength": 3 }, { "type": "null" }, { "anyOf": [{}, {}] }] },
                "list": { "type": "array", "items": { "anyOf": [{ "enum": [1] }], "type": "integer" } },
                "$schema": { "type": "string" },
            },
            "$defs": { "leaf": { "type": "number", "anyOf": [{ "minimum": 0 }] } },
            "required": ["pair"],
            "additionalProperties": false,
        });
        assert_eq!(
            rewritten(&schema).unwrap(),
            json!({
                "type": "object",
                "properties": {
                    "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }],
                        "items": false },
                    "type": { "anyOf": [
                        { "maxLength": 3, "type": "string" },
                        { "type": "null" },
                        { "anyOf": [{ "type": "string" }, { "type": "string" }] },
                    ] },
                    "list": { "type": "array", "items": { "anyOf": [{ "enum": [1], "type": "integer" }] } },
                    "$schema": { "type": "string" },
                },
                "$defs": { "leaf": { "anyOf": [{ "minimum": 0, "type": "number" }] } },
                "required": ["pair"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn the_root_must_be_an_object() {
        for schema in [json!({ "type": "array" }), json!({ "anyOf": [] }), json!(true)] {
            let error = rewritten(&schema).unwrap_err();
            assert_eq!(error.vendor().param.as_deref(), Some("output.schema"));
        }
    }
}
