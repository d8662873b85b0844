//! What several formats ask of a caller's JSON schema.

#[cfg(any(feature = "chat-completions", feature = "messages", feature = "responses"))]
use serde_json::Map;
use serde_json::Value;
#[cfg(any(feature = "generate-content", feature = "messages"))]
use std::borrow::Cow;

/// What a reference inside of a schema leads to: a JSON pointer, written as the fragment of an address. `None`: it leads
/// out of the schema, or nowhere.
#[cfg(any(feature = "generate-content", feature = "messages"))]
pub(crate) fn referenced<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(&percent_decoded(reference.strip_prefix('#')?)?)
}

/// The text of a fragment. What is no sign of two digits stands for itself.
#[cfg(any(feature = "generate-content", feature = "messages"))]
fn percent_decoded(fragment: &str) -> Option<Cow<'_, str>> {
    if !fragment.contains('%') {
        return Some(Cow::Borrowed(fragment));
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
        let byte = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        bytes.push(byte.unwrap_or(*first));
        rest = behind.get(if byte.is_some() { 2.. } else { 0.. })?;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Does a schema describe objects? One with properties does, whatever its type says.
#[cfg(any(feature = "chat-completions", feature = "messages", feature = "responses"))]
pub(crate) fn is_object(schema: &Map<String, Value>) -> bool {
    is_of_type(schema, "object") || schema.contains_key("properties")
}

/// Is this the type of a schema, or one of its types?
#[cfg(any(feature = "chat-completions", feature = "messages", feature = "responses"))]
pub(crate) fn is_of_type(schema: &Map<String, Value>, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    }
}
