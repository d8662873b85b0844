//! What only this vendor reports, put together from its pieces and handed out once.

use crate::lenient::Rare;
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(super) struct Metadata {
    fields: Map<String, Value>,
}

impl Metadata {
    /// A later report takes the place of an earlier one.
    pub(super) fn replace(&mut self, name: &str, value: Rare<Value>) {
        if let Some(value) = value.filter(|value| says_something(value)) {
            self.fields.insert(name.to_owned(), *value);
        }
    }

    /// A later report adds to an earlier one: lists go on.
    pub(super) fn join(&mut self, name: &str, value: Rare<Value>) {
        if let Some(value) = value.filter(|value| says_something(value)) {
            match self.fields.get_mut(name) {
                Some(earlier) => join(earlier, *value),
                None => self.replace(name, Some(value)),
            }
        }
    }

    /// Everything, if there is anything.
    pub(super) fn take(&mut self) -> Option<Map<String, Value>> {
        (!self.fields.is_empty()).then(|| std::mem::take(&mut self.fields))
    }
}

fn join(earlier: &mut Value, later: Value) {
    match (earlier, later) {
        (Value::Object(earlier), Value::Object(later)) => {
            for (key, value) in later {
                match (earlier.get_mut(&key), value) {
                    (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                    (Some(there), value) => *there = value,
                    (None, value) => {
                        earlier.insert(key, value);
                    }
                }
            }
        }
        (earlier, later) => *earlier = later,
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}
