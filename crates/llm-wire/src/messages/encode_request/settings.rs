//! Limits, sampling, the form of the answer, and who asks.

use super::Encoding;
use super::schema::closed_schema;
use crate::bag::Bag;
use crate::fault::{invalid, unsupported, wrong_type};
use crate::messages::Dialect;
use crate::messages::request_types::{Body, WireMetadata, WireOutputConfig};
use llm_core::model::Knob;
use llm_core::{Capability, OutputFormat, Result, Support};

/// Keys of the options bag that are no fields of the body of their own, or are put there elsewhere.
pub(super) const NOT_IN_BODY: [&str; 5] = [
    "betas",
    "builtin_tools",
    "task_budget",
    "thinking",
    "output_config",
];

/// The cap on output.
#[derive(Debug)]
pub(super) struct Cap {
    pub(super) tokens: u32,
    /// Did the caller set it?
    pub(super) asked: bool,
    /// What the model gives at most, where that is known.
    pub(super) most: Option<u32>,
}

/// The names for the `anthropic-beta` header, each once: those of every request, and those of this one.
pub(super) fn betas<'a>(dialect: &'a Dialect, bag: &Bag<'a>) -> Result<Vec<&'a str>> {
    let mut names: Vec<_> = dialect.betas.iter().map(String::as_str).collect();
    let list = bag.value("betas").and_then(|list| list.as_array());
    for name in list.into_iter().flatten() {
        match name.as_str() {
            // a header holds them, joined by commas
            Some(name)
                if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',') =>
            {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            _ => return Err(wrong_type("vendor options betas", "a list of names of betas")),
        }
    }
    Ok(names)
}

impl<'a> Encoding<'a> {
    pub(super) fn cap(&mut self, stream: bool) -> Result<Cap> {
        const FIELD: &str = "max_output_tokens";
        let most = self.model.limits.max_output;
        let most = most.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
        let Some(asked) = self.request.max_output_tokens else {
            let tokens = match most {
                Some(most) if stream => most,
                Some(most) => most.min(self.dialect.plain_max_tokens),
                None => self.dialect.default_max_tokens,
            };
            let asked = false;
            return Ok(Cap { tokens, asked, most });
        };
        if asked == 0 {
            return Err(invalid(FIELD, "is 0; ask for at least one token"));
        }
        let tokens = most.map_or(asked, |most| asked.min(most));
        if tokens < asked {
            self.warn(FIELD, &format!("is sent as {tokens}: this model gives no more"));
        }
        let asked = true;
        Ok(Cap { tokens, asked, most })
    }

    pub(super) fn sampling(&mut self, thinking: bool, body: &mut Body<'a>) -> Result<()> {
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
        if let Some(temperature) = sampling.temperature
            && self.takes_sampling("temperature", thinking)
        {
            let taken = temperature.clamp(0.0, 1.0);
            if taken != temperature {
                let message = format!("is sent as {taken}: this format takes 0 to 1");
                self.warn("sampling.temperature", &message);
            }
            body.add("temperature", taken);
        }
        if let Some(top_p) = sampling.top_p
            && self.takes_sampling("top_p", thinking)
        {
            if sampling.temperature.is_some() && !self.rule.temperature_with_top_p {
                let message = "is not sent: this model does not take it together with a temperature";
                self.warn("sampling.top_p", message);
            } else {
                body.add("top_p", top_p);
            }
        }
        if let Some(top_k) = sampling.top_k
            && self.takes_sampling("top_k", thinking)
        {
            body.add("top_k", top_k);
        }
        let others = [
            ("sampling.frequency_penalty", sampling.frequency_penalty.is_some()),
            ("sampling.presence_penalty", sampling.presence_penalty.is_some()),
            ("sampling.seed", sampling.seed.is_some()),
        ];
        for (field, given) in others {
            if given {
                self.warn(field, "is not sent: this format does not have it");
            }
        }
        Ok(())
    }

    /// Does the model take temperature and its like? Says so in a warning where not.
    fn takes_sampling(&mut self, name: &str, thinking: bool) -> bool {
        let field = format!("sampling.{name}");
        if !self.rule.sampling || self.model.rejects(Knob::Sampling) {
            self.warn(&field, "is not sent: this model does not take it");
            return false;
        }
        if thinking && !self.rule.sampling_with_thinking {
            self.warn(&field, "is not sent: this model does not take it while it thinks");
            return false;
        }
        if self.model.ignores.contains(&Knob::Sampling) {
            self.warn(&field, "has no effect on this model");
        }
        true
    }

    /// To leave a stop sequence out would change where the answer ends, so it is refused instead.
    pub(super) fn stop(&mut self, body: &mut Body<'a>) -> Result<()> {
        let stop = self.request.stop.as_slice();
        if stop.is_empty() {
            return Ok(());
        }
        if let Some(index) = stop.iter().position(String::is_empty) {
            return Err(invalid(format!("stop[{index}]"), "is empty; leave it out"));
        }
        if let Some(index) = stop.iter().position(|sequence| sequence.trim().is_empty()) {
            let message = "is nothing but white space, which this format does not take";
            return Err(unsupported(format!("stop[{index}]"), message));
        }
        body.add("stop_sequences", stop);
        Ok(())
    }

    /// Who asks, and what for.
    pub(super) fn caller(&mut self, body: &mut Body<'a>) {
        if let Some(user_id) = self.request.user.as_deref() {
            body.add("metadata", WireMetadata { user_id });
        }
        if let Some(tier) = self.request.service_tier.as_deref() {
            match self.dialect.service_tiers.why_not(tier) {
                None => body.add("service_tier", tier),
                Some(message) => self.warn("service_tier", &message),
            }
        }
    }

    /// The form of the answer, and the effort that stands beside it.
    pub(super) fn output(
        &mut self,
        bag: &Bag<'a>,
        effort: Option<&'static str>,
        body: &mut Body<'a>,
    ) -> Result<()> {
        let schema = match &self.request.output {
            OutputFormat::Text => None,
            OutputFormat::Json => {
                let message = "asks for any JSON, which this format does not promise; give a schema";
                return Err(unsupported("output", message));
            }
            OutputFormat::JsonSchema {
                name,
                description,
                schema,
                strict: _,
            } => {
                let known = self.model.capabilities.support(Capability::JsonSchema);
                let taken = self.rule.schemas && self.dialect.takes_schemas(self.model);
                if !taken || known == Support::No {
                    let message = "asks for JSON of a schema, which this host or model cannot promise";
                    return Err(unsupported("output", message));
                }
                if name.is_empty() {
                    return Err(invalid("output.name", "is empty; give the schema a name"));
                }
                let closed = closed_schema(schema, description.as_deref())?;
                if !closed.in_words.is_empty() {
                    let words = closed.in_words.join(", ");
                    let message = format!("holds keywords that are not taken; sent in words: {words}");
                    self.warn("output.schema", &message);
                }
                Some(closed.schema)
            }
            _ => {
                return Err(unsupported(
                    "output",
                    "is of a form that this format does not know",
                ));
            }
        };
        let config = WireOutputConfig {
            effort,
            schema,
            task_budget: bag.value("task_budget"),
            own: bag.value("output_config").and_then(|own| own.as_object()),
        };
        if !config.is_empty() {
            body.add("output_config", config);
        }
        Ok(())
    }
}
