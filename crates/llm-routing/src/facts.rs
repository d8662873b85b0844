//! Figures and words that explain a rejection or a score.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// Named values in the order they were given: what a constraint or a ranker had before it when it judged.
/// They never hold prompts, completions or credentials. In JSON they are an object.
///
/// ```
/// use llm_routing::Facts;
/// let facts = Facts::default().with("needed", 4_000).with("window", 2_048);
/// assert_eq!(serde_json::to_string(&facts).unwrap(), r#"{"needed":4000,"window":2048}"#);
/// assert_eq!(facts.to_string(), "needed=4000, window=2048");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts(Vec<(Cow<'static, str>, Value)>);

impl Facts {
    /// One more.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        // few ever hold more than two, and a decision holds thousands of these
        self.0.reserve_exact(1);
        self.0.push((name.into(), value.into()));
        self
    }

    /// The value of this name.
    pub fn find(&self, name: &str) -> Option<&Value> {
        self.iter()
            .find(|(mine, _)| *mine == name)
            .map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Facts {
    /// `name=value, name=value`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, value)) in self.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            match value {
                Value::String(text) => write!(f, "{comma}{name}={text}")?,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    write!(f, "{comma}{name}={value}")?;
                }
            }
        }
        Ok(())
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Facts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of facts")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Facts, A::Error> {
                let mut facts = Facts::default();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    facts.0.push((name.into(), value));
                }
                Ok(facts)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_order_and_comes_back() {
        let facts = Facts::default().with("z", 1.5).with("a", "word");
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"{"z":1.5,"a":"word"}"#);
        assert_eq!(serde_json::from_str::<Facts>(&json).unwrap(), facts);
        assert_eq!(facts.find("a"), Some(&Value::from("word")));
        assert_eq!(facts.find("b"), None);
    }
}
