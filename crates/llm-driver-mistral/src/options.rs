//! What a request can ask of this vendor only: the keys of its options bag, typed.

use crate::VENDOR;
use llm_core::chat::VendorBag;
use llm_core::{ChatRequest, VendorId};
use serde_json::{Value, json};

/// What a request can ask of Mistral only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_mistral::MistralOptions;
/// let request = MistralOptions::default().with_safe_prompt(true).apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("mistral").unwrap()["safe_prompt"], true);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct MistralOptions {
    bag: VendorBag,
}

impl MistralOptions {
    /// Should Mistral's own prompt for safety stand before the others?
    pub fn with_safe_prompt(self, safe: bool) -> Self {
        self.with("safe_prompt", safe)
    }

    /// One more guardrail, in Mistral's own form. What it blocks fails as `ContentFilter`.
    pub fn with_guardrail(mut self, guardrail: Value) -> Self {
        self.bag = self.bag.with_item("guardrails", guardrail);
        self
    }

    /// Sends requests of one key to the same prompt cache.
    pub fn with_prompt_cache_key(self, key: impl Into<String>) -> Self {
        self.with("prompt_cache_key", key.into())
    }

    /// Text that the answer will mostly repeat, so that it comes faster.
    pub fn with_prediction(self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.with("prediction", json!({ "type": "content", "content": text }))
    }

    /// How many pages of a document are read, and how many pictures of it.
    pub fn with_document_limits(self, pages: u32, images: u32) -> Self {
        self.with("document_page_limit", pages)
            .with("document_image_limit", images)
    }

    /// One more note on the answer.
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.bag = self.bag.with_field("metadata", name, value.into());
        self
    }

    /// The fewest tokens of an answer. Older models refuse it.
    pub fn with_min_tokens(self, tokens: u32) -> Self {
        self.with("min_tokens", tokens)
    }

    /// Against words that stood already, as a factor. Older models refuse it.
    pub fn with_repetition_penalty(self, penalty: f64) -> Self {
        self.with("repetition_penalty", penalty)
    }

    /// The log-probability of each token, with those of so many alternatives. They come back in the response's
    /// metadata.
    pub fn with_logprobs(self, alternatives: u32) -> Self {
        let with = self.with("logprobs", true);
        if alternatives == 0 {
            with
        } else {
            with.with("top_logprobs", alternatives)
        }
    }

    /// Adds the vendor's prompt for reasoning: for Magistral models of 2025 alone. Newer ones take an effort.
    pub fn with_reasoning_prompt(self) -> Self {
        self.with("prompt_mode", "reasoning")
    }

    /// Any other key of the bag; one that this driver does not know is refused before anything is sent.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.bag = self.bag.with(key, value);
        self
    }

    /// A field of the request body, just as it is.
    pub fn with_body_field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.bag = self.bag.with_field("body", name, value);
        self
    }

    /// Puts them into a request.
    #[must_use]
    pub fn apply(self, request: ChatRequest) -> ChatRequest {
        self.apply_as(&VENDOR, request)
    }

    /// Puts them into a request for a driver whose `vendor` is configured otherwise.
    #[must_use]
    pub fn apply_as(self, vendor: &VendorId, request: ChatRequest) -> ChatRequest {
        self.bag.apply(vendor, request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::{ModelId, ResolvedModel};
    use llm_wire::chat_completions::{Dialect, encode_request};
    use serde_json::json;

    #[test]
    fn every_option_is_one_that_the_wire_takes() {
        let request = MistralOptions::default()
            .with_safe_prompt(true)
            .with_guardrail(json!({ "block_on_error": true }))
            .with_prompt_cache_key("k")
            .with_prediction("as before")
            .with_document_limits(20, 5)
            .with_metadata("team", "blue")
            .with_metadata("run", "7")
            .with_min_tokens(3)
            .with_repetition_penalty(1.1)
            .with_logprobs(2)
            .with_reasoning_prompt()
            .with("reasoning_effort", "minimal")
            .with_body_field("top_a", 0.5)
            .apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("mistral-large-4").unwrap());
        let encoded = encode_request(&Dialect::mistral(), &model, &request, false).unwrap();
        assert!(encoded.warnings.is_empty(), "{:?}", encoded.warnings);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        for (key, value) in [
            ("safe_prompt", json!(true)),
            ("guardrails", json!([{ "block_on_error": true }])),
            ("prompt_cache_key", json!("k")),
            ("prediction", json!({ "type": "content", "content": "as before" })),
            ("document_page_limit", json!(20)),
            ("document_image_limit", json!(5)),
            ("metadata", json!({ "team": "blue", "run": "7" })),
            ("min_tokens", json!(3)),
            ("repetition_penalty", json!(1.1)),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(2)),
            ("prompt_mode", json!("reasoning")),
            ("reasoning_effort", json!("minimal")),
            ("top_a", json!(0.5)),
        ] {
            assert_eq!(body[key], value, "{key}");
        }
    }
}
