//! The whole format as one value: how a host of it is asked.

use super::{Dialect, EncodedRequest, MessagesCodec, decode_error, encode_count_request, encode_request};
use crate::token_count::read_count;
use llm_core::codec::{parse_model_list, path_segment};
use llm_core::driver::CatalogModel;
use llm_core::{ChatFormat, ChatRequest, EncodedCall, EncodedPost, Error, ModelId, ResolvedModel, Result};
use serde::Deserialize;
use serde_json::Value;

impl ChatFormat for Dialect {
    fn encode_call(&self, model: &ResolvedModel, request: &ChatRequest, stream: bool) -> Result<EncodedCall> {
        let mut encoded = encode_request(self, model, request, stream)?;
        let post = post("/messages", &mut encoded);
        let codec = MessagesCodec::new(self, request, encoded.tool_names);
        let call = EncodedCall::new(post, codec).with_warnings(encoded.warnings);
        Ok(if has_own_price(self, request) {
            call.without_price()
        } else {
            call
        })
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        decode_error(self, Some(status), body)
    }

    fn models_path(&self, after: Option<&str>) -> String {
        match after {
            None => "/models?limit=1000".to_owned(),
            Some(id) => format!("/models?limit=1000&after_id={}", path_segment(id)),
        }
    }

    fn decode_models(&self, body: &[u8]) -> Result<(Vec<CatalogModel>, Option<String>)> {
        Ok((parse_model_list(body, "data", "id")?, next_page(body)))
    }

    fn encode_details(&self, _: &ModelId) -> Option<EncodedPost> {
        None
    }

    fn decode_details(&self, _: &[u8], model: CatalogModel) -> CatalogModel {
        model
    }

    /// Anthropic can; other hosts of the format may not know the question.
    fn counts_tokens(&self) -> bool {
        true
    }

    fn encode_count(&self, model: &ResolvedModel, request: &ChatRequest) -> Result<EncodedPost> {
        let mut encoded = encode_count_request(self, model, request)?;
        Ok(post("/messages/count_tokens", &mut encoded))
    }

    fn decode_count(&self, body: &[u8]) -> Result<u64> {
        read_count(body, "/input_tokens")
    }
}

/// The body with the headers that belong to it.
fn post(path: &str, encoded: &mut EncodedRequest) -> EncodedPost {
    let body = std::mem::take(&mut encoded.body);
    let post = EncodedPost::new(path, body).with_header("anthropic-version", encoded.version);
    if encoded.betas.is_empty() {
        return post;
    }
    post.with_header("anthropic-beta", encoded.betas.join(","))
}

/// Does it ask for what costs more than the price that is published: speed, or a place of its choice?
fn has_own_price(dialect: &Dialect, request: &ChatRequest) -> bool {
    let bag = request.vendor.of(dialect.vendor.as_str());
    let asks = |key: &str, usual: &str| {
        let value = bag.and_then(|bag| bag.get(key)).and_then(Value::as_str);
        value.is_some_and(|value| value != usual)
    };
    asks("speed", "standard") || asks("inference_geo", "global")
}

/// After which model the next page of a list begins (wire notes, `anthropic.md`, "Counting and models"); `None`: this
/// page is the last.
fn next_page(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Page {
        has_more: Option<bool>,
        last_id: Option<String>,
    }
    let page = serde_json::from_slice::<Page>(body).ok()?;
    page.last_id
        .filter(|id| page.has_more == Some(true) && !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_where_the_next_begins() {
        let next = |body: &str| next_page(body.as_bytes());
        assert_eq!(
            next(r#"{"data":[],"has_more":true,"last_id":"b"}"#).as_deref(),
            Some("b")
        );
        for last in [
            r#"{"has_more":false,"last_id":"b"}"#,
            r#"{"has_more":true,"last_id":null}"#,
            r#"{"has_more":true,"last_id":""}"#,
            "{}",
            "[]",
            "",
        ] {
            assert_eq!(next(last), None, "{last}");
        }
    }
}
