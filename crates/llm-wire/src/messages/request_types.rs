//! The JSON of requests, as it is written. Everything borrows from the neutral request; the body is written straight
//! from here.

use llm_core::CacheTtl;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A body of this format.
pub(crate) type Body<'a> = crate::body::Body<'a, Field<'a>>;

/// The value of a field.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Field<'a> {
    Bool(bool),
    Integer(u32),
    Number(f64),
    Text(&'a str),
    Texts(&'a [String]),
    Names(Vec<&'a str>),
    Value(&'a Value),
    Blocks(Vec<WireBlock<'a>>),
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    Thinking(WireThinking),
    OutputConfig(WireOutputConfig<'a>),
    Metadata(WireMetadata<'a>),
}

macro_rules! field_from {
    ($($variant:ident($from:ty)),*) => {$(
        impl<'a> From<$from> for Field<'a> {
            fn from(value: $from) -> Self {
                Field::$variant(value)
            }
        }
    )*};
}
field_from!(
    Bool(bool),
    Integer(u32),
    Number(f64),
    Text(&'a str),
    Texts(&'a [String]),
    Names(Vec<&'a str>),
    Value(&'a Value),
    Blocks(Vec<WireBlock<'a>>),
    Messages(Vec<WireMessage<'a>>),
    Tools(Vec<WireTool<'a>>),
    ToolChoice(WireToolChoice<'a>),
    Thinking(WireThinking),
    OutputConfig(WireOutputConfig<'a>),
    Metadata(WireMetadata<'a>)
);

/// A message.
#[derive(Debug, serde::Serialize)]
pub(crate) struct WireMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Vec<WireBlock<'a>>,
}

/// A content block.
#[derive(Debug)]
pub(crate) struct WireBlock<'a> {
    pub(crate) body: BlockBody<'a>,
    /// How long the prompt up to here is kept.
    pub(crate) kept: Option<CacheTtl>,
}

#[derive(Debug)]
pub(crate) enum BlockBody<'a> {
    Text {
        text: Cow<'a, str>,
        /// Fields of the vendor's own.
        own: Option<&'a Map<String, Value>>,
    },
    Image(WireSource<'a>),
    Document {
        source: WireSource<'a>,
        title: Option<&'a str>,
        /// Fields of the vendor's own.
        own: Option<&'a Map<String, Value>>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: WireInput<'a>,
        own: Option<&'a Map<String, Value>>,
    },
    ToolResult {
        id: Cow<'a, str>,
        content: Vec<WireBlock<'a>>,
        is_error: bool,
    },
    /// A thought that nobody signed. Only in answers.
    Thought(&'a str),
    /// A block of the vendor's own, as it came.
    Own(&'a Map<String, Value>),
}

impl<'a> WireBlock<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        WireBlock::from(BlockBody::Text { text, own: None })
    }

    /// The vendor's word for what it is, if it is of the vendor's own.
    pub(crate) fn own_kind(&self) -> Option<&str> {
        match &self.body {
            BlockBody::Own(fields) => fields.get("type").and_then(Value::as_str),
            _ => None,
        }
    }
}

impl<'a> From<BlockBody<'a>> for WireBlock<'a> {
    fn from(body: BlockBody<'a>) -> Self {
        WireBlock { body, kept: None }
    }
}

impl Serialize for WireBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.body {
            BlockBody::Text { text, own } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                serialize_own::<S>(*own, &["type", "text"], &mut map)?;
            }
            BlockBody::Image(source) => {
                map.serialize_entry("type", "image")?;
                map.serialize_entry("source", source)?;
            }
            BlockBody::Document { source, title, own } => {
                map.serialize_entry("type", "document")?;
                map.serialize_entry("source", source)?;
                if let Some(title) = title {
                    map.serialize_entry("title", title)?;
                }
                serialize_own::<S>(*own, &["type", "source", "title"], &mut map)?;
            }
            BlockBody::ToolUse { id, name, input, own } => {
                map.serialize_entry("type", "tool_use")?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("input", input)?;
                serialize_own::<S>(*own, &["type", "id", "name", "input"], &mut map)?;
            }
            BlockBody::ToolResult {
                id,
                content,
                is_error,
            } => {
                map.serialize_entry("type", "tool_result")?;
                map.serialize_entry("tool_use_id", id)?;
                if !content.is_empty() {
                    map.serialize_entry("content", content)?;
                }
                if *is_error {
                    map.serialize_entry("is_error", is_error)?;
                }
            }
            BlockBody::Thought(text) => {
                map.serialize_entry("type", "thinking")?;
                map.serialize_entry("thinking", text)?;
                map.serialize_entry("signature", "")?;
            }
            BlockBody::Own(fields) => serialize_own::<S>(Some(*fields), &[], &mut map)?,
        }
        if let Some(ttl) = self.kept {
            map.serialize_entry("cache_control", &CacheControl::of(ttl))?;
        }
        map.end()
    }
}

/// Fields of the vendor's own, without those that are written already. A mark for the prompt cache is the caller's to
/// set anew.
fn serialize_own<S: Serializer>(
    own: Option<&Map<String, Value>>,
    written: &[&str],
    map: &mut S::SerializeMap,
) -> Result<(), S::Error> {
    for (name, value) in own.into_iter().flatten() {
        if name != "cache_control" && !written.contains(&name.as_str()) {
            map.serialize_entry(name, value)?;
        }
    }
    Ok(())
}

/// A mark for the prompt cache.
#[derive(Debug, serde::Serialize)]
pub(crate) struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheControl {
    pub(crate) fn of(ttl: CacheTtl) -> Self {
        CacheControl {
            kind: "ephemeral",
            ttl: (ttl == CacheTtl::Long).then_some("1h"),
        }
    }
}

/// Where a picture or a document is.
#[derive(Debug, serde::Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum WireSource<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
    File { file_id: &'a str },
    Text { media_type: &'static str, data: String },
}

/// The input of a call: the caller's text, byte for byte.
#[derive(Debug)]
pub(crate) enum WireInput<'a> {
    Raw(&'a RawValue),
    Empty,
}

impl Serialize for WireInput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WireInput::Raw(raw) => raw.serialize(serializer),
            WireInput::Empty => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

/// A tool on offer.
#[derive(Debug)]
pub(crate) enum WireTool<'a> {
    Custom {
        name: &'a str,
        description: Option<&'a str>,
        schema: Cow<'a, Value>,
        strict: Option<bool>,
        kept: Option<CacheTtl>,
    },
    /// A tool of another kind, as the caller wrote it.
    Own(&'a Value),
}

impl Serialize for WireTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WireTool::Own(value) => value.serialize(serializer),
            WireTool::Custom {
                name,
                description,
                schema,
                strict,
                kept,
            } => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("name", name)?;
                if let Some(description) = description {
                    map.serialize_entry("description", description)?;
                }
                map.serialize_entry("input_schema", schema)?;
                if let Some(strict) = strict {
                    map.serialize_entry("strict", strict)?;
                }
                if let Some(ttl) = kept {
                    map.serialize_entry("cache_control", &CacheControl::of(*ttl))?;
                }
                map.end()
            }
        }
    }
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireToolChoice<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disable_parallel_tool_use: Option<bool>,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireThinking {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) display: Option<&'static str>,
}

/// How the answer is made.
#[derive(Debug, Default)]
pub(crate) struct WireOutputConfig<'a> {
    pub(crate) effort: Option<&'static str>,
    pub(crate) schema: Option<Value>,
    pub(crate) task_budget: Option<&'a Value>,
    /// The caller's own fields, which come before the others.
    pub(crate) own: Option<&'a Map<String, Value>>,
}

impl WireOutputConfig<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.effort.is_none() && self.schema.is_none() && self.task_budget.is_none() && self.own.is_none()
    }
}

impl Serialize for WireOutputConfig<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Format<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            schema: &'a Value,
        }
        let is_own = |name: &str| self.own.is_some_and(|own| own.contains_key(name));
        let mut map = serializer.serialize_map(None)?;
        if let (Some(effort), false) = (self.effort, is_own("effort")) {
            map.serialize_entry("effort", effort)?;
        }
        if let (Some(schema), false) = (&self.schema, is_own("format")) {
            let kind = "json_schema";
            map.serialize_entry("format", &Format { kind, schema })?;
        }
        if let (Some(budget), false) = (self.task_budget, is_own("task_budget")) {
            map.serialize_entry("task_budget", budget)?;
        }
        for (name, value) in self.own.into_iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct WireMetadata<'a> {
    pub(crate) user_id: &'a str,
}
