//! What a request can ask of this vendor only: the keys of its options bag, typed.

use llm_core::{ChatRequest, VendorId};
use serde_json::{Map, Value, json};

/// What a request can ask of Anthropic only. Goes into the request's options bag, which every other driver ignores.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_driver_claude::ClaudeOptions;
/// let request = ClaudeOptions::default()
///     .with_beta("fast-mode-2026-02-01")
///     .with_speed("fast")
///     .apply(ChatRequest::user("Why is the sky blue?"));
/// assert_eq!(request.vendor.of("anthropic").unwrap()["speed"], "fast");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct ClaudeOptions {
    keys: Map<String, Value>,
}

impl ClaudeOptions {
    /// One more name for the `anthropic-beta` header of this call.
    pub fn with_beta(self, name: impl Into<String>) -> Self {
        self.with_item("betas", Value::from(name.into()))
    }

    /// One more tool of another kind than the caller's own, as Anthropic writes it: web search, code execution, a
    /// computer.
    pub fn with_builtin_tool(self, tool: Value) -> Self {
        self.with_item("builtin_tools", tool)
    }

    /// One more MCP server that Anthropic may ask, as Anthropic writes it. Wants a beta.
    pub fn with_mcp_server(self, server: Value) -> Self {
        self.with_item("mcp_servers", server)
    }

    /// Thought in Anthropic's own words, in place of what the neutral effort would become.
    pub fn with_thinking(self, thinking: Value) -> Self {
        self.with("thinking", thinking)
    }

    /// How many tokens a whole task may take, of which the model is told. Wants a beta.
    pub fn with_task_budget(self, budget: Value) -> Self {
        self.with("task_budget", budget)
    }

    /// Keeps everything up to the last block that can be kept, without a cache point of its own.
    pub fn with_automatic_cache(self) -> Self {
        self.with("cache_control", json!({ "type": "ephemeral" }))
    }

    /// What is left out of long conversations, in Anthropic's own words. Wants a beta.
    pub fn with_context_management(self, edits: Value) -> Self {
        self.with("context_management", edits)
    }

    /// The container in which code runs: its id, or an object.
    pub fn with_container(self, container: impl Into<Value>) -> Self {
        self.with("container", container)
    }

    /// `standard` or `fast`. What fast answers cost is not in the catalogue, so their cost is unknown.
    pub fn with_speed(self, speed: impl Into<String>) -> Self {
        self.with("speed", speed.into())
    }

    /// Where the answer is computed. Its price differs, so the cost of calls that name a place is unknown.
    pub fn with_inference_geo(self, place: impl Into<String>) -> Self {
        self.with("inference_geo", place.into())
    }

    /// Asks why the prompt cache was missed: the id of the answer before this one, or none on the first turn. The
    /// answer's metadata says it.
    pub fn with_cache_diagnostics(self, previous_message: Option<&str>) -> Self {
        self.with("diagnostics", json!({ "previous_message_id": previous_message }))
    }

    /// Any other key of the bag; one that this driver does not know is refused before anything is sent.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.keys.insert(key.into(), value.into());
        self
    }

    /// A field of the request body, just as it is: for what a compatible host has of its own.
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
        self.apply_as(&VendorId::from_static("anthropic"), request)
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
    use llm_wire::messages::{Dialect, encode_request};

    #[test]
    fn every_option_is_one_that_the_wire_takes() {
        let request = ClaudeOptions::default()
            .with_beta("beta-one")
            .with_beta("beta-two")
            .with_builtin_tool(json!({ "type": "web_search_20260209", "name": "web_search" }))
            .with_mcp_server(json!({ "type": "url", "name": "docs", "url": "https://host.example/mcp" }))
            .with_thinking(json!({ "type": "between_tools" }))
            .with_task_budget(json!({ "type": "tokens", "total": 9_000 }))
            .with_automatic_cache()
            .with_context_management(json!({ "edits": [] }))
            .with_container("container-7")
            .with_speed("fast")
            .with_inference_geo("us")
            .with_cache_diagnostics(Some("msg_1"))
            .with_body_field("top_a", 0.5)
            .apply(ChatRequest::user("hi"));
        let model = ResolvedModel::unknown(ModelId::new("claude-sonnet-5-5").unwrap());
        let encoded = encode_request(&Dialect::anthropic(), &model, &request, false).unwrap();
        assert!(encoded.warnings.is_empty(), "{:?}", encoded.warnings);
        assert_eq!(encoded.betas, ["beta-one", "beta-two"]);
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        for (key, value) in [
            (
                "tools",
                json!([{ "type": "web_search_20260209", "name": "web_search" }]),
            ),
            (
                "mcp_servers",
                json!([{ "type": "url", "name": "docs", "url": "https://host.example/mcp" }]),
            ),
            ("thinking", json!({ "type": "between_tools" })),
            (
                "output_config",
                json!({ "task_budget": { "type": "tokens", "total": 9_000 } }),
            ),
            ("cache_control", json!({ "type": "ephemeral" })),
            ("context_management", json!({ "edits": [] })),
            ("container", json!("container-7")),
            ("speed", json!("fast")),
            ("inference_geo", json!("us")),
            ("diagnostics", json!({ "previous_message_id": "msg_1" })),
            ("top_a", json!(0.5)),
            ("betas", Value::Null),
        ] {
            assert_eq!(body[key], value, "{key}");
        }
    }
}
