//! Sampling, limits, and who asks.

use super::Encoding;
use crate::fault::invalid;
use crate::ollama::request_types::Fields;
use llm_core::Result;
use llm_core::model::Knob;

impl<'a> Encoding<'a> {
    pub(super) fn sampling(&mut self, options: &mut Fields<'a>) -> Result<()> {
        let sampling = &self.request.sampling;
        let numbers = [
            ("temperature", sampling.temperature),
            ("top_p", sampling.top_p),
            ("frequency_penalty", sampling.frequency_penalty),
            ("presence_penalty", sampling.presence_penalty),
        ];
        for (name, number) in numbers {
            let Some(number) = number else { continue };
            let field = format!("sampling.{name}");
            if !number.is_finite() {
                return Err(invalid(&field, "is not a finite number"));
            }
            if name.ends_with("penalty") || self.takes_sampling(&field) {
                options.add(name, number);
            }
        }
        if let Some(top_k) = sampling.top_k
            && self.takes_sampling("sampling.top_k")
        {
            options.add("top_k", top_k);
        }
        if let Some(seed) = sampling.seed {
            options.add("seed", seed);
        }
        Ok(())
    }

    /// Does the model take temperature and its like? Says so in a warning where not.
    fn takes_sampling(&mut self, field: &str) -> bool {
        if self.model.rejects(Knob::Sampling) {
            self.warn(field, "is not sent: this model does not take it");
            return false;
        }
        if self.model.ignores.contains(&Knob::Sampling) {
            self.warn(field, "has no effect on this model");
        }
        true
    }

    pub(super) fn limits(&mut self, options: &mut Fields<'a>) -> Result<()> {
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
            options.add("num_predict", tokens);
        }
        let stop = self.request.stop.as_slice();
        if let Some(index) = stop.iter().position(String::is_empty) {
            return Err(invalid(format!("stop[{index}]"), "is empty; leave it out"));
        }
        if !stop.is_empty() {
            options.add("stop", stop);
        }
        Ok(())
    }

    /// Who asks, and what for.
    pub(super) fn caller(&mut self) {
        if self.request.user.is_some() {
            self.warn("user", "is not sent: this format has no place for it");
        }
        if self.request.service_tier.is_some() {
            self.warn("service_tier", "is not sent: this format has no place for it");
        }
    }
}
