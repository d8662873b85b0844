//! Figures and words that explain a rejection or a score.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use smallvec::SmallVec;
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
// A decision holds some for each score of each candidate, seldom more than two: those lie in place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts(SmallVec<[(Cow<'static, str>, Fact); 2]>);

/// One value of [`Facts`]. In JSON it is the plain value; what is read from a list or an object is its text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fact {
    /// Not known, or no number; `null` in JSON.
    Absent,
    /// Yes or no.
    Flag(bool),
    /// A count.
    Count(u64),
    /// A whole number below 0.
    Negative(i64),
    /// Any other number.
    Figure(f64),
    /// A word.
    Word(Cow<'static, str>),
}

impl Facts {
    /// One more.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Fact>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// The value of this name.
    pub fn find(&self, name: &str) -> Option<&Fact> {
        self.iter()
            .find(|(mine, _)| *mine == name)
            .map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Fact)> {
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
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fact {
    /// As in JSON, but words without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Absent => f.write_str("null"),
            Fact::Flag(flag) => flag.fmt(f),
            Fact::Count(count) => count.fmt(f),
            Fact::Negative(number) => number.fmt(f),
            // As JSON has it: `2.0`, not `2`.
            Fact::Figure(figure) => Value::from(*figure).fmt(f),
            Fact::Word(word) => f.write_str(word),
        }
    }
}

macro_rules! from {
    ($($from:ty: $value:ident => $fact:expr,)+) => {
        $(impl From<$from> for Fact {
            fn from($value: $from) -> Self {
                $fact
            }
        })+
    };
}

from! {
    bool: flag => Fact::Flag(flag),
    u16: count => Fact::Count(count.into()),
    u32: count => Fact::Count(count.into()),
    u64: count => Fact::Count(count),
    i32: number => i64::from(number).into(),
    i64: number => u64::try_from(number).map_or(Fact::Negative(number), Fact::Count),
    f64: figure => if figure.is_finite() { Fact::Figure(figure) } else { Fact::Absent },
    &str: word => Fact::Word(word.to_owned().into()),
    String: word => Fact::Word(word.into()),
    Cow<'static, str>: word => Fact::Word(word),
}

impl From<usize> for Fact {
    fn from(count: usize) -> Self {
        Fact::Count(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

impl<T: Into<Fact>> From<Option<T>> for Fact {
    fn from(value: Option<T>) -> Self {
        value.map_or(Fact::Absent, Into::into)
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Fact::Absent => serializer.serialize_unit(),
            Fact::Flag(flag) => serializer.serialize_bool(*flag),
            Fact::Count(count) => serializer.serialize_u64(*count),
            Fact::Negative(number) => serializer.serialize_i64(*number),
            Fact::Figure(figure) => serializer.serialize_f64(*figure),
            Fact::Word(word) => serializer.serialize_str(word),
        }
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
                while let Some((name, value)) = map.next_entry::<String, Fact>()? {
                    facts = facts.with(name, value);
                }
                Ok(facts)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl<'de> Deserialize<'de> for Fact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Fact::Absent,
            Value::Bool(flag) => Fact::Flag(flag),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(count), _) => Fact::Count(count),
                (None, Some(number)) => Fact::Negative(number),
                (None, None) => number.as_f64().into(),
            },
            Value::String(word) => word.into(),
            other @ (Value::Array(_) | Value::Object(_)) => other.to_string().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_order_and_comes_back() {
        let facts = Facts::default()
            .with("z", 1.5)
            .with("a", "word")
            .with("n", -3)
            .with("c", 3_usize)
            .with("f", true)
            .with("o", None::<u64>);
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"{"z":1.5,"a":"word","n":-3,"c":3,"f":true,"o":null}"#);
        assert_eq!(facts.to_string(), "z=1.5, a=word, n=-3, c=3, f=true, o=null");
        assert_eq!(serde_json::from_str::<Facts>(&json).unwrap(), facts);
        assert_eq!(facts.find("a"), Some(&Fact::from("word")));
        assert_eq!(facts.find("b"), None);
    }

    #[test]
    fn what_is_no_plain_value_is_read_as_its_text() {
        let facts: Facts = serde_json::from_str(r#"{"list":[1,"a"]}"#).unwrap();
        assert_eq!(facts.find("list"), Some(&Fact::from(r#"[1,"a"]"#)));
    }

    #[test]
    fn numbers_are_written_as_json_writes_them() {
        let facts = Facts::default()
            .with("usd", 0.00001)
            .with("whole", 2.0)
            .with("odd", f64::NAN);
        assert_eq!(
            serde_json::to_string(&facts).unwrap(),
            r#"{"usd":0.00001,"whole":2.0,"odd":null}"#
        );
        assert_eq!(facts.to_string(), "usd=0.00001, whole=2.0, odd=null");
        assert_eq!(facts, facts.clone());
    }
}
