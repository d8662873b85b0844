//! One part of a content: the few kinds that have a neutral form, and everything else as it came.

use crate::lenient::{Rare, Text};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// A part. (Read by hand: a flattened rest would cost every piece of text a copy.)
#[derive(Debug, Default)]
pub(crate) struct WirePart<'a> {
    pub(crate) text: Option<Text<'a>>,
    pub(crate) thought: bool,
    pub(crate) signature: Option<Text<'a>>,
    pub(crate) call: Rare<WireCall<'a>>,
    /// Every other field.
    pub(crate) rest: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WireCall<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) name: Option<Text<'a>>,
    pub(crate) args: Option<Value>,
    /// Arguments in pieces: one host sends these where it is asked to.
    pub(crate) partial_args: Option<IgnoredAny>,
    pub(crate) will_continue: Option<bool>,
}

impl<'de: 'a, 'a> Deserialize<'de> for WirePart<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;
        impl<'de> Visitor<'de> for PartVisitor {
            type Value = WirePart<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part of a content")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let mut part = WirePart::default();
                while let Some(name) = fields.next_key::<Text<'de>>()? {
                    match &*name {
                        "text" => part.text = fields.next_value()?,
                        "thought" => part.thought = fields.next_value::<Option<bool>>()?.unwrap_or_default(),
                        "thoughtSignature" => part.signature = fields.next_value()?,
                        "functionCall" => part.call = fields.next_value()?,
                        _ => {
                            let value: Value = fields.next_value()?;
                            if !value.is_null() {
                                part.rest.insert(name.into_string(), value);
                            }
                        }
                    }
                }
                Ok(part)
            }
        }
        deserializer.deserialize_map(PartVisitor)
    }
}
