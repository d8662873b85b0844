//! Schemas for answers. The format takes a part of JSON Schema, and closed objects only; what it does not take is said
//! in words instead, where that keeps the meaning.
//!
//! Source: `anthropic.md` of the project's wire notes ("Structured output"), state of 2026-11-29.

use super::recursion::contains_itself;
use crate::fault::unsupported;
use crate::json_schema::is_object;
use llm_core::Result;
use serde_json::{Map, Value};

/// Keywords that are refused: bounds of numbers, of lengths and of counts, patterns, and what cannot be generated.
pub(super) const NOT_TAKEN: [&str; 18] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "not",
];

/// Formats of strings that are taken.
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
];

/// Why a schema that contains itself is refused.
pub(super) const RECURSIVE: &str =
    "contains itself, which this format does not take; write out as many levels as needed";

/// A schema as it can be sent.
#[derive(Debug)]
pub(super) struct ClosedSchema {
    pub(super) schema: Value,
    /// Keywords that were moved into descriptions.
    pub(super) in_words: Vec<&'static str>,
}

/// Makes a schema of what is taken. Answers that fit it fit the original but for what was put in words.
pub(super) fn closed_schema(schema: &Value, description: Option<&str>) -> Result<ClosedSchema> {
    if contains_itself(schema) {
        return Err(unsupported("output.schema", RECURSIVE));
    }
    let mut in_words = Vec::new();
    let schema = match schema {
        Value::Object(fields) => Value::Object(close_fields(fields, description, &mut in_words)?),
        other => other.clone(),
    };
    Ok(ClosedSchema { schema, in_words })
}

fn close(schema: &Value, in_words: &mut Vec<&'static str>) -> Result<Value> {
    match schema {
        Value::Object(fields) => close_fields(fields, None, in_words).map(Value::Object),
        other => Ok(other.clone()),
    }
}

/// `description`: where the schema has none of its own.
fn close_fields(
    fields: &Map<String, Value>,
    description: Option<&str>,
    in_words: &mut Vec<&'static str>,
) -> Result<Map<String, Value>> {
    let mut closed = Map::new();
    let mut words: Vec<String> = Vec::new();
    for (name, value) in fields {
        if let Some(known) = NOT_TAKEN.iter().find(|known| *known == name) {
            words.push(format!("{name}: {value}"));
            if !in_words.contains(known) {
                in_words.push(known);
            }
            continue;
        }
        match (name.as_str(), value) {
            ("format", Value::String(format)) if !takes_format(format) => {
                words.push(format!("format: {format}"));
                if !in_words.contains(&"format") {
                    in_words.push("format");
                }
            }
            // either of several is the same for whoever writes the answer
            ("oneOf", Value::Array(schemas)) if !fields.contains_key("anyOf") => {
                closed.insert("anyOf".into(), close_all(schemas, in_words)?);
            }
            ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                closed.insert(name.clone(), close_all(schemas, in_words)?);
            }
            ("items", inner) => {
                closed.insert(name.clone(), close(inner, in_words)?);
            }
            ("properties" | "$defs" | "definitions", Value::Object(inner)) => {
                let inner = inner
                    .iter()
                    .map(|(name, schema)| Ok((name.clone(), close(schema, in_words)?)));
                closed.insert(name.clone(), Value::Object(inner.collect::<Result<_>>()?));
            }
            // set below
            ("additionalProperties", _) => {}
            _ => {
                closed.insert(name.clone(), value.clone());
            }
        }
    }
    let own = closed.get("description").and_then(Value::as_str);
    let said = own.or(description.filter(|_| !closed.contains_key("description")));
    let words = (!words.is_empty()).then(|| format!("({})", words.join(", ")));
    let said: Vec<&str> = said.into_iter().chain(words.as_deref()).collect();
    if !said.is_empty() {
        let said = said.join(" ");
        closed.insert("description".into(), said.into());
    }
    // Last, wherever it stood: what is read and written again stays as it is.
    if is_object(fields) {
        close_object(fields)?;
        closed.insert("additionalProperties".into(), false.into());
    }
    Ok(closed)
}

fn close_all(schemas: &[Value], in_words: &mut Vec<&'static str>) -> Result<Value> {
    let closed = schemas.iter().map(|schema| close(schema, in_words));
    Ok(Value::Array(closed.collect::<Result<_>>()?))
}

/// Closing an object whose keys are not known would leave nothing of it.
fn close_object(fields: &Map<String, Value>) -> Result<()> {
    let named = fields.get("properties").and_then(Value::as_object);
    let none = named.is_none_or(Map::is_empty);
    let by_pattern = fields.contains_key("patternProperties");
    let typed = fields.get("additionalProperties").is_some_and(Value::is_object);
    let built = ["anyOf", "allOf", "oneOf", "$ref"]
        .iter()
        .any(|name| fields.contains_key(*name));
    let closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
    if typed || by_pattern || (none && !built && !closed) {
        let message = "holds an object of any keys, which this format does not take; name its properties";
        return Err(unsupported("output.schema", message));
    }
    Ok(())
}

fn takes_format(format: &str) -> bool {
    format == "uuid" || FORMATS.contains(&format)
}
