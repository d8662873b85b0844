//! What every decoder of answers is told.

use crate::tool_names::ToolNames;
use llm_core::{ChatRequest, ResponseMeta};

/// What a decoder must know of the call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Are the model's thoughts wanted?
    pub include_reasoning: bool,
    /// What is known of the call before anything was answered; the answer's own facts are added.
    pub meta: ResponseMeta,
    /// Tools that were sent under another name.
    pub tool_names: ToolNames,
}

impl DecodeOptions {
    /// For the answer to this request.
    pub fn new(request: &ChatRequest, meta: ResponseMeta) -> Self {
        DecodeOptions {
            include_reasoning: request.includes_reasoning(),
            meta,
            tool_names: ToolNames::default(),
        }
    }

    /// With the tools that were sent under another name.
    #[must_use]
    pub fn with_tool_names(mut self, tool_names: ToolNames) -> Self {
        self.tool_names = tool_names;
        self
    }
}
