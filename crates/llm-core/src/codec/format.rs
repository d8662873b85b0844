//! A whole wire format as one value, for drivers that are nothing but an address and a format.

use super::ChatCodec;
use crate::chat::{ChatRequest, Warning};
use crate::driver::CatalogModel;
use crate::error::{Error, Result};
use crate::model::{ModelId, ResolvedModel};
use std::fmt::Debug;

/// A wire format with one host's differences: how the host is asked, and how what it says is read. The formats of
/// `llm-wire` implement it on their dialects; who carries the bytes need not know which it is.
///
/// Paths stand behind the base URL of whoever carries them.
pub trait ChatFormat: Debug + Send + Sync + 'static {
    /// Writes a request for this model. `stream` asks for a stream.
    ///
    /// # Errors
    /// `InvalidRequest`, when the request is nonsense; `Unsupported`, when it asks for what this format, host or model
    /// cannot do.
    fn encode_call(&self, model: &ResolvedModel, request: &ChatRequest, stream: bool) -> Result<EncodedCall>;

    /// What an answer with this status, which is no 2xx, says.
    fn decode_error(&self, status: u16, body: &[u8]) -> Error;

    /// Where the host's list of models is: its first page, or the one after this mark.
    fn models_path(&self, after: Option<&str>) -> String;

    /// Reads one page of the list, and the mark of the next one; without a mark it is the last.
    ///
    /// # Errors
    /// `Protocol`, when there is no list.
    fn decode_models(&self, body: &[u8]) -> Result<(Vec<CatalogModel>, Option<String>)>;

    /// How the host is asked for what a listed model can do. Absent: its list says all there is to know.
    fn encode_details(&self, model: &ModelId) -> Option<EncodedPost>;

    /// Adds what the answer to that question says. What cannot be read there adds nothing.
    fn decode_details(&self, body: &[u8], model: CatalogModel) -> CatalogModel;

    /// Can the host be asked how many tokens a request has, without an answer being made?
    fn counts_tokens(&self) -> bool;

    /// Writes the question how many tokens the input of a request has.
    ///
    /// # Errors
    /// As [`encode_call`](ChatFormat::encode_call); `Unsupported`, where the host cannot be asked.
    fn encode_count(&self, model: &ResolvedModel, request: &ChatRequest) -> Result<EncodedPost>;

    /// Reads the answer to that question.
    ///
    /// # Errors
    /// `Protocol`, when it holds no count.
    fn decode_count(&self, body: &[u8]) -> Result<u64>;
}

/// A POST of JSON, as far as the format decides.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct EncodedPost {
    /// The path, with a query where it has one.
    pub path: String,
    /// Headers that belong to this body.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON.
    pub body: Vec<u8>,
}

impl EncodedPost {
    /// A body for this path.
    pub fn new(path: impl Into<String>, body: Vec<u8>) -> Self {
        EncodedPost {
            path: path.into(),
            headers: Vec::new(),
            body,
        }
    }

    /// With one more header.
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A request as it is sent, and what reads its answer.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct EncodedCall {
    /// What is sent.
    pub post: EncodedPost,
    /// What reads the answer.
    pub codec: Box<dyn ChatCodec>,
    /// What was not sent, or was sent otherwise than asked. They go into the response.
    pub warnings: Vec<Warning>,
    /// Does the model's published price hold for it?
    pub usual_price: bool,
}

impl EncodedCall {
    /// A request and what reads its answer, at the usual price.
    pub fn new(post: EncodedPost, codec: impl ChatCodec) -> Self {
        EncodedCall {
            post,
            codec: Box::new(codec),
            warnings: Vec::new(),
            usual_price: true,
        }
    }

    /// What was not sent, or was sent otherwise than asked.
    pub fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.warnings = warnings;
        self
    }

    /// The request asks for what the published price does not cover, such as speed: nobody knows what it costs.
    pub fn without_price(mut self) -> Self {
        self.usual_price = false;
        self
    }
}
