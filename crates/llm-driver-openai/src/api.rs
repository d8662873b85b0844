//! Which of the vendor's two APIs serves a request.

use crate::config::ApiChoice;
use llm_core::{
    ChatRequest, ContentPart, Error, ErrorKind, ModelId, ReasoningEffort, ResolvedModel, Result, VendorId,
    VendorOptions,
};
use llm_wire::{chat_completions, responses};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;

/// The key of the options bag that chooses for one request.
const KEY: &str = "api";

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    ChatCompletions,
    Responses,
    /// Chat Completions, unless it would refuse the request and Responses would not.
    Either,
}

/// What the choice rests on. The rule itself stands in the crate's README ("Which API").
#[derive(Debug)]
pub(crate) struct ApiRule {
    pub(crate) choice: ApiChoice,
    /// Is it OpenAI itself? Another host never speaks Responses unless it is said to.
    pub(crate) is_openai: bool,
    pub(crate) vendor: VendorId,
    /// Models that Responses alone serves.
    pub(crate) responses_only: HashSet<ModelId>,
}

impl ApiRule {
    /// The API for a request to this model.
    pub(crate) fn api_of(
        &self,
        request: &ChatRequest,
        model: &ResolvedModel,
        chat: &chat_completions::Dialect,
        responses: &responses::Dialect,
    ) -> Result<Api> {
        match self.asked(request)?.unwrap_or(self.choice) {
            ApiChoice::ChatCompletions => return Ok(Api::ChatCompletions),
            ApiChoice::Responses => return Ok(Api::Responses),
            ApiChoice::Auto if !self.is_openai => return Ok(Api::ChatCompletions),
            ApiChoice::Auto => {}
        }
        if self.responses_only.contains(&model.id) {
            return Ok(Api::Responses);
        }
        let own = request.vendor.of(self.vendor.as_str());
        let keys = || own.into_iter().flat_map(|own| own.keys());
        if keys().any(|key| is_one_of(key, responses.option_keys) && !is_one_of(key, chat.option_keys)) {
            return Ok(Api::Responses);
        }
        if keys().any(|key| is_one_of(key, chat.option_keys) && !is_one_of(key, responses.option_keys)) {
            return Ok(Api::ChatCompletions);
        }
        let (here, there) = (chat.rule_of(model), responses.rule_of(model));
        let asked = request.reasoning.unwrap_or_default();
        let word = own.and_then(|own| own.get("reasoning_effort")?.as_str());
        let thinks = match word.or(asked.effort.map(ReasoningEffort::as_str)) {
            Some(word) => word != "none",
            None => !here.default_effort_is_none,
        };
        let tools = !request.tools.is_empty() || keys().any(|key| key == "custom_tools");
        let takes = |efforts: Option<&[ReasoningEffort]>, effort| {
            efforts.is_some_and(|efforts| efforts.contains(&effort))
        };
        let more = asked
            .effort
            .is_some_and(|effort| takes(there.efforts, effort) && !takes(here.efforts, effort));
        let keeps_reasoning = self.recorded(request)
            || (tools && thinks && !here.tools_with_reasoning)
            || (there.reasons && thinks && asked.include)
            || more;
        Ok(if keeps_reasoning {
            Api::Responses
        } else {
            Api::Either
        })
    }

    /// What the request itself asks for.
    fn asked(&self, request: &ChatRequest) -> Result<Option<ApiChoice>> {
        let own = request.vendor.of(self.vendor.as_str());
        let Some(word) = own.and_then(|own| own.get(KEY)).filter(|word| !word.is_null()) else {
            return Ok(None);
        };
        ApiChoice::deserialize(word).map(Some).map_err(|_| {
            let field = format!("vendor.{}.{KEY}", self.vendor);
            let message = format!("{field} must be auto, chat_completions or responses");
            let mut error = Error::new(ErrorKind::InvalidRequest, message);
            error.vendor_mut().param = Some(field);
            error
        })
    }

    /// The request without its choice, which is no field of either API.
    pub(crate) fn without_choice<'r>(&self, request: &'r ChatRequest) -> Cow<'r, ChatRequest> {
        let own = request.vendor.of(self.vendor.as_str());
        if own.is_none_or(|own| !own.contains_key(KEY)) {
            return Cow::Borrowed(request);
        }
        let mut stripped = request.clone();
        stripped.vendor = VendorOptions::default();
        for (vendor, fields) in request.vendor.iter() {
            let is_choice = |key: &str| *vendor == self.vendor && key == KEY;
            for (key, value) in fields.iter().filter(|(key, _)| !is_choice(key)) {
                stripped.vendor.set(vendor.clone(), key, value.clone());
            }
        }
        Cow::Owned(stripped)
    }

    /// Does the history hold what Responses recorded? Chat Completions could not send it back.
    fn recorded(&self, request: &ChatRequest) -> bool {
        let mut parts = request.messages.iter().flat_map(|message| &message.content);
        parts.any(|part| {
            let origin = match part {
                ContentPart::Reasoning(part) => part.replay.as_ref().map(|replay| &replay.origin),
                ContentPart::Opaque(part) => Some(&part.replay.origin),
                _ => None,
            };
            origin.is_some_and(|origin| origin.vendor == self.vendor) && responses::is_own_item(part)
        })
    }
}

fn is_one_of(key: &str, keys: &[responses::dialect::OptionKey]) -> bool {
    keys.iter().any(|known| known.name == key)
}

#[cfg(test)]
mod tests;
