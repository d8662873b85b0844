//! Speech into text: what is asked and what is answered.

use crate::chat::{ResponseMeta, Usage, VendorOptions, Warning};
use crate::error::Result;
use crate::model::ModelId;
use bytes::Bytes;
use futures_core::Stream;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A stream of bytes.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>;

/// Speech to write down.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TranscriptionRequest {
    /// The model; absent: the driver's default.
    pub model: Option<ModelId>,
    /// The sound.
    pub audio: AudioSource,
    /// Its file name; tells vendors the format.
    pub filename: String,
    /// The language, as ISO 639-1; absent: the vendor guesses.
    pub language: Option<String>,
    /// Words that help with names and spelling.
    pub prompt: Option<String>,
    /// Options that only one vendor knows.
    pub vendor: VendorOptions,
}

impl TranscriptionRequest {
    /// This sound, in a file of this name.
    pub fn new(audio: AudioSource, filename: impl Into<String>) -> Self {
        TranscriptionRequest {
            model: None,
            audio,
            filename: filename.into(),
            language: None,
            prompt: None,
            vendor: VendorOptions::default(),
        }
    }

    /// Can it be sent again? Retry and fallback ask.
    pub fn is_replayable(&self) -> bool {
        !matches!(self.audio, AudioSource::Once(_))
    }
}

/// Opens a source of sound anew.
pub type ReopenAudio = Arc<dyn Fn() -> Result<ByteStream> + Send + Sync>;

/// Where sound comes from. All but `Once` can be sent again.
#[derive(Clone)]
#[non_exhaustive]
pub enum AudioSource {
    /// Bytes at hand.
    Bytes(Bytes),
    /// A file.
    Path(PathBuf),
    /// Anything that can be opened again.
    Reopen(ReopenAudio),
    /// A stream that can be read once: the request cannot be retried.
    Once(Arc<Mutex<Option<ByteStream>>>),
}

impl AudioSource {
    /// A stream that can be read once.
    pub fn once(stream: ByteStream) -> Self {
        AudioSource::Once(Arc::new(Mutex::new(Some(stream))))
    }
}

impl fmt::Debug for AudioSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AudioSource::Bytes(bytes) => write!(f, "Bytes([{} bytes])", bytes.len()),
            AudioSource::Path(_) => f.write_str("Path"),
            AudioSource::Reopen(_) => f.write_str("Reopen"),
            AudioSource::Once(_) => f.write_str("Once"),
        }
    }
}

/// What was said.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TranscriptionResponse {
    /// Which call it was and who served it.
    pub meta: ResponseMeta,
    /// The words.
    pub text: String,
    /// The language, as the vendor found it.
    pub language: Option<String>,
    /// How long the sound is.
    pub duration: Option<Duration>,
    /// The words by passage, where the vendor gives them.
    pub segments: Vec<TranscriptionSegment>,
    /// What it used.
    pub usage: Usage,
    /// What could not be honoured.
    pub warnings: Vec<Warning>,
}

impl TranscriptionResponse {
    /// These words.
    pub fn new(meta: ResponseMeta, text: impl Into<String>) -> Self {
        TranscriptionResponse {
            meta,
            text: text.into(),
            ..TranscriptionResponse::default()
        }
    }
}

/// A passage of what was said.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TranscriptionSegment {
    /// Where it begins.
    pub start: Duration,
    /// Where it ends.
    pub end: Duration,
    /// The words.
    pub text: String,
    /// The model's mean certainty, a logarithm; absent: not reported.
    pub average_log_probability: Option<f64>,
    /// How likely nobody speaks; absent: not reported.
    pub no_speech_probability: Option<f64>,
}

impl TranscriptionSegment {
    /// A passage from one moment to another.
    pub fn new(start: Duration, end: Duration, text: impl Into<String>) -> Self {
        TranscriptionSegment {
            start,
            end,
            text: text.into(),
            ..TranscriptionSegment::default()
        }
    }
}
