//! What messages are made of: parts on the way in, blocks on the way out.

use super::tool::{ToolCall, ToolResult};
use crate::driver::VendorId;
use crate::model::ModelId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text(TextPart),
    /// A picture.
    Image(ImagePart),
    /// A sound.
    Audio(AudioPart),
    /// A file to read, a PDF for example.
    Document(DocumentPart),
    /// A call that the model made, in its history.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
    /// What the model thought, in its history.
    Reasoning(ReasoningPart),
    /// What the model said instead of an answer, in its history.
    Refusal(RefusalPart),
    /// A vendor's own piece, to be sent back as it came and to that vendor only.
    Opaque(OpaquePart),
    /// Everything up to here is a prefix worth keeping in the vendor's prompt cache.
    CachePoint(CachePoint),
}

impl ContentPart {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        ContentPart::Text(TextPart::new(text))
    }

    /// The text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ContentPart::Text(part) => Some(&part.text),
            ContentPart::Image(_)
            | ContentPart::Audio(_)
            | ContentPart::Document(_)
            | ContentPart::ToolCall(_)
            | ContentPart::ToolResult(_)
            | ContentPart::Reasoning(_)
            | ContentPart::Refusal(_)
            | ContentPart::Opaque(_)
            | ContentPart::CachePoint(_) => None,
        }
    }

    /// The stable word for messages and logs: `image`, `tool_result`, …
    pub fn kind(&self) -> &'static str {
        match self {
            ContentPart::Text(_) => "text",
            ContentPart::Image(_) => "image",
            ContentPart::Audio(_) => "audio",
            ContentPart::Document(_) => "document",
            ContentPart::ToolCall(_) => "tool_call",
            ContentPart::ToolResult(_) => "tool_result",
            ContentPart::Reasoning(_) => "reasoning",
            ContentPart::Refusal(_) => "refusal",
            ContentPart::Opaque(_) => "opaque",
            ContentPart::CachePoint(_) => "cache_point",
        }
    }
}

impl From<&str> for ContentPart {
    fn from(text: &str) -> Self {
        ContentPart::text(text)
    }
}

impl From<String> for ContentPart {
    fn from(text: String) -> Self {
        ContentPart::text(text)
    }
}

/// One run of output. Incomplete tool calls are kept apart
/// ([`ChatResponse::incomplete_tool_calls`](super::ChatResponse)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Answer text.
    Text(TextPart),
    /// What the model thought.
    Reasoning(ReasoningPart),
    /// What the model said instead of an answer.
    Refusal(RefusalPart),
    /// A complete call to run.
    ToolCall(ToolCall),
    /// A vendor's own piece, kept for the next turn.
    Opaque(OpaquePart),
}

impl From<Block> for ContentPart {
    fn from(block: Block) -> Self {
        match block {
            Block::Text(part) => ContentPart::Text(part),
            Block::Reasoning(part) => ContentPart::Reasoning(part),
            Block::Refusal(part) => ContentPart::Refusal(part),
            Block::ToolCall(call) => ContentPart::ToolCall(call),
            Block::Opaque(part) => ContentPart::Opaque(part),
        }
    }
}

/// Text, with what its vendor wants back beside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// Vendor state tied to exactly this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

impl TextPart {
    /// Plain text.
    pub fn new(text: impl Into<String>) -> Self {
        TextPart {
            text: text.into(),
            replay: None,
        }
    }

    /// With what the vendor wants back.
    #[must_use]
    pub fn with_replay(mut self, replay: Replay) -> Self {
        self.replay = Some(replay);
        self
    }
}

/// A passage of reasoning. The text may be empty while the replay state is not: a signature survives even
/// where the vendor hides the thought.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReasoningPart {
    /// What was thought, where it was asked for and shown.
    pub text: String,
    /// Signature, encrypted content or id: what the vendor wants back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

impl ReasoningPart {
    /// A thought without vendor state.
    pub fn new(text: impl Into<String>) -> Self {
        ReasoningPart {
            text: text.into(),
            replay: None,
        }
    }

    /// With what the vendor wants back.
    #[must_use]
    pub fn with_replay(mut self, replay: Replay) -> Self {
        self.replay = Some(replay);
        self
    }
}

/// What the model said instead of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusalPart {
    /// The words.
    pub text: String,
}

impl RefusalPart {
    /// A refusal in these words.
    pub fn new(text: impl Into<String>) -> Self {
        RefusalPart { text: text.into() }
    }
}

/// A whole vendor item without a neutral form: a redacted thought, a server-side tool's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpaquePart {
    /// The vendor's word for it.
    pub kind: String,
    /// The item, as it came, and where it came from.
    pub replay: Replay,
}

impl OpaquePart {
    /// An item of this kind.
    pub fn new(kind: impl Into<String>, replay: Replay) -> Self {
        OpaquePart {
            kind: kind.into(),
            replay,
        }
    }
}

/// Vendor state that must go back on the next turn, byte for byte, and only to where it came from.
///
/// Only the codec of the format that wrote `data` reads it. Elsewhere it is dropped, with a warning where
/// that changes what the model knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Replay {
    /// Where it came from.
    pub origin: Origin,
    /// The vendor's own fields.
    pub data: Value,
}

impl Replay {
    /// State from this origin.
    pub fn new(origin: Origin, data: Value) -> Self {
        Replay { origin, data }
    }

    /// Adds later state to earlier: keys of two objects are joined, a later value wins; anything else is
    /// replaced.
    pub fn merge(&mut self, later: Replay) {
        match (&mut self.data, later.data) {
            (Value::Object(into), Value::Object(from)) => into.extend(from),
            (data, from) => *data = from,
        }
        self.origin = later.origin;
    }
}

/// Who wrote a piece of vendor state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// The vendor.
    pub vendor: VendorId,
    /// The model, where the state is tied to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
}

impl Origin {
    /// This vendor, any model of it.
    pub fn new(vendor: VendorId) -> Self {
        Origin { vendor, model: None }
    }

    /// Tied to this model.
    #[must_use]
    pub fn with_model(mut self, model: ModelId) -> Self {
        self.model = Some(model);
        self
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ImagePart {
    /// Where it is.
    pub source: MediaSource,
    /// How closely to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<ImageDetail>,
}

impl ImagePart {
    /// A picture from this source.
    pub fn new(source: MediaSource) -> Self {
        ImagePart { source, detail: None }
    }

    /// How closely to look.
    #[must_use]
    pub fn with_detail(mut self, detail: ImageDetail) -> Self {
        self.detail = Some(detail);
        self
    }
}

/// How closely a model looks at a picture. A knob of cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImageDetail {
    /// The vendor decides.
    Auto,
    /// Small and cheap.
    Low,
    /// Closely.
    High,
    /// Every pixel, where a vendor offers that.
    Original,
}

/// A sound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AudioPart {
    /// Where it is.
    pub source: MediaSource,
}

impl AudioPart {
    /// A sound from this source.
    pub fn new(source: MediaSource) -> Self {
        AudioPart { source }
    }
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DocumentPart {
    /// Where it is.
    pub source: MediaSource,
    /// Its file name; some vendors ask for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl DocumentPart {
    /// A file from this source.
    pub fn new(source: MediaSource) -> Self {
        DocumentPart { source, name: None }
    }

    /// Its file name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// Where a picture, a sound or a file is.
///
/// Bytes are held as base64 text, the form every wire format sends them in, behind an `Arc`: a request is
/// cloned for each candidate of a plan, its pictures are not. A driver never fetches a URL.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaSource {
    /// An address that the vendor fetches.
    Url {
        /// The address.
        url: String,
    },
    /// The bytes themselves.
    Base64 {
        /// Their type, `image/png` for example.
        media_type: String,
        /// Standard base64, padded, without line breaks.
        data: Arc<str>,
    },
    /// A file that was uploaded to this vendor before.
    VendorFile {
        /// Whose file it is.
        vendor: VendorId,
        /// The vendor's id of it.
        id: String,
    },
}

impl MediaSource {
    /// An address that the vendor fetches.
    pub fn url(url: impl Into<String>) -> Self {
        MediaSource::Url { url: url.into() }
    }

    /// Bytes of this media type.
    pub fn bytes(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        MediaSource::Base64 {
            media_type: media_type.into(),
            data: STANDARD.encode(bytes).into(),
        }
    }

    /// Bytes that are base64 text already.
    pub fn base64(media_type: impl Into<String>, data: impl Into<Arc<str>>) -> Self {
        MediaSource::Base64 {
            media_type: media_type.into(),
            data: data.into(),
        }
    }
}

impl fmt::Debug for MediaSource {
    /// Addresses and bytes are content: only what kind of thing it is, and how large.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MediaSource::Url { url } => write!(f, "Url([{} bytes])", url.len()),
            MediaSource::Base64 { media_type, data } => {
                write!(f, "Base64({media_type}, [{} bytes])", data.len())
            }
            MediaSource::VendorFile { vendor, id } => write!(f, "VendorFile({vendor}, {id})"),
        }
    }
}

/// The end of a prefix that is worth keeping in the vendor's prompt cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CachePoint {
    /// For how long.
    #[serde(default)]
    pub ttl: CacheTtl,
}

impl CachePoint {
    /// Kept for this long.
    pub fn new(ttl: CacheTtl) -> Self {
        CachePoint { ttl }
    }
}

/// How long a prompt prefix is kept. Vendors round to what they offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheTtl {
    /// The vendor's usual time, minutes.
    #[default]
    Short,
    /// The vendor's longest time, an hour or more; dearer to write.
    Long,
}
