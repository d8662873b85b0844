//! What messages and outputs hold.

use llm_core::ImageDetail;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

/// What a message or an output holds.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<WirePart<'a>>),
}

impl WireContent<'_> {
    /// All texts in it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let (text, parts) = match self {
            WireContent::Text(text) => (Some(text.as_ref()), [].as_slice()),
            WireContent::Parts(parts) => (None, parts.as_slice()),
        };
        text.into_iter().chain(parts.iter().filter_map(WirePart::as_text))
    }
}

impl<'a> WireContent<'a> {
    /// The shortest legal form: one text without a mark is a plain string, and so is nothing at all.
    pub(crate) fn of(mut parts: Vec<WirePart<'a>>) -> Self {
        match parts.as_mut_slice() {
            [] => WireContent::Text(Cow::Borrowed("")),
            [
                WirePart {
                    body: WirePartBody::Text(text) | WirePartBody::Said(text),
                    breakpoint: None,
                },
            ] => WireContent::Text(std::mem::take(text)),
            _ => WireContent::Parts(parts),
        }
    }
}

/// One part.
#[derive(Debug)]
pub(crate) struct WirePart<'a> {
    pub(crate) body: WirePartBody<'a>,
    /// How long the prompt up to here is kept.
    pub(crate) breakpoint: Option<&'static str>,
}

impl WirePart<'_> {
    fn as_text(&self) -> Option<&str> {
        match &self.body {
            WirePartBody::Text(text) | WirePartBody::Said(text) => Some(text),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) enum WirePartBody<'a> {
    Text(Cow<'a, str>),
    /// Text that the assistant said.
    Said(Cow<'a, str>),
    /// What the assistant said instead of an answer.
    Refusal(&'a str),
    Image {
        source: WireUrl<'a>,
        detail: Option<ImageDetail>,
    },
    Audio {
        data: &'a str,
        format: &'static str,
    },
    File {
        /// Only beside bytes.
        name: Option<Cow<'a, str>>,
        source: WireUrl<'a>,
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
                map.serialize_entry("type", "input_text")?;
                map.serialize_entry("text", text)?;
            }
            WirePartBody::Said(text) => {
                map.serialize_entry("type", "output_text")?;
                map.serialize_entry("text", text)?;
            }
            WirePartBody::Refusal(text) => {
                map.serialize_entry("type", "refusal")?;
                map.serialize_entry("refusal", text)?;
            }
            WirePartBody::Image { source, detail } => {
                map.serialize_entry("type", "input_image")?;
                map.serialize_entry(source.image_field(), source)?;
                if let Some(detail) = detail {
                    map.serialize_entry("detail", detail)?;
                }
            }
            WirePartBody::Audio { data, format } => {
                map.serialize_entry("type", "input_audio")?;
                map.serialize_entry("input_audio", &Audio { data, format })?;
            }
            WirePartBody::File { name, source } => {
                map.serialize_entry("type", "input_file")?;
                if let Some(name) = name {
                    map.serialize_entry("filename", name)?;
                }
                map.serialize_entry(source.file_field(), source)?;
            }
        }
        if let Some(ttl) = self.breakpoint {
            let breakpoint = Breakpoint {
                mode: "explicit",
                ttl,
            };
            map.serialize_entry("prompt_cache_breakpoint", &breakpoint)?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct Audio<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(serde::Serialize)]
struct Breakpoint {
    mode: &'static str,
    ttl: &'static str,
}

/// Where a picture or a file is. Bytes are copied once, into the body.
#[derive(Debug)]
pub(crate) enum WireUrl<'a> {
    Url(&'a str),
    Data { media_type: &'a str, base64: &'a str },
    File(&'a str),
}

impl WireUrl<'_> {
    fn image_field(&self) -> &'static str {
        match self {
            WireUrl::File(_) => "file_id",
            _ => "image_url",
        }
    }

    fn file_field(&self) -> &'static str {
        match self {
            WireUrl::File(_) => "file_id",
            WireUrl::Url(_) => "file_url",
            WireUrl::Data { .. } => "file_data",
        }
    }
}

impl Serialize for WireUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WireUrl::Url(text) | WireUrl::File(text) => serializer.serialize_str(text),
            WireUrl::Data { media_type, base64 } => {
                serializer.collect_str(&format_args!("data:{media_type};base64,{base64}"))
            }
        }
    }
}
