//! The whole format as one value: how a server of it is asked.

use super::{Dialect, OllamaCodec, decode_error, encode_request};
use crate::token_count::no_count;
use llm_core::codec::parse_model_list;
use llm_core::driver::CatalogModel;
use llm_core::{
    Capability, ChatFormat, ChatRequest, EncodedCall, EncodedPost, Error, ModelId, ResolvedModel, Result,
};
use serde_json::{Value, json};

impl ChatFormat for Dialect {
    fn encode_call(&self, model: &ResolvedModel, request: &ChatRequest, stream: bool) -> Result<EncodedCall> {
        let encoded = encode_request(self, model, request, stream)?;
        let post = EncodedPost::new("/api/chat", encoded.body);
        Ok(EncodedCall::new(post, OllamaCodec::new(self, request)).with_warnings(encoded.warnings))
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        decode_error(self, Some(status), body)
    }

    fn models_path(&self, _: Option<&str>) -> String {
        "/api/tags".to_owned()
    }

    fn decode_models(&self, body: &[u8]) -> Result<(Vec<CatalogModel>, Option<String>)> {
        Ok((parse_model_list(body, "models", "name")?, None))
    }

    fn encode_details(&self, model: &ModelId) -> Option<EncodedPost> {
        let body = json!({ "model": model.as_str() }).to_string();
        Some(EncodedPost::new("/api/show", body.into_bytes()))
    }

    fn decode_details(&self, body: &[u8], model: CatalogModel) -> CatalogModel {
        with_card(body, model)
    }

    fn counts_tokens(&self) -> bool {
        false
    }

    fn encode_count(&self, _: &ResolvedModel, _: &ChatRequest) -> Result<EncodedPost> {
        Err(no_count())
    }

    fn decode_count(&self, _: &[u8]) -> Result<u64> {
        Err(no_count())
    }
}

/// What the server calls what it can tell of (wire notes, `ollama.md`, "Models and capabilities"). Calls come whole and
/// as many as there are, so a model that calls one tool calls several.
const ABILITIES: [(&str, Capability); 5] = [
    ("tools", Capability::Tools),
    ("tools", Capability::ParallelTools),
    ("vision", Capability::Vision),
    ("audio", Capability::AudioInput),
    ("thinking", Capability::Reasoning),
];

/// Reads what the server says of one model. A list of abilities is complete: what does not stand in it, the model
/// cannot do.
fn with_card(body: &[u8], mut model: CatalogModel) -> CatalogModel {
    let card = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let information = &card["model_info"];
    if let Some(family) = information["general.architecture"].as_str() {
        let window = information[format!("{family}.context_length")].as_u64();
        model.facts.context_window = window.or(model.facts.context_window);
    }
    if let Some(abilities) = card["capabilities"].as_array() {
        for (name, capability) in ABILITIES {
            let has = abilities.iter().any(|ability| ability == name);
            model.facts.capabilities.insert(capability, has);
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(card: Value) -> CatalogModel {
        let model = CatalogModel::new(ModelId::new("qwen4:8b").unwrap());
        with_card(card.to_string().as_bytes(), model)
    }

    #[test]
    fn a_card_says_what_the_model_can_and_cannot_do() {
        let model = read(json!({
            "capabilities": ["completion", "vision", "tools", "brewing"],
            "model_info": { "general.architecture": "qwen4", "qwen4.context_length": 262_144 },
        }));
        assert_eq!(model.facts.context_window, Some(262_144));
        let can = |capability| model.facts.capabilities.get(&capability).copied();
        assert_eq!(can(Capability::Vision), Some(true));
        assert_eq!(can(Capability::ParallelTools), Some(true));
        assert_eq!(can(Capability::Reasoning), Some(false));
        assert_eq!(can(Capability::Documents), None);
    }

    #[test]
    fn a_card_that_cannot_be_read_says_nothing() {
        let nothing = CatalogModel::new(ModelId::new("qwen4:8b").unwrap());
        for card in [
            json!(7),
            json!({ "capabilities": null, "model_info": [] }),
            json!({ "model_info": { "general.architecture": "a", "a.context_length": "long" } }),
        ] {
            assert_eq!(read(card), nothing);
        }
        assert_eq!(with_card(b"<html>", nothing.clone()), nothing);
    }
}
