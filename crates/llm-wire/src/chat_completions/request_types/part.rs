//! What messages hold.

use llm_core::ImageDetail;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// What a message holds.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum WireContent<'a> {
    /// `null`: only an assistant message with something else in it.
    Null,
    Text(Cow<'a, str>),
    Parts(Vec<WirePart<'a>>),
}

impl WireContent<'_> {
    /// All texts in it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let (text, parts) = match self {
            WireContent::Null => (None, [].as_slice()),
            WireContent::Text(text) => (Some(text.as_ref()), [].as_slice()),
            WireContent::Parts(parts) => (None, parts.as_slice()),
        };
        text.into_iter().chain(parts.iter().filter_map(WirePart::as_text))
    }
}

impl<'a> WireContent<'a> {
    /// The same where several texts are one string, with an empty line between two.
    pub(crate) fn of_joined(parts: Vec<WirePart<'a>>) -> Self {
        let texts: Option<Vec<&str>> = parts.iter().map(WirePart::as_text).collect();
        match texts {
            Some(texts) if texts.len() > 1 => WireContent::Text(Cow::Owned(texts.join("\n\n"))),
            _ => WireContent::of(parts),
        }
    }

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

impl WirePart<'_> {
    fn as_text(&self) -> Option<&str> {
        match &self.body {
            WirePartBody::Text(text) => Some(text),
            _ => None,
        }
    }
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
    /// Sound in its plain form.
    PlainAudio(&'a str),
    FileId(&'a str),
    File {
        name: Cow<'a, str>,
        data: WireUrl<'a>,
    },
    /// A file by its id, in the flat form.
    FlatFileId(&'a str),
    DocumentUrl {
        name: Option<&'a str>,
        url: WireUrl<'a>,
    },
    /// A part that the vendor itself wrote.
    Own(&'a Value),
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
        if let WirePartBody::Own(value) = &self.body {
            return value.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match &self.body {
            WirePartBody::Own(_) => {}
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
            WirePartBody::PlainAudio(audio) => {
                map.serialize_entry("type", "input_audio")?;
                map.serialize_entry("input_audio", audio)?;
            }
            WirePartBody::FlatFileId(id) => {
                map.serialize_entry("type", "file")?;
                map.serialize_entry("file_id", id)?;
            }
            WirePartBody::DocumentUrl { name, url } => {
                map.serialize_entry("type", "document_url")?;
                map.serialize_entry("document_url", url)?;
                if let Some(name) = name {
                    map.serialize_entry("document_name", name)?;
                }
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
    Data {
        media_type: &'a str,
        base64: &'a str,
    },
    /// A file of the vendor's, as an address.
    File {
        scheme: &'static str,
        id: &'a str,
    },
}

impl fmt::Display for WireUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireUrl::Url(url) => f.write_str(url),
            WireUrl::Data { media_type, base64 } => write!(f, "data:{media_type};base64,{base64}"),
            WireUrl::File { scheme, id } => write!(f, "{scheme}{id}"),
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
