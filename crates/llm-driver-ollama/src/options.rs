//! What a request can ask of this vendor only: the keys of its options bag, typed.

use llm_core::chat::VendorBag;
use llm_core::{ChatRequest, VendorId};
use serde_json::Value;

/// The namespace of these options.
const VENDOR: VendorId = VendorId::from_static("ollama");

/// What a request can ask of Ollama only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_ollama::OllamaOptions;
/// let request = OllamaOptions::default().with_num_ctx(8192).apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("ollama").unwrap()["num_ctx"], 8192);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct OllamaOptions {
    bag: VendorBag,
}

impl OllamaOptions {
    /// The window the model is loaded with, in tokens.
    pub fn with_num_ctx(self, tokens: u32) -> Self {
        self.with("num_ctx", tokens)
    }

    /// How long the model stays loaded, in the server's own form: `5m`, or -1 for good.
    pub fn with_keep_alive(self, keep_alive: impl Into<Value>) -> Self {
        self.with("keep_alive", keep_alive)
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
        self.bag.apply(&VENDOR, request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::{ModelId, ResolvedModel};
    use llm_wire::ollama::{Dialect, encode_request};

    #[test]
    fn every_option_is_one_that_the_wire_takes() {
        let options = OllamaOptions::default()
            .with_num_ctx(8192)
            .with_keep_alive("5m")
            .with_body_field("logprobs", true);
        let request = options.apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("qwen4:8b").unwrap());
        let body = encode_request(&Dialect::ollama(), &model, &request, false)
            .unwrap()
            .body;
        let sent: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&sent["options"]["num_ctx"], &sent["keep_alive"]),
            (&Value::from(8192), &Value::from("5m"))
        );
        assert_eq!(sent["logprobs"], true);
    }
}
