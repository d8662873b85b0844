//! The content of messages: a string or a list of parts.

use super::OPENAI;
use crate::fault::{invalid, missing, wrong_type};
use crate::fields::{Fields, Notes};
use llm_core::chat::AudioPart;
use llm_core::{
    CachePoint, CacheTtl, ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, RefusalPart, Result,
};
use serde_json::Value;

/// Which parts a message may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    Text,
    TextAndRefusal,
    All,
}

impl Allowed {
    fn in_words(self) -> &'static str {
        match self {
            Allowed::Text => "must be text: this message holds nothing else",
            Allowed::TextAndRefusal => "must be text or refusal",
            Allowed::All => "must be one of text, image_url, input_audio and file",
        }
    }
}

/// The parts of a message; `None`: there is no content. Empty text is no part.
pub(super) fn content(
    allowed: Allowed,
    fields: &mut Fields,
    notes: &mut Notes,
) -> Result<Option<Vec<ContentPart>>> {
    let path = fields.at("content");
    let list = match fields.take("content") {
        None => return Ok(None),
        Some(Value::String(text)) if text.is_empty() => return Ok(Some(Vec::new())),
        Some(Value::String(text)) => return Ok(Some(vec![ContentPart::text(text)])),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong_type(&path, "a string or a list of parts")),
    };
    let mut parts = Vec::with_capacity(list.len());
    for (position, value) in list.into_iter().enumerate() {
        let mut fields = Fields::of(format!("{path}[{position}]"), value)?;
        let part = part(allowed, &mut fields, notes)?;
        let is_empty = part.as_text().is_some_and(str::is_empty);
        if !is_empty {
            parts.push(part);
        }
        if let Some(point) = cache_point(&mut fields, notes)? {
            parts.push(ContentPart::CachePoint(point));
        }
        fields.finish(notes);
    }
    Ok(Some(parts))
}

fn part(allowed: Allowed, fields: &mut Fields, notes: &mut Notes) -> Result<ContentPart> {
    let kind = fields.text("type")?.unwrap_or_default();
    match (kind.as_str(), allowed) {
        ("text", _) => {
            let text = fields.text("text")?;
            let text = text.ok_or_else(|| missing(fields.at("text"), "a string"))?;
            Ok(ContentPart::text(text))
        }
        ("refusal", Allowed::TextAndRefusal) => {
            Ok(ContentPart::Refusal(RefusalPart::new(fields.name("refusal")?)))
        }
        ("image_url", Allowed::All) => image(required(fields, "image_url")?, notes),
        ("input_audio", Allowed::All) => audio(required(fields, "input_audio")?, notes),
        ("file", Allowed::All) => file(required(fields, "file")?, notes),
        _ => Err(invalid(fields.at("type"), allowed.in_words())),
    }
}

fn required(fields: &mut Fields, key: &str) -> Result<Fields> {
    fields
        .inner(key)?
        .ok_or_else(|| missing(fields.at(key), "an object"))
}

fn image(mut fields: Fields, notes: &mut Notes) -> Result<ContentPart> {
    let url = fields.name("url")?;
    let source = source(&fields.at("url"), url)?;
    let mut image = ImagePart::new(source);
    image.detail = match fields.text("detail")?.as_deref() {
        None => None,
        Some("auto") => Some(ImageDetail::Auto),
        Some("low") => Some(ImageDetail::Low),
        Some("high") => Some(ImageDetail::High),
        Some("original") => Some(ImageDetail::Original),
        Some(_) => {
            return Err(invalid(
                fields.at("detail"),
                "must be one of auto, low, high and original",
            ));
        }
    };
    fields.finish(notes);
    Ok(ContentPart::Image(image))
}

fn audio(mut fields: Fields, notes: &mut Notes) -> Result<ContentPart> {
    let data = fields.name("data")?;
    let media_type = match fields.text("format")?.as_deref() {
        Some("wav") => "audio/wav",
        Some("mp3") => "audio/mpeg",
        _ => return Err(invalid(fields.at("format"), "must be wav or mp3")),
    };
    fields.finish(notes);
    Ok(ContentPart::Audio(AudioPart::new(MediaSource::base64(
        media_type, data,
    ))))
}

fn file(mut fields: Fields, notes: &mut Notes) -> Result<ContentPart> {
    let source = match (fields.text("file_id")?, fields.text("file_data")?) {
        (Some(id), None) if !id.is_empty() => MediaSource::VendorFile { vendor: OPENAI, id },
        (None, Some(data)) => {
            let path = fields.at("file_data");
            match source(&path, data)? {
                MediaSource::Url { .. } => {
                    return Err(invalid(
                        &path,
                        "must be a data URI (data:application/pdf;base64,…)",
                    ));
                }
                bytes => bytes,
            }
        }
        _ => return Err(invalid(fields.path(), "must hold either file_id or file_data")),
    };
    let mut document = DocumentPart::new(source);
    document.name = fields.text("filename")?;
    fields.finish(notes);
    Ok(ContentPart::Document(document))
}

/// An address, or the bytes of a data URI.
fn source(path: &str, url: String) -> Result<MediaSource> {
    let is_data = url
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    if !is_data {
        return Ok(MediaSource::url(url));
    }
    let bytes = url[5..].split_once(',').and_then(|(kind, data)| {
        let media_type = kind
            .strip_suffix(";base64")
            .filter(|media_type| !media_type.is_empty())?;
        Some(MediaSource::base64(media_type, data))
    });
    bytes.ok_or_else(|| invalid(path, "is a data URI of another form than data:TYPE;base64,DATA"))
}

/// A mark for the prompt cache after a part.
fn cache_point(fields: &mut Fields, notes: &mut Notes) -> Result<Option<CachePoint>> {
    let Some(mut mark) = fields.inner("prompt_cache_breakpoint")? else {
        return Ok(None);
    };
    mark.text("mode")?;
    let ttl = match mark.text("ttl")?.as_deref() {
        Some("12h") => CacheTtl::Long,
        Some("30m") | None => CacheTtl::Short,
        Some(_) => {
            notes.warn(&mark.at("ttl"), "is neither 30m nor 12h; 30m is taken");
            CacheTtl::Short
        }
    };
    mark.finish(notes);
    Ok(Some(CachePoint::new(ttl)))
}
