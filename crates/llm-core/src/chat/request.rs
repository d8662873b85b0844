//! What is asked.

use super::message::Message;
use super::output::OutputFormat;
use super::sampling::{Reasoning, Sampling};
use super::tool::{ToolChoice, ToolSpec};
use super::vendor::VendorOptions;
use crate::driver::VendorId;
use crate::model::ModelId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is asked: the caller's intent, free of any vendor and of any circumstance of the call (those are in
/// [`CallContext`](crate::CallContext)).
///
/// Every option is sent, refused before sending, or reported as a warning in the response; none is dropped in
/// silence.
///
/// ```
/// use llm_core::{ChatRequest, Message};
/// let request = ChatRequest::new([Message::system("Be brief."), Message::user("Why is the sky blue?")])
///     .with_max_output_tokens(200)
///     .with_temperature(0.2);
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The model; absent: the driver's default. Used or refused, never substituted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools the model may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// May, must or must not it call one? Absent: the vendor's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// May it call several at once? Absent: the vendor's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// The form the answer must have.
    #[serde(skip_serializing_if = "OutputFormat::is_text")]
    pub output: OutputFormat,
    /// How the answer is drawn.
    #[serde(skip_serializing_if = "Sampling::is_empty")]
    pub sampling: Sampling,
    /// How much thought, and whether it is shown. Absent: the model's default, not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// The most tokens that may come out, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// The answer ends before any of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// A stable, anonymous id of the end user, for the vendor's abuse checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The vendor's class of service, in the vendor's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// Options that only one vendor knows.
    #[serde(skip_serializing_if = "VendorOptions::is_empty")]
    pub vendor: VendorOptions,
}

impl ChatRequest {
    /// A request with these messages and every default.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        ChatRequest {
            messages: messages.into_iter().collect(),
            ..ChatRequest::default()
        }
    }

    /// One user message.
    pub fn user(text: impl Into<String>) -> Self {
        ChatRequest::new([Message::user(text)])
    }

    /// The model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<Option<ModelId>>) -> Self {
        self.model = model.into();
        self
    }

    /// One more message.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Tools the model may call.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// May, must or must not it call one?
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// May it call several at once?
    #[must_use]
    pub fn with_parallel_tool_calls(mut self, parallel: bool) -> Self {
        self.parallel_tool_calls = Some(parallel);
        self
    }

    /// The form the answer must have.
    #[must_use]
    pub fn with_output(mut self, output: OutputFormat) -> Self {
        self.output = output;
        self
    }

    /// How the answer is drawn, whole.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// The temperature alone.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.sampling.temperature = Some(temperature);
        self
    }

    /// How much thought, and whether it is shown.
    #[must_use]
    pub fn with_reasoning(mut self, reasoning: Reasoning) -> Self {
        self.reasoning = Some(reasoning);
        self
    }

    /// The most tokens that may come out.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// The answer ends before any of these.
    #[must_use]
    pub fn with_stop(mut self, stop: impl IntoIterator<Item = String>) -> Self {
        self.stop = stop.into_iter().collect();
        self
    }

    /// A stable, anonymous id of the end user.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// The vendor's class of service.
    #[must_use]
    pub fn with_service_tier(mut self, tier: impl Into<String>) -> Self {
        self.service_tier = Some(tier.into());
        self
    }

    /// One option of one vendor.
    #[must_use]
    pub fn with_vendor_option(mut self, vendor: VendorId, key: impl Into<String>, value: Value) -> Self {
        self.vendor.set(vendor, key, value);
        self
    }

    /// Are the model's thoughts wanted in the answer?
    pub fn includes_reasoning(&self) -> bool {
        self.reasoning.is_some_and(|reasoning| reasoning.include)
    }
}
