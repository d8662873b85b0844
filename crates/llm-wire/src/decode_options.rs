//! What every decoder of answers is told.

use crate::tool_names::ToolNames;
use llm_core::{ChatRequest, ResponseMeta, Role};

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
    /// Tools of the request, under the caller's names: a call of `parallel` that stands for several of them is taken
    /// apart (Responses). Empty: no call is.
    pub folded_tools: Vec<String>,
    /// The text that the answer goes on from: that of an assistant message at the end of the request. Some hosts
    /// repeat it.
    pub continues: Option<String>,
}

impl DecodeOptions {
    /// For the answer to this request.
    pub fn new(request: &ChatRequest, meta: ResponseMeta) -> Self {
        DecodeOptions {
            include_reasoning: request.includes_reasoning(),
            meta,
            tool_names: ToolNames::default(),
            folded_tools: Vec::new(),
            continues: continued_text(request),
        }
    }

    /// With the tools that were sent under another name.
    #[must_use]
    pub fn with_tool_names(mut self, tool_names: ToolNames) -> Self {
        self.tool_names = tool_names;
        self
    }
}

fn continued_text(request: &ChatRequest) -> Option<String> {
    let last = request
        .messages
        .last()
        .filter(|last| last.role == Role::Assistant)?;
    Some(last.text()).filter(|text| !text.is_empty())
}
