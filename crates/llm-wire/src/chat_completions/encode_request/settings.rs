//! Reasoning effort, sampling, limits, and the options of the vendor's own.
//!
//! Source of the rules: `openai-chat.md` of the project's wire notes (Request, Reasoning), state of 2026-11-29.

use super::Encoding;
use super::own_options::OwnOptions;
use crate::chat_completions::dialect::MaxTokensField;
use crate::chat_completions::request_types::Body;
use crate::fault::{invalid, unsupported};
use llm_core::model::Knob;
use llm_core::{Capability, ReasoningEffort, Result, Support};

/// The effort of a request.
pub(super) struct Effort<'a> {
    /// What is sent; absent: nothing.
    pub(super) word: Option<&'a str>,
    /// Will the model not think at all?
    pub(super) off: bool,
}

impl<'a> Encoding<'a> {
    pub(super) fn effort(&mut self, own: &OwnOptions<'a>) -> Result<Effort<'a>> {
        let reasoning = self.request.reasoning.unwrap_or_default();
        if reasoning.include && !self.dialect.shows_reasoning {
            self.warn(
                "reasoning.include",
                "cannot be had: this host never shows reasoning here",
            );
        }
        let mut word = match (own.bag.text("reasoning_effort"), reasoning.effort) {
            (Some(own), _) => Some(own),
            (None, Some(effort)) => self.effort_taken(effort)?.map(ReasoningEffort::as_str),
            (None, None) => None,
        };
        let mut off = match word {
            Some(word) => word == "none",
            None => self.rule.default_effort_is_none,
        };
        let tools = !self.request.tools.is_empty() || !own.own_tools.is_empty();
        if tools && !self.rule.tools_with_reasoning && !off {
            let can_be_off = self
                .efforts_offered()
                .is_some_and(|offered| offered.contains(&ReasoningEffort::None));
            if !can_be_off {
                let message = "cannot be used with this model here: it takes tools at the Responses API only";
                return Err(unsupported("tools", message));
            }
            if word.is_some() {
                let message = "cannot be had together with tools: this model takes both only at the Responses \
                               API; ask for effort none, or for another model";
                return Err(unsupported("reasoning.effort", message));
            }
            self.warn(
                "reasoning.effort",
                "is sent as none: with tools this model takes no other here",
            );
            word = Some(ReasoningEffort::None.as_str());
            off = true;
        }
        Ok(Effort { word, off })
    }

    /// The level to send for the level asked for; `None`: nothing is sent.
    fn effort_taken(&mut self, asked: ReasoningEffort) -> Result<Option<ReasoningEffort>> {
        const FIELD: &str = "reasoning.effort";
        if !self.dialect.reasoning_effort {
            self.warn(FIELD, "is not sent: this host does not take it");
            return Ok(None);
        }
        let Some(offered) = self.efforts_offered() else {
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

    /// The levels that can be sent; `None`: unknown.
    fn efforts_offered(&self) -> Option<Vec<ReasoningEffort>> {
        let mut offered = match (&self.model.efforts, self.rule.efforts) {
            (Some(listed), Some(taken)) if !listed.is_empty() => {
                let both: Vec<_> = taken
                    .iter()
                    .copied()
                    .filter(|level| listed.contains(level))
                    .collect();
                if both.is_empty() { taken.to_vec() } else { both }
            }
            (Some(listed), _) => listed.clone(),
            (None, Some(taken)) => taken.to_vec(),
            (None, None) => match self.model.capabilities.support(Capability::Reasoning) {
                Support::No => Vec::new(),
                _ => return None,
            },
        };
        if self.model.rejects(Knob::ThinkingOff) {
            offered.retain(|level| *level != ReasoningEffort::None);
        }
        Some(offered)
    }

    pub(super) fn sampling(&mut self, thinking_off: bool, body: &mut Body<'a>) -> Result<()> {
        let sampling = &self.request.sampling;
        let numbers = [
            ("temperature", sampling.temperature),
            ("top_p", sampling.top_p),
            ("frequency_penalty", sampling.frequency_penalty),
            ("presence_penalty", sampling.presence_penalty),
        ];
        for (name, number) in numbers {
            if number.is_some_and(|number| !number.is_finite()) {
                return Err(invalid(&format!("sampling.{name}"), "is not a finite number"));
            }
        }
        let [temperature, top_p, penalties @ ..] = numbers;
        for (name, number) in [temperature, top_p] {
            if let (Some(number), true) = (number, self.takes_sampling(name, number.is_some(), thinking_off))
            {
                body.add(name, number);
            }
        }
        if let Some(top_k) = sampling.top_k
            && self.takes_sampling("top_k", true, thinking_off)
        {
            if self.dialect.options.top_k {
                body.add("top_k", top_k);
            } else {
                self.warn("sampling.top_k", "is not sent: this host does not take it");
            }
        }
        for (name, number) in penalties {
            let Some(number) = number else { continue };
            if self.dialect.options.penalties && self.rule.penalties {
                body.add(name, number);
            } else {
                self.warn(
                    &format!("sampling.{name}"),
                    "is not sent: this model or host does not take it",
                );
            }
        }
        if let Some(seed) = sampling.seed {
            if self.dialect.options.seed {
                body.add("seed", seed);
            } else {
                self.warn("sampling.seed", "is not sent: this host does not take it");
            }
        }
        Ok(())
    }

    /// Does the model take temperature and its like? Says so in a warning where not.
    fn takes_sampling(&mut self, name: &str, asked: bool, thinking_off: bool) -> bool {
        if !asked {
            return false;
        }
        let field = format!("sampling.{name}");
        if self.model.rejects(Knob::Sampling) {
            self.warn(&field, "is not sent: this model does not take it");
            return false;
        }
        if !self.rule.sampling_with_reasoning && !thinking_off {
            self.warn(
                &field,
                "is not sent: this model takes it only with reasoning effort none",
            );
            return false;
        }
        if self.model.ignores.contains(&Knob::Sampling) {
            self.warn(&field, "has no effect on this model");
        }
        true
    }

    pub(super) fn limits(&mut self, body: &mut Body<'a>) -> Result<()> {
        if let Some(asked) = self.request.max_output_tokens {
            const FIELD: &str = "max_output_tokens";
            if asked == 0 {
                return Err(invalid(FIELD, "is 0; ask for at least one token"));
            }
            let most = self
                .model
                .limits
                .max_output
                .and_then(|most| u32::try_from(most).ok());
            let tokens = most.map_or(asked, |most| asked.min(most));
            if tokens < asked {
                self.warn(FIELD, &format!("is sent as {tokens}: this model gives no more"));
            }
            let field = if self.rule.reasons {
                self.dialect.reasoning_max_tokens_field
            } else {
                self.dialect.max_tokens_field
            };
            let name = match field {
                MaxTokensField::MaxTokens => "max_tokens",
                MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
            };
            body.add(name, tokens);
        }
        self.stop(body)
    }

    /// To leave a stop sequence out would change where the answer ends, so it is refused instead.
    fn stop(&mut self, body: &mut Body<'a>) -> Result<()> {
        let stop = self.request.stop.as_slice();
        if stop.is_empty() {
            return Ok(());
        }
        if let Some(index) = stop.iter().position(String::is_empty) {
            return Err(invalid(&format!("stop[{index}]"), "is empty; leave it out"));
        }
        if !self.rule.stop {
            return Err(unsupported(
                "stop",
                "is given, but this model takes no stop sequences",
            ));
        }
        let most = self.dialect.max_stop_sequences;
        if stop.len() > most {
            return Err(unsupported(
                "stop",
                &format!("holds more than the {most} sequences that are taken here"),
            ));
        }
        body.add("stop", stop);
        Ok(())
    }

    /// Who asks, and what for.
    pub(super) fn caller(&mut self, body: &mut Body<'a>) {
        if let Some(user) = self.request.user.as_deref() {
            match self.dialect.options.user {
                Some(name) => body.add(name, user),
                None => self.warn("user", "is not sent: this host does not take it"),
            }
        }
        if let Some(tier) = self.request.service_tier.as_deref() {
            if self.dialect.options.service_tier {
                body.add("service_tier", tier);
            } else {
                self.warn("service_tier", "is not sent: this host does not take it");
            }
        }
    }

    /// The keys of the options bag. They win over neutral fields of the same name.
    pub(super) fn own_options(&mut self, own: &OwnOptions<'a>, thinking_off: bool, body: &mut Body<'a>) {
        for (name, value) in &own.bag.fields {
            let taken = match *name {
                // goes its own way, see `effort`
                "reasoning_effort" => continue,
                "logit_bias" | "top_logprobs" => self.rule.penalties,
                "logprobs" => self.rule.sampling_with_reasoning || thinking_off,
                _ => true,
            };
            if taken {
                body.add(name, *value);
            } else {
                let field = format!("vendor.{}.{name}", self.dialect.vendor);
                self.warn(&field, "is not sent: this model does not take it");
            }
        }
    }
}
