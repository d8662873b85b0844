//! What a request can ask of this vendor only: the keys of its options bag, typed.

use crate::VENDOR;
use llm_core::chat::VendorBag;
use llm_core::{ChatRequest, VendorId};
use serde_json::{Value, json};

/// What a request can ask of DeepSeek only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_deepseek::DeepSeekOptions;
/// let request = DeepSeekOptions::default().with_thinking(false).apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("deepseek").unwrap()["thinking"]["type"], "disabled");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct DeepSeekOptions {
    bag: VendorBag,
}

impl DeepSeekOptions {
    /// Does the model think? The neutral reasoning effort says the same, and how much.
    pub fn with_thinking(self, think: bool) -> Self {
        let word = if think { "enabled" } else { "disabled" };
        self.with("thinking", json!({ "type": word }))
    }

    /// The log-probability of each token, with those of so many alternatives, for answers
    /// without thought. They come back in the response's
    /// metadata.
    pub fn with_logprobs(self, alternatives: u32) -> Self {
        let with = self.with("logprobs", true);
        if alternatives == 0 {
            with
        } else {
            with.with("top_logprobs", alternatives)
        }
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
        let request = DeepSeekOptions::default()
            .with_thinking(false)
            .with_logprobs(2)
            .with_body_field("top_a", 0.5)
            .apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("deepseek-flash").unwrap());
        let encoded = encode_request(&Dialect::deepseek(), &model, &request, false).unwrap();
        assert!(encoded.warnings.is_empty(), "{:?}", encoded.warnings);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        for (key, value) in [
            ("thinking", json!({ "type": "disabled" })),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(2)),
            ("top_a", json!(0.5)),
        ] {
            assert_eq!(body[key], value, "{key}");
        }
    }
}
