//! Whether the model thinks, and how much.
//!
//! Source: `ollama.md` of the project's wire notes (Thinking), state of 2026-11-29.

use super::Encoding;
use crate::fault::unsupported;
use crate::ollama::request_types::{Field, Fields};
use llm_core::ReasoningEffort::{self, High, Low, Max, Medium};
use llm_core::model::Knob;
use llm_core::{Capability, Result, Support};

const FIELD: &str = "reasoning.effort";

impl<'a> Encoding<'a> {
    pub(super) fn thinking(&mut self, body: &mut Fields<'a>) -> Result<()> {
        let asked = self.request.reasoning.unwrap_or_default();
        let thinks = self.model.capabilities.support(Capability::Reasoning) != Support::No
            && self
                .model
                .efforts
                .as_ref()
                .is_none_or(|efforts| !efforts.is_empty());
        if asked.include && !thinks {
            self.warn("reasoning.include", "cannot be had: this model does not think");
        }
        if body.has("think") {
            return Ok(());
        }
        match asked.effort {
            None => {}
            // it does not think anyway
            Some(ReasoningEffort::None) if !thinks => {}
            Some(_) if !thinks => {
                return Err(unsupported(
                    FIELD,
                    "asks for reasoning, which this model does not do",
                ));
            }
            Some(effort) => {
                let think = self.think(effort);
                body.add("think", think);
            }
        }
        Ok(())
    }

    /// One family takes levels and ignores on and off; of others the catalogue knows.
    fn think(&mut self, asked: ReasoningEffort) -> Field<'a> {
        let name = self.model.id.as_str().rsplit('/').next().unwrap_or_default();
        let only_levels = name.starts_with("gpt-oss");
        let listed = self.model.efforts.as_deref().unwrap_or_default();
        let levels: Vec<_> = [Low, Medium, High, Max]
            .into_iter()
            .filter(|level| listed.contains(level) || (only_levels && *level != Max))
            .collect();
        if asked == ReasoningEffort::None {
            if !only_levels && !self.model.rejects(Knob::ThinkingOff) {
                return false.into();
            }
            let lowest = levels.first().map(|level| level.as_str());
            let message = format!(
                "is sent as {}: this model cannot stop thinking",
                lowest.unwrap_or("on")
            );
            self.warn(FIELD, &message);
            return lowest.map_or(true.into(), Field::from);
        }
        let Some(taken) = asked.clamp_to(&levels) else {
            let message = "is sent as thinking on: it is not known that this model takes levels";
            self.warn(FIELD, message);
            return true.into();
        };
        if taken != asked {
            let words: Vec<_> = levels.iter().map(|level| level.as_str()).collect();
            let message = format!(
                "is sent as {}: this model takes {}",
                taken.as_str(),
                words.join(", ")
            );
            self.warn(FIELD, &message);
        }
        taken.as_str().into()
    }
}
