//! Which parts of user messages a host takes, and in which form, as plain data.

/// Which parts of user messages a host takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartSupport {
    /// Pictures by address.
    pub image_url: bool,
    /// Pictures as bytes.
    pub image_bytes: bool,
    /// What stands before the id of an uploaded picture to make an address of it; absent: it takes none.
    pub image_file: Option<&'static str>,
    /// Does it take how closely to look at a picture?
    pub image_detail: bool,
    /// Sound as bytes.
    pub audio: bool,
    /// How sound is written.
    pub audio_form: AudioForm,
    /// Files as bytes or by the vendor's id.
    pub file: bool,
    /// How files are written.
    pub file_form: FileForm,
}

impl PartSupport {
    /// What OpenAI takes.
    pub const OPENAI: PartSupport = PartSupport {
        image_url: true,
        image_bytes: true,
        image_file: None,
        image_detail: true,
        audio: true,
        audio_form: AudioForm::DataAndFormat,
        file: true,
        file_form: FileForm::File,
    };

    /// Pictures alone.
    pub const IMAGES: PartSupport = PartSupport {
        audio: false,
        file: false,
        ..PartSupport::OPENAI
    };
}

/// How sound is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AudioForm {
    /// An object of `data` and `format`, which is `wav` or `mp3`.
    DataAndFormat,
    /// The bytes as plain base64, or an address.
    Plain,
}

/// How files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileForm {
    /// `file`, an object of name and bytes, or of the vendor's id.
    File,
    /// `document_url`, an address or the bytes as one; uploaded ones as `file_id`.
    DocumentUrl,
}
