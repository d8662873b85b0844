//! One call, from the request to its answer, without any I/O.

use super::answer::Answer;
use crate::models::shutdown::has_passed;
use bytes::Bytes;
use llm_core::capability;
use llm_core::{
    Capability, ChatRequest, ChatResponse, Collector, Error, ErrorKind, ResolvedModel, ResponseMeta, Result,
    Support, Usage, Warning,
};
use llm_http::{CallFacts, Limits};
use llm_wire::chat_completions::{DecodeOptions, Dialect, decode_response, encode_request};
use serde_json::Value;
use std::sync::Arc;
use std::time::SystemTime;

/// Everything about a call that is decided before anything is sent.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) model: Arc<ResolvedModel>,
    pub(super) stream: bool,
    /// The request as it is sent.
    pub(super) body: Bytes,
    pub(super) dialect: Dialect,
    warnings: Vec<Warning>,
    include_reasoning: bool,
    /// What the price depends on beside the usage.
    priced: bool,
    service_tier: Option<String>,
}

impl Call {
    pub(super) fn new(
        dialect: &Dialect,
        model: Arc<ResolvedModel>,
        request: &ChatRequest,
        now: SystemTime,
        stream: bool,
    ) -> Result<Self> {
        check_capabilities(&model, request, stream)?;
        let encoded = encode_request(dialect, &model, request, stream)?;
        let mut warnings = encoded.warnings;
        if let Some(day) = model.deprecated_on.as_deref().filter(|day| has_passed(day, now)) {
            let message = format!(
                "{} was announced to end on {day}; move to a current model",
                model.id
            );
            warnings.push(Warning::option("model", message));
        }
        let hears = capability::needs(request).contains(&Capability::AudioInput);
        Ok(Call {
            stream,
            body: encoded.body.into(),
            dialect: dialect.clone(),
            warnings,
            include_reasoning: request.includes_reasoning(),
            // Sound is counted in tokens of another price, which no catalogue row has.
            priced: !hears,
            service_tier: request.service_tier.clone(),
            model,
        })
    }

    /// What is known of the answer once its head is there.
    pub(super) fn meta(&self, facts: &CallFacts) -> ResponseMeta {
        let mut meta = ResponseMeta::default();
        facts.fill(&mut meta);
        meta
    }

    pub(super) fn decode_options(&self, facts: &CallFacts) -> DecodeOptions {
        let mut options = DecodeOptions::default();
        options.include_reasoning = self.include_reasoning;
        options.meta = self.meta(facts);
        options
    }

    /// What goes into the response beside the vendor's words: once.
    pub(super) fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// Reads a whole answer, also one that is an event stream without saying so.
    pub(super) fn decode(mut self, facts: &CallFacts, body: &Bytes, limits: Limits) -> Result<ChatResponse> {
        if looks_like_events(body) {
            let mut answer = Answer::new(self, facts.clone(), limits);
            answer.push(body);
            answer.end();
            let (events, failure) = answer.into_parts();
            if let Some(error) = failure {
                return Err(error);
            }
            let mut collector = Collector::default();
            for event in events {
                collector.push(event)?;
            }
            return collector.finish();
        }
        let options = self.decode_options(facts);
        match decode_response(&self.dialect, options, body) {
            Ok(mut response) => {
                let tier = response.meta.service_tier.clone();
                self.price(&mut response.usage, tier.as_deref());
                let mut warnings = self.take_warnings();
                warnings.append(&mut response.warnings);
                response.warnings = warnings;
                Ok(response)
            }
            Err(error) => Err(self.annotate(error, facts, body)),
        }
    }

    /// Adds what it cost, where the vendor did not say and the price is known: for the standard class of service
    /// alone, since the catalogue has no other prices.
    pub(super) fn price(&self, usage: &mut Usage, served_tier: Option<&str>) {
        let tier = served_tier.or(self.service_tier.as_deref()).unwrap_or("default");
        let standard = !matches!(tier, "flex" | "priority" | "fast" | "scale" | "batch");
        if usage.cost.is_none() && self.priced && standard {
            usage.cost = self.model.price.as_ref().and_then(|price| price.cost(usage));
        }
    }

    /// Puts the facts of the call on an error, and keeps what the caller wrote out of it.
    pub(super) fn annotate(&self, error: Error, facts: &CallFacts, body: &[u8]) -> Error {
        let texts = content_of(&self.body);
        facts.annotate(error, body, texts.iter().map(String::as_str))
    }
}

/// Does a body begin like an event stream rather than like JSON?
pub(super) fn looks_like_events(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    let start = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start);
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"]
        .iter()
        .any(|field| start.starts_with(field))
}

fn check_capabilities(model: &ResolvedModel, request: &ChatRequest, stream: bool) -> Result<()> {
    let mut missing = capability::check(request, &model.capabilities);
    if stream && model.capabilities.support(Capability::Streaming) == Support::No {
        missing.push(Capability::Streaming);
    }
    if missing.is_empty() {
        return Ok(());
    }
    let words: Vec<_> = missing.iter().map(|capability| capability.as_str()).collect();
    let message = format!(
        "the model {} cannot do what the request needs: {}; nothing was sent, name another model",
        model.id,
        words.join(", ")
    );
    Err(Error::new(ErrorKind::Unsupported, message))
}

/// What the caller wrote, read back from the body that was sent: an answer outlives the request it belongs to.
fn content_of(body: &[u8]) -> Vec<String> {
    const CONTENT: [&str; 9] = [
        "content",
        "text",
        "arguments",
        "url",
        "data",
        "file_data",
        "refusal",
        "reasoning",
        "reasoning_content",
    ];
    fn walk(value: &mut Value, is_content: bool, texts: &mut Vec<String>) {
        match value {
            Value::String(text) if is_content => texts.push(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, is_content, texts)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    walk(field, CONTENT.contains(&name.as_str()), texts);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut texts = Vec::new();
    if let Ok(mut document) = serde_json::from_slice::<Value>(body)
        && let Some(messages) = document.get_mut("messages")
    {
        walk(messages, false, &mut texts);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_found_in_the_sent_body_and_nothing_else_is() {
        let body = serde_json::json!({
            "model": "the-model",
            "messages": [
                { "role": "developer", "content": "be brief" },
                { "role": "user", "content": [
                    { "type": "text", "text": "look" },
                    { "type": "image_url", "image_url": { "url": "https://host.example/a.png" } },
                ] },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "call_1", "type": "function", "function": { "name": "area", "arguments": "{\"r\":2}" } },
                ] },
                { "role": "tool", "tool_call_id": "call_1", "content": "12.6" },
            ],
            "user": "somebody",
        });
        let texts = content_of(body.to_string().as_bytes());
        assert_eq!(
            texts,
            [
                "be brief",
                "look",
                "https://host.example/a.png",
                "{\"r\":2}",
                "12.6"
            ]
        );
        assert!(content_of(b"no JSON").is_empty());
    }

    #[test]
    fn event_streams_are_told_from_json() {
        for events in [
            "data: {}",
            "\n\r\n: comment",
            "event: x\ndata: 1",
            "\u{feff}data: 1",
        ] {
            assert!(looks_like_events(events.as_bytes()), "{events}");
        }
        for other in ["{}", "  [1]", "", "<html>", "\"data: \""] {
            assert!(!looks_like_events(other.as_bytes()), "{other}");
        }
    }
}
