//! What a request can ask of this vendor only: the keys of its options bag, typed.

use crate::config::ApiChoice;
use llm_core::{ChatRequest, VendorId};
use serde_json::{Map, Value, json};

/// What a request can ask of OpenAI only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_openai::{OpenAiOptions, Verbosity};
/// let request = OpenAiOptions::default()
///     .with_verbosity(Verbosity::Low)
///     .with_prompt_cache_key("manual-v3")
///     .apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("openai").unwrap()["verbosity"], "low");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct OpenAiOptions {
    keys: Map<String, Value>,
}

/// How long answers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verbosity {
    /// Short.
    Low,
    /// Usual.
    Medium,
    /// Long.
    High,
}

impl OpenAiOptions {
    /// Which of the vendor's two APIs serves this request, whatever is configured.
    pub fn with_api(self, api: ApiChoice) -> Self {
        self.with("api", api.as_str())
    }

    /// How long answers are (gpt-5 and later).
    pub fn with_verbosity(self, verbosity: Verbosity) -> Self {
        let word = match verbosity {
            Verbosity::Low => "low",
            Verbosity::Medium => "medium",
            Verbosity::High => "high",
        };
        self.with("verbosity", word)
    }

    /// Should the answer be kept at the vendor, to be looked at there? Without it, Chat Completions leaves that to the
    /// vendor, and Responses asks that it is not.
    pub fn with_store(self, store: bool) -> Self {
        self.with("store", store)
    }

    /// One more note on a stored answer: at most 16, names of 64 and values of 512 characters.
    pub fn with_metadata(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with_field("metadata", name.into(), Value::from(value.into()))
    }

    /// For or against one token, −100 to 100. Reasoning models take none.
    pub fn with_logit_bias(self, token: u32, bias: i32) -> Self {
        self.with_field("logit_bias", token.to_string(), Value::from(bias))
    }

    /// The log-probability of each token, with those of so many alternatives (0 to 20). They come back in the
    /// response's metadata.
    pub fn with_logprobs(self, alternatives: u32) -> Self {
        let with = self.with("logprobs", true);
        if alternatives == 0 {
            with
        } else {
            with.with("top_logprobs", alternatives)
        }
    }

    /// Text that the answer will mostly repeat, so that it comes faster. Not together with tools.
    pub fn with_prediction(self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.with("prediction", json!({ "type": "content", "content": text }))
    }

    /// Sends requests of one key to the same prompt cache.
    pub fn with_prompt_cache_key(self, key: impl Into<String>) -> Self {
        self.with("prompt_cache_key", key.into())
    }

    /// Asks for an answer in sound too, from the models that speak. The sound comes back in the response's
    /// metadata.
    pub fn with_audio(self, voice: impl Into<String>, format: impl Into<String>) -> Self {
        let (voice, format): (String, String) = (voice.into(), format.into());
        self.with("modalities", json!(["text", "audio"]))
            .with("audio", json!({ "voice": voice, "format": format }))
    }

    /// Any other key of the bag; one that this driver does not know is refused before anything is sent.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.keys.insert(key.into(), value.into());
        self
    }

    /// A field of the request body, just as it is: for what a compatible host has of its own.
    pub fn with_body_field(self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.with_field("body", name.into(), value.into())
    }

    /// Puts them into a request.
    #[must_use]
    pub fn apply(self, request: ChatRequest) -> ChatRequest {
        self.apply_as(&VendorId::from_static("openai"), request)
    }

    /// Puts them into a request for a driver whose `vendor` is configured otherwise.
    #[must_use]
    pub fn apply_as(self, vendor: &VendorId, mut request: ChatRequest) -> ChatRequest {
        for (key, value) in self.keys {
            request.vendor.set(vendor.clone(), key, value);
        }
        request
    }

    /// Adds to the object under a key.
    fn with_field(mut self, key: &str, name: String, value: Value) -> Self {
        match self.keys.get_mut(key) {
            Some(Value::Object(fields)) => {
                fields.insert(name, value);
            }
            _ => {
                let fields = Map::from_iter([(name, value)]);
                self.keys.insert(key.to_owned(), Value::Object(fields));
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::{ModelId, ResolvedModel};
    use llm_wire::chat_completions::{Dialect, encode_request};

    #[test]
    fn every_option_is_one_that_the_wire_takes() {
        let request = OpenAiOptions::default()
            .with_verbosity(Verbosity::High)
            .with_store(true)
            .with_metadata("team", "blue")
            .with_metadata("run", "7")
            .with_logit_bias(50_256, -100)
            .with_logprobs(3)
            .with_prediction("as before")
            .with_prompt_cache_key("k")
            .with_audio("alloy", "wav")
            .with_body_field("top_a", 0.5)
            .apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("gpt-4o").unwrap());
        let encoded = encode_request(&Dialect::openai(), &model, &request, false).unwrap();
        assert!(encoded.warnings.is_empty(), "{:?}", encoded.warnings);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        for (key, value) in [
            ("verbosity", json!("high")),
            ("store", json!(true)),
            ("metadata", json!({ "team": "blue", "run": "7" })),
            ("logit_bias", json!({ "50256": -100 })),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(3)),
            ("prediction", json!({ "type": "content", "content": "as before" })),
            ("prompt_cache_key", json!("k")),
            ("modalities", json!(["text", "audio"])),
            ("audio", json!({ "voice": "alloy", "format": "wav" })),
            ("top_a", json!(0.5)),
        ] {
            assert_eq!(body[key], value, "{key}");
        }
    }
}
