//! What a request's options bag holds for one vendor.

use crate::fault::{invalid, unsupported, wrong_type};
use crate::option_key::OptionKey;
use llm_core::{ChatRequest, Error, Result, VendorId, Warning};
use serde_json::{Map, Value};

/// The most options of other vendors that are named one by one.
const MOST_NAMED: usize = 16;

/// The most characters of an option's name that are repeated.
const LONGEST_NAME: usize = 64;

/// The bag, checked.
#[derive(Debug)]
pub(crate) struct Bag<'a> {
    /// The known keys with their values.
    pub(crate) fields: Vec<(&'static str, &'a Value)>,
    /// What takes the place of body fields, as the very last resort.
    pub(crate) patch: Option<&'a Map<String, Value>>,
}

impl<'a> Bag<'a> {
    /// Reads the vendor's namespace. A null is as good as nothing; keys in `passed_over` are the caller's to read.
    pub(crate) fn read(
        vendor: &VendorId,
        keys: &'static [OptionKey],
        passed_over: &[&str],
        request: &'a ChatRequest,
    ) -> Result<Self> {
        let mut bag = Bag {
            fields: Vec::new(),
            patch: None,
        };
        for (key, value) in request.vendor.of(vendor.as_str()).into_iter().flatten() {
            if value.is_null() || passed_over.contains(&key.as_str()) {
                continue;
            }
            let field = format!("vendor.{vendor}.{key}");
            if key == "body" {
                bag.patch = Some(patch(&field, value)?);
                continue;
            }
            let Some(known) = keys.iter().find(|known| known.name == key) else {
                return Err(unknown(vendor, keys, &field, key));
            };
            if !known.form.fits(value) {
                return Err(wrong_type(&field, known.form.as_str()));
            }
            bag.fields.push((known.name, value));
        }
        Ok(bag)
    }

    /// The value under a key.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        let (_, value) = self.fields.iter().find(|(key, _)| *key == name)?;
        Some(value)
    }

    /// The text under a key.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.value(name)?.as_str()
    }

    /// Takes a list out, for keys that are no fields of the body.
    pub(crate) fn take_list(&mut self, name: &str) -> &'a [Value] {
        let Some(at) = self.fields.iter().position(|(key, _)| *key == name) else {
            return &[];
        };
        let (_, value) = self.fields.remove(at);
        value.as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

/// What is not sent because it is an option of another vendor. Who has set options of this vendor too has thought of
/// it, and is told nothing: so one request can carry options for every target a router may pick.
pub(crate) fn of_others(vendor: &VendorId, request: &ChatRequest) -> Vec<Warning> {
    if request.vendor.is_empty() || request.vendor.of(vendor.as_str()).is_some() {
        return Vec::new();
    }
    let others = request.vendor.iter();
    let mut keys = others.flat_map(|(other, fields)| {
        let set = fields.iter().filter(|(_, value)| !value.is_null());
        set.map(move |(key, _)| (other, key))
    });
    let named = keys.by_ref().take(MOST_NAMED);
    let mut warnings: Vec<_> = named
        .map(|(other, key)| {
            let key: String = key.chars().take(LONGEST_NAME).collect();
            let message = format!("is not sent: it is an option of {other}, and this goes to {vendor}");
            Warning::option(format!("vendor.{other}.{key}"), message)
        })
        .collect();
    let more = keys.count();
    if more > 0 {
        let message = format!("holds {more} more options of other vendors, which are not sent to {vendor}");
        warnings.push(Warning::option("vendor", message));
    }
    warnings
}

fn patch<'a>(field: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    let Value::Object(patch) = value else {
        return Err(wrong_type(field, "an object: body fields with their values"));
    };
    for fixed in ["model", "stream"] {
        if patch.contains_key(fixed) {
            let message = "may not be patched: it is part of the call itself";
            return Err(invalid(format!("{field}.{fixed}"), message));
        }
    }
    Ok(patch)
}

fn unknown(vendor: &VendorId, keys: &[OptionKey], field: &str, key: &str) -> Error {
    let names = keys.iter().map(|known| known.name);
    let nearest = names
        .map(|name| (distance(key, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.len() / 3);
    let message = match nearest {
        Some((_, name)) => format!("is not an option known here; is {name} meant?"),
        None => format!("is not an option known here; put it under vendor.{vendor}.body to send it as it is"),
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

#[cfg(test)]
mod tests;
