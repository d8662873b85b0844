//! The JSON of requests, as it is written. Everything borrows from the neutral request; the body is written straight
//! from here.

use crate::body::Body;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A body, or an object inside of it.
pub(crate) type Fields<'a> = Body<'a, Field<'a>>;

/// The value of a field.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Field<'a> {
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(&'a str),
    Texts(&'a [String]),
    Value(&'a Value),
    /// A schema that something was added to.
    Owned(Value),
    Object(Fields<'a>),
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>),
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
    Integer(i64),
    Integer(u32),
    Number(f64),
    Text(&'a str),
    Texts(&'a [String]),
    Value(&'a Value),
    Owned(Value),
    Object(Fields<'a>),
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>)
);

/// A message.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WireMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) thinking: Cow<'a, str>,
    /// Base64 without anything in front.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<WireToolCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<&'a str>,
}

impl<'a> WireMessage<'a> {
    pub(crate) fn new(role: &'static str, content: impl Into<Cow<'a, str>>) -> Self {
        WireMessage {
            role,
            content: content.into(),
            thinking: Cow::Borrowed(""),
            images: Vec::new(),
            tool_calls: Vec::new(),
            tool_name: None,
            tool_call_id: None,
        }
    }
}

/// A call in an assistant message.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WireToolCall<'a> {
    pub(crate) id: &'a str,
    pub(crate) function: WireCalled<'a>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireCalled<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: WireArguments<'a>,
}

/// The arguments of a call: an object, just as the model wrote it.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireArguments<'a> {
    Raw(&'a RawValue),
    /// `{}`
    Empty {},
}

/// A tool on offer.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WireTool<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) function: WireFunction<'a>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireFunction<'a> {
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    pub(crate) parameters: WireParameters<'a>,
}

/// The schema of a tool's arguments. The server wants one in any case.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireParameters<'a> {
    Given(&'a Value),
    None {
        #[serde(rename = "type")]
        kind: &'static str,
        properties: NoProperties,
    },
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct NoProperties {}
