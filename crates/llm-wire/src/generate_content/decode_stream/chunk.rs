//! Reading one chunk, or a whole answer: which field says what.

use super::StreamDecoder;
use crate::generate_content::finish::{is_block, is_unspecified};
use crate::generate_content::types::{Answer, Candidate};
use crate::lenient::{Presence, Text};
use llm_core::{ChatEvent, Warning};

/// What a chunk was.
pub(super) enum Chunk {
    /// Part of an answer.
    Answer,
    /// A failure.
    Failure,
    /// The prompt was blocked for this reason.
    Blocked(String),
}

impl StreamDecoder {
    /// Takes one chunk, or a whole answer.
    pub(super) fn answer(&mut self, answer: Answer<'_>, out: &mut Vec<ChatEvent>) -> Chunk {
        if is_failure(&answer) {
            return Chunk::Failure;
        }
        let mut candidates = answer.candidates.unwrap_or_default();
        let reason = answer
            .prompt_feedback
            .as_ref()
            .and_then(|feedback| feedback.get("blockReason")?.as_str())
            .filter(|reason| is_block(reason) && candidates.is_empty())
            .map(str::to_owned);
        match reason {
            Some(reason) if !self.state.candidate_seen => return Chunk::Blocked(reason),
            Some(reason) => {
                self.state.blocked = true;
                self.state.finish = Some(reason);
            }
            None => {}
        }
        let tier = answer
            .usage_metadata
            .as_ref()
            .and_then(|usage| usage.service_tier.clone());
        self.note_meta(answer.response_id, answer.model_version, tier);
        let first = candidates
            .iter()
            .position(|candidate| candidate.index.unwrap_or(0) == 0);
        let several = candidates.len() > usize::from(first.is_some());
        let candidate = first.map(|at| candidates.swap_remove(at));
        let meta = &self.options.meta;
        if candidate.is_some() || several || meta.id.is_some() || meta.model.is_some() {
            self.start(out);
        }
        if several && !std::mem::replace(&mut self.state.other_candidates, true) {
            let message = "only the first candidate is read";
            self.aside(ChatEvent::Warning(Warning::wire("candidates", message)), out);
        }
        let metadata = &mut self.state.metadata;
        metadata.replace("promptFeedback", answer.prompt_feedback);
        metadata.replace("createTime", answer.create_time);
        metadata.replace("modelStatus", answer.model_status);
        if let Some(candidate) = candidate {
            self.candidate(candidate, out);
        }
        if let Some(usage) = answer.usage_metadata {
            let before = self.state.counts.usage();
            self.state.counts.take(&usage);
            let usage = self.state.counts.usage();
            if usage != before {
                self.aside(ChatEvent::Usage(usage), out);
            }
        }
        Chunk::Answer
    }

    fn candidate(&mut self, candidate: Candidate<'_>, out: &mut Vec<ChatEvent>) {
        self.state.candidate_seen = true;
        let metadata = &mut self.state.metadata;
        metadata.replace("safetyRatings", candidate.safety_ratings);
        metadata.replace("groundingMetadata", candidate.grounding_metadata);
        metadata.replace("urlContextMetadata", candidate.url_context_metadata);
        metadata.replace("avgLogprobs", candidate.avg_logprobs);
        metadata.replace("finishMessage", candidate.finish_message);
        metadata.replace("continuationToken", candidate.continuation_token);
        // these come in pieces
        metadata.join("citationMetadata", candidate.citation_metadata);
        metadata.join("logprobsResult", candidate.logprobs_result);
        for part in candidate
            .content
            .and_then(|content| content.parts)
            .into_iter()
            .flatten()
        {
            self.part(part, out);
        }
        if let Some(reason) = candidate.finish_reason.filter(|reason| !is_unspecified(reason)) {
            self.state.finish = Some(reason.into_string());
        }
    }

    fn note_meta(&mut self, id: Option<Text<'_>>, model: Option<Text<'_>>, service_tier: Option<Text<'_>>) {
        if self.state.started {
            return;
        }
        let filled = |text: Option<Text<'_>>| text.filter(|text| !text.is_empty()).map(Text::into_string);
        let meta = &mut self.options.meta;
        meta.id = filled(id).or(meta.id.take());
        meta.model = filled(model).or(meta.model.take());
        meta.service_tier = filled(service_tier).or(meta.service_tier.take());
    }
}

/// An error, under its key or (as gateways write it) alone.
fn is_failure(answer: &Answer<'_>) -> bool {
    let there = |field: &Option<Presence>| field.as_ref().is_some_and(|field| field.0);
    let empty = answer.candidates.is_none()
        && answer.prompt_feedback.is_none()
        && answer.usage_metadata.is_none()
        && answer.response_id.is_none();
    there(&answer.error) || (empty && (there(&answer.message) || there(&answer.detail)))
}
