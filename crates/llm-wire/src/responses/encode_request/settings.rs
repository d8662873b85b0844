//! Sampling, limits, the form of the answer, and the options of the vendor's own.
//!
//! Source of the rules: `openai-responses.md` of the project's wire notes (Request, Reasoning), state of 2026-11-29.

use super::Encoding;
use crate::bag::Bag;
use crate::fault::{invalid, unsupported};
use crate::responses::request_types::{Body, Include, WireFormat};
use llm_core::model::Knob;
use llm_core::{Capability, OutputFormat, Result, Support};
use std::borrow::Cow;

/// Keys of the options bag that are no fields of the body, or go their own way into it.
pub(super) const NOT_IN_BODY: [&str; 8] = [
    "verbosity",
    "logprobs",
    "top_logprobs",
    "reasoning_effort",
    "reasoning",
    "text",
    "include",
    "tool_choice",
];

const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
const LOGPROBS: &str = "message.output_text.logprobs";

impl<'a> Encoding<'a> {
    /// `off`: the model does not think.
    pub(super) fn sampling(&mut self, bag: &Bag<'a>, off: bool, body: &mut Body<'a>) -> Result<()> {
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
        for (name, number) in &numbers[..2] {
            if let Some(number) = *number
                && self.takes_sampling(name, off)
            {
                body.add(name, number);
            }
        }
        let others = [
            ("sampling.top_k", sampling.top_k.is_some()),
            ("sampling.frequency_penalty", sampling.frequency_penalty.is_some()),
            ("sampling.presence_penalty", sampling.presence_penalty.is_some()),
            ("sampling.seed", sampling.seed.is_some()),
        ];
        for (field, given) in others {
            if given {
                self.warn(field, "is not sent: this format does not have it");
            }
        }
        if let Some(number) = bag.value("top_logprobs") {
            if off || self.rule.sampling_with_reasoning {
                body.add("top_logprobs", number);
            } else {
                let field = format!("vendor.{}.top_logprobs", self.dialect.vendor);
                self.warn(
                    &field,
                    "is not sent: this model takes it only with reasoning effort none",
                );
            }
        }
        Ok(())
    }

    /// Does the model take temperature and its like? Says so in a warning where not.
    fn takes_sampling(&mut self, name: &str, off: bool) -> bool {
        let field = format!("sampling.{name}");
        if self.model.rejects(Knob::Sampling) {
            self.warn(&field, "is not sent: this model does not take it");
            return false;
        }
        if !off && !self.rule.sampling_with_reasoning {
            let message = "is not sent: this model takes it only with reasoning effort none";
            self.warn(&field, message);
            return false;
        }
        if self.model.ignores.contains(&Knob::Sampling) {
            self.warn(&field, "has no effect on this model");
        }
        true
    }

    pub(super) fn limits(&mut self, body: &mut Body<'a>) -> Result<()> {
        // to leave a stop sequence out would change where the answer ends
        if !self.request.stop.is_empty() {
            let message = "is given, but this format has no stop sequences; cut the answer yourself";
            return Err(unsupported("stop", message));
        }
        let Some(asked) = self.request.max_output_tokens else {
            return Ok(());
        };
        const FIELD: &str = "max_output_tokens";
        if asked == 0 {
            return Err(invalid(FIELD, "is 0; ask for at least one token"));
        }
        let most = self.model.limits.max_output;
        let most = most.and_then(|most| u32::try_from(most).ok());
        let tokens = most.map_or(asked, |most| asked.min(most));
        if tokens < asked {
            self.warn(FIELD, &format!("is sent as {tokens}: this model gives no more"));
        }
        body.add(FIELD, tokens);
        Ok(())
    }

    /// Who asks, and what for.
    pub(super) fn caller(&mut self, body: &mut Body<'a>) {
        if let Some(user) = self.request.user.as_deref() {
            body.add("safety_identifier", user);
        }
        if let Some(tier) = self.request.service_tier.as_deref() {
            match self.dialect.service_tiers.why_not(tier) {
                None => body.add("service_tier", tier),
                Some(message) => self.warn("service_tier", &message),
            }
        }
    }

    /// The form of the answer, and how long it is.
    pub(super) fn text(&mut self, bag: &Bag<'a>, body: &mut Body<'a>) -> Result<()> {
        let mut text = Body::new(None);
        for (name, value) in bag
            .value("text")
            .and_then(|own| own.as_object())
            .into_iter()
            .flatten()
        {
            text.add(name, value);
        }
        match &self.request.output {
            OutputFormat::Text => {}
            OutputFormat::Json => text.add("format", WireFormat::JsonObject),
            OutputFormat::JsonSchema {
                name,
                description,
                schema,
                strict,
            } => {
                if self.model.capabilities.support(Capability::JsonSchema) == Support::No {
                    let message = "asks for JSON of a schema, which this model cannot promise; ask for JSON";
                    return Err(unsupported("output", message));
                }
                if name.is_empty() {
                    return Err(invalid("output.name", "is empty; give the schema a name"));
                }
                let sent = self.dialect.strict_schemas.sent(Cow::Borrowed(schema), *strict);
                if let Some(message) = sent.why_not {
                    self.warn("output.strict", &message);
                }
                let format = WireFormat::JsonSchema {
                    name,
                    description: description.as_deref(),
                    schema: sent.schema,
                    strict: sent.strict,
                };
                text.add("format", format);
            }
            _ => {
                return Err(unsupported(
                    "output",
                    "is of a form that this format does not know",
                ));
            }
        }
        if let Some(verbosity) = bag.value("verbosity") {
            text.add("verbosity", verbosity);
        }
        body.add_object("text", text);
        Ok(())
    }

    /// What the answer is to hold beside the usual.
    pub(super) fn include(&mut self, bag: &Bag<'a>, off: bool, body: &mut Body<'a>) {
        let own = bag.value("include").and_then(|list| list.as_array());
        let mut include: Vec<_> = own.into_iter().flatten().map(Include::Own).collect();
        let logprobs = bag.value("logprobs").is_some_and(|wanted| *wanted == true);
        let words = [
            // other models refuse it
            (ENCRYPTED_REASONING, self.rule.reasons && !off),
            (LOGPROBS, logprobs || body.has("top_logprobs")),
        ];
        for (word, wanted) in words {
            let there = include
                .iter()
                .any(|own| matches!(own, Include::Own(own) if **own == word));
            if wanted && !there {
                include.push(Include::Word(word));
            }
        }
        if !include.is_empty() {
            body.add("include", include);
        }
    }
}
