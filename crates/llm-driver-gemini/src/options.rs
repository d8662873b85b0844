//! What a request can ask of this vendor only: the keys of its options bag, typed.

use llm_core::{ChatRequest, VendorId};
use serde_json::{Map, Value, json};

/// What a request can ask of Gemini only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_gemini::GeminiOptions;
/// let request = GeminiOptions::default()
///     .with_safety_setting("HARM_CATEGORY_HARASSMENT", "BLOCK_ONLY_HIGH")
///     .apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("gemini").unwrap()["safetySettings"][0]["threshold"], "BLOCK_ONLY_HIGH");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct GeminiOptions {
    keys: Map<String, Value>,
}

impl GeminiOptions {
    /// From which likelihood on answers of one category are blocked, in Google's words.
    pub fn with_safety_setting(self, category: impl Into<String>, threshold: impl Into<String>) -> Self {
        let setting = json!({ "category": category.into(), "threshold": threshold.into() });
        self.with_item("safetySettings", setting)
    }

    /// One more tool that Google runs itself, as Google writes it: `{"googleSearch": {}}`.
    pub fn with_server_tool(self, tool: Value) -> Self {
        self.with_item("serverTools", tool)
    }

    /// A kept prefix (`cachedContents/…`). System text and tools live in it, so the request has none.
    pub fn with_cached_content(self, name: impl Into<String>) -> Self {
        self.with("cachedContent", name.into())
    }

    /// Thought in Google's own words, in place of what the neutral effort would become.
    pub fn with_thinking_config(self, thinking: Value) -> Self {
        self.with("thinkingConfig", thinking)
    }

    /// How closely media is looked at: `MEDIA_RESOLUTION_LOW`, `_MEDIUM`, `_HIGH`.
    pub fn with_media_resolution(self, resolution: impl Into<String>) -> Self {
        self.with("mediaResolution", resolution.into())
    }

    /// May the project keep a log of it?
    pub fn with_store(self, store: bool) -> Self {
        self.with("store", store)
    }

    /// Goes on with a long answer whose finish reason was `CONTINUATION`: the token that came with it.
    pub fn with_continuation_token(self, token: impl Into<String>) -> Self {
        self.with("continuationToken", token.into())
    }

    /// Any other key of the bag; one that this driver does not know is refused before anything is sent.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.keys.insert(key.into(), value.into());
        self
    }

    /// A field of the request body, just as it is; inside of `generationConfig` field by field.
    pub fn with_body_field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let body = self.keys.entry("body").or_insert_with(|| json!({}));
        if let Value::Object(fields) = body {
            fields.insert(name.into(), value.into());
        }
        self
    }

    /// Puts them into a request.
    #[must_use]
    pub fn apply(self, request: ChatRequest) -> ChatRequest {
        self.apply_as(&VendorId::from_static("gemini"), request)
    }

    /// Puts them into a request for a driver whose `vendor` is configured otherwise.
    #[must_use]
    pub fn apply_as(self, vendor: &VendorId, mut request: ChatRequest) -> ChatRequest {
        for (key, value) in self.keys {
            request.vendor.set(vendor.clone(), key, value);
        }
        request
    }

    /// Adds to the list under a key.
    fn with_item(mut self, key: &str, item: Value) -> Self {
        let list = self.keys.entry(key).or_insert_with(|| json!([]));
        if let Value::Array(items) = list {
            items.push(item);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::{ModelId, ResolvedModel};
    use llm_wire::generate_content::{Dialect, encode_request};

    #[test]
    fn every_option_is_one_that_the_wire_takes() {
        let request = GeminiOptions::default()
            .with_safety_setting("HARM_CATEGORY_HARASSMENT", "BLOCK_NONE")
            .with_server_tool(json!({ "googleSearch": {} }))
            .with_thinking_config(json!({ "thinkingLevel": "low" }))
            .with_media_resolution("MEDIA_RESOLUTION_LOW")
            .with_store(false)
            .with_continuation_token("dG9rZW4=")
            .with("responseModalities", json!(["TEXT"]))
            .with_body_field("extra", 7)
            .apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("gemini-4-argon").unwrap());
        let encoded = encode_request(&Dialect::gemini(), &model, &request).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        assert_eq!(body["safetySettings"][0]["threshold"], "BLOCK_NONE");
        assert_eq!(body["tools"], json!([{ "googleSearch": {} }]));
        let config = &body["generationConfig"];
        assert_eq!(config["thinkingConfig"]["thinkingLevel"], "low");
        assert_eq!(config["mediaResolution"], "MEDIA_RESOLUTION_LOW");
        assert_eq!(config["responseModalities"], json!(["TEXT"]));
        assert_eq!((&body["store"], &body["extra"]), (&json!(false), &json!(7)));
        assert_eq!(body["continuationToken"], "dG9rZW4=");
        let cached = GeminiOptions::default().with_cached_content("cachedContents/7");
        let encoded =
            encode_request(&Dialect::gemini(), &model, &cached.apply(ChatRequest::user("hi"))).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        assert_eq!(body["cachedContent"], "cachedContents/7");
    }
}
