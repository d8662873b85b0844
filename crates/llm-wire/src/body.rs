//! The fields of a request's body, in the order they are written.

use llm_core::{ChatRequest, ContentPart, Error, ErrorKind, MediaSource, Result};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The fields of a body; `F` is what the fields of a format may hold. It is written straight from here, no tree is
/// built.
#[derive(Debug)]
pub(crate) struct Body<'a, F> {
    pub(crate) fields: Vec<(&'a str, F)>,
    /// Takes the place of fields; null leaves a field out.
    pub(crate) patch: Option<&'a Map<String, Value>>,
    /// Objects that are patched inside, field by field, instead of being replaced.
    inside: Vec<&'a str>,
}

impl<'a, F> Body<'a, F> {
    pub(crate) fn new(patch: Option<&'a Map<String, Value>>) -> Self {
        Body {
            fields: Vec::with_capacity(16),
            patch,
            inside: Vec::new(),
        }
    }

    /// Adds a field, unless it is there already.
    pub(crate) fn add(&mut self, name: &'a str, field: impl Into<F>) {
        if !self.has(name) {
            self.fields.push((name, field.into()));
        }
    }

    /// Adds an object, unless there is nothing in it. A patch of it takes the place of its fields.
    pub(crate) fn add_object(&mut self, name: &'a str, mut object: Body<'a, F>)
    where
        Body<'a, F>: Into<F>,
    {
        if object.fields.is_empty() || self.has(name) {
            return;
        }
        object.patch = self.patch.and_then(|patch| patch.get(name)?.as_object());
        if object.patch.is_some() {
            self.inside.push(name);
        }
        self.add(name, object);
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(there, _)| *there == name)
    }
}

impl<F: Serialize> Serialize for Body<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inside = |name: &str| self.inside.contains(&name);
        let patched = |name: &str| self.patch.is_some_and(|patch| patch.contains_key(name)) && !inside(name);
        let mut map = serializer.serialize_map(None)?;
        for (name, field) in self.fields.iter().filter(|(name, _)| !patched(name)) {
            map.serialize_entry(name, field)?;
        }
        for (name, value) in self.patch.into_iter().flatten() {
            if !value.is_null() && !inside(name) {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

/// About how long the body will be, so that pictures are not moved around while it grows.
pub(crate) fn expected_length(request: &ChatRequest) -> usize {
    let part = |part: &ContentPart| match part {
        ContentPart::Text(part) => part.text.len(),
        ContentPart::Image(part) => source_length(&part.source),
        ContentPart::Audio(part) => source_length(&part.source),
        ContentPart::Document(part) => source_length(&part.source),
        ContentPart::ToolCall(call) => call.arguments.len(),
        _ => 64,
    };
    let parts = request.messages.iter().flat_map(|message| &message.content);
    512 + parts.map(|content| part(content) + 64).sum::<usize>()
}

fn source_length(source: &MediaSource) -> usize {
    match source {
        MediaSource::Base64 { data, .. } => data.len(),
        _ => 128,
    }
}
/// The body with those of its fields alone whose names are wanted, their text as it was written.
pub(crate) fn with_fields(body: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Vec<u8>> {
    let fields = serde_json::from_slice::<BTreeMap<String, &RawValue>>(body).and_then(|mut fields| {
        fields.retain(|name, _| wanted(name));
        serde_json::to_vec(&fields)
    });
    fields.map_err(|error| {
        Error::new(ErrorKind::Internal, "the request to be counted cannot be written").with_source(error)
    })
}
