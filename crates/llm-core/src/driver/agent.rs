//! Remote agents and servers of tools.

use super::DriverInfo;
use crate::chat::ContentPart;
use crate::context::CallContext;
use crate::error::Result;
use crate::health::{Availability, HealthStatus};
use async_trait::async_trait;
use futures_core::Stream;
use serde_json::Value;
use std::fmt::{self, Debug};
use std::pin::Pin;

/// A remote agent: it is given work and reports on it, perhaps for a long time.
#[async_trait]
pub trait AgentDriver: Debug + Send + Sync + 'static {
    /// Who it is.
    fn info(&self) -> &DriverInfo;
    /// May it be called now? Reads only memory.
    fn availability(&self) -> Availability;
    /// Is it well?
    async fn health(&self, cx: &CallContext) -> HealthStatus;
    /// Gives it a message, and waits until it answers or waits for more.
    ///
    /// # Errors
    /// Any kind.
    async fn send(&self, cx: &CallContext, message: &AgentMessage) -> Result<AgentTask>;
    /// Gives it a message, and hands on what it reports.
    ///
    /// # Errors
    /// Any kind.
    async fn stream(&self, cx: &CallContext, message: &AgentMessage) -> Result<AgentEventStream>;
    /// How a task stands.
    ///
    /// # Errors
    /// Any kind; `NotFound` for a task it does not know.
    async fn task(&self, cx: &CallContext, id: &str) -> Result<AgentTask>;
    /// Asks it to stop a task.
    ///
    /// # Errors
    /// Any kind; `InvalidRequest` for a task that cannot be stopped.
    async fn cancel(&self, cx: &CallContext, id: &str) -> Result<AgentTask>;
}

/// What an agent is told or tells.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct AgentMessage {
    /// What is said.
    pub content: Vec<ContentPart>,
    /// The task it belongs to; absent: a new one.
    pub task: Option<String>,
    /// The conversation it belongs to.
    pub context: Option<String>,
}

impl AgentMessage {
    /// A message that starts a task.
    pub fn new(content: Vec<ContentPart>) -> Self {
        AgentMessage {
            content,
            ..AgentMessage::default()
        }
    }
}

/// A task and how it stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentTask {
    /// The agent's id of it; absent where it answered at once.
    pub id: Option<String>,
    /// How it stands.
    pub state: TaskState,
    /// The agent's last words and what it made.
    pub content: Vec<ContentPart>,
}

impl AgentTask {
    /// A task in this state.
    pub fn new(id: Option<String>, state: TaskState, content: Vec<ContentPart>) -> Self {
        AgentTask { id, state, content }
    }
}

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Taken, not begun.
    Submitted,
    /// Being worked on.
    Working,
    /// Waits for more from the caller.
    InputRequired,
    /// Waits for a credential.
    AuthRequired,
    /// Done.
    Completed,
    /// Stopped on request.
    Canceled,
    /// Failed.
    Failed,
    /// Refused.
    Rejected,
    /// Anything else.
    Unknown,
}

/// What an agent reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentEvent {
    /// Words or a piece of work.
    Content(Vec<ContentPart>),
    /// The task stands so now.
    State(AgentTask),
    /// Proof of life.
    KeepAlive,
}

/// What an agent reports, as it comes.
pub struct AgentEventStream(Pin<Box<dyn Stream<Item = Result<AgentEvent>> + Send>>);

impl AgentEventStream {
    /// From any stream of events.
    pub fn new(stream: impl Stream<Item = Result<AgentEvent>> + Send + 'static) -> Self {
        AgentEventStream(Box::pin(stream))
    }
}

impl Stream for AgentEventStream {
    type Item = Result<AgentEvent>;
    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl Debug for AgentEventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentEventStream")
    }
}

/// A server of tools, prompts and resources.
#[async_trait]
pub trait ToolDriver: Debug + Send + Sync + 'static {
    /// Who it is.
    fn info(&self) -> &DriverInfo;
    /// May it be called now? Reads only memory.
    fn availability(&self) -> Availability;
    /// Is it well?
    async fn health(&self, cx: &CallContext) -> HealthStatus;
    /// All its tools, all pages.
    ///
    /// # Errors
    /// Any kind.
    async fn list_tools(&self, cx: &CallContext) -> Result<Vec<ToolDescription>>;
    /// Calls a tool. A tool that fails is an output with `is_error`, not an error.
    ///
    /// # Errors
    /// Any kind.
    async fn call_tool(&self, cx: &CallContext, name: &str, arguments: &Value) -> Result<ToolCallOutput>;
    /// All its prompts.
    ///
    /// # Errors
    /// Any kind.
    async fn list_prompts(&self, cx: &CallContext) -> Result<Vec<ToolPrompt>>;
    /// All its resources.
    ///
    /// # Errors
    /// Any kind.
    async fn list_resources(&self, cx: &CallContext) -> Result<Vec<ToolResource>>;
    /// Reads a resource.
    ///
    /// # Errors
    /// Any kind; `NotFound` for one it does not have.
    async fn read_resource(&self, cx: &CallContext, uri: &str) -> Result<Vec<ContentPart>>;
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDescription {
    /// Name, description and schema, as a model is told them.
    pub spec: crate::chat::ToolSpec,
    /// JSON schema of its structured output.
    pub output_schema: Option<Value>,
}

impl ToolDescription {
    /// A tool.
    pub fn new(spec: crate::chat::ToolSpec) -> Self {
        ToolDescription {
            spec,
            output_schema: None,
        }
    }
}

/// What a tool answered.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolCallOutput {
    /// Text, pictures, resources.
    pub content: Vec<ContentPart>,
    /// The same as a value, where the tool has a schema for it.
    pub structured: Option<Value>,
    /// Did the tool fail?
    pub is_error: bool,
}

impl ToolCallOutput {
    /// An answer.
    pub fn new(content: Vec<ContentPart>) -> Self {
        ToolCallOutput {
            content,
            ..ToolCallOutput::default()
        }
    }
}

/// A prompt that a server offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolPrompt {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its arguments: name, and whether it must be given.
    pub arguments: Vec<(String, bool)>,
}

impl ToolPrompt {
    /// A prompt of this name.
    pub fn new(name: impl Into<String>) -> Self {
        ToolPrompt {
            name: name.into(),
            ..ToolPrompt::default()
        }
    }
}

/// A resource that a server offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: Option<String>,
}

impl ToolResource {
    /// A resource at this address.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ToolResource {
            uri: uri.into(),
            name: name.into(),
            media_type: None,
        }
    }
}
