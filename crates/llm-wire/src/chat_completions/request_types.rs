//! The JSON of requests, as it is written. Everything borrows from the neutral request; the body is written
//! straight from here.

use crate::custom::CustomCall;
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use serde_json::Value;
use std::borrow::Cow;

mod part;

pub(crate) use part::{WireContent, WirePart, WirePartBody, WireUrl, detail_word};

/// A body of this format.
pub(crate) type Body<'a> = crate::body::Body<'a, Field<'a>>;

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
    InForm(Cow<'a, Value>),
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    ResponseFormat(WireResponseFormat<'a>),
    StreamOptions(WireStreamOptions),
    Thinking(WireThinking),
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
    InForm(Cow<'a, Value>),
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    ResponseFormat(WireResponseFormat<'a>),
    StreamOptions(WireStreamOptions),
    Thinking(WireThinking)
);

/// A message.
#[derive(Debug)]
pub(crate) struct WireMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: WireContent<'a>,
    pub(crate) name: Option<&'a str>,
    pub(crate) tool_call_id: Option<Cow<'a, str>>,
    /// The mark of a beginning that the model is to continue.
    pub(crate) mark: Option<&'static str>,
    pub(crate) refusal: Option<String>,
    pub(crate) tool_calls: Vec<WireToolCall<'a>>,
    /// State of the vendor's own: audio ids, reasoning that it wants back.
    pub(crate) own: Vec<(&'a str, Own<'a>)>,
}

/// A value of the vendor's own, or what was gathered in its place.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Own<'a> {
    Value(&'a Value),
    /// One text: an empty line stands between two.
    #[serde(serialize_with = "in_one")]
    Texts(Vec<&'a str>),
    /// Entries of one list.
    Entries(Vec<&'a Value>),
}

fn in_one<S: Serializer>(texts: &[&str], serializer: S) -> Result<S::Ok, S::Error> {
    match texts {
        [only] => serializer.serialize_str(only),
        several => serializer.serialize_str(&several.join("\n\n")),
    }
}

impl<'a> WireMessage<'a> {
    pub(crate) fn new(role: &'static str, content: WireContent<'a>) -> Self {
        WireMessage {
            role,
            content,
            name: None,
            tool_call_id: None,
            mark: None,
            refusal: None,
            tool_calls: Vec::new(),
            own: Vec::new(),
        }
    }
}

impl Serialize for WireMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", self.role)?;
        if let Some(name) = self.name {
            map.serialize_entry("name", name)?;
        }
        if let Some(id) = &self.tool_call_id {
            map.serialize_entry("tool_call_id", id)?;
        }
        for (name, value) in &self.own {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("content", &self.content)?;
        if let Some(refusal) = &self.refusal {
            map.serialize_entry("refusal", refusal)?;
        }
        if !self.tool_calls.is_empty() {
            map.serialize_entry("tool_calls", &self.tool_calls)?;
        }
        if let Some(mark) = self.mark {
            map.serialize_entry(mark, &true)?;
        }
        map.end()
    }
}

/// A call in an assistant message.
#[derive(Debug)]
pub(crate) enum WireToolCall<'a> {
    Function {
        id: Cow<'a, str>,
        name: &'a str,
        arguments: &'a str,
    },
    /// A call of a custom tool, which another format recorded.
    Custom {
        id: Cow<'a, str>,
        custom: CustomCall<'a>,
    },
    /// A call of another kind, as the vendor wrote it.
    Own(&'a Value),
}

impl Serialize for WireToolCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Called<'a> {
            name: &'a str,
            arguments: &'a str,
        }
        match self {
            WireToolCall::Function { id, name, arguments } => {
                let mut call = serializer.serialize_struct("ToolCall", 3)?;
                call.serialize_field("id", id)?;
                call.serialize_field("type", "function")?;
                call.serialize_field("function", &Called { name, arguments })?;
                call.end()
            }
            WireToolCall::Custom { id, custom } => {
                let mut call = serializer.serialize_struct("ToolCall", 3)?;
                call.serialize_field("id", id)?;
                call.serialize_field("type", "custom")?;
                call.serialize_field("custom", custom)?;
                call.end()
            }
            WireToolCall::Own(value) => value.serialize(serializer),
        }
    }
}

/// A tool on offer.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireTool<'a> {
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        function: WireFunction<'a>,
    },
    /// A tool of another kind, as the caller wrote it but for its form.
    Own(Cow<'a, Value>),
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireFunction<'a> {
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parameters: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strict: Option<bool>,
}

#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireToolChoice<'a> {
    Word(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        function: WireName<'a>,
    },
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireName<'a> {
    pub(crate) name: &'a str,
}

#[derive(Debug, serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum WireResponseFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: WireSchema<'a> },
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireSchema<'a> {
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    pub(crate) schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strict: Option<bool>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireStreamOptions {
    pub(crate) include_usage: bool,
}

/// Whether the model thinks.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WireThinking {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
}
