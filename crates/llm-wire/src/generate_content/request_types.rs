//! The JSON of requests, as it is written. Nearly everything borrows from the neutral request; the body is written
//! straight from here.

use crate::body::Body;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
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
    Names([&'a str; 1]),
    Stop(&'a [String]),
    Value(&'a Value),
    /// A schema that was made legal, a model's path.
    Owned(Value),
    Object(Fields<'a>),
    Contents(Vec<WireContent<'a>>),
    System(WireSystem<'a>),
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
    Names([&'a str; 1]),
    Stop(&'a [String]),
    Value(&'a Value),
    Owned(Value),
    Contents(Vec<WireContent<'a>>),
    Object(Fields<'a>),
    System(WireSystem<'a>),
    Tools(Vec<WireTool<'a>>)
);

/// What one side says.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WireContent<'a> {
    pub(crate) role: WireRole,
    pub(crate) parts: Vec<WirePart<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WireRole {
    User,
    Model,
}

/// The instructions.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WireSystem<'a> {
    pub(crate) parts: Vec<WirePart<'a>>,
}

/// One part of a content.
#[derive(Debug)]
pub(crate) struct WirePart<'a> {
    pub(crate) body: PartBody<'a>,
    pub(crate) thought: bool,
    pub(crate) signature: Option<&'a str>,
    /// How closely to look at it.
    pub(crate) resolution: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) enum PartBody<'a> {
    Text(Cow<'a, str>),
    InlineData {
        mime_type: Cow<'a, str>,
        data: &'a str,
    },
    FileData {
        mime_type: Option<Cow<'a, str>>,
        uri: Cow<'a, str>,
    },
    FunctionCall(WireCall<'a>),
    FunctionResponse(WireResult<'a>),
    /// A part that comes back as it came; without its signature where that is another model's.
    Own {
        fields: &'a Map<String, Value>,
        signed: bool,
    },
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) args: WireArgs<'a>,
}

/// The arguments of a call: an object, just as the model wrote it.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireArgs<'a> {
    Raw(&'a RawValue),
    /// `{}`
    Empty {},
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) response: WireOutput<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<WirePart<'a>>,
}

/// What a tool said. A result goes out as text, so that no key of it is read as anything else (`$ref` is reserved,
/// `output` and `error` have a meaning).
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WireOutput<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

impl<'a> From<PartBody<'a>> for WirePart<'a> {
    fn from(body: PartBody<'a>) -> Self {
        WirePart {
            body,
            thought: false,
            signature: None,
            resolution: None,
        }
    }
}

impl<'a> WirePart<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        WirePart::from(PartBody::Text(text.into()))
    }
}

impl Serialize for WirePart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.body {
            PartBody::Text(text) => map.serialize_entry("text", text)?,
            PartBody::InlineData { mime_type, data } => {
                map.serialize_entry("inlineData", &InlineData { mime_type, data })?;
            }
            PartBody::FileData { mime_type, uri } => {
                let data = FileData {
                    mime_type: mime_type.as_deref(),
                    file_uri: uri,
                };
                map.serialize_entry("fileData", &data)?;
            }
            PartBody::FunctionCall(call) => map.serialize_entry("functionCall", call)?,
            PartBody::FunctionResponse(result) => map.serialize_entry("functionResponse", result)?,
            PartBody::Own { fields, signed } => {
                for (name, value) in *fields {
                    if *signed || name != "thoughtSignature" {
                        map.serialize_entry(name, value)?;
                    }
                }
            }
        }
        if self.thought {
            map.serialize_entry("thought", &true)?;
        }
        if let Some(level) = self.resolution {
            map.serialize_entry("mediaResolution", &Resolution { level })?;
        }
        if let Some(signature) = self.signature {
            map.serialize_entry("thoughtSignature", signature)?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct FileData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    file_uri: &'a str,
}

#[derive(serde::Serialize)]
struct Resolution {
    level: &'static str,
}

/// Tools on offer.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireTool<'a> {
    Functions {
        #[serde(rename = "functionDeclarations")]
        declarations: Vec<WireFunction<'a>>,
    },
    /// A tool that the vendor runs, as the caller wrote it.
    Own(&'a Value),
}

#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireFunction<'a> {
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parameters_json_schema: Option<Value>,
}
