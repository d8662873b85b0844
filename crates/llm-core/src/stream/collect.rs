//! Folding events to a response, and a response back to events.

use super::ChatStream;
use super::event::{BlockKind, ChatEvent, Delta, RawFrame};
use crate::chat::{
    Block, ChatResponse, IncompleteToolCall, OpaquePart, ReasoningPart, RefusalPart, Replay, TextPart,
    ToolCall,
};
use crate::error::{Error, ErrorKind, Result};
use futures_core::Stream;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Folds the events of a stream to the response that a plain call would have given.
///
/// ```
/// use llm_core::stream::{BlockKind, ChatEvent, Collector, Delta};
/// use llm_core::{FinishKind, FinishReason, Usage};
/// let mut collector = Collector::default();
/// for event in [
///     ChatEvent::Start(Default::default()),
///     ChatEvent::BlockStart { index: 0, kind: BlockKind::Text },
///     ChatEvent::BlockDelta { index: 0, delta: Delta::Text("Hel".into()) },
///     ChatEvent::BlockDelta { index: 0, delta: Delta::Text("lo".into()) },
///     ChatEvent::BlockEnd { index: 0, complete: true },
///     ChatEvent::Finish { reason: FinishReason::new(FinishKind::Stop, None), usage: Usage::new(3, 1) },
/// ] {
///     collector.push(event).unwrap();
/// }
/// assert_eq!(collector.finish().unwrap().text(), "Hello");
/// ```
#[derive(Debug, Default)]
pub struct Collector {
    response: ChatResponse,
    open: Vec<OpenBlock>,
    /// The vendor's bytes, where they are kept.
    raw: Vec<u8>,
    finished: bool,
}

#[derive(Debug, Clone)]
struct OpenBlock {
    index: u32,
    kind: BlockKind,
    text: String,
    replay: Option<Replay>,
    /// None: still open.
    complete: Option<bool>,
}

impl Collector {
    /// Takes the next event.
    ///
    /// # Errors
    /// `Unsupported` for raw frames: they hold content that only their own format can read.
    pub fn push(&mut self, event: ChatEvent) -> Result<()> {
        match event {
            ChatEvent::Start(meta) => self.response.meta = *meta,
            ChatEvent::BlockStart { index, kind } => {
                self.open.push(OpenBlock {
                    index,
                    kind,
                    text: String::new(),
                    replay: None,
                    complete: None,
                });
            }
            ChatEvent::BlockDelta { index, delta } => {
                if let Some(block) = self.open.iter_mut().rfind(|block| block.index == index) {
                    block.add(delta);
                }
            }
            ChatEvent::BlockEnd { index, complete } => {
                if let Some(block) = self.open.iter_mut().rfind(|block| block.index == index) {
                    block.complete = Some(complete);
                }
            }
            ChatEvent::Usage(usage) => self.response.usage.merge(&usage),
            ChatEvent::Warning(warning) => self.response.warnings.push(warning),
            ChatEvent::Metadata(metadata) => self.response.metadata.merge(metadata),
            ChatEvent::KeepAlive => {}
            ChatEvent::Raw(frame) if !frame.content => {
                // kept beside what was read from it
                self.raw.extend_from_slice(&frame.bytes);
            }
            ChatEvent::Raw(_) => {
                let message = "a raw stream cannot be collected; ask without raw mode for full events";
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
            ChatEvent::Finish { reason, usage } => {
                self.response.finish = reason;
                self.response.usage.merge(&usage);
                self.finished = true;
            }
        }
        Ok(())
    }

    /// The response, when the stream was complete.
    ///
    /// # Errors
    /// `Interrupted`, when no finish came.
    pub fn finish(self) -> Result<ChatResponse> {
        if self.finished {
            Ok(self.into_response())
        } else {
            Err(Error::new(
                ErrorKind::Interrupted,
                "the stream ended before its finish",
            ))
        }
    }

    /// What came so far: for showing or keeping a partial answer after an error. Calls that are still open
    /// stand among the incomplete ones.
    pub fn partial(&self) -> ChatResponse {
        Collector {
            response: self.response.clone(),
            open: self.open.clone(),
            raw: self.raw.clone(),
            finished: self.finished,
        }
        .into_response()
    }

    fn into_response(self) -> ChatResponse {
        let mut response = self.response;
        let mut blocks = self.open;
        blocks.sort_by_key(|block| block.index);
        for block in blocks {
            block.close(&mut response);
        }
        if !self.raw.is_empty() {
            response.raw = Some(self.raw.into());
        }
        response
    }
}

impl OpenBlock {
    fn add(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) | Delta::Refusal(text) | Delta::Arguments(text) => {
                if self.text.is_empty() {
                    self.text = text
                } else {
                    self.text.push_str(&text)
                }
            }
            Delta::Name(more) => {
                if let BlockKind::ToolCall { name, .. } = &mut self.kind {
                    name.push_str(&more);
                }
            }
            Delta::Replay(later) => match &mut self.replay {
                Some(replay) => replay.merge(later),
                None => self.replay = Some(later),
            },
        }
    }

    fn close(self, response: &mut ChatResponse) {
        let OpenBlock {
            kind,
            text,
            replay,
            complete,
            ..
        } = self;
        let block = match kind {
            BlockKind::Text => Block::Text(TextPart { text, replay }),
            BlockKind::Reasoning => Block::Reasoning(ReasoningPart { text, replay }),
            BlockKind::Refusal => Block::Refusal(RefusalPart { text }),
            BlockKind::ToolCall { id, name } => {
                if complete != Some(true) {
                    let cut = IncompleteToolCall {
                        id,
                        name,
                        arguments: text,
                    };
                    response.incomplete_tool_calls.push(cut);
                    return;
                }
                let arguments = if text.trim().is_empty() {
                    "{}".to_owned()
                } else {
                    text
                };
                Block::ToolCall(ToolCall {
                    id,
                    name,
                    arguments,
                    replay,
                })
            }
            BlockKind::Opaque { kind } => match replay {
                Some(replay) => Block::Opaque(OpaquePart { kind, replay }),
                None => return,
            },
        };
        response.blocks.push(block);
    }
}

/// Reads a stream to its end and folds it. The same answer as a plain call.
///
/// # Errors
/// What ended the stream early. To keep what came before an error, read the stream into a [`Collector`].
pub async fn collect(mut stream: ChatStream) -> Result<ChatResponse> {
    let mut collector = Collector::default();
    while let Some(event) = stream.next_event().await {
        collector.push(event?)?;
    }
    let mut response = collector.finish()?;
    response.attempts = stream.attempts().to_vec();
    Ok(response)
}

/// A response as a stream: for caches, tests and drivers that can only answer whole.
pub fn replay(response: ChatResponse) -> ChatStream {
    let meta = response.meta.clone();
    let attempts = response.attempts.clone();
    ChatStream::new(meta, Events(events_of(response).into_iter())).with_attempts(attempts)
}

/// The events of a response, in a legal order. Folding them gives the response again.
pub fn events_of(response: ChatResponse) -> Vec<ChatEvent> {
    let ChatResponse {
        meta,
        blocks,
        incomplete_tool_calls,
        finish,
        usage,
        warnings,
        metadata,
        attempts: _,
        raw,
    } = response;
    let mut events = vec![ChatEvent::Start(Box::new(meta))];
    events.extend(raw.map(|raw| ChatEvent::Raw(RawFrame::new(raw, false))));
    events.extend(warnings.into_iter().map(ChatEvent::Warning));
    if !metadata.is_empty() {
        events.push(ChatEvent::Metadata(metadata));
    }
    let mut index = 0;
    let mut block = |kind, deltas: Vec<Delta>, complete| {
        events.push(ChatEvent::BlockStart { index, kind });
        events.extend(
            deltas
                .into_iter()
                .map(|delta| ChatEvent::BlockDelta { index, delta }),
        );
        events.push(ChatEvent::BlockEnd { index, complete });
        index += 1;
    };
    for part in blocks {
        let (kind, text, replay) = match part {
            Block::Text(part) => (BlockKind::Text, filled(part.text, Delta::Text), part.replay),
            Block::Reasoning(part) => (
                BlockKind::Reasoning,
                filled(part.text, Delta::Reasoning),
                part.replay,
            ),
            Block::Refusal(part) => (BlockKind::Refusal, filled(part.text, Delta::Refusal), None),
            Block::ToolCall(call) => {
                let kind = BlockKind::ToolCall {
                    id: call.id,
                    name: call.name,
                };
                (kind, filled(call.arguments, Delta::Arguments), call.replay)
            }
            Block::Opaque(part) => (BlockKind::Opaque { kind: part.kind }, None, Some(part.replay)),
        };
        block(
            kind,
            text.into_iter().chain(replay.map(Delta::Replay)).collect(),
            true,
        );
    }
    for call in incomplete_tool_calls {
        let kind = BlockKind::ToolCall {
            id: call.id,
            name: call.name,
        };
        block(
            kind,
            filled(call.arguments, Delta::Arguments).into_iter().collect(),
            false,
        );
    }
    events.push(ChatEvent::Finish {
        reason: finish,
        usage,
    });
    events
}

fn filled(text: String, delta: fn(String) -> Delta) -> Option<Delta> {
    (!text.is_empty()).then(|| delta(text))
}

#[derive(Debug)]
struct Events(std::vec::IntoIter<ChatEvent>);

impl Stream for Events {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}
