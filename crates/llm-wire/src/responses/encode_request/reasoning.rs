//! How much the model thinks, and whether it shows that.

use super::Encoding;
use crate::bag::Bag;
use crate::efforts;
use crate::fault::unsupported;
use crate::responses::request_types::Body;
use llm_core::model::Knob;
use llm_core::{Capability, ReasoningEffort, Result, Support};

const FIELD: &str = "reasoning.effort";

/// What is sent of reasoning.
pub(super) struct Reasoning<'a> {
    pub(super) field: Body<'a>,
    /// Will the model not think at all?
    pub(super) off: bool,
}

impl<'a> Encoding<'a> {
    pub(super) fn reasoning(&mut self, bag: &Bag<'a>) -> Result<Reasoning<'a>> {
        let asked = self.request.reasoning.unwrap_or_default();
        let mut field = Body::new(None);
        let own = bag.value("reasoning").and_then(|own| own.as_object());
        let own_word = bag.text("reasoning_effort");
        let own_effort = own.and_then(|own| own.get("effort"));
        let word = match (
            own_effort.and_then(|word| word.as_str()).or(own_word),
            asked.effort,
        ) {
            (Some(word), _) => Some(word),
            (None, Some(effort)) => self.effort_taken(effort)?.map(ReasoningEffort::as_str),
            (None, None) => None,
        };
        let off = match word {
            Some(word) => word == "none",
            None => !self.rule.reasons || self.rule.default_effort_is_none,
        };
        if let Some(word) = word.filter(|_| own_effort.is_none()) {
            field.add("effort", word);
        }
        for (name, value) in own.into_iter().flatten() {
            field.add(name, value);
        }
        if asked.include {
            let cannot = self.model.capabilities.support(Capability::Reasoning) == Support::No;
            let silent = word == Some("none") || (self.rule.reasons && off);
            if cannot || silent {
                self.warn("reasoning.include", "is not sent: the model does not think here");
            } else {
                field.add("summary", "auto");
            }
        }
        Ok(Reasoning { field, off })
    }

    /// The level to send for the level asked for; `None`: nothing is sent.
    fn effort_taken(&mut self, asked: ReasoningEffort) -> Result<Option<ReasoningEffort>> {
        let Some(offered) = efforts::offered(self.model, self.rule.efforts) else {
            if asked == ReasoningEffort::None && self.model.rejects(Knob::ThinkingOff) {
                self.warn(FIELD, "is sent as low: this model cannot stop thinking");
                return Ok(Some(ReasoningEffort::Low));
            }
            return Ok(Some(asked));
        };
        let Some(taken) = asked.clamp_to(&offered) else {
            if asked == ReasoningEffort::None {
                // it does not think anyway
                return Ok(None);
            }
            let message = "asks for reasoning, which this model does not do";
            return Err(unsupported(FIELD, message));
        };
        if taken != asked {
            let words: Vec<_> = offered.iter().map(|level| level.as_str()).collect();
            let message = format!(
                "is sent as {}: here this model takes {}",
                taken.as_str(),
                words.join(", ")
            );
            self.warn(FIELD, &message);
        }
        Ok(Some(taken))
    }
}
