//! The whole format as one value: how a host of it is asked.

use super::{Dialect, GenerateContentCodec, decode_error, encode_count_request, encode_request};
use crate::token_count::read_count;
use llm_core::codec::{parse_model_list, path_segment};
use llm_core::driver::CatalogModel;
use llm_core::{
    ChatFormat, ChatRequest, EncodedCall, EncodedPost, Error, ModelEntry, ModelId, ModelLimits,
    ResolvedModel, Result,
};
use serde::Deserialize;
use std::collections::BTreeMap;

impl ChatFormat for Dialect {
    fn encode_call(&self, model: &ResolvedModel, request: &ChatRequest, stream: bool) -> Result<EncodedCall> {
        let encoded = encode_request(self, model, request)?;
        // Without `alt=sse` a stream is one JSON array (wire notes, `gemini.md`, "Endpoint and auth").
        let method = if stream {
            "streamGenerateContent?alt=sse"
        } else {
            "generateContent"
        };
        let post = EncodedPost::new(method_path(&model.id, method), encoded.body);
        let codec = GenerateContentCodec::new(self, request, encoded.tool_names);
        Ok(EncodedCall::new(post, codec).with_warnings(encoded.warnings))
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        decode_error(self, Some(status), body)
    }

    fn models_path(&self, after: Option<&str>) -> String {
        match after {
            None => "/models?pageSize=1000".to_owned(),
            Some(token) => format!("/models?pageSize=1000&pageToken={}", path_segment(token)),
        }
    }

    /// Models that cannot chat are left out.
    fn decode_models(&self, body: &[u8]) -> Result<(Vec<CatalogModel>, Option<String>)> {
        read_page(body)
    }

    fn encode_details(&self, _: &ModelId) -> Option<EncodedPost> {
        None
    }

    fn decode_details(&self, _: &[u8], model: CatalogModel) -> CatalogModel {
        model
    }

    fn counts_tokens(&self) -> bool {
        true
    }

    fn encode_count(&self, model: &ResolvedModel, request: &ChatRequest) -> Result<EncodedPost> {
        let encoded = encode_count_request(self, model, request)?;
        let path = method_path(&model.id, "countTokens");
        Ok(EncodedPost::new(path, encoded.body))
    }

    fn decode_count(&self, body: &[u8]) -> Result<u64> {
        read_count(body, "/totalTokens")
    }
}

/// The path of a method of a model. An id that names its collection stays in it; whatever else stands in an id is one
/// segment (wire notes, `gemini.md`, "Endpoint and auth").
fn method_path(model: &ModelId, method: &str) -> String {
    let id = model.as_str();
    let (collection, name) = match id.split_once('/') {
        Some((collection @ ("models" | "tunedModels"), name)) if !name.is_empty() => (collection, name),
        _ => ("models", id),
    };
    format!("/{collection}/{}:{method}", path_segment(name))
}

/// One page of the list of models with their limits, and the mark of the next one.
fn read_page(body: &[u8]) -> Result<(Vec<CatalogModel>, Option<String>)> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Page {
        models: Vec<Entry>,
        next_page_token: Option<String>,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Entry {
        name: String,
        supported_generation_methods: Option<Vec<String>>,
        input_token_limit: Option<u64>,
        output_token_limit: Option<u64>,
    }
    let mut listed = parse_model_list(body, "models", "name")?;
    let page = serde_json::from_slice::<Page>(body).unwrap_or_default();
    let entries: BTreeMap<_, _> = page.models.iter().map(|entry| (&*entry.name, entry)).collect();
    listed.retain_mut(|model| {
        let Some(entry) = entries.get(model.id.as_str()) else {
            return true;
        };
        let limits = ModelLimits::new(None, entry.input_token_limit, entry.output_token_limit);
        model.facts = ModelEntry::default().with_limits(limits);
        let methods = entry.supported_generation_methods.as_ref();
        methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
    });
    for model in &mut listed {
        if let Some(Ok(id)) = model.id.as_str().strip_prefix("models/").map(ModelId::new) {
            model.id = id;
        }
    }
    Ok((listed, page.next_page_token.filter(|token| !token.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_below_its_collection() {
        for (id, path) in [
            ("gemini-3.8-flash", "/models/gemini-3.8-flash:generateContent"),
            (
                "models/gemini-3.8-flash",
                "/models/gemini-3.8-flash:generateContent",
            ),
            ("tunedModels/mine", "/tunedModels/mine:generateContent"),
            ("files/mine", "/models/files%2Fmine:generateContent"),
            ("models/a/b?c", "/models/a%2Fb%3Fc:generateContent"),
            ("models/", "/models/models%2F:generateContent"),
        ] {
            assert_eq!(method_path(&ModelId::new(id).unwrap(), "generateContent"), path);
        }
    }

    #[test]
    fn what_cannot_chat_is_not_listed() {
        let body = br#"{"models":[{"name":"models/a","supportedGenerationMethods":["generateContent"],"inputTokenLimit":9},
            {"name":"models/b","supportedGenerationMethods":["embedContent"]},{"name":"tunedModels/c"}],
            "nextPageToken":"t"}"#;
        let (listed, next) = read_page(body).unwrap();
        let names: Vec<_> = listed.iter().map(|model| model.id.as_str()).collect();
        assert_eq!((names, next.as_deref()), (vec!["a", "tunedModels/c"], Some("t")));
        assert_eq!(listed[0].facts.max_input, Some(9));
        assert!(read_page(b"{}").is_err());
        assert_eq!(read_page(br#"{"models":[],"nextPageToken":""}"#).unwrap().1, None);
    }
}
