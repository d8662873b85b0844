//! How much the model thinks, and how that is said.

use super::Encoding;
use super::own_options::OwnOptions;
use crate::chat_completions::dialect::EffortForm;
use crate::chat_completions::request_types::{Body, WireThinking};
use crate::efforts;
use crate::fault::unsupported;
use llm_core::model::Knob;
use llm_core::{Capability, ReasoningEffort, Result, Support};

const FIELD: &str = "reasoning.effort";

/// The effort of a request.
#[derive(Default)]
pub(super) struct Effort<'a> {
    /// The word that is sent; absent: none.
    word: Option<&'a str>,
    /// What is sent of the switch for thought; absent: nothing.
    switch: Option<&'static str>,
    /// Will the model not think at all?
    pub(super) off: bool,
}

impl<'a> Encoding<'a> {
    pub(super) fn effort(&mut self, own: &OwnOptions<'a>) -> Result<Effort<'a>> {
        let reasoning = self.request.reasoning.unwrap_or_default();
        if reasoning.include {
            if !self.dialect.shows_reasoning {
                self.warn(
                    "reasoning.include",
                    "cannot be had: this host never shows reasoning here",
                );
            } else if self.model.capabilities.support(Capability::Reasoning) == Support::No {
                self.warn("reasoning.include", "cannot be had: this model does not think");
            }
        }
        let own_word = own.bag.text("reasoning_effort");
        let taken = match (own_word, reasoning.effort) {
            (None, Some(effort)) => self.effort_taken(effort)?,
            _ => None,
        };
        let mut effort = self.said(own_word, taken);
        // The switch in the options bag is a field of its own, which wins.
        if let Some(switch) = own.bag.value("thinking").and_then(|own| own.get("type")) {
            effort.switch = None;
            effort.off = switch.as_str() == Some("disabled");
            if effort.off && effort.word.take().is_some() {
                self.warn(FIELD, "is not sent: the options bag switches thought off");
            }
        }
        let tools = !self.request.tools.is_empty() || !own.own_tools.is_empty();
        if tools && !self.rule.tools_with_reasoning && !effort.off {
            self.think_not_with_tools(&mut effort)?;
        }
        Ok(effort)
    }

    /// A level, as the model is told.
    fn said(&self, own_word: Option<&'a str>, taken: Option<ReasoningEffort>) -> Effort<'a> {
        let none = taken == Some(ReasoningEffort::None);
        let switch = taken.map(|_| if none { "disabled" } else { "enabled" });
        let word = own_word.or(taken.map(ReasoningEffort::as_str));
        match self.rule.effort_form {
            EffortForm::Word | EffortForm::NoneOrDefault => {
                let graded = self.rule.effort_form == EffortForm::Word;
                let word = match own_word {
                    None if !graded && taken.is_some() => Some(if none { "none" } else { "default" }),
                    _ => word,
                };
                let off = word.map_or(self.rule.default_effort_is_none, |word| word == "none");
                Effort {
                    word,
                    switch: None,
                    off,
                }
            }
            EffortForm::ThinkingAndWord => Effort {
                word: word.filter(|_| !none),
                switch,
                off: none,
            },
            EffortForm::Thinking => Effort {
                word: own_word,
                switch,
                off: none,
            },
        }
    }

    /// With tools this model must not think.
    fn think_not_with_tools(&mut self, effort: &mut Effort<'a>) -> Result<()> {
        let can_be_off = efforts::offered(self.model, self.rule.efforts)
            .is_some_and(|offered| offered.contains(&ReasoningEffort::None));
        if !can_be_off {
            let message = "cannot be used with this model here: it takes tools at the Responses API only";
            return Err(unsupported("tools", message));
        }
        if effort.word.is_some() {
            let message = "cannot be had together with tools: this model takes both only at the Responses API; \
                           ask for effort none, or for another model";
            return Err(unsupported(FIELD, message));
        }
        self.warn(
            FIELD,
            "is sent as none: with tools this model takes no other here",
        );
        *effort = self.said(None, Some(ReasoningEffort::None));
        Ok(())
    }

    /// The level to send for the level asked for; `None`: nothing is sent.
    fn effort_taken(&mut self, asked: ReasoningEffort) -> Result<Option<ReasoningEffort>> {
        if !self.dialect.reasoning_effort {
            self.warn(FIELD, "is not sent: this host does not take it");
            return Ok(None);
        }
        let Some(offered) = efforts::offered(self.model, self.rule.efforts) else {
            if asked == ReasoningEffort::None && self.model.rejects(Knob::ThinkingOff) {
                self.warn(FIELD, "is sent as low: this model cannot stop thinking");
                return Ok(Some(ReasoningEffort::Low));
            }
            return Ok(Some(asked));
        };
        let raised = self.dialect.raised_efforts.iter();
        let raised =
            raised.filter(|(level, to)| *level == asked && !offered.contains(level) && offered.contains(to));
        let raised = raised.map(|(_, to)| *to).next();
        let Some(taken) = raised.or_else(|| asked.clamp_to(&offered)) else {
            if asked == ReasoningEffort::None {
                // it does not think anyway
                return Ok(None);
            }
            return Err(unsupported(
                FIELD,
                "asks for reasoning, which this model does not do",
            ));
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

    /// Adds what says how much the model thinks.
    pub(super) fn add_effort(&self, effort: &Effort<'a>, own: &OwnOptions<'a>, body: &mut Body<'a>) {
        if let Some(word) = effort.word {
            body.add("reasoning_effort", word);
        }
        if let Some(kind) = effort.switch {
            body.add("thinking", WireThinking { kind });
        }
        let shown_otherwise =
            ["reasoning_format", "include_reasoning"].map(|key| own.bag.value(key).is_some());
        if let Some(format) = self.rule.reasoning_format
            && !effort.off
            && !shown_otherwise.contains(&true)
        {
            body.add("reasoning_format", format);
        }
    }
}
