//! Sampling, limits, and the options of the vendor's own.
//!
//! Source of the rules: `openai-chat.md` of the project's wire notes (Request, Reasoning), state of 2026-11-29.

use super::Encoding;
use super::own_options::OwnOptions;
use crate::chat_completions::dialect::MaxTokensField;
use crate::chat_completions::request_types::Body;
use crate::custom;
use crate::fault::{invalid, unsupported};
use llm_core::Result;
use llm_core::model::Knob;

const ONLY_WITHOUT_THOUGHT: &str = "is not sent: this model takes it only with reasoning effort none";

impl<'a> Encoding<'a> {
    pub(super) fn sampling(&mut self, body: &mut Body<'a>) -> Result<()> {
        let sampling = &self.request.sampling;
        let numbers = [
            ("temperature", sampling.temperature),
            ("top_p", sampling.top_p),
            ("frequency_penalty", sampling.frequency_penalty),
            ("presence_penalty", sampling.presence_penalty),
        ];
        for (name, number) in numbers {
            if number.is_some_and(|number| !number.is_finite()) {
                return Err(invalid(format!("sampling.{name}"), "is not a finite number"));
            }
        }
        let [temperature, top_p, penalties @ ..] = numbers;
        for (name, number) in [temperature, top_p] {
            if let (Some(number), true) = (number, self.takes_sampling(name, number.is_some())) {
                body.add(name, number);
            }
        }
        if let Some(top_k) = sampling.top_k {
            if !self.dialect.options.top_k {
                self.warn("sampling.top_k", "is not sent: this host does not take it");
            } else if self.takes_sampling("top_k", true) {
                body.add("top_k", top_k);
            }
        }
        for (name, number) in penalties {
            let Some(number) = number else { continue };
            let message = if !(self.dialect.options.penalties && self.rule.penalties) {
                "is not sent: this model or host does not take it"
            } else if self.thinks_without_sampling() {
                ONLY_WITHOUT_THOUGHT
            } else {
                body.add(name, number);
                continue;
            };
            self.warn(format!("sampling.{name}"), message);
        }
        if let Some(seed) = sampling.seed {
            match self.dialect.options.seed {
                Some(name) => body.add(name, seed),
                None => self.warn("sampling.seed", "is not sent: this host does not take it"),
            }
        }
        Ok(())
    }

    /// Does the model take temperature and its like? Says so in a warning where not.
    fn takes_sampling(&mut self, name: &str, asked: bool) -> bool {
        if !asked {
            return false;
        }
        let field = format!("sampling.{name}");
        if self.model.rejects(Knob::Sampling) || !self.rule.sampling {
            self.warn(&field, "is not sent: this model does not take it");
            return false;
        }
        if self.thinks_without_sampling() {
            self.warn(&field, ONLY_WITHOUT_THOUGHT);
            return false;
        }
        if self.model.ignores.contains(&Knob::Sampling) {
            self.warn(&field, "has no effect on this model");
        }
        true
    }

    /// Does it think, and take no temperature and its like while it does?
    fn thinks_without_sampling(&self) -> bool {
        !self.rule.sampling_with_reasoning && !self.thinking_off
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
            return Err(invalid(format!("stop[{index}]"), "is empty; leave it out"));
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
        let longest = self.dialect.max_stop_bytes;
        if let Some(index) = stop.iter().position(|text| text.len() > longest) {
            let message = format!("is longer than the {longest} bytes that are taken here");
            return Err(unsupported(format!("stop[{index}]"), &message));
        }
        body.add("stop", stop);
        Ok(())
    }

    /// Who asks, and what for.
    pub(super) fn caller(&mut self, body: &mut Body<'a>) {
        if let Some(user) = self.request.user.as_deref() {
            let is_word = |user: &str| {
                let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
                user.len() <= 512 && user.bytes().all(in_word)
            };
            match self.dialect.options.user {
                Some(_) if self.dialect.options.user_is_word && !is_word(user) => {
                    let message = "is not sent: this host takes letters, digits, _ and -, up to 512 of them";
                    self.warn("user", message);
                }
                Some(name) => body.add(name, user),
                None => self.warn("user", "is not sent: this host does not take it"),
            }
        }
        if let Some(tier) = self.request.service_tier.as_deref() {
            match self.dialect.options.service_tiers.why_not(tier) {
                None => body.add("service_tier", tier),
                Some(message) => self.warn("service_tier", &message),
            }
        }
    }

    /// The keys of the options bag. They win over neutral fields of the same name.
    pub(super) fn own_options(&mut self, own: &OwnOptions<'a>, body: &mut Body<'a>) {
        for (name, value) in &own.bag.fields {
            if *name == "tool_choice" {
                body.add(name, custom::nested(value));
                continue;
            }
            let taken = match *name {
                // goes its own way, see `effort`
                "reasoning_effort" => continue,
                "logit_bias" => self.rule.penalties,
                "top_logprobs" => self.rule.top_logprobs && !self.thinks_without_sampling(),
                "logprobs" => !self.thinks_without_sampling(),
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
