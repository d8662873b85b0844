//! The events of a stream.

use crate::chat::{FinishReason, Replay, ResponseMeta, Usage, VendorMetadata, Warning};
use bytes::Bytes;
use std::fmt;

/// One event of an answer.
///
/// Order: `Start (Usage | Warning | Metadata | KeepAlive | Raw | block)* Finish`, where a block is
/// `BlockStart BlockDelta* BlockEnd`; blocks with different indices may interleave. There is exactly one end:
/// `Finish`, or one error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ChatEvent {
    /// Which call it is and who serves it.
    Start(Box<ResponseMeta>),
    /// A block begins.
    BlockStart {
        /// Its number, by first appearance: a response lists blocks in this order. A start may come late, when a
        /// call's id or name does.
        index: u32,
        /// What it is.
        kind: BlockKind,
    },
    /// A block goes on.
    BlockDelta {
        /// Its number.
        index: u32,
        /// What is added.
        delta: Delta,
    },
    /// A block ends.
    BlockEnd {
        /// Its number.
        index: u32,
        /// False: it was cut off, or its arguments never parse; such a tool call is never run.
        complete: bool,
    },
    /// What was used so far, complete: the last one counts, nothing is added.
    Usage(Usage),
    /// Something that was not honoured or not understood.
    Warning(Warning),
    /// What only this vendor reports.
    Metadata(VendorMetadata),
    /// Proof of life; resets idle limits, and is nothing else.
    KeepAlive,
    /// The vendor's bytes: in raw mode in place of blocks; where the call
    /// [keeps them](crate::CallContext::with_kept_raw), beside blocks and without content.
    Raw(RawFrame),
    /// The answer is complete.
    Finish {
        /// Why it ended.
        reason: FinishReason,
        /// What was used, in all.
        usage: Usage,
    },
}

impl ChatEvent {
    /// Does this event commit the attempt? After it, nothing is replayed: neither by retry nor by fail-over.
    ///
    /// A non-empty text, refusal or reasoning delta, the start of a tool call, and a raw frame with content do.
    pub fn is_content(&self) -> bool {
        match self {
            ChatEvent::BlockStart {
                kind: BlockKind::ToolCall { .. },
                ..
            } => true,
            ChatEvent::BlockDelta { delta, .. } => delta.is_content(),
            ChatEvent::Raw(frame) => frame.content,
            ChatEvent::Start(_)
            | ChatEvent::BlockStart { .. }
            | ChatEvent::BlockEnd { .. }
            | ChatEvent::Usage(_)
            | ChatEvent::Warning(_)
            | ChatEvent::Metadata(_)
            | ChatEvent::KeepAlive
            | ChatEvent::Finish { .. } => false,
        }
    }
}

/// What a block is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BlockKind {
    /// Answer text.
    Text,
    /// What the model thinks.
    Reasoning,
    /// What the model says instead of an answer.
    Refusal,
    /// A call of a tool.
    ToolCall {
        /// Its id; generated where the vendor gave none.
        id: String,
        /// The tool's name, as far as it is known; [`Delta::Name`] adds to it.
        name: String,
    },
    /// A vendor's own piece, whole with its [`Delta::Replay`].
    Opaque {
        /// The vendor's word for it.
        kind: String,
    },
}

/// What is added to a block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// Answer text; never empty.
    Text(String),
    /// Thought; never empty.
    Reasoning(String),
    /// Words of a refusal; never empty.
    Refusal(String),
    /// More of a tool's name.
    Name(String),
    /// More of a call's arguments, JSON text.
    Arguments(String),
    /// What the vendor wants back with this block.
    Replay(Replay),
}

impl Delta {
    fn is_content(&self) -> bool {
        match self {
            Delta::Text(text) | Delta::Reasoning(text) | Delta::Refusal(text) => !text.is_empty(),
            Delta::Name(_) | Delta::Arguments(_) | Delta::Replay(_) => false,
        }
    }
}

/// A frame of the vendor's stream, as it came.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawFrame {
    /// The bytes.
    pub bytes: Bytes,
    /// Do they carry content?
    pub content: bool,
}

impl RawFrame {
    /// A frame.
    pub fn new(bytes: Bytes, content: bool) -> Self {
        RawFrame { bytes, content }
    }
}

impl fmt::Debug for RawFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "RawFrame([{} bytes], content: {})",
            self.bytes.len(),
            self.content
        )
    }
}
