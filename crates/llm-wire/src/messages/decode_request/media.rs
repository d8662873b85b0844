//! Pictures and documents.

use super::blocks::opaque;
use crate::fault::{invalid, missing};
use crate::fields::{Fields, Notes};
use crate::messages::{ANTHROPIC, DOCUMENT_OPTIONS};
use llm_core::{ContentPart, DocumentPart, ImagePart, MediaSource, Result};
use serde_json::{Map, json};

pub(super) fn image(fields: &mut Fields, notes: &mut Notes) -> Result<ContentPart> {
    let mut source = source(fields)?;
    let kind = source.text("type")?.unwrap_or_default();
    let media = match kind.as_str() {
        "base64" => bytes(&mut source)?,
        _ => elsewhere(&kind, &mut source, "must be one of base64, url and file")?,
    };
    source.finish(notes);
    Ok(ContentPart::Image(ImagePart::new(media)))
}

/// A document, and behind it what only this format says of one.
pub(super) fn document(fields: &mut Fields, notes: &mut Notes) -> Result<Vec<ContentPart>> {
    let mut source = source(fields)?;
    let kind = source.text("type")?.unwrap_or_default();
    let media = match kind.as_str() {
        "base64" => bytes(&mut source)?,
        "text" => {
            let data = source.text("data")?;
            let data = data.ok_or_else(|| missing(source.at("data"), "a string"))?;
            source.text("media_type")?;
            MediaSource::bytes("text/plain", data)
        }
        "content" => MediaSource::bytes("text/plain", content(&mut source)?),
        _ => elsewhere(
            &kind,
            &mut source,
            "must be one of base64, text, content, url and file",
        )?,
    };
    source.finish(notes);
    let mut document = DocumentPart::new(media);
    document.name = fields.text("title")?;
    let mut own = Map::new();
    if let Some(context) = fields.text("context")?.filter(|context| !context.is_empty()) {
        own.insert("context".into(), context.into());
    }
    if let Some(mut citations) = fields.inner("citations")? {
        if citations.flag("enabled")? == Some(true) {
            own.insert("citations".into(), json!({"enabled": true}));
        }
        citations.finish(notes);
    }
    let mut parts = vec![ContentPart::Document(document)];
    if !own.is_empty() {
        parts.push(opaque(DOCUMENT_OPTIONS, own));
    }
    Ok(parts)
}

fn source(fields: &mut Fields) -> Result<Fields> {
    fields
        .inner("source")?
        .ok_or_else(|| missing(fields.at("source"), "an object"))
}

fn bytes(source: &mut Fields) -> Result<MediaSource> {
    let media_type = source.name("media_type")?;
    Ok(MediaSource::base64(media_type, source.name("data")?))
}

fn elsewhere(kind: &str, source: &mut Fields, expected: &str) -> Result<MediaSource> {
    match kind {
        "url" => Ok(MediaSource::url(source.name("url")?)),
        "file" => Ok(MediaSource::VendorFile {
            vendor: ANTHROPIC,
            id: source.name("file_id")?,
        }),
        _ => Err(invalid(source.at("type"), expected)),
    }
}

/// A document of blocks: its text, which is all that others can read of it.
fn content(source: &mut Fields) -> Result<String> {
    let path = source.at("content");
    let blocks = match source.take("content") {
        Some(serde_json::Value::String(text)) => return Ok(text),
        Some(serde_json::Value::Array(blocks)) => blocks,
        _ => return Err(missing(&path, "a string or a list of text blocks")),
    };
    let mut texts = Vec::with_capacity(blocks.len());
    for (position, block) in blocks.into_iter().enumerate() {
        let mut block = Fields::of(format!("{path}[{position}]"), block)?;
        if block.text("type")?.as_deref() != Some("text") {
            return Err(invalid(
                block.at("type"),
                "must be text: nothing else can be carried",
            ));
        }
        texts.push(block.name("text")?);
    }
    Ok(texts.join("\n\n"))
}
