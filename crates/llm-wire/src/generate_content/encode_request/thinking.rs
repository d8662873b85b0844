//! How much thought, and whether it is shown.
//!
//! Source: `gemini.md` of the project's wire notes (Thinking), state of 2026-11-29.

use super::Encoding;
use super::own_options::OwnOptions;
use crate::fault::unsupported;
use crate::generate_content::dialect::Thinking;
use crate::generate_content::request_types::{Field, Fields};
use llm_core::{Capability, ReasoningEffort, Result, Support};
use serde_json::Value;

const FIELD: &str = "reasoning.effort";

impl<'a> Encoding<'a> {
    pub(super) fn thinking(&mut self, own: &OwnOptions<'a>, config: &mut Fields<'a>) -> Result<()> {
        let asked = self.request.reasoning.unwrap_or_default();
        let mut thinking = Fields::new(None);
        if let Some(Value::Object(own)) = own.bag.value("thinkingConfig") {
            for (name, value) in own {
                thinking.add(name, value);
            }
        } else if let Some(effort) = asked.effort
            && let Some((name, field)) = self.effort(effort)?
        {
            thinking.add(name, field);
        }
        if asked.include {
            if self.thinks() {
                thinking.add("includeThoughts", true);
            } else {
                self.warn("reasoning.include", "cannot be had: this model does not think");
            }
        }
        config.add_object("thinkingConfig", thinking);
        Ok(())
    }

    fn thinks(&self) -> bool {
        let can = self.model.capabilities.support(Capability::Reasoning);
        let listed = self.listed_efforts().map(|efforts| !efforts.is_empty());
        listed.unwrap_or(can != Support::No && self.rule.thinking != Thinking::Never)
    }

    /// The levels that the catalogue lists.
    fn listed_efforts(&self) -> Option<&'a [ReasoningEffort]> {
        self.model.efforts.as_deref()
    }

    /// The field that says how much; `None`: nothing is sent.
    fn effort(&mut self, asked: ReasoningEffort) -> Result<Option<(&'static str, Field<'a>)>> {
        if !self.thinks() {
            if asked == ReasoningEffort::None {
                // it does not think anyway
                return Ok(None);
            }
            let message = "asks for reasoning, which this model does not do";
            return Err(unsupported(FIELD, message));
        }
        match (self.rule.thinking, self.listed_efforts()) {
            (Thinking::Budget { least, most, off }, _) => Ok(Some((
                "thinkingBudget",
                self.budget(asked, least, most, off).into(),
            ))),
            (Thinking::Level { lowest, efforts }, listed) => {
                let both: Vec<_> = efforts
                    .iter()
                    .copied()
                    .filter(|level| listed.is_none_or(|listed| listed.contains(level)))
                    .collect();
                let offered = if both.is_empty() { efforts } else { both.as_slice() };
                Ok(Some(("thinkingLevel", self.level(asked, lowest, offered).into())))
            }
            (_, Some(listed)) => Ok(Some(("thinkingLevel", self.level(asked, "low", listed).into()))),
            (_, None) => {
                let message = "is not sent: it is not known how this model is told how much to think";
                self.warn(FIELD, message);
                Ok(None)
            }
        }
    }

    /// The word for a level. These models cannot stop thinking.
    fn level(
        &mut self,
        asked: ReasoningEffort,
        lowest: &'static str,
        offered: &[ReasoningEffort],
    ) -> &'static str {
        if asked == ReasoningEffort::None {
            self.warn(
                FIELD,
                &format!("is sent as {lowest}: this model cannot stop thinking"),
            );
            return lowest;
        }
        let thinking: Vec<_> = offered
            .iter()
            .copied()
            .filter(|level| *level != ReasoningEffort::None)
            .collect();
        let taken = asked.clamp_to(&thinking).unwrap_or(ReasoningEffort::Low);
        if taken != asked {
            let words: Vec<_> = thinking.iter().map(|level| level.as_str()).collect();
            let message = format!(
                "is sent as {}: this model takes {}",
                taken.as_str(),
                words.join(", ")
            );
            self.warn(FIELD, &message);
        }
        taken.as_str()
    }

    /// The tokens for a level, for models that are told a number. The steps are ours.
    fn budget(&mut self, asked: ReasoningEffort, least: u32, most: u32, off: bool) -> u32 {
        let tokens = match asked {
            ReasoningEffort::None if off => return 0,
            ReasoningEffort::None => {
                self.warn(
                    FIELD,
                    &format!("is sent as {least} tokens: this model cannot stop thinking"),
                );
                least
            }
            ReasoningEffort::Low => 2_048,
            ReasoningEffort::Medium => 8_192,
            ReasoningEffort::High => 16_384,
            ReasoningEffort::XHigh => 24_576,
            _ => most,
        };
        tokens.clamp(least, most)
    }
}
