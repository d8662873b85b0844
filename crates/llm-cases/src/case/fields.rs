//! Reading one object of a case file strictly: every key is asked for by somebody, or it is a fault.

use super::Fault;
use serde_json::{Map, Value};
use std::time::Duration;

/// One object of a case file, and which of its keys were asked for.
pub(crate) struct Fields<'a> {
    at: String,
    map: &'a Map<String, Value>,
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Opens the object that stands at this place of the file.
    pub(crate) fn of(value: &'a Value, at: impl Into<String>) -> Result<Self, Fault> {
        let at = at.into();
        match value.as_object() {
            Some(map) => Ok(Fields {
                at,
                map,
                asked: Vec::new(),
            }),
            None => Err(Fault::malformed(format!("{at} is not an object"))),
        }
    }

    /// Where a key of this object stands in the file.
    pub(crate) fn at(&self, key: &str) -> String {
        if self.at.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.at)
        }
    }

    /// A key that may be missing.
    pub(crate) fn optional(&mut self, key: &'static str) -> Option<&'a Value> {
        self.asked.push(key);
        self.map.get(key)
    }

    /// A key that must be there.
    pub(crate) fn required(&mut self, key: &'static str) -> Result<&'a Value, Fault> {
        let at = self.at(key);
        self.optional(key)
            .ok_or_else(|| Fault::malformed(format!("{at} is missing")))
    }

    /// A text that must be there.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<&'a str, Fault> {
        let at = self.at(key);
        text(self.required(key)?, &at)
    }

    /// A text that may be missing.
    pub(crate) fn optional_text(&mut self, key: &'static str) -> Result<Option<&'a str>, Fault> {
        let at = self.at(key);
        self.optional(key).map(|value| text(value, &at)).transpose()
    }

    /// A whole number that must be there.
    pub(crate) fn count(&mut self, key: &'static str) -> Result<u64, Fault> {
        let at = self.at(key);
        count(self.required(key)?, &at)
    }

    /// A whole number that may be missing.
    pub(crate) fn optional_count(&mut self, key: &'static str) -> Result<Option<u64>, Fault> {
        let at = self.at(key);
        self.optional(key).map(|value| count(value, &at)).transpose()
    }

    /// Milliseconds that may be missing.
    pub(crate) fn optional_millis(&mut self, key: &'static str) -> Result<Option<Duration>, Fault> {
        Ok(self.optional_count(key)?.map(Duration::from_millis))
    }

    /// A switch that is off when it is missing.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<bool, Fault> {
        let at = self.at(key);
        match self.optional(key) {
            None => Ok(false),
            Some(value) => value
                .as_bool()
                .ok_or_else(|| Fault::malformed(format!("{at} is neither true nor false"))),
        }
    }

    /// All keys, where they are not words of the format but names that the case gives.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.map.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Everything was asked for that this runner knows; what is left is a key it does not know.
    pub(crate) fn end(self) -> Result<(), Fault> {
        match self.map.keys().find(|key| !self.asked.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(Fault::unknown("key", self.at(key))),
        }
    }
}

/// The text that stands here.
pub(crate) fn text<'a>(value: &'a Value, at: &str) -> Result<&'a str, Fault> {
    value
        .as_str()
        .ok_or_else(|| Fault::malformed(format!("{at} is not a text")))
}

/// The whole number that stands here.
fn count(value: &Value, at: &str) -> Result<u64, Fault> {
    value
        .as_u64()
        .ok_or_else(|| Fault::malformed(format!("{at} is not a whole number")))
}

/// The list that stands here.
pub(crate) fn list<'a>(value: &'a Value, at: &str) -> Result<&'a [Value], Fault> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| Fault::malformed(format!("{at} is not a list")))
}
