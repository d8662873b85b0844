//! The JSON of requests, as it is written. Everything borrows from the neutral request; the body is written
//! straight from here.

use llm_core::ImageDetail;
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

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
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    ResponseFormat(WireResponseFormat<'a>),
    StreamOptions(WireStreamOptions),
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
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    ResponseFormat(WireResponseFormat<'a>),
    StreamOptions(WireStreamOptions)
);

/// A message.
#[derive(Debug)]
pub(crate) struct WireMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: WireContent<'a>,
    pub(crate) name: Option<&'a str>,
    pub(crate) tool_call_id: Option<&'a str>,
    pub(crate) refusal: Option<String>,
    pub(crate) tool_calls: Vec<WireToolCall<'a>>,
    /// State of the vendor's own: audio ids, reasoning that it wants back.
    pub(crate) own: Vec<(&'a str, &'a Value)>,
}

impl<'a> WireMessage<'a> {
    pub(crate) fn new(role: &'static str, content: WireContent<'a>) -> Self {
        WireMessage {
            role,
            content,
            name: None,
            tool_call_id: None,
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
        if let Some(id) = self.tool_call_id {
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
        map.end()
    }
}

/// What a message holds.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireContent<'a> {
    /// `null`: only an assistant message with something else in it.
    Null,
    Text(Cow<'a, str>),
    Parts(Vec<WirePart<'a>>),
}

impl<'a> WireContent<'a> {
    /// The shortest legal form: one text without a mark is a plain string, and so is nothing at all.
    pub(crate) fn of(mut parts: Vec<WirePart<'a>>) -> Self {
        match parts.as_mut_slice() {
            [] => WireContent::Text(Cow::Borrowed("")),
            [
                WirePart {
                    body: WirePartBody::Text(text),
                    breakpoint: None,
                },
            ] => WireContent::Text(std::mem::take(text)),
            _ => WireContent::Parts(parts),
        }
    }
}

/// One part of a message.
#[derive(Debug)]
pub(crate) struct WirePart<'a> {
    pub(crate) body: WirePartBody<'a>,
    /// How long the prompt up to here is kept.
    pub(crate) breakpoint: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) enum WirePartBody<'a> {
    Text(Cow<'a, str>),
    Image {
        url: WireUrl<'a>,
        detail: Option<&'static str>,
    },
    Audio {
        data: &'a str,
        format: &'static str,
    },
    FileId(&'a str),
    File {
        name: Cow<'a, str>,
        data: WireUrl<'a>,
    },
}

impl<'a> From<WirePartBody<'a>> for WirePart<'a> {
    fn from(body: WirePartBody<'a>) -> Self {
        WirePart {
            body,
            breakpoint: None,
        }
    }
}

impl Serialize for WirePart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.body {
            WirePartBody::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
            }
            WirePartBody::Image { url, detail } => {
                map.serialize_entry("type", "image_url")?;
                map.serialize_entry("image_url", &Image { url, detail: *detail })?;
            }
            WirePartBody::Audio { data, format } => {
                map.serialize_entry("type", "input_audio")?;
                map.serialize_entry("input_audio", &Audio { data, format })?;
            }
            WirePartBody::FileId(id) => {
                map.serialize_entry("type", "file")?;
                map.serialize_entry("file", &FileId { file_id: id })?;
            }
            WirePartBody::File { name, data } => {
                map.serialize_entry("type", "file")?;
                map.serialize_entry(
                    "file",
                    &File {
                        filename: name,
                        file_data: data,
                    },
                )?;
            }
        }
        if let Some(ttl) = self.breakpoint {
            map.serialize_entry(
                "prompt_cache_breakpoint",
                &Breakpoint {
                    mode: "explicit",
                    ttl,
                },
            )?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct Image<'a> {
    url: &'a WireUrl<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
}

#[derive(serde::Serialize)]
struct Audio<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(serde::Serialize)]
struct FileId<'a> {
    file_id: &'a str,
}

#[derive(serde::Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: &'a WireUrl<'a>,
}

#[derive(serde::Serialize)]
struct Breakpoint {
    mode: &'static str,
    ttl: &'static str,
}

/// An address, or bytes written as one. The bytes are copied once, into the body.
#[derive(Debug)]
pub(crate) enum WireUrl<'a> {
    Url(&'a str),
    Data { media_type: &'a str, base64: &'a str },
}

impl fmt::Display for WireUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireUrl::Url(url) => f.write_str(url),
            WireUrl::Data { media_type, base64 } => write!(f, "data:{media_type};base64,{base64}"),
        }
    }
}

impl Serialize for WireUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How closely to look at a picture, in the format's word.
pub(crate) fn detail_word(detail: ImageDetail) -> Option<&'static str> {
    match detail {
        ImageDetail::Auto => Some("auto"),
        ImageDetail::Low => Some("low"),
        ImageDetail::High => Some("high"),
        ImageDetail::Original => Some("original"),
        _ => None,
    }
}

/// A call in an assistant message.
#[derive(Debug)]
pub(crate) enum WireToolCall<'a> {
    Function {
        id: &'a str,
        name: &'a str,
        arguments: &'a str,
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
    /// A tool of another kind, as the caller wrote it.
    Own(&'a Value),
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireFunction<'a> {
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parameters: Option<&'a Value>,
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
    pub(crate) schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strict: Option<bool>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireStreamOptions {
    pub(crate) include_usage: bool,
}
