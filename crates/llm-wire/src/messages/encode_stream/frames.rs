//! The frames of a stream, as they are written.

use super::super::encode_response::{End, Envelope, WireUsage};
use super::super::request_types::WireBlock;
use crate::json_text::write_json;
use serde::Serialize;
use serde_json::Value;

/// Writes an event, whose data repeats its name.
pub(super) fn write_event(name: &str, fields: &impl Serialize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: {\"type\":\"");
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
    let start = out.len();
    write_json(fields, out);
    if out.ends_with(b"{}") && out.len() == start + 2 {
        out.truncate(start);
        out.push(b'}');
    } else if let Some(brace) = out.get_mut(start) {
        // the object goes on
        *brace = b',';
    }
    out.extend_from_slice(b"\n\n");
}

#[derive(Serialize)]
pub(super) struct Nothing {}

#[derive(Serialize)]
pub(super) struct MessageStart<'a> {
    pub(super) message: StartedMessage<'a>,
}

#[derive(Serialize)]
pub(super) struct BlockStart<'a> {
    pub(super) index: u32,
    pub(super) content_block: WireBlock<'a>,
}

#[derive(Serialize)]
pub(super) struct BlockDelta<'a, D> {
    pub(super) index: u32,
    pub(super) delta: &'a D,
}

#[derive(Serialize)]
pub(super) struct BlockStop {
    pub(super) index: u32,
}

#[derive(Serialize)]
pub(super) struct MessageDelta<'a> {
    pub(super) delta: End<'a>,
    pub(super) usage: WireUsage<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_management: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_transformations: Option<&'a Value>,
}

#[derive(Serialize)]
pub(super) struct StartedMessage<'a> {
    #[serde(flatten)]
    pub(super) envelope: Envelope<'a>,
    pub(super) content: [(); 0],
    pub(super) stop_reason: Option<()>,
    pub(super) stop_sequence: Option<()>,
    pub(super) usage: WireUsage<'a>,
}

macro_rules! deltas {
    ($($name:ident($field:ident: $type:ty)),*) => {$(
        #[derive(Serialize)]
        pub(super) struct $name<'a> {
            #[serde(rename = "type")]
            pub(super) kind: &'static str,
            pub(super) $field: &'a $type,
        }
    )*};
}

deltas!(
    TextDelta(text: str),
    ThinkingDelta(thinking: str),
    SignatureDelta(signature: str),
    InputDelta(partial_json: str),
    CitationsDelta(citation: Value)
);
