//! Pictures and documents.

use super::Encoding;
use crate::fault::{PartPath, invalid, unsupported};
use crate::messages::request_types::{BlockBody, WireBlock, WireSource};
use crate::pieces::is_search_result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llm_core::{
    ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, OpaquePart, Result, TextPart,
};

impl<'a> Encoding<'a> {
    /// A picture or a document; `None` for any part that is no medium.
    pub(super) fn media(&mut self, path: PartPath, part: &'a ContentPart) -> Result<Option<WireBlock<'a>>> {
        let body = match part {
            ContentPart::Image(image) => self.image(path, image)?,
            ContentPart::Document(document) => self.document(path, document)?,
            ContentPart::Audio(_) => {
                return Err(unsupported(path, "is sound, which this format does not take"));
            }
            _ => return Ok(None),
        };
        Ok(Some(WireBlock::from(body)))
    }

    fn image(&mut self, path: PartPath, image: &'a ImagePart) -> Result<BlockBody<'a>> {
        let source = match &image.source {
            MediaSource::Base64 { media_type, data } => {
                let Some(media_type) = picture_type(media_type) else {
                    let message = "is a picture of a type other than JPEG, PNG, GIF and WebP; convert it";
                    return Err(unsupported(path, message));
                };
                WireSource::Base64 { media_type, data }
            }
            source => self.elsewhere(path, source, "picture")?,
        };
        if image.detail.is_some_and(|detail| detail != ImageDetail::Auto) {
            self.warn(
                path,
                "is sent without its detail, which this format does not know",
            );
        }
        Ok(BlockBody::Image(source))
    }

    fn document(&mut self, path: PartPath, document: &'a DocumentPart) -> Result<BlockBody<'a>> {
        let source = match &document.source {
            MediaSource::Base64 { media_type, data } => match essence(media_type).as_str() {
                "application/pdf" => WireSource::Base64 {
                    media_type: "application/pdf",
                    data,
                },
                kind if kind.starts_with("text/") || kind == "application/json" => WireSource::Text {
                    media_type: "text/plain",
                    data: plain_text(path, data)?,
                },
                _ => {
                    let message = "is a document of a type other than PDF and text; convert it";
                    return Err(unsupported(path, message));
                }
            },
            source => self.elsewhere(path, source, "document")?,
        };
        let title = document.name.as_deref().filter(|name| !name.is_empty());
        Ok(BlockBody::Document {
            source,
            title,
            own: None,
        })
    }

    /// What goes with the document before it: its context, and whether answers cite it.
    pub(super) fn document_options(
        &mut self,
        path: PartPath,
        piece: &'a OpaquePart,
        before: Option<&mut WireBlock<'a>>,
    ) {
        let fields = self.own_fields(Some(&piece.replay), &mut false);
        match before.map(|block| &mut block.body) {
            Some(BlockBody::Document { own, .. }) if fields.is_some() => *own = fields,
            _ => self.warn_history(path, super::assistant::NOT_CARRIED),
        }
    }

    /// A search result, whose text is what others read of it.
    pub(super) fn search_result(&mut self, part: &'a TextPart) -> Option<WireBlock<'a>> {
        let replay = part.replay.as_ref().filter(|replay| is_search_result(replay))?;
        let fields = self.own_fields(Some(replay), &mut false)?;
        self.old_rules |= super::cites(&replay.data);
        Some(BlockBody::Own(fields).into())
    }

    /// What is not in the request itself.
    fn elsewhere(&self, path: PartPath, source: &'a MediaSource, what: &str) -> Result<WireSource<'a>> {
        match source {
            MediaSource::Url { url } if self.dialect.media_urls => Ok(WireSource::Url { url }),
            MediaSource::VendorFile { vendor, id }
                if self.dialect.media_files && *vendor == self.dialect.vendor =>
            {
                Ok(WireSource::File { file_id: id })
            }
            MediaSource::Url { .. } => {
                let message =
                    format!("is a {what} by address, which this host does not take; send its bytes");
                Err(unsupported(path, &message))
            }
            _ => {
                let message =
                    format!("is a {what} by a file id that this host does not know; send its bytes");
                Err(unsupported(path, &message))
            }
        }
    }
}

/// A text document travels as text.
fn plain_text(path: PartPath, data: &str) -> Result<String> {
    let bytes = STANDARD.decode(data);
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| invalid(path, "is a text document that is no UTF-8 text in base64"))
}

fn picture_type(media_type: &str) -> Option<&'static str> {
    Some(match essence(media_type).as_str() {
        "image/jpeg" | "image/jpg" => "image/jpeg",
        "image/png" => "image/png",
        "image/gif" => "image/gif",
        "image/webp" => "image/webp",
        _ => return None,
    })
}

/// The type without its parameters.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}
