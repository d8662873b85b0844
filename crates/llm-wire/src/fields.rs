//! Taking fields out of JSON objects, with the path of everything that is wrong.

use crate::fault::{missing, wrong_type};
use crate::option_key::JsonForm;
use llm_core::{Error, ErrorKind, Result, Warning};
use serde_json::{Map, Value};

/// The most unknown fields that are named in warnings.
const MOST_WARNINGS: usize = 32;

/// The most characters of an unknown field's name that are repeated.
const LONGEST_NAME: usize = 64;

/// What was noticed on the way.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) warnings: Vec<Warning>,
}

impl Notes {
    pub(crate) fn warn(&mut self, field: &str, message: &str) {
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(Warning::wire(field, message));
        }
    }
}

/// An object whose fields are taken out one by one. A null is as good as no field.
#[derive(Debug)]
pub(crate) struct Fields {
    path: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The body itself.
    pub(crate) fn root(value: Value) -> Result<Self> {
        match value {
            Value::Object(map) => Ok(Fields {
                path: String::new(),
                map,
            }),
            _ => Err(Error::new(
                ErrorKind::InvalidRequest,
                "the body must be a JSON object",
            )),
        }
    }

    /// An object inside of it.
    pub(crate) fn of(path: String, value: Value) -> Result<Self> {
        match value {
            Value::Object(map) => Ok(Fields { path, map }),
            _ => Err(wrong_type(&path, "an object")),
        }
    }

    /// The path of one of its fields.
    pub(crate) fn at(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Its own path.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    // What is left keeps its order: a piece that goes back to its vendor goes back as it came.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong_type(self.at(key), "a string")),
        }
    }

    /// Text that must be there and not be empty.
    pub(crate) fn name(&mut self, key: &str) -> Result<String> {
        self.text(key)?
            .filter(|text| !text.is_empty())
            .ok_or_else(|| missing(self.at(key), "a string that is not empty"))
    }

    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(wrong_type(self.at(key), "true or false")),
        }
    }

    pub(crate) fn number(&mut self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| number.is_finite());
        number
            .map(Some)
            .ok_or_else(|| wrong_type(self.at(key), "a number"))
    }

    pub(crate) fn integer(&mut self, key: &str) -> Result<Option<i64>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = value.as_i64();
        number
            .map(Some)
            .ok_or_else(|| wrong_type(self.at(key), "a whole number"))
    }

    /// A count of at least one.
    pub(crate) fn count(&mut self, key: &str) -> Result<Option<u32>> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
        count
            .filter(|count| *count > 0)
            .map(Some)
            .ok_or_else(|| wrong_type(self.at(key), "a whole number of at least 1"))
    }

    pub(crate) fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(wrong_type(self.at(key), "a list")),
        }
    }

    /// A field that is an object, kept as it is.
    pub(crate) fn object(&mut self, key: &str) -> Result<Option<Value>> {
        match self.take(key) {
            None => Ok(None),
            Some(value @ Value::Object(_)) => Ok(Some(value)),
            Some(_) => Err(wrong_type(self.at(key), "an object")),
        }
    }

    /// A field that is an object, to take fields out of.
    pub(crate) fn inner(&mut self, key: &str) -> Result<Option<Fields>> {
        let path = self.at(key);
        self.take(key).map(|value| Fields::of(path, value)).transpose()
    }

    /// A field of a given form, kept as it is.
    pub(crate) fn value(&mut self, key: &str, form: JsonForm) -> Result<Option<Value>> {
        match self.take(key) {
            Some(value) if !form.fits(&value) => Err(wrong_type(self.at(key), form.as_str())),
            value => Ok(value),
        }
    }

    /// Everything that was not taken yet, for objects that are kept as they came.
    pub(crate) fn take_all(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map)
    }

    /// Drops fields that mean nothing here.
    pub(crate) fn ignore(&mut self, keys: &[&str]) {
        for key in keys {
            self.map.shift_remove(*key);
        }
    }

    /// Warns about everything that was not taken.
    pub(crate) fn finish(self, notes: &mut Notes) {
        for (key, value) in &self.map {
            if !value.is_null() {
                let short: String = key.chars().take(LONGEST_NAME).collect();
                notes.warn(&self.at(&short), "is not known and was left out");
            }
        }
    }
}
