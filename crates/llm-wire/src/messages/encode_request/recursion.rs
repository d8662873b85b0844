//! Schemas that contain themselves, which the vendor refuses.
//!
//! Source: `anthropic.md` of the project's wire notes ("Structured output"), state of 2026-11-29.

use crate::json_schema::referenced;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ptr::from_ref;

/// What refers to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$recursiveRef", "$dynamicRef"];
/// What holds a schema, or a list of them. (Those of `$defs` and `definitions` count only where they are referred to;
/// what other keywords hold are values, or is put in words.)
const HOLDING: [&str; 13] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "contentSchema",
];
/// What holds schemas by names of the caller's.
const BY_NAME: [&str; 4] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
];

/// One step of the walk.
enum Step<'s> {
    Enter(&'s Value),
    Leave(&'s Value),
}

/// Does a schema contain itself, or one that it uses? (A walk without recursion of its own: chains of references may
/// be long.)
pub(super) fn contains_itself(root: &Value) -> bool {
    // where the walk has been; true: it is inside
    let mut inside: HashMap<*const Value, bool> = HashMap::new();
    let mut steps = vec![Step::Enter(root)];
    while let Some(step) = steps.pop() {
        let schema = match step {
            Step::Leave(schema) => {
                inside.insert(from_ref(schema), false);
                continue;
            }
            Step::Enter(schema) => schema,
        };
        let Value::Object(fields) = schema else {
            continue;
        };
        match inside.insert(from_ref(schema), true) {
            Some(true) => return true,
            // nothing in it leads back to it
            Some(false) => {
                inside.insert(from_ref(schema), false);
                continue;
            }
            None => {}
        }
        steps.push(Step::Leave(schema));
        steps.extend(used(root, fields).map(Step::Enter));
    }
    false
}

/// The schemas that one is made of.
fn used<'s>(root: &'s Value, fields: &'s Map<String, Value>) -> impl Iterator<Item = &'s Value> {
    fields.iter().flat_map(move |(name, value)| {
        let name = name.as_str();
        let schemas: Vec<&Value> = match value {
            Value::String(reference) if REFERENCES.contains(&name) => {
                referenced(root, reference).into_iter().collect()
            }
            Value::Object(named) if BY_NAME.contains(&name) => named.values().collect(),
            Value::Array(schemas) if HOLDING.contains(&name) => schemas.iter().collect(),
            schema if HOLDING.contains(&name) => vec![schema],
            _ => Vec::new(),
        };
        schemas
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_that_contains_itself_is_found() {
        let object = |inner: Value| json!({"type": "object", "properties": {"next": inner}});
        let itself = [
            json!({"$ref": "#"}),
            object(json!({"$ref": "#"})),
            object(json!({"anyOf": [{"type": "null"}, {"$recursiveRef": "#"}]})),
            object(json!({"type": "array", "items": {"$ref": "#/properties/next"}})),
            json!({"$ref": "#/$defs/a", "$defs": {"a": object(json!({"$ref": "#/$defs/b"})),
                "b": {"prefixItems": [{"$ref": "#/$defs/a"}]}}}),
        ];
        let named = |name: &str, reference: &str| {
            let within = json!({"anyOf": [{"$ref": reference}]});
            json!({"$ref": reference, "$defs": {name: within}})
        };
        let encoded = [
            named("A b", "#/$defs/A%20b"),
            named("a/b", "#/$defs/a~1b"),
            named("a~b", "#/$defs/a~0b"),
            named("a/ü", "#/%24defs/a~1%C3%bc"),
            named("100%", "#/$defs/100%"),
        ];
        for schema in itself.into_iter().chain(encoded) {
            assert!(contains_itself(&schema), "{schema}");
        }
    }

    #[test]
    fn one_that_does_not_is_left_alone() {
        let a = json!({"type": "string"});
        let others = [
            json!(true),
            a.clone(),
            // twice is not within
            json!({"properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}, "$defs": {"a": a}}),
            // nobody uses it
            json!({"properties": {"x": a}, "$defs": {"b": {"items": {"$ref": "#/$defs/b"}}}}),
            // values and names, no references
            json!({"properties": {"$ref": {"type": "string"}}, "default": {"$ref": "#"}, "enum": [{"$ref": "#"}]}),
            json!({"example": {"$ref": "#"}, "x-like": [{"$ref": "#"}], "dependencies": {"a": ["$ref"]}}),
            // out of it, or nowhere
            json!({"items": {"$ref": "https://example.com/a"}, "anyOf": [{"$ref": "#/nowhere"}, {"$ref": "#anchor"}]}),
            // is put in words, and not sent
            json!({"type": "object", "not": {"$ref": "#"}}),
        ];
        for schema in others {
            assert!(!contains_itself(&schema), "{schema}");
        }
    }

    #[test]
    fn long_chains_and_many_paths_cost_little() {
        let link = |n: usize| {
            (
                format!("d{n}"),
                json!({"anyOf": vec![json!({"$ref": format!("#/$defs/d{}", n + 1)}); 3]}),
            )
        };
        let mut links: Map<String, Value> = (0..20_000).map(link).collect();
        links.insert("d20000".into(), json!({"type": "string"}));
        let mut schema = json!({"$ref": "#/$defs/d0", "$defs": links});
        assert!(!contains_itself(&schema));
        schema["$defs"]["d20000"] = json!({"$ref": "#/$defs/d7"});
        assert!(contains_itself(&schema));
    }
}
