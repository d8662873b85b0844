//! What a request can ask of this vendor only: the keys of its options bag, typed.

use crate::VENDOR;
use llm_core::chat::VendorBag;
use llm_core::{ChatRequest, VendorId};
use serde_json::{Value, json};

/// What a request can ask of Kimi only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_kimi::KimiOptions;
/// let request = KimiOptions::default().with_prompt_cache_key("manual").apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("moonshot").unwrap()["prompt_cache_key"], "manual");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct KimiOptions {
    bag: VendorBag,
}

impl KimiOptions {
    /// Let K2.6 use the thoughts of earlier turns too.
    pub fn with_kept_thoughts(self) -> Self {
        self.with("thinking", json!({ "type": "enabled", "keep": "all" }))
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

    /// The vendor's own search of the web. Answer its calls with their own arguments.
    pub fn with_web_search(self) -> Self {
        let function = json!({ "name": "$web_search" });
        self.with_builtin_tool(json!({ "type": "builtin_function", "function": function }))
    }

    /// A tool of the vendor's own, in its own form: `builtin_function`.
    pub fn with_builtin_tool(mut self, tool: Value) -> Self {
        self.bag = self.bag.with_item("custom_tools", tool);
        self
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
        let request = KimiOptions::default()
            .with_kept_thoughts()
            .with_prompt_cache_key("k")
            .with_prediction("as before")
            .with_logprobs(2)
            .with_web_search()
            .with_body_field("top_a", 0.5)
            .apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("kimi-k2.6").unwrap());
        let encoded = encode_request(&Dialect::kimi(), &model, &request, false).unwrap();
        assert!(encoded.warnings.is_empty(), "{:?}", encoded.warnings);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        for (key, value) in [
            ("thinking", json!({ "type": "enabled", "keep": "all" })),
            ("prompt_cache_key", json!("k")),
            ("prediction", json!({ "type": "content", "content": "as before" })),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(2)),
            (
                "tools",
                json!([{ "type": "builtin_function", "function": { "name": "$web_search" } }]),
            ),
            ("top_a", json!(0.5)),
        ] {
            assert_eq!(body[key], value, "{key}");
        }
    }
}
