//! Pictures, sound and files.

use super::Encoding;
use crate::fault::{PartPath, unsupported};
use crate::responses::request_types::{WirePart, WirePartBody, WireUrl};
use llm_core::chat::AudioPart;
use llm_core::{ContentPart, DocumentPart, ImagePart, MediaSource, Result};
use std::borrow::Cow;

impl<'a> Encoding<'a> {
    /// A picture, a sound or a file; `None` for any other part.
    pub(super) fn media(&mut self, path: PartPath, part: &'a ContentPart) -> Result<Option<WirePart<'a>>> {
        let body = match part {
            ContentPart::Image(image) => self.image(path, image)?,
            ContentPart::Audio(audio) => self.audio(path, audio)?,
            ContentPart::Document(document) => self.document(path, document)?,
            _ => return Ok(None),
        };
        Ok(Some(WirePart::from(body)))
    }

    fn source(&self, path: PartPath, source: &'a MediaSource) -> Result<WireUrl<'a>> {
        match source {
            MediaSource::Url { url } => Ok(WireUrl::Url(url)),
            MediaSource::Base64 { media_type, data } => Ok(WireUrl::Data {
                media_type,
                base64: data,
            }),
            MediaSource::VendorFile { vendor, id } if *vendor == self.dialect.vendor => Ok(WireUrl::File(id)),
            MediaSource::VendorFile { .. } => Err(unsupported(
                path,
                "is a file that was uploaded to another vendor; send its bytes",
            )),
            _ => Err(unsupported(path, "is in a place that this format does not know")),
        }
    }

    fn image(&self, path: PartPath, image: &'a ImagePart) -> Result<WirePartBody<'a>> {
        Ok(WirePartBody::Image {
            source: self.source(path, &image.source)?,
            detail: image.detail,
        })
    }

    fn audio(&self, path: PartPath, audio: &'a AudioPart) -> Result<WirePartBody<'a>> {
        let MediaSource::Base64 { media_type, data } = &audio.source else {
            return Err(unsupported(
                path,
                "is sound that is not given as bytes; send its bytes",
            ));
        };
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let format = match essence.to_ascii_lowercase().as_str() {
            "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
            "audio/mpeg" | "audio/mp3" => "mp3",
            _ => {
                return Err(unsupported(
                    path,
                    "is sound of a type other than WAV and MP3; convert it",
                ));
            }
        };
        Ok(WirePartBody::Audio { data, format })
    }

    fn document(&mut self, path: PartPath, document: &'a DocumentPart) -> Result<WirePartBody<'a>> {
        let source = self.source(path, &document.source)?;
        let name = match (&document.source, &document.name) {
            (MediaSource::Base64 { .. }, Some(name)) => Some(Cow::Borrowed(name.as_str())),
            // the host refuses bytes without a name
            (MediaSource::Base64 { media_type, .. }, None) if media_type == "application/pdf" => {
                Some(Cow::Borrowed("document.pdf"))
            }
            (MediaSource::Base64 { .. }, None) => Some(Cow::Borrowed("document")),
            (_, Some(_)) => {
                self.warn(path, "is sent without its name: only bytes have one here");
                None
            }
            (_, None) => None,
        };
        Ok(WirePartBody::File { name, source })
    }
}
