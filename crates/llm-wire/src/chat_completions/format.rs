//! The whole format as one value: how a host of it is asked.

use super::{ChatCompletionsCodec, Dialect, decode_error, encode_request};
use crate::body::with_fields;
use crate::token_count::{no_count, read_count};
use llm_core::codec::parse_model_list;
use llm_core::driver::CatalogModel;
use llm_core::{ChatFormat, ChatRequest, EncodedCall, EncodedPost, Error, ModelId, ResolvedModel, Result};

impl ChatFormat for Dialect {
    fn encode_call(&self, model: &ResolvedModel, request: &ChatRequest, stream: bool) -> Result<EncodedCall> {
        let encoded = encode_request(self, model, request, stream)?;
        let post = EncodedPost::new("/chat/completions", encoded.body);
        let codec = ChatCompletionsCodec::new(self, request, encoded.tool_names);
        Ok(EncodedCall::new(post, codec).with_warnings(encoded.warnings))
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        decode_error(self, Some(status), body)
    }

    fn models_path(&self, _: Option<&str>) -> String {
        "/models".to_owned()
    }

    fn decode_models(&self, body: &[u8]) -> Result<(Vec<CatalogModel>, Option<String>)> {
        Ok((parse_model_list(body, "data", "id")?, None))
    }

    fn encode_details(&self, _: &ModelId) -> Option<EncodedPost> {
        None
    }

    fn decode_details(&self, _: &[u8], model: CatalogModel) -> CatalogModel {
        model
    }

    fn counts_tokens(&self) -> bool {
        self.token_count_path.is_some()
    }

    /// The model and the messages are counted (wire notes, `kimi.md`, "Token count and model list").
    fn encode_count(&self, model: &ResolvedModel, request: &ChatRequest) -> Result<EncodedPost> {
        let path = self.token_count_path.ok_or_else(no_count)?;
        let encoded = encode_request(self, model, request, false)?;
        let counted = with_fields(&encoded.body, |name| matches!(name, "model" | "messages"))?;
        Ok(EncodedPost::new(path, counted))
    }

    fn decode_count(&self, body: &[u8]) -> Result<u64> {
        read_count(body, "/data/total_tokens")
    }
}
