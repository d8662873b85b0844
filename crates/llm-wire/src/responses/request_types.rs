//! The JSON of requests, as it is written. Everything borrows from the neutral request; the body is written straight
//! from here.

mod part;

pub(crate) use part::{WireContent, WirePart, WirePartBody, WireUrl};

use crate::custom::{CUSTOM_CALL, CustomCall};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A body of this format.
pub(crate) type Body<'a> = crate::body::Body<'a, Field<'a>>;

/// The value of a field.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Field<'a> {
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(Cow<'a, str>),
    Value(&'a Value),
    InForm(Cow<'a, Value>),
    Items(Vec<Item<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    Format(WireFormat<'a>),
    Include(Vec<Include<'a>>),
    Object(Body<'a>),
}

macro_rules! field_from {
    ($($variant:ident($from:ty)),*) => {$(
        impl<'a> From<$from> for Field<'a> {
            fn from(value: $from) -> Self {
                Field::$variant(value.into())
            }
        }
    )*};
}
field_from!(
    Bool(bool),
    Integer(u32),
    Number(f64),
    Text(&'a str),
    Text(String),
    Value(&'a Value),
    InForm(Cow<'a, Value>),
    Items(Vec<Item<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    Format(WireFormat<'a>),
    Include(Vec<Include<'a>>),
    Object(Body<'a>)
);

/// What is to stand in the answer beside the usual: a word of ours or one of the caller's.
#[derive(Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Include<'a> {
    Word(&'static str),
    Own(&'a Value),
}

/// An item of the input.
#[derive(Debug)]
pub(crate) enum Item<'a> {
    Message {
        role: &'static str,
        content: WireContent<'a>,
        /// What an assistant message was said for.
        phase: Option<&'a Value>,
    },
    Call {
        id: Cow<'a, str>,
        name: &'a str,
        arguments: &'a str,
        /// Fields of the vendor's own.
        own: Option<&'a Map<String, Value>>,
    },
    Output {
        /// `function_call_output` or that of another kind of call.
        kind: &'static str,
        id: Cow<'a, str>,
        content: WireContent<'a>,
    },
    /// A call of a custom tool, which another format recorded.
    CustomCall {
        id: Cow<'a, str>,
        custom: CustomCall<'a>,
    },
    /// An item as the vendor wrote it.
    Own(&'a Value),
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Item::Own(item) = self {
            return item.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Item::Own(_) => {}
            Item::Message { role, content, phase } => {
                map.serialize_entry("type", "message")?;
                map.serialize_entry("role", role)?;
                map.serialize_entry("content", content)?;
                if let Some(phase) = phase {
                    map.serialize_entry("phase", phase)?;
                }
            }
            Item::Call {
                id,
                name,
                arguments,
                own,
            } => {
                map.serialize_entry("type", "function_call")?;
                map.serialize_entry("call_id", id)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("arguments", arguments)?;
                for (name, value) in own.iter().copied().flatten() {
                    map.serialize_entry(name, value)?;
                }
            }
            Item::CustomCall { id, custom } => {
                map.serialize_entry("type", CUSTOM_CALL)?;
                map.serialize_entry("call_id", id)?;
                map.serialize_entry("name", custom.name)?;
                map.serialize_entry("input", custom.input)?;
            }
            Item::Output { kind, id, content } => {
                map.serialize_entry("type", kind)?;
                map.serialize_entry("call_id", id)?;
                map.serialize_entry("output", content)?;
            }
        }
        map.end()
    }
}

/// A tool on offer.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireTool<'a> {
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        parameters: Cow<'a, Value>,
        strict: bool,
    },
    /// A tool of another kind, as the caller wrote it but for its form.
    Own(Cow<'a, Value>),
}

#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireToolChoice<'a> {
    Word(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        name: &'a str,
    },
}

/// The form of the answer.
#[derive(Debug, serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum WireFormat<'a> {
    JsonObject,
    JsonSchema {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        schema: Cow<'a, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
    },
}
