//! Reading JSON that is mostly right: what cannot be read costs its field and a warning, never the answer.

mod surrogates;

use llm_core::{Error, ErrorKind, Result, Warning};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The most fields of one document that are left out before it is given up.
const MOST_REPAIRS: usize = 64;

/// Parses a document and hands the value to `read`. The fast way is tried first; only when that fails is the
/// document read as a tree, and what stands in the way taken out, field by field.
///
/// # Errors
/// `Protocol`, when it is no JSON at all or cannot be repaired.
pub(crate) fn parse<T, R>(
    text: &str,
    warnings: &mut Vec<Warning>,
    read: impl FnOnce(T::Of<'_>) -> R,
) -> Result<R>
where
    T: Document,
{
    if let Ok(value) = serde_json::from_str::<T::Of<'_>>(text) {
        return Ok(read(value));
    }
    let mut tree = tree_of(text, warnings)?;
    for _ in 0..MOST_REPAIRS {
        let fault = match serde_path_to_error::deserialize::<_, T::Of<'_>>(&tree) {
            Ok(_) => break,
            Err(fault) => fault,
        };
        let path = pointer_of(fault.path());
        if !take_out(&mut tree, &path) {
            break;
        }
        let field = path.join(".");
        warnings.push(Warning::wire(
            field,
            "has another form than expected and was left out",
        ));
    }
    match T::Of::deserialize(&tree) {
        Ok(value) => Ok(read(value)),
        Err(_) => Err(Error::new(
            ErrorKind::Protocol,
            "the answer is JSON of an unexpected form",
        )),
    }
}

/// The document as a tree. Half a surrogate pair costs a character (a server cut the text between the halves).
fn tree_of(text: &str, warnings: &mut Vec<Warning>) -> Result<Value> {
    let error = match serde_json::from_str(text) {
        Ok(tree) => return Ok(tree),
        Err(error) => error,
    };
    if let Some(repaired) = surrogates::replace_lone(text)
        && let Ok(tree) = serde_json::from_str(&repaired)
    {
        warnings.push(Warning::wire("", "holds half a character, which was replaced"));
        return Ok(tree);
    }
    // serde_json's own message quotes nothing but positions and token names
    let message = format!(
        "the answer is not JSON (line {}, column {})",
        error.line(),
        error.column()
    );
    Err(Error::new(ErrorKind::Protocol, message))
}

/// A field that most documents lack. It is kept out of line, so that reading those moves less memory around.
pub(crate) type Rare<T> = Option<Box<T>>;

/// A type that borrows from the text it is read from.
pub(crate) trait Document {
    /// The type, for one lifetime of the text.
    type Of<'a>: Deserialize<'a>;
}

fn pointer_of(path: &serde_path_to_error::Path) -> Vec<String> {
    path.iter()
        .map(ToString::to_string)
        .map(|step| step.trim_matches(['[', ']']).to_owned())
        .collect()
}

/// Removes the value a path names. False, when there is nothing to remove.
fn take_out(tree: &mut Value, path: &[String]) -> bool {
    let Some((last, above)) = path.split_last() else {
        return false;
    };
    let mut at = tree;
    for step in above {
        let next = match at {
            Value::Object(fields) => fields.get_mut(step),
            Value::Array(items) => step.parse().ok().and_then(|index: usize| items.get_mut(index)),
            _ => None,
        };
        match next {
            Some(value) => at = value,
            None => return false,
        }
    }
    match at {
        Value::Object(fields) => fields.shift_remove(last).is_some(),
        Value::Array(items) => match last.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// Text that is borrowed from the document where it holds no escapes. (serde's own `Cow` borrows only outside
/// of an `Option`.)
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Text, or whatever else stands in its place. (serde's own untagged enums copy a value before they know what it is,
/// and make an error of each form that it does not have.)
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextOr<'a, V> {
    Text(Text<'a>),
    Other(V),
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for TextOr<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrVisitor<V>(std::marker::PhantomData<V>);

        impl<'de, V: Deserialize<'de>> TextOrVisitor<V> {
            fn other<E: de::Error>(value: impl IntoDeserializer<'de, E>) -> Result<TextOr<'de, V>, E> {
                V::deserialize(value.into_deserializer()).map(TextOr::Other)
            }
        }

        impl<'de, V: Deserialize<'de>> Visitor<'de> for TextOrVisitor<V> {
            type Value = TextOr<'de, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or something in its place")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(Text(Cow::Borrowed(text))))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(Text(Cow::Owned(text.to_owned()))))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(TextOr::Text(Text(Cow::Owned(text))))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Self::other(())
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
                Self::other(value)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
                Self::other(value)
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                Self::other(value)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                Self::other(value)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                V::deserialize(SeqAccessDeserializer::new(list)).map(TextOr::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
                V::deserialize(MapAccessDeserializer::new(fields)).map(TextOr::Other)
            }
        }
        deserializer.deserialize_any(TextOrVisitor(std::marker::PhantomData))
    }
}

/// A count of tokens: a whole number, also when it is written with a decimal point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl Visitor<'_> for CountVisitor {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }
            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Count, E> {
                Ok(Count(count))
            }
            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Count, E> {
                u64::try_from(count)
                    .map(Count)
                    .map_err(|_| E::custom("a negative count"))
            }
            fn visit_f64<E: de::Error>(self, count: f64) -> Result<Count, E> {
                if count >= 0.0 && count.fract() == 0.0 && count < 9e15 {
                    Ok(Count(count as u64))
                } else {
                    Err(E::custom("not a whole count"))
                }
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}

/// A place in a list: a whole number, also when it is written with a decimal point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Index(pub(crate) u32);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Count(count) = Count::deserialize(deserializer)?;
        let index = u32::try_from(count).map_err(|_| de::Error::custom("not a place in a list"))?;
        Ok(Index(index))
    }
}

/// What the content of a message may be.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Content<'a, P> {
    /// Null, missing, or something that is no content.
    #[default]
    Absent,
    Text(Text<'a>),
    Parts(Vec<P>),
}

impl<'de: 'a, 'a, P: Deserialize<'de>> Deserialize<'de> for Content<'a, P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor<P>(std::marker::PhantomData<P>);
        impl<'de, P: Deserialize<'de>> Visitor<'de> for ContentVisitor<P> {
            type Value = Content<'de, P>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of parts")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Text(Cow::Borrowed(text))))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Text(Cow::Owned(text.to_owned()))))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(Content::Text(Text(Cow::Owned(text))))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(Content::Absent)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = list.next_element()? {
                    parts.push(part);
                }
                Ok(Content::Parts(parts))
            }
        }
        deserializer.deserialize_any(ContentVisitor(std::marker::PhantomData))
    }
}

/// Is there anything? Hosts write "no error" as null, as `{}`, as `""` and as `false`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Presence(pub(crate) bool);

impl Presence {
    /// Is the field there, with something in it?
    pub(crate) fn of(field: &Option<Presence>) -> bool {
        field.as_ref().is_some_and(|field| field.0)
    }
}

impl<'de> Deserialize<'de> for Presence {
    /// Is there something that is neither null, false, empty text, an empty list nor an empty object?
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PresenceVisitor;
        impl<'de> Visitor<'de> for PresenceVisitor {
            type Value = Presence;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_bool<E: de::Error>(self, there: bool) -> Result<Presence, E> {
                Ok(Presence(there))
            }
            fn visit_u64<E: de::Error>(self, _: u64) -> Result<Presence, E> {
                Ok(Presence(true))
            }
            fn visit_i64<E: de::Error>(self, _: i64) -> Result<Presence, E> {
                Ok(Presence(true))
            }
            fn visit_f64<E: de::Error>(self, _: f64) -> Result<Presence, E> {
                Ok(Presence(true))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Presence, E> {
                Ok(Presence(!text.is_empty()))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Presence, E> {
                Ok(Presence(false))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Presence, A::Error> {
                let mut there = false;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    there = true;
                }
                Ok(Presence(there))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Presence, A::Error> {
                let mut there = false;
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    there = true;
                }
                Ok(Presence(there))
            }
        }
        deserializer.deserialize_any(PresenceVisitor)
    }
}
