//! Pictures, sound and files.
//!
//! Source: `gemini.md` of the project's wire notes (Contents and parts, Quirks), state of 2026-11-29.

use super::Encoding;
use crate::fault::{PartPath, invalid, unsupported};
use crate::generate_content::request_types::{PartBody, WirePart};
use llm_core::chat::AudioPart;
use llm_core::{ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, Result};
use std::borrow::Cow;

impl<'a> Encoding<'a> {
    /// A picture, a sound or a file; `None` for any other part.
    pub(super) fn media(&mut self, path: PartPath, part: &'a ContentPart) -> Result<Option<WirePart<'a>>> {
        Ok(match part {
            ContentPart::Image(image) => Some(self.image(path, image)?),
            ContentPart::Audio(AudioPart { source, .. }) => Some(self.source(path, source)?.into()),
            ContentPart::Document(document) => Some(self.document(path, document)?),
            _ => None,
        })
    }

    fn image(&mut self, path: PartPath, image: &'a ImagePart) -> Result<WirePart<'a>> {
        let mut part = WirePart::from(self.source(path, &image.source)?);
        let level = match image.detail {
            None | Some(ImageDetail::Auto) => return Ok(part),
            Some(ImageDetail::Low) => Some("MEDIA_RESOLUTION_LOW"),
            Some(ImageDetail::High) => Some("MEDIA_RESOLUTION_HIGH"),
            Some(ImageDetail::Original) => Some("MEDIA_RESOLUTION_ULTRA_HIGH"),
            Some(_) => None,
        };
        part.resolution = level.filter(|_| self.rule.recent);
        if part.resolution.is_none() {
            let message = "has a detail that this model does not take for single parts; it is not sent";
            self.warn(path, message);
        }
        Ok(part)
    }

    fn document(&mut self, path: PartPath, document: &'a DocumentPart) -> Result<WirePart<'a>> {
        let part = WirePart::from(self.source(path, &document.source)?);
        if document.name.is_some() {
            self.warn(path, "is sent without its name: files have none here");
        }
        Ok(part)
    }

    fn source(&mut self, path: PartPath, source: &'a MediaSource) -> Result<PartBody<'a>> {
        match source {
            MediaSource::Base64 { media_type, data } => inline(path, media_type, data),
            MediaSource::Url { url } => match url.strip_prefix("data:") {
                Some(data) => {
                    let message = "is an address that holds data of an unknown form; send its bytes";
                    let (media_type, data) = data
                        .split_once(',')
                        .and_then(|(kind, data)| Some((kind.strip_suffix(";base64")?, data)))
                        .ok_or_else(|| unsupported(path, message))?;
                    inline(path, media_type, data)
                }
                None => self.address(path, url),
            },
            MediaSource::VendorFile { vendor, id } if *vendor == self.dialect.vendor => {
                let uri = match self.dialect.files_base {
                    _ if id.contains("://") => Cow::Borrowed(id.as_str()),
                    Some(base) if id.starts_with("files/") => Cow::Owned(format!("{base}{id}")),
                    _ => {
                        let message =
                            "is a file of this vendor without its address; give its address as its id";
                        return Err(unsupported(path, message));
                    }
                };
                Ok(PartBody::FileData {
                    // the vendor knows it
                    mime_type: None,
                    uri,
                })
            }
            MediaSource::VendorFile { .. } => {
                let message = "is a file that was uploaded to another vendor; send its bytes";
                Err(unsupported(path, message))
            }
            _ => Err(unsupported(
                path,
                "is given in a way that this format does not know",
            )),
        }
    }

    /// Something that the service fetches: its own files and, since January 2026, public addresses.
    fn address(&mut self, path: PartPath, url: &'a str) -> Result<PartBody<'a>> {
        let own = self.dialect.files_base.is_some_and(|base| url.starts_with(base));
        let video = [
            "https://www.youtube.com/",
            "https://youtube.com/",
            "https://youtu.be/",
        ];
        let video = video.iter().any(|host| url.starts_with(host));
        let public = url.starts_with("https://") && self.rule.fetches_addresses;
        let bucket = url.starts_with("gs://") && self.dialect.gs_addresses;
        if !(own || video || public || bucket) {
            let message = "is at an address that is not fetched here; send its bytes";
            return Err(unsupported(path, message));
        }
        Ok(PartBody::FileData {
            mime_type: type_of_name(url).filter(|_| !own && !video).map(Cow::Borrowed),
            uri: Cow::Borrowed(url),
        })
    }
}

fn inline<'a>(path: PartPath, media_type: &'a str, data: &'a str) -> Result<PartBody<'a>> {
    let mime_type = usual_type(media_type);
    if mime_type.is_empty() {
        return Err(invalid(path, "is of no media type; give one"));
    }
    Ok(PartBody::InlineData { mime_type, data })
}

/// A media type without its parameters, under its usual name.
fn usual_type(media_type: &str) -> Cow<'_, str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let usual = match essence.to_ascii_lowercase().as_str() {
        "image/jpg" | "image/pjpeg" => "image/jpeg",
        "audio/mpeg" | "audio/mpeg3" | "audio/x-mp3" => "audio/mp3",
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav",
        "audio/x-aiff" => "audio/aiff",
        "audio/x-flac" => "audio/flac",
        "application/x-pdf" => "application/pdf",
        _ => return Cow::Borrowed(essence),
    };
    Cow::Borrowed(usual)
}

/// The media type that the end of an address says.
fn type_of_name(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        "wav" => "audio/wav",
        "mp3" => "audio/mp3",
        "aac" => "audio/aac",
        "ogg" => "audio/ogg",
        "flac" => "audio/flac",
        "mp4" => "video/mp4",
        "txt" => "text/plain",
        _ => return None,
    })
}
