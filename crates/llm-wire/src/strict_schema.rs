//! Schemas that a host is to hold its model to. It takes a part of JSON Schema: closed objects without optional
//! properties, and no keyword that it cannot generate by.
//!
//! Source: `openai-chat.md` of the project's wire notes ("Tools"), state of 2026-11-29.

use crate::json_schema::{is_object, is_of_type};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Which schemas a host takes with `strict: true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictSchemas {
    /// They are sent as they are given, and the host decides.
    AsGiven,
    /// Those of closed objects whose properties are all required. Objects that say nothing of further properties are
    /// closed; what does not fit even so is sent as it is given, without `strict` and with a warning.
    Closed,
}

/// A schema as it is sent, and whether the host is to hold its model to it.
#[derive(Debug, PartialEq)]
pub(crate) struct Sent<'a> {
    pub(crate) schema: Cow<'a, Value>,
    pub(crate) strict: Option<bool>,
    /// Why it is not sent as strict, though that was asked for.
    pub(crate) why_not: Option<String>,
}

impl StrictSchemas {
    /// A schema and what is asked for it, as this host takes them.
    pub(crate) fn sent<'a>(self, schema: Cow<'a, Value>, asked: Option<bool>) -> Sent<'a> {
        let sent = |schema, strict, why_not| Sent {
            schema,
            strict,
            why_not,
        };
        if self == StrictSchemas::AsGiven || asked != Some(true) {
            return sent(schema, asked, None);
        }
        let mut check = Check::default();
        match check.root(&schema) {
            Ok(()) if check.open > 0 => sent(Cow::Owned(closed(&schema)), asked, None),
            Ok(()) => sent(schema, asked, None),
            Err(reason) => {
                let message = format!("is sent as false: the schema {reason}");
                sent(schema, Some(false), Some(message))
            }
        }
    }
}

/// Objects in objects.
const DEEPEST: usize = 10;
/// Schemas in schemas, objects or not.
const DEEPEST_OF_ALL: usize = 64;
const MOST_PROPERTIES: usize = 5_000;
/// Names of properties and definitions, values of `enum` and `const`.
const MOST_CHARACTERS: usize = 120_000;
const MOST_VALUES: usize = 1_000;

/// Keywords that are not taken, and those that hold schemas of which nothing is known.
const NOT_TAKEN: [&str; 15] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
    "patternProperties",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
];

type Fits = Result<(), &'static str>;

/// What was seen of a schema so far.
#[derive(Debug, Default)]
struct Check {
    /// Objects that have to be closed.
    open: usize,
    properties: usize,
    characters: usize,
    values: usize,
}

impl Check {
    fn root(&mut self, schema: &Value) -> Fits {
        let fields = schema.as_object().ok_or("is no object")?;
        if fields.get("type").is_none_or(|kind| kind != "object") {
            return Err("is not of type object");
        }
        if fields.contains_key("$ref") || fields.contains_key("anyOf") {
            return Err("begins with $ref or anyOf");
        }
        self.fields(fields, 0, 0)?;
        let limits = [
            (self.properties > MOST_PROPERTIES, "has more than 5000 properties"),
            (
                self.characters > MOST_CHARACTERS,
                "has more than 120000 characters of names and values",
            ),
            (self.values > MOST_VALUES, "has more than 1000 values in enums"),
        ];
        limits
            .into_iter()
            .find(|(over, _)| *over)
            .map_or(Ok(()), |(_, reason)| Err(reason))
    }

    fn any(&mut self, schema: &Value, objects: usize, depth: usize) -> Fits {
        let fields = schema.as_object().ok_or("has a part that takes any value")?;
        let says = ["type", "enum", "const", "anyOf", "$ref", "properties"];
        if !says.iter().any(|name| fields.contains_key(*name)) {
            return Err("has a part that takes any value");
        }
        self.fields(fields, objects, depth + 1)
    }

    fn fields(&mut self, fields: &Map<String, Value>, mut objects: usize, depth: usize) -> Fits {
        if is_object(fields) {
            objects += 1;
            self.object(fields)?;
        }
        if is_of_type(fields, "array")
            && !["items", "prefixItems"]
                .iter()
                .any(|name| fields.contains_key(*name))
        {
            return Err("has a list of any values");
        }
        if objects > DEEPEST || depth > DEEPEST_OF_ALL {
            return Err("is more than 10 levels deep");
        }
        for (name, value) in fields {
            match (name.as_str(), value) {
                (name, _) if NOT_TAKEN.contains(&name) => return Err("has a keyword that is not taken here"),
                ("$ref", Value::String(to)) if !to.starts_with('#') => {
                    return Err("refers to another document");
                }
                ("$ref", Value::String(to)) if !is_definition(to) => {
                    return Err("refers to what is no definition");
                }
                ("pattern", Value::String(pattern)) if looks_around(pattern) => {
                    return Err("has a pattern that looks around");
                }
                ("enum", Value::Array(values)) => {
                    self.values += values.len();
                    self.characters += values.iter().map(characters).sum::<usize>();
                }
                ("const", value) => self.characters += characters(value),
                ("properties" | "$defs" | "definitions", Value::Object(inner)) => {
                    self.properties += if name == "properties" { inner.len() } else { 0 };
                    for (name, schema) in inner {
                        self.characters += name.chars().count();
                        self.any(schema, objects, depth)?;
                    }
                }
                ("anyOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                    for schema in schemas {
                        self.any(schema, objects, depth)?;
                    }
                }
                ("items", schema) => self.any(schema, objects, depth)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn object(&mut self, fields: &Map<String, Value>) -> Fits {
        match fields.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            // to close an object of which nothing is known would leave nothing of it
            None if fields.contains_key("properties") => self.open += 1,
            _ => return Err("has an object of any properties"),
        }
        let required = fields.get("required").and_then(Value::as_array);
        let is_required = |name: &String| required.is_some_and(|all| all.iter().any(|one| one == name));
        let properties = fields.get("properties").and_then(Value::as_object);
        let is_there = |name: &Value| {
            let name = name.as_str();
            name.is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
        };
        if required.is_some_and(|all| !all.iter().all(is_there)) {
            return Err("requires a property that it does not have");
        }
        if properties.is_some_and(|properties| !properties.keys().all(is_required)) {
            return Err("has optional properties; make them required, and let them be null");
        }
        Ok(())
    }
}

/// Does a reference lead to a definition, or to the whole schema?
fn is_definition(reference: &str) -> bool {
    reference == "#"
        || ["#/$defs/", "#/definitions/"]
            .iter()
            .any(|there| reference.starts_with(there))
}

fn characters(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.chars().count())
}

fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|sign| pattern.contains(sign))
}

/// The schema with every object closed that says nothing of further properties. The keys keep their order; what is
/// added stands last.
fn closed(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return schema.clone();
    };
    let all = |schemas: &Vec<Value>| Value::Array(schemas.iter().map(closed).collect());
    let mut out = Map::new();
    for (name, value) in fields {
        let value = match (name.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(inner)) => {
                let inner = inner.iter().map(|(name, schema)| (name.clone(), closed(schema)));
                Value::Object(inner.collect())
            }
            ("anyOf" | "prefixItems" | "items", Value::Array(schemas)) => all(schemas),
            ("items", schema) => closed(schema),
            _ => value.clone(),
        };
        out.insert(name.clone(), value);
    }
    if is_object(fields) && !fields.contains_key("additionalProperties") {
        out.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests;
