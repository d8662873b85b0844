//! Sampling, limits, and who asks.
//!
//! Source of the rules: `gemini.md` of the project's wire notes (Request), state of 2026-11-29.

use super::Encoding;
use crate::fault::{invalid, unsupported};
use crate::generate_content::dialect::Penalties;
use crate::generate_content::request_types::Fields;
use llm_core::Result;
use llm_core::model::Knob;

impl<'a> Encoding<'a> {
    pub(super) fn sampling(&mut self, config: &mut Fields<'a>) -> Result<()> {
        let sampling = &self.request.sampling;
        let numbers = [
            ("sampling.temperature", sampling.temperature),
            ("sampling.top_p", sampling.top_p),
            ("sampling.frequency_penalty", sampling.frequency_penalty),
            ("sampling.presence_penalty", sampling.presence_penalty),
        ];
        for (field, number) in numbers {
            if number.is_some_and(|number| !number.is_finite()) {
                return Err(invalid(field, "is not a finite number"));
            }
        }
        let [temperature, top_p, penalties @ ..] = numbers;
        for ((field, number), name) in [(temperature, "temperature"), (top_p, "topP")] {
            if let Some(number) = number
                && self.takes_sampling(field)
            {
                config.add(name, number);
            }
        }
        if let Some(top_k) = sampling.top_k
            && self.takes_sampling("sampling.top_k")
        {
            config.add("topK", top_k);
        }
        for ((field, number), name) in penalties.into_iter().zip(["frequencyPenalty", "presencePenalty"]) {
            let Some(number) = number else { continue };
            let taken = match self.rule.penalties {
                Penalties::Taken => true,
                Penalties::ByHost => self.dialect.penalties_for_2_5,
                Penalties::NotTaken => false,
            };
            if taken {
                config.add(name, number);
            } else {
                self.warn(field, "is not sent: this model does not take it here");
            }
        }
        if let Some(seed) = sampling.seed {
            match i32::try_from(seed) {
                Ok(seed) => config.add("seed", i64::from(seed)),
                Err(_) => self.warn("sampling.seed", "is not sent: it has more than 32 bits"),
            }
        }
        Ok(())
    }

    /// Does the model take temperature and its like? Says so in a warning where not. What a model only ignores is not
    /// sent either: it is announced to become an error.
    fn takes_sampling(&mut self, field: &str) -> bool {
        let message = if self.model.rejects(Knob::Sampling) {
            "is not sent: this model does not take it"
        } else if self.rule.ignores_sampling || self.model.ignores.contains(&Knob::Sampling) {
            "is not sent: it has no effect on this model"
        } else {
            return true;
        };
        self.warn(field, message);
        false
    }

    pub(super) fn limits(&mut self, config: &mut Fields<'a>) -> Result<()> {
        if let Some(asked) = self.request.max_output_tokens {
            const FIELD: &str = "max_output_tokens";
            if asked == 0 {
                return Err(invalid(FIELD, "is 0; ask for at least one token"));
            }
            // the service counts in 32 bits, one of which is the sign
            let most = self
                .model
                .limits
                .max_output
                .unwrap_or(u64::MAX)
                .min(i32::MAX as u64);
            let tokens = u64::from(asked).min(most);
            if tokens < u64::from(asked) {
                self.warn(FIELD, &format!("is sent as {tokens}: this model gives no more"));
            }
            config.add("maxOutputTokens", u32::try_from(tokens).unwrap_or(asked));
        }
        self.stop(config)
    }

    /// To leave a stop sequence out would change where the answer ends, so it is refused instead.
    fn stop(&mut self, config: &mut Fields<'a>) -> Result<()> {
        let stop = self.request.stop.as_slice();
        if stop.is_empty() {
            return Ok(());
        }
        if let Some(index) = stop.iter().position(String::is_empty) {
            return Err(invalid(format!("stop[{index}]"), "is empty; leave it out"));
        }
        let most = self.dialect.max_stop_sequences;
        if stop.len() > most {
            let message = format!("holds more than the {most} sequences that are taken here");
            return Err(unsupported("stop", &message));
        }
        config.add("stopSequences", stop);
        Ok(())
    }

    /// Who asks, and what for.
    pub(super) fn caller(&mut self, body: &mut Fields<'a>) {
        if self.request.user.is_some() {
            self.warn("user", "is not sent: this format has no place for it");
        }
        if let Some(tier) = self.request.service_tier.as_deref() {
            match self.dialect.service_tiers.why_not(tier) {
                None => body.add("serviceTier", tier),
                Some(message) => self.warn("service_tier", &message),
            }
        }
    }
}
