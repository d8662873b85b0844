//! What a request can ask of this vendor only: the keys of its options bag, typed.

use crate::VENDOR;
use llm_core::chat::VendorBag;
use llm_core::{ChatRequest, VendorId};
use serde_json::{Value, json};

/// What a request can ask of Groq only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_groq::{GroqOptions, ReasoningFormat};
/// let request = GroqOptions::default()
///     .with_reasoning_format(ReasoningFormat::Hidden)
///     .apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("groq").unwrap()["reasoning_format"], "hidden");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct GroqOptions {
    bag: VendorBag,
}

/// Where a model's thoughts come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningFormat {
    /// In a field of their own.
    Parsed,
    /// In the text, between tags. Not together with tools or an answer in JSON.
    Raw,
    /// Not at all.
    Hidden,
}

impl GroqOptions {
    /// Where a Qwen model's thoughts come back. Without it they are asked for in a field of their own.
    pub fn with_reasoning_format(self, format: ReasoningFormat) -> Self {
        let word = match format {
            ReasoningFormat::Parsed => "parsed",
            ReasoningFormat::Raw => "raw",
            ReasoningFormat::Hidden => "hidden",
        };
        self.with("reasoning_format", word)
    }

    /// Do thoughts come back at all? For models without a format; not together with one.
    pub fn with_include_reasoning(self, include: bool) -> Self {
        self.with("include_reasoning", include)
    }

    /// Return calls of tools even if their name or arguments do not fit?
    pub fn with_tool_validation(self, validate: bool) -> Self {
        self.with("disable_tool_validation", !validate)
    }

    /// One more text that the answer may cite.
    pub fn with_document(mut self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        let source = json!({ "source": { "type": "text", "text": text } });
        self.bag = self.bag.with_item("documents", source);
        self
    }

    /// Should the answer cite the documents?
    pub fn with_citations(self, cite: bool) -> Self {
        self.with("citation_options", if cite { "enabled" } else { "disabled" })
    }

    /// How the compound systems search.
    pub fn with_search_settings(self, settings: Value) -> Self {
        self.with("search_settings", settings)
    }

    /// A tool of the vendor's own, in its own form: `browser_search`, `code_interpreter` or
    /// `mcp`, for gpt-oss.
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
        let request = GroqOptions::default()
            .with_reasoning_format(ReasoningFormat::Parsed)
            .with_tool_validation(false)
            .with_document("The sky is blue.")
            .with_citations(true)
            .with_search_settings(json!({ "country": "france" }))
            .with_builtin_tool(json!({ "type": "browser_search" }))
            .with_body_field("top_a", 0.5)
            .apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("openai/gpt-oss-20b").unwrap());
        let encoded = encode_request(&Dialect::groq(), &model, &request, false).unwrap();
        assert!(encoded.warnings.is_empty(), "{:?}", encoded.warnings);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        for (key, value) in [
            ("reasoning_format", json!("parsed")),
            ("disable_tool_validation", json!(true)),
            (
                "documents",
                json!([{ "source": { "type": "text", "text": "The sky is blue." } }]),
            ),
            ("citation_options", json!("enabled")),
            ("search_settings", json!({ "country": "france" })),
            ("tools", json!([{ "type": "browser_search" }])),
            ("top_a", json!(0.5)),
        ] {
            assert_eq!(body[key], value, "{key}");
        }
    }
}
