//! Pictures, sound and files.

use super::Encoding;
use crate::chat_completions::dialect::{AudioForm, FileForm};
use crate::chat_completions::request_types::{WirePart, WirePartBody, WireUrl, detail_word};
use crate::fault::{PartPath, unsupported};
use llm_core::chat::AudioPart;
use llm_core::{ContentPart, DocumentPart, ImagePart, MediaSource, Result};
use std::borrow::Cow;

const IMAGE_BY_ID: &str = "is a picture by file id, which is not taken here; send its bytes";

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

    fn image(&mut self, path: PartPath, image: &'a ImagePart) -> Result<WirePartBody<'a>> {
        let takes = self.dialect.parts;
        let url = match &image.source {
            MediaSource::Url { url } if takes.image_url => WireUrl::Url(url),
            MediaSource::Url { .. } => {
                let message = "is a picture by address, which this host does not take; send its bytes";
                return Err(unsupported(path, message));
            }
            MediaSource::Base64 { media_type, data } if takes.image_bytes => WireUrl::Data {
                media_type,
                base64: data,
            },
            MediaSource::Base64 { .. } => {
                return Err(unsupported(path, "is a picture, which this host does not take"));
            }
            MediaSource::VendorFile { vendor, id } if *vendor == self.dialect.vendor => {
                match takes.image_file {
                    Some(scheme) => WireUrl::File { scheme, id },
                    None => return Err(unsupported(path, IMAGE_BY_ID)),
                }
            }
            _ => return Err(unsupported(path, IMAGE_BY_ID)),
        };
        let detail = image.detail.and_then(detail_word).filter(|_| takes.image_detail);
        if detail.is_none() && image.detail.is_some() {
            self.warn(path, "has a detail that this host does not know; it is not sent");
        }
        Ok(WirePartBody::Image { url, detail })
    }

    fn audio(&mut self, path: PartPath, audio: &'a AudioPart) -> Result<WirePartBody<'a>> {
        if self.dialect.parts.audio && self.dialect.parts.audio_form == AudioForm::Plain {
            return match &audio.source {
                MediaSource::Base64 { data, .. } => Ok(WirePartBody::PlainAudio(data)),
                MediaSource::Url { url } => Ok(WirePartBody::PlainAudio(url)),
                _ => {
                    let message = "is sound by file id, which is not taken here; send its bytes";
                    Err(unsupported(path, message))
                }
            };
        }
        let MediaSource::Base64 { media_type, data } = &audio.source else {
            return Err(unsupported(
                path,
                "is sound that is not given as bytes; send its bytes",
            ));
        };
        if !self.dialect.parts.audio {
            return Err(unsupported(path, "is sound, which this host does not take"));
        }
        let Some(format) = audio_format(media_type) else {
            return Err(unsupported(
                path,
                "is sound of a type other than WAV and MP3; convert it",
            ));
        };
        Ok(WirePartBody::Audio { data, format })
    }

    fn document(&mut self, path: PartPath, document: &'a DocumentPart) -> Result<WirePartBody<'a>> {
        if !self.dialect.parts.file {
            return Err(unsupported(path, "is a file, which this host does not take"));
        }
        let flat = self.dialect.parts.file_form == FileForm::DocumentUrl;
        match &document.source {
            MediaSource::Base64 { media_type, data } if flat => Ok(WirePartBody::DocumentUrl {
                name: document.name.as_deref(),
                url: WireUrl::Data {
                    media_type,
                    base64: data,
                },
            }),
            MediaSource::Url { url } if flat => Ok(WirePartBody::DocumentUrl {
                name: document.name.as_deref(),
                url: WireUrl::Url(url),
            }),
            MediaSource::Base64 { media_type, data } => {
                let name = match (&document.name, media_type.as_str()) {
                    (Some(name), _) => Cow::Borrowed(name.as_str()),
                    // the host refuses a file without a name
                    (None, "application/pdf") => Cow::Borrowed("document.pdf"),
                    (None, _) => Cow::Borrowed("document"),
                };
                let data = WireUrl::Data {
                    media_type,
                    base64: data,
                };
                Ok(WirePartBody::File { name, data })
            }
            MediaSource::VendorFile { vendor, id } if *vendor == self.dialect.vendor => {
                if document.name.is_some() {
                    self.warn(
                        path,
                        "is sent without its name: the vendor knows the file by its id",
                    );
                }
                Ok(if flat {
                    WirePartBody::FlatFileId(id)
                } else {
                    WirePartBody::FileId(id)
                })
            }
            MediaSource::VendorFile { .. } => Err(unsupported(
                path,
                "is a file that was uploaded to another vendor; send its bytes",
            )),
            _ => {
                let message = "is a file by address, which this format does not take; send its bytes";
                Err(unsupported(path, message))
            }
        }
    }
}

/// The format's word for a type of sound.
fn audio_format(media_type: &str) -> Option<&'static str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}
