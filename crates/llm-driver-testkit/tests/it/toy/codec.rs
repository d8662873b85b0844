//! The toy's wire format: a body of a few fields, and a stream of one-field events.

use super::Flaw;
use llm_core::stream::{BlockKind, ChatEvent, Delta};
use llm_core::{
    Block, ChatRequest, ChatResponse, ContentPart, Error, ErrorKind, FinishKind, FinishReason, MediaSource,
    ModelId, Phase, ResponseMeta, Result, TextPart, ToolCall, Usage,
};
use serde_json::{Value, json};

pub(super) fn encode(model: &ModelId, request: &ChatRequest, stream: bool, flaw: Flaw) -> Value {
    let messages: Vec<_> = request
        .messages
        .iter()
        .map(|message| Value::Array(message.content.iter().map(part).collect()))
        .collect();
    let mut body = json!({"model": model.as_str(), "messages": messages});
    if !request.tools.is_empty() {
        body["tools"] = request
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "takes": tool.parameters}))
            .collect();
    }
    if let Some(most) = request.max_output_tokens
        && flaw != Flaw::DropsAnOption
    {
        body["most"] = json!(most);
    }
    if stream {
        body["stream"] = json!(true);
    }
    body
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({"says": text.text}),
        ContentPart::ToolCall(call) => json!({"calls": call.name, "id": call.id, "with": call.arguments}),
        ContentPart::ToolResult(result) => json!({"answers": result.call_id, "says": result.text()}),
        ContentPart::Image(image) => match &image.source {
            MediaSource::Url { url } => json!({"shows": url}),
            _ => json!({"shows": "bytes"}),
        },
        other => json!({"unknown": other.kind()}),
    }
}

pub(super) fn decode(meta: ResponseMeta, body: &[u8], flaw: Flaw) -> Result<ChatResponse> {
    let value = match serde_json::from_slice::<Value>(body) {
        Err(_) if flaw == Flaw::AcceptsGarbage => json!({"end": "stop"}),
        parsed => parsed.unwrap_or_default(),
    };
    if value.get("error").is_some() {
        return Err(decode_error(500, body).with_phase(Phase::Sent));
    }
    let readable = flaw != Flaw::IsStrict || (value["in"].is_u64() && value["out"].is_u64());
    let Some(end) = value["end"].as_str().filter(|_| readable) else {
        return Err(
            Error::new(ErrorKind::Protocol, "the answer cannot be understood").with_phase(Phase::Sent)
        );
    };
    let mut response = ChatResponse::new(meta);
    let text = value["text"].as_str().filter(|text| !text.is_empty());
    response
        .blocks
        .extend(text.map(|text| Block::Text(TextPart::new(text))));
    for (index, call) in value["calls"].as_array().into_iter().flatten().enumerate() {
        if let Some(name) = call["name"].as_str() {
            let id = call["id"]
                .as_str()
                .map_or_else(|| format!("call-{index}"), str::to_owned);
            let with = call["with"].as_str().unwrap_or("{}");
            response
                .blocks
                .push(Block::ToolCall(ToolCall::new(id, name, with)));
        }
    }
    response.finish = finish(end);
    response.usage = usage(value["in"].as_u64(), value["out"].as_u64());
    Ok(response)
}

pub(super) fn decode_error(status: u16, body: &[u8]) -> Error {
    let value = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let words = match &value["error"] {
        Value::String(words) => Some(words.clone()),
        other => other["message"].as_str().map(str::to_owned),
    };
    let kind = match &words {
        Some(words) if words.starts_with("too long") => ErrorKind::ContextLength,
        _ => ErrorKind::of_status(status),
    };
    Error::new(
        kind,
        words.unwrap_or_else(|| format!("the vendor answered with status {status}")),
    )
}

fn finish(word: &str) -> FinishReason {
    let kind = match word {
        "stop" => FinishKind::Stop,
        "calls" => FinishKind::ToolCalls,
        _ => FinishKind::Other,
    };
    FinishReason::new(kind, word.to_owned())
}

fn usage(input: Option<u64>, output: Option<u64>) -> Usage {
    let mut usage = Usage::default();
    usage.input_tokens = input;
    usage.output_tokens = output;
    usage
}

/// Events of the wire to events of ours.
pub(super) struct Decoder {
    pub(super) flaw: Flaw,
    start: Option<ResponseMeta>,
    /// The number of the open block, and whether it is a call.
    open: Option<(u32, bool)>,
    blocks: u32,
    content: bool,
    done: bool,
}

impl Decoder {
    pub(super) fn new(meta: ResponseMeta, flaw: Flaw) -> Self {
        Decoder {
            flaw,
            start: Some(meta),
            open: None,
            blocks: 0,
            content: false,
            done: false,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// The flawed way: whatever stands between two line breaks of one piece.
    pub(super) fn lines(&mut self, piece: &[u8], events: &mut Vec<ChatEvent>) -> Result<()> {
        let text = String::from_utf8_lossy(piece);
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(str::to_owned)
            .try_for_each(|data| self.event(&data, false, events))
    }

    /// One event; of a last one without its end, only what parses counts.
    pub(super) fn event(&mut self, data: &str, terminated: bool, events: &mut Vec<ChatEvent>) -> Result<()> {
        if self.done {
            return Ok(());
        }
        let value: Value = match serde_json::from_str(data) {
            Ok(value) => value,
            Err(_) if !terminated => return Ok(()),
            Err(_) => {
                self.close(false, events);
                return Err(self.error(ErrorKind::Protocol, "an event of the stream is no JSON"));
            }
        };
        if value.get("error").is_some() {
            self.close(false, events);
            return Err(decode_error(500, data.as_bytes()).with_phase(self.phase()));
        }
        if let Some(meta) = self.start.take() {
            events.push(ChatEvent::Start(Box::new(meta)));
        }
        if let Some(text) = value["text"].as_str().filter(|text| !text.is_empty()) {
            let index = self.block(false, || BlockKind::Text, events);
            events.push(ChatEvent::BlockDelta {
                index,
                delta: Delta::Text(text.to_owned()),
            });
            self.content = true;
        }
        if let Some(name) = value["call"].as_str() {
            self.close(true, events);
            let id = value["id"].as_str().unwrap_or("call-1").to_owned();
            self.block(
                true,
                || BlockKind::ToolCall {
                    id,
                    name: name.to_owned(),
                },
                events,
            );
            self.content = true;
        }
        if let (Some(with), Some((index, true))) = (value["with"].as_str(), self.open) {
            events.push(ChatEvent::BlockDelta {
                index,
                delta: Delta::Arguments(with.to_owned()),
            });
        }
        if let Some(word) = value["end"].as_str() {
            self.close(true, events);
            let usage = usage(value["in"].as_u64(), value["out"].as_u64());
            events.push(ChatEvent::Finish {
                reason: finish(word),
                usage,
            });
            self.done = true;
        }
        Ok(())
    }

    /// The body ended.
    pub(super) fn finish(&mut self, events: &mut Vec<ChatEvent>) -> Result<()> {
        if self.done {
            return Ok(());
        }
        if self.flaw == Flaw::InventsFinish {
            let meta = self.start.take();
            events.extend(meta.map(|meta| ChatEvent::Start(Box::new(meta))));
            self.close(true, events);
            events.push(ChatEvent::Finish {
                reason: finish("stop"),
                usage: Usage::default(),
            });
            self.done = true;
            return Ok(());
        }
        self.close(false, events);
        Err(self.error(ErrorKind::Interrupted, "the stream ended before its end"))
    }

    /// Reading failed.
    pub(super) fn broken(&mut self, error: Error, events: &mut Vec<ChatEvent>) -> Error {
        self.close(false, events);
        match error.kind() {
            ErrorKind::Connection => self.error(ErrorKind::Interrupted, "the connection broke in the stream"),
            _ => error,
        }
    }

    fn error(&self, kind: ErrorKind, message: &str) -> Error {
        Error::new(kind, message).with_phase(self.phase())
    }

    fn phase(&self) -> Phase {
        if self.content {
            Phase::Streaming
        } else {
            Phase::Sent
        }
    }

    fn block(&mut self, call: bool, kind: impl FnOnce() -> BlockKind, events: &mut Vec<ChatEvent>) -> u32 {
        match self.open {
            Some((index, open_call)) if open_call == call => index,
            _ => {
                self.close(true, events);
                let index = self.blocks;
                self.blocks += 1;
                self.open = Some((index, call));
                events.push(ChatEvent::BlockStart { index, kind: kind() });
                index
            }
        }
    }

    fn close(&mut self, complete: bool, events: &mut Vec<ChatEvent>) {
        if let Some((index, call)) = self.open.take() {
            let complete = complete || (call && self.flaw == Flaw::CompletesCutCalls);
            events.push(ChatEvent::BlockEnd { index, complete });
        }
    }
}
