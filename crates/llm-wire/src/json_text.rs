//! Writing JSON, and judging JSON text that a model wrote.

use serde::Serialize;
use serde::de::IgnoredAny;

/// Writes a value that has nothing in it that JSON cannot hold.
pub(crate) fn write_json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        // only a map with keys that are no strings gets here, and there is none
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

/// Are these whole arguments of a call? Empty ones count as `{}`.
pub(crate) fn is_whole(arguments: &str) -> bool {
    arguments.trim().is_empty() || serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

/// Is this the text of a JSON object?
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
