//! What the request's options bag holds for this vendor.

use crate::chat_completions::dialect::Dialect;
use crate::chat_completions::fault::{invalid, unsupported, wrong_type};
use llm_core::{ChatRequest, Error, Result};
use serde_json::{Map, Value};

/// The bag, checked.
pub(super) struct Bag<'a> {
    /// Keys that go into the body as they are.
    pub(super) fields: Vec<(&'static str, &'a Value)>,
    /// Tools of other kinds than functions, in the vendor's own form.
    pub(super) own_tools: &'a [Value],
    /// What takes the place of body fields, as the very last resort.
    pub(super) patch: Option<&'a Map<String, Value>>,
}

impl<'a> Bag<'a> {
    /// Reads the vendor's namespace. A null is as good as nothing.
    pub(super) fn read(dialect: &Dialect, request: &'a ChatRequest) -> Result<Self> {
        let mut bag = Bag {
            fields: Vec::new(),
            own_tools: &[],
            patch: None,
        };
        let vendor = dialect.vendor.as_str();
        for (key, value) in request.vendor.of(vendor).into_iter().flatten() {
            if value.is_null() {
                continue;
            }
            let field = format!("vendor.{vendor}.{key}");
            if key == "body" {
                bag.patch = Some(patch(&field, value)?);
                continue;
            }
            if key == "n" {
                if value.as_u64() == Some(1) {
                    continue;
                }
                let message = "must be 1: an answer has one choice here; ask several times for several";
                return Err(unsupported(&field, message));
            }
            let Some(known) = dialect.option_keys.iter().find(|known| known.name == key) else {
                return Err(unknown(dialect, &field, key));
            };
            if !known.form.fits(value) {
                return Err(wrong_type(&field, known.form.as_str()));
            }
            match value {
                Value::Array(tools) if known.name == OWN_TOOLS => bag.own_tools = tools,
                _ => bag.fields.push((known.name, value)),
            }
        }
        Ok(bag)
    }

    /// The text under a key.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.fields.iter().find(|(key, _)| *key == name)?;
        value.as_str()
    }
}

/// The key under which tools of other kinds than functions are given.
pub(super) const OWN_TOOLS: &str = "custom_tools";

fn patch<'a>(field: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    let Value::Object(patch) = value else {
        return Err(wrong_type(field, "an object: body fields with their values"));
    };
    for fixed in ["model", "stream"] {
        if patch.contains_key(fixed) {
            let message = "may not be patched: it is part of the call itself";
            return Err(invalid(&format!("{field}.{fixed}"), message));
        }
    }
    Ok(patch)
}

fn unknown(dialect: &Dialect, field: &str, key: &str) -> Error {
    let names = dialect.option_keys.iter().map(|known| known.name);
    let nearest = names
        .map(|name| (distance(key, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.len() / 3);
    let message = match nearest {
        Some((_, name)) => format!("is not an option known here; is {name} meant?"),
        None => format!(
            "is not an option known here; put it under vendor.{}.body to send it as it is",
            dialect.vendor
        ),
    };
    unsupported(field, &message)
}

/// How many letters must be changed, added or left out to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, byte) in one.bytes().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, other_byte) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(byte != other_byte);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}
