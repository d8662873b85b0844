//! Schemas that hold together at one place, read as one.

use super::{Flaw, list};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// All of them, the outermost first: where several say a thing that only one can, it decides.
#[derive(Default)]
pub(super) struct Conjunction<'s> {
    parts: Vec<&'s Map<String, Value>>,
    /// What is here a second time: only what it is, not what is in it.
    again: Vec<&'s Map<String, Value>>,
    references: HashSet<&'s str>,
}

impl<'s> Conjunction<'s> {
    pub(super) fn add(&mut self, part: &'s Map<String, Value>) {
        self.parts.push(part);
    }

    /// Notes a reference; false: it was noted before.
    pub(super) fn refers_to(&mut self, reference: &'s str) -> bool {
        self.references.insert(reference)
    }

    /// Adds a schema that contains this place: its type is kept, and what it is called.
    pub(super) fn add_again(&mut self, part: &'s Value) {
        self.again.extend(part.as_object());
    }

    /// The first value of a keyword.
    pub(super) fn field(&self, name: &str) -> Option<&'s Value> {
        let again = self.again.iter().filter(|_| is_kept_again(name));
        self.parts.iter().chain(again).find_map(|part| part.get(name))
    }

    /// All keywords with their first values, in the order they stand.
    pub(super) fn fields(&self) -> Vec<(&'s str, &'s Value)> {
        let mut seen = HashSet::new();
        let parts = self.parts.iter().flat_map(|part| part.iter());
        let again = self.again.iter().flat_map(|part| part.iter());
        let again = again.filter(|(name, _)| is_kept_again(name));
        parts
            .chain(again)
            .filter(|(name, _)| seen.insert(name.as_str()))
            .map(|(name, value)| (name.as_str(), value))
            .collect()
    }

    /// The types, in lower case (one vendor writes them large). Several parts: what all of them allow.
    pub(super) fn types(&self) -> Result<Vec<&'static str>, Flaw> {
        let mut types: Option<Vec<&'static str>> = None;
        for part in self.parts.iter().chain(&self.again) {
            let these: Vec<&'static str> = match part.get("type") {
                None => continue,
                Some(Value::String(word)) => vec![known_type(word)?],
                Some(words) => list(Some(words))?
                    .iter()
                    .map(|word| known_type(word.as_str().unwrap_or_default()))
                    .collect::<Result<_, _>>()?,
            };
            types = Some(match types {
                None => these,
                Some(mut both) => {
                    both.retain(|kind| these.contains(kind));
                    both
                }
            });
        }
        let mut types = types.unwrap_or_default();
        let mut seen = HashSet::new();
        types.retain(|kind| seen.insert(*kind));
        Ok(types)
    }

    /// Every property with the schemas that hold for it.
    pub(super) fn properties(&self) -> Result<Vec<(&'s str, Vec<&'s Value>)>, Flaw> {
        let mut places = std::collections::HashMap::new();
        let mut properties: Vec<(&'s str, Vec<&'s Value>)> = Vec::new();
        for part in &self.parts {
            let listed = match part.get("properties") {
                None => continue,
                Some(Value::Object(listed)) => listed,
                Some(_) => return Err(Flaw::NotASchema),
            };
            for (name, schema) in listed {
                let place = *places.entry(name.as_str()).or_insert_with(|| {
                    properties.push((name, Vec::new()));
                    properties.len() - 1
                });
                properties[place].1.push(schema);
            }
        }
        Ok(properties)
    }

    /// The names of properties that must be there, each once.
    pub(super) fn required(&self) -> Result<Vec<&'s str>, Flaw> {
        let mut seen = HashSet::new();
        let mut required = Vec::new();
        for part in &self.parts {
            match part.get("required") {
                // the oldest form: a mark on the property itself, which says nothing here
                None | Some(Value::Bool(_)) => {}
                names => {
                    for name in list(names)? {
                        let name = name.as_str().ok_or(Flaw::NotASchema)?;
                        if seen.insert(name) {
                            required.push(name);
                        }
                    }
                }
            }
        }
        Ok(required)
    }
}

fn is_kept_again(name: &str) -> bool {
    matches!(name, "title" | "description")
}

fn known_type(word: &str) -> Result<&'static str, Flaw> {
    [
        "string", "number", "integer", "boolean", "array", "object", "null",
    ]
    .into_iter()
    .find(|kind| word.eq_ignore_ascii_case(kind))
    .ok_or(Flaw::NotASchema)
}
