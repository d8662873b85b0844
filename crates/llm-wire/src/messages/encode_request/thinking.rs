//! How much the model thinks, and whether that is shown.
//!
//! Source of the rules: `anthropic.md` of the project's wire notes ("Thinking"), state of 2026-11-29.

use super::Encoding;
use super::settings::Cap;
use crate::bag::Bag;
use crate::fault::unsupported;
use crate::messages::dialect::{Thinking, ThinkingOff};
use crate::messages::request_types::WireThinking;
use llm_core::model::Knob;
use llm_core::{Capability, ContentPart, Message, ReasoningEffort, Result, Role, Support, ToolChoice};
use serde_json::Value;

/// The smallest budget that is taken.
const LEAST_BUDGET: u32 = 1024;

const EFFORT: &str = "reasoning.effort";

/// What is sent of a wish for thought.
#[derive(Debug, Default)]
pub(super) struct Thought {
    /// `thinking`; absent: nothing.
    pub(super) field: Option<WireThinking>,
    /// `output_config.effort`; absent: nothing.
    pub(super) effort: Option<&'static str>,
    /// Will it think?
    pub(super) on: bool,
    /// With a budget of tokens?
    pub(super) budget: bool,
}

impl<'a> Encoding<'a> {
    pub(super) fn thinking(&mut self, bag: &Bag<'a>, cap: &mut Cap) -> Result<Thought> {
        let reasoning = self.request.reasoning.unwrap_or_default();
        let asked = reasoning.effort;
        let mut thought = Thought {
            on: self.rule.thinks_by_default,
            ..Thought::default()
        };
        // takes the place of the neutral wish as a whole; an effort of one's own stands in `output_config`
        if let Some(own) = bag.value("thinking") {
            let kind = own.get("type").and_then(Value::as_str);
            thought.on = kind.is_some_and(|kind| kind != "disabled");
            thought.budget = kind == Some("enabled");
            return Ok(thought);
        }
        if self.model.capabilities.support(Capability::Reasoning) == Support::No {
            if asked.is_some_and(|level| level != ReasoningEffort::None) {
                return Err(unsupported(
                    EFFORT,
                    "asks for reasoning, which this model does not do",
                ));
            }
            if reasoning.include {
                self.warn(
                    "reasoning.include",
                    "has nothing to show: this model does not reason",
                );
            }
            return Ok(Thought::default());
        }
        match asked {
            Some(ReasoningEffort::None) => self.think_not(&mut thought),
            Some(level) => self.think(level, reasoning.include, cap, &mut thought),
            None if !reasoning.include => {}
            None if self.rule.thinks_by_default => thought.field = Some(adaptive(true)),
            None => {
                let message = "has nothing to show: this model thinks only where an effort is asked for";
                self.warn("reasoning.include", message);
            }
        }
        Ok(thought)
    }

    fn think_not(&mut self, thought: &mut Thought) {
        let plain = |kind| WireThinking {
            kind,
            budget_tokens: None,
            display: None,
        };
        let never = self.model.rejects(Knob::ThinkingOff) && self.rule.off == ThinkingOff::Disabled;
        match self.rule.off {
            ThinkingOff::BetweenTools => {
                let message = "is sent as between_tools: this model takes short notes between calls, no less";
                self.warn(EFFORT, message);
                thought.field = Some(plain("between_tools"));
            }
            ThinkingOff::Disabled if !never => {
                thought.field = Some(plain("disabled"));
                thought.on = false;
            }
            ThinkingOff::Disabled | ThinkingOff::Never => {
                let least = self.efforts().into_iter().min().map(ReasoningEffort::as_str);
                match least {
                    Some(word) => {
                        let message = format!("is sent as {word}: this model cannot stop thinking");
                        self.warn(EFFORT, &message);
                    }
                    None => self.warn(EFFORT, "is not sent: this model cannot stop thinking"),
                }
                thought.effort = least;
                thought.on = true;
            }
        }
    }

    fn think(&mut self, level: ReasoningEffort, include: bool, cap: &mut Cap, thought: &mut Thought) {
        thought.effort = self.effort_word(level);
        match self.rule.thinking {
            Thinking::Adaptive => {
                thought.field = Some(adaptive(include));
                thought.on = true;
            }
            Thinking::Budget => {
                if let Some(obstacle) = self.obstacle_to_budget() {
                    self.warn(EFFORT, obstacle);
                    return;
                }
                let Some(budget) = cap.make_room(budget_of(level)) else {
                    let message = "is not sent: the cap on output leaves no room for 1,024 tokens of thought";
                    self.warn(EFFORT, message);
                    return;
                };
                thought.field = Some(WireThinking {
                    kind: "enabled",
                    budget_tokens: Some(budget),
                    display: None,
                });
                thought.on = true;
                thought.budget = true;
            }
        }
    }

    /// The level to send, where the model takes the field.
    fn effort_word(&mut self, level: ReasoningEffort) -> Option<&'static str> {
        let offered = self.efforts();
        let taken = level.clamp_to(&offered)?;
        if taken != level {
            let words: Vec<_> = offered.iter().map(|level| level.as_str()).collect();
            let message = format!(
                "is sent as {}: this model takes {}",
                taken.as_str(),
                words.join(", ")
            );
            self.warn(EFFORT, &message);
        }
        Some(taken.as_str())
    }

    /// The levels that can be sent.
    fn efforts(&self) -> Vec<ReasoningEffort> {
        let taken = self.rule.efforts;
        let listed = self.model.efforts.as_deref().unwrap_or(taken);
        let both = taken.iter().filter(|level| listed.contains(level)).copied();
        let both: Vec<_> = both.collect();
        if both.is_empty() { taken.to_vec() } else { both }
    }

    /// Why a budget cannot be given to this conversation: it would be answered by 400.
    fn obstacle_to_budget(&self) -> Option<&'static str> {
        let request = self.request;
        let forced = matches!(
            request.tool_choice,
            Some(ToolChoice::Required | ToolChoice::Tool(_))
        );
        if forced {
            return Some("is not sent: this model cannot think and be made to call a tool");
        }
        let last = request.messages.last();
        let ends_with_assistant = last.is_some_and(|last| last.role == Role::Assistant);
        let calls = |message: &Message| {
            message
                .content
                .iter()
                .any(|part| matches!(part, ContentPart::ToolCall(_)))
        };
        if ends_with_assistant && !last.is_some_and(calls) {
            return Some("is not sent: this model cannot think and continue a turn");
        }
        if self.loop_began_without_thought() {
            return Some(
                "is not sent: the calls that are being answered began without this vendor's thought",
            );
        }
        None
    }

    /// While calls are being answered, their turn must begin with a thought, or there must be none.
    fn loop_began_without_thought(&self) -> bool {
        let messages = &self.request.messages;
        let only_results = |message: &&Message| match message.role {
            Role::Tool => true,
            Role::User => message
                .content
                .iter()
                .all(|part| matches!(part, ContentPart::ToolResult(_) | ContentPart::CachePoint(_))),
            _ => false,
        };
        let answers = messages.iter().rev().take_while(only_results).count();
        let rest = &messages[..messages.len() - answers];
        let said = rest
            .iter()
            .rev()
            .take_while(|message| message.role == Role::Assistant)
            .count();
        let turn = &rest[rest.len() - said..];
        let parts = || turn.iter().flat_map(|message| &message.content);
        if !parts().any(|part| matches!(part, ContentPart::ToolCall(_))) {
            return false;
        }
        let ours = &self.dialect.vendor;
        let first = parts().find(|part| match part {
            ContentPart::Text(text) => !text.text.is_empty(),
            ContentPart::Reasoning(thought) => thought.replay.is_some(),
            ContentPart::CachePoint(_) => false,
            _ => true,
        });
        !match first {
            Some(ContentPart::Reasoning(thought)) => thought
                .replay
                .as_ref()
                .is_some_and(|replay| replay.origin.vendor == *ours),
            Some(ContentPart::Opaque(piece)) => {
                piece.replay.origin.vendor == *ours && piece.kind == "redacted_thinking"
            }
            _ => false,
        }
    }
}

/// The model decides how much it thinks.
fn adaptive(include: bool) -> WireThinking {
    WireThinking {
        kind: "adaptive",
        budget_tokens: None,
        display: Some(if include { "summarized" } else { "omitted" }),
    }
}

/// Tokens of thought for a level.
fn budget_of(level: ReasoningEffort) -> u32 {
    match level {
        ReasoningEffort::None | ReasoningEffort::Low => 2_048,
        ReasoningEffort::Medium => 8_192,
        ReasoningEffort::High => 16_384,
        _ => 32_000,
    }
}

impl Cap {
    /// Room for a budget of thought and an answer behind it. A cap that the caller did not set is raised; where the cap
    /// is too low, thought gets three quarters of it.
    fn make_room(&mut self, budget: u32) -> Option<u32> {
        let wanted = budget.saturating_add(4_096);
        if !self.asked {
            self.tokens = self.tokens.max(wanted.min(self.most.unwrap_or(wanted)));
        }
        let most = if self.tokens < wanted {
            self.tokens - self.tokens / 4
        } else {
            budget
        };
        let budget = budget.min(most).max(LEAST_BUDGET);
        (budget < self.tokens).then_some(budget)
    }
}
