//! What stands in a store: an answer, versioned, under its key.

use super::key::{CacheKey, SCHEMA};
use bytes::Bytes;
use llm_core::ChatResponse;
use serde::{Deserialize, Serialize};

/// An answer as it is kept. The key stands in it too: a value that got to another key is not served.
#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    key: &'a str,
    response: &'a ChatResponse,
}

#[derive(Deserialize)]
struct Read {
    version: u32,
    key: String,
    response: ChatResponse,
}

/// The record of an answer; `None` where it takes more room than allowed.
pub(super) fn write(key: CacheKey, response: &ChatResponse, max_bytes: usize) -> Option<Bytes> {
    let written = Written {
        version: SCHEMA,
        key: &key.to_text(),
        response,
    };
    let bytes = serde_json::to_vec(&written).ok()?;
    (bytes.len() <= max_bytes).then(|| bytes.into())
}

/// The answer of a record; `None` where it is none that this code can have written under this key.
pub(super) fn read(key: CacheKey, bytes: &[u8], max_bytes: usize) -> Option<ChatResponse> {
    if bytes.len() > max_bytes {
        return None;
    }
    let read: Read = serde_json::from_slice(bytes).ok()?;
    (read.version == SCHEMA && read.key == key.to_text()).then_some(read.response)
}

#[cfg(test)]
mod tests;
