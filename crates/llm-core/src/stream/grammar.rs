//! Is this sequence of events legal?

use super::event::{BlockKind, ChatEvent, Delta};
use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;

/// Checks a stream event by event. The conformance suite runs every stream through it.
///
/// ```
/// use llm_core::{ChatEvent, Grammar};
/// let mut grammar = Grammar::default();
/// grammar.check(&ChatEvent::Start(Default::default())).unwrap();
/// assert!(grammar.end().is_err(), "a stream that just stops is not legal");
/// ```
#[derive(Debug, Default)]
pub struct Grammar {
    started: bool,
    finished: bool,
    raw: bool,
    /// Every block so far, and whether it is still open.
    blocks: BTreeMap<u32, (Family, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Text,
    Reasoning,
    Refusal,
    ToolCall,
    Opaque,
}

impl Grammar {
    /// Checks the next event.
    ///
    /// # Errors
    /// `Internal`, saying which rule is broken.
    pub fn check(&mut self, event: &ChatEvent) -> Result<()> {
        if self.finished {
            return broken("an event after the end");
        }
        if let ChatEvent::Start(_) = event {
            return if std::mem::replace(&mut self.started, true) {
                broken("a second start")
            } else {
                Ok(())
            };
        }
        if !self.started {
            return broken("an event before the start");
        }
        match event {
            ChatEvent::BlockStart { index, kind } => self.open(*index, kind),
            ChatEvent::BlockDelta { index, delta } => self.delta(*index, delta),
            ChatEvent::BlockEnd { index, .. } => match self.blocks.get_mut(index) {
                Some((_, open)) if *open => {
                    *open = false;
                    Ok(())
                }
                _ => broken("the end of a block that is not open"),
            },
            // bytes that are kept beside what was read from them
            ChatEvent::Raw(frame) if !frame.content => Ok(()),
            ChatEvent::Raw(_) => {
                self.raw = true;
                if self.blocks.is_empty() {
                    Ok(())
                } else {
                    broken("raw frames beside blocks")
                }
            }
            ChatEvent::Finish { .. } => {
                self.finished = true;
                if self.blocks.values().any(|(_, open)| *open) {
                    return broken("a finish while a block is open");
                }
                Ok(())
            }
            ChatEvent::Start(_)
            | ChatEvent::Usage(_)
            | ChatEvent::Warning(_)
            | ChatEvent::Metadata(_)
            | ChatEvent::KeepAlive => Ok(()),
        }
    }

    /// An error came: legal at any point but after the end, and nothing may follow.
    ///
    /// # Errors
    /// `Internal`, when the stream was over.
    pub fn fail(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.finished, true) {
            broken("an error after the end")
        } else {
            Ok(())
        }
    }

    /// The stream ended.
    ///
    /// # Errors
    /// `Internal`, when neither a finish nor an error came.
    pub fn end(&self) -> Result<()> {
        if self.finished {
            Ok(())
        } else {
            broken("no finish and no error")
        }
    }

    fn open(&mut self, index: u32, kind: &BlockKind) -> Result<()> {
        if self.raw {
            return broken("a block beside raw frames");
        }
        let family = match kind {
            BlockKind::Text => Family::Text,
            BlockKind::Reasoning => Family::Reasoning,
            BlockKind::Refusal => Family::Refusal,
            BlockKind::ToolCall { id, .. } if id.is_empty() => return broken("a tool call without an id"),
            BlockKind::ToolCall { .. } => Family::ToolCall,
            BlockKind::Opaque { .. } => Family::Opaque,
        };
        match self.blocks.insert(index, (family, true)) {
            None => Ok(()),
            Some(_) => broken("a block number used twice"),
        }
    }

    fn delta(&mut self, index: u32, delta: &Delta) -> Result<()> {
        let Some((family, true)) = self.blocks.get(&index).copied() else {
            return broken("a delta for a block that is not open");
        };
        let fits = match delta {
            Delta::Text(text) => family == Family::Text && !text.is_empty(),
            Delta::Reasoning(text) => family == Family::Reasoning && !text.is_empty(),
            Delta::Refusal(text) => family == Family::Refusal && !text.is_empty(),
            Delta::Name(_) | Delta::Arguments(_) => family == Family::ToolCall,
            Delta::Replay(_) => family != Family::Refusal,
        };
        if fits {
            Ok(())
        } else {
            broken("a delta that is empty or of another kind than its block")
        }
    }
}

fn broken(rule: &str) -> Result<()> {
    Err(Error::new(
        ErrorKind::Internal,
        format!("the stream is not legal: {rule}"),
    ))
}
