//! What a client usually declares to read each format: the peer that knows the fields it wants.

#![expect(
    dead_code,
    reason = "the fields are read from JSON, which is all that is measured"
)]

use crate::samples::Sample;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Are the samples read by these?
pub(crate) fn fit<Plain: DeserializeOwned, Chunk: DeserializeOwned>(sample: &Sample) -> bool {
    let chunk = |text: &String| serde_json::from_str::<Chunk>(text).is_ok();
    serde_json::from_slice::<Plain>(&sample.plain).is_ok() && sample.payloads.iter().all(chunk)
}

#[derive(Deserialize)]
pub(crate) struct Completion {
    id: String,
    model: String,
    created: u64,
    choices: Vec<Choice>,
    usage: Option<CompletionUsage>,
    service_tier: Option<String>,
    system_fingerprint: Option<String>,
}

pub(crate) type CompletionChunk = Completion;

#[derive(Deserialize)]
struct Choice {
    index: u32,
    message: Option<CompletionMessage>,
    delta: Option<CompletionMessage>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct CompletionMessage {
    role: Option<String>,
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CompletionCall>>,
}

#[derive(Deserialize)]
struct CompletionCall {
    index: Option<u32>,
    id: Option<String>,
    function: CompletionFunction,
}

#[derive(Deserialize)]
struct CompletionFunction {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct CompletionUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

#[derive(Deserialize)]
pub(crate) struct Message {
    id: String,
    model: String,
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: MessageUsage,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block {
    Text { text: String },
    Thinking { thinking: String, signature: String },
    ToolUse { id: String, name: String },
}

#[derive(Deserialize)]
pub(crate) struct MessageUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum MessageEvent {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        index: u32,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u32,
        delta: BlockDelta,
    },
    ContentBlockStop {
        index: u32,
    },
    MessageDelta {
        delta: MessageChange,
        usage: MessageUsage,
    },
    MessageStop,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(crate) enum BlockDelta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
}

#[derive(Deserialize)]
pub(crate) struct MessageChange {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Generated {
    candidates: Vec<Candidate>,
    usage_metadata: Option<GeneratedUsage>,
    model_version: Option<String>,
    response_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeneratedUsage {
    prompt_token_count: u64,
    candidates_token_count: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct OllamaLine {
    model: String,
    created_at: String,
    message: OllamaMessage,
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
}

#[derive(Deserialize)]
struct OllamaMessage {
    role: String,
    content: String,
    thinking: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ResponsesAnswer {
    id: String,
    model: String,
    status: String,
    created_at: u64,
    output: Vec<ResponsesItem>,
    usage: Option<ResponsesUsage>,
    service_tier: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ResponsesItem {
    #[serde(rename = "type")]
    kind: String,
    id: String,
    content: Option<Vec<ResponsesPart>>,
}

#[derive(Deserialize)]
struct ResponsesPart {
    text: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ResponsesUsage {
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(crate) enum ResponsesEvent {
    #[serde(rename = "response.output_item.added")]
    ItemAdded { output_index: u32, item: ResponsesItem },
    #[serde(rename = "response.output_text.delta")]
    TextDelta {
        output_index: u32,
        content_index: u32,
        delta: String,
    },
    #[serde(rename = "response.output_item.done")]
    ItemDone { output_index: u32, item: ResponsesItem },
    #[serde(rename = "response.completed")]
    Completed { response: ResponsesAnswer },
    #[serde(other)]
    Unread,
}
