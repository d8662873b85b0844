//! The conversation as it grows: blocks find their message, cache points find their block.

use super::Encoding;
use super::tools::Tools;
use crate::bag::Bag;
use crate::messages::request_types::{BlockBody, WireBlock, WireMessage, WireTool};
use llm_core::CacheTtl;
use serde_json::Value;

/// The most marks for the prompt cache that a request may hold.
const MOST_MARKS: usize = 4;

/// What goes into `system` and `messages`.
#[derive(Debug, Default)]
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<WireBlock<'a>>,
    pub(super) messages: Vec<WireMessage<'a>>,
    /// A cache point that stands before everything: it keeps the tools.
    pub(super) tools_kept: Option<CacheTtl>,
    /// Is there any mark?
    pub(super) marked: bool,
    /// The last block that can be marked.
    last: Option<Place>,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    System(usize),
    Message(usize, usize),
}

impl<'a> Conversation<'a> {
    /// Adds a block above the conversation.
    pub(super) fn add_system(&mut self, block: WireBlock<'a>) {
        // a message in between may stand later already
        if !matches!(self.last, Some(Place::Message(..))) {
            self.last = Some(Place::System(self.system.len()));
        }
        self.system.push(block);
    }

    /// Adds a block to the last message, or to a new one if another role speaks.
    pub(super) fn add(&mut self, role: &'static str, block: WireBlock<'a>) {
        if self.messages.last().is_none_or(|last| last.role != role) {
            let content = Vec::new();
            self.messages.push(WireMessage { role, content });
        }
        let at = self.messages.len() - 1;
        let content = &mut self.messages[at].content;
        if can_be_marked(&block) {
            self.last = Some(Place::Message(at, content.len()));
        }
        content.push(block);
    }

    /// Marks the last block that can be: everything up to here is kept.
    pub(super) fn mark(&mut self, ttl: CacheTtl) {
        self.marked = true;
        let block = match self.last {
            Some(Place::System(at)) => self.system.get_mut(at),
            Some(Place::Message(at, position)) => {
                let message = self.messages.get_mut(at);
                message.and_then(|message| message.content.get_mut(position))
            }
            None => None,
        };
        match block {
            Some(block) => block.kept = Some(ttl),
            None => self.tools_kept = Some(ttl),
        }
    }

    /// All marks, in the order of the prefix.
    fn marks(&mut self) -> Vec<&mut Option<CacheTtl>> {
        let mut marks = Vec::new();
        let messages = self.messages.iter_mut().flat_map(|message| &mut message.content);
        for block in self.system.iter_mut().chain(messages) {
            if let BlockBody::ToolResult { content, .. } = &mut block.body {
                marks.extend(content.iter_mut().map(|inner| &mut inner.kept));
            }
            marks.push(&mut block.kept);
        }
        marks.retain(|mark| mark.is_some());
        marks
    }
}

/// Thoughts cannot.
fn can_be_marked(block: &WireBlock<'_>) -> bool {
    !matches!(block.own_kind(), Some("thinking" | "redacted_thinking"))
}

impl<'a> Encoding<'a> {
    /// Leaves no more marks than the format takes, the long ones before the short ones.
    pub(super) fn limit_marks(
        &mut self,
        bag: &Bag<'a>,
        conversation: &mut Conversation<'a>,
        tools: &mut Tools<'a>,
    ) {
        if !conversation.marked {
            return;
        }
        if let Some(ttl) = conversation.tools_kept {
            match tools.offered.last_mut() {
                Some(WireTool::Custom { kept, .. }) => *kept = Some(ttl),
                _ => self.warn(
                    "messages",
                    "begins with a cache point that has nothing before it to keep",
                ),
            }
        }
        let own = |tool: &WireTool<'_>| match tool {
            WireTool::Own(Value::Object(fields)) => fields.contains_key("cache_control"),
            _ => false,
        };
        let others = tools.offered.iter().filter(|tool| own(tool)).count();
        let others = others + usize::from(bag.value("cache_control").is_some());
        let tool_marks = tools.offered.iter_mut().filter_map(|tool| match tool {
            WireTool::Custom { kept, .. } if kept.is_some() => Some(kept),
            _ => None,
        });
        let mut marks: Vec<_> = tool_marks.chain(conversation.marks()).collect();
        let too_many = marks.len().saturating_sub(MOST_MARKS.saturating_sub(others));
        for mark in marks.drain(..too_many) {
            *mark = None;
        }
        let mut short_seen = false;
        let mut shortened = false;
        for mark in marks {
            if short_seen && *mark == Some(CacheTtl::Long) {
                *mark = Some(CacheTtl::Short);
                shortened = true;
            }
            short_seen |= *mark != Some(CacheTtl::Long);
        }
        if too_many > 0 {
            self.warn(
                "messages",
                "holds more than four cache points; the first ones are not sent",
            );
        }
        if shortened {
            let message =
                "holds a long cache point after a short one, which is not taken; it is sent as short";
            self.warn("messages", message);
        }
    }
}
