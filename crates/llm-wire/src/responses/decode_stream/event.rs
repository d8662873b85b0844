//! Reading one event, or a whole response: which field says what.

use super::super::types::{Event, Response, WireUsage};
use super::{StreamDecoder, is_there};
use crate::cut_off::is_cut_off;
use crate::lenient::{Count, Text};
use llm_core::{ChatEvent, FinishKind, Usage, VendorMetadata, Warning};
use serde_json::Value;

/// What an event came to.
pub(super) enum Outcome {
    Fine,
    /// It holds the vendor's failure.
    Failed,
}

impl StreamDecoder {
    /// Takes one event; `name` counts where the data itself has no type.
    pub(super) fn event(&mut self, name: &str, event: Event<'_>, out: &mut Vec<ChatEvent>) -> Outcome {
        let response_failed = event.response.as_ref().is_some_and(Response::failed);
        if is_there(&event.error) || response_failed {
            return Outcome::Failed;
        }
        let said = event.kind.as_deref().filter(|kind| !kind.is_empty());
        let kind = said.unwrap_or(name);
        let index = event.output_index.map(|index| index.0);
        let part = event.content_index.or(event.summary_index).map(|index| index.0);
        let delta = event.delta.unwrap_or_default();
        match kind {
            "error" | "response.failed" => return Outcome::Failed,
            "response.created" | "response.queued" | "response.in_progress" => {
                self.begin(&event.response.unwrap_or_default(), out);
            }
            "response.completed" | "response.incomplete" | "response.cancelled" => {
                let response = event.response.unwrap_or_default();
                self.begin(&response, out);
                self.end(kind, response, out);
            }
            "response.output_item.added" => {
                self.start(out);
                self.items(out).start(index, event.item.unwrap_or_default());
            }
            "response.output_item.done" => {
                self.start(out);
                self.items(out).done(index, event.item.unwrap_or_default());
            }
            "response.output_text.delta" => {
                self.start(out);
                self.items(out).say(index, part, false, delta.0);
            }
            "response.refusal.delta" => {
                self.start(out);
                self.items(out).say(index, part, true, delta.0);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.start(out);
                let summary = kind == "response.reasoning_summary_text.delta";
                self.items(out).think(index, part, summary, delta.0);
            }
            "response.function_call_arguments.delta" => {
                self.start(out);
                self.items(out).argue(index, delta.0);
            }
            _ => self.keep_alive(out),
        }
        Outcome::Fine
    }

    /// A response as it begins.
    pub(super) fn begin(&mut self, response: &Response<'_>, out: &mut Vec<ChatEvent>) {
        if !self.state.started {
            let filled = |text: &Option<Text<'_>>| {
                let text = text.as_deref().filter(|text| !text.is_empty());
                text.map(str::to_owned)
            };
            // what stands there at the beginning is only what was asked for
            let tier = filled(&response.service_tier).filter(|tier| tier != "auto");
            let meta = &mut self.options.meta;
            meta.id = filled(&response.id).or(meta.id.take());
            meta.model = filled(&response.model).or(meta.model.take());
            meta.created = response.created_at.map(|moment| moment.0).or(meta.created);
            meta.service_tier = tier.or(meta.service_tier.take());
        }
        self.start(out);
    }

    /// A response as it ends. `kind` is that of the event; a plain answer has none, and says it in its status.
    pub(super) fn end(&mut self, kind: &str, response: Response<'_>, out: &mut Vec<ChatEvent>) {
        let reason = response.incomplete_details.and_then(|details| details.reason);
        let reason = reason.filter(|reason| !reason.is_empty());
        let status = response.status.filter(|status| !status.is_empty());
        let stated = status.as_deref().or(kind.strip_prefix("response."));
        let (kind, word) = match (stated, reason.as_deref()) {
            (None | Some("incomplete"), Some(reason)) => (kind_of_reason(reason), reason.to_owned()),
            (None | Some("completed"), _) => (FinishKind::Stop, "completed".to_owned()),
            (Some(other), _) => (FinishKind::Other, other.to_owned()),
        };
        self.state.items.cut_off = is_cut_off(kind);
        self.state.ended = Some((kind, word));
        // of a stream, the items came before; some hosts send them, or what is in them, here alone
        let first = self.state.items.is_empty();
        for (index, item) in response.output.into_iter().flatten().enumerate() {
            match (item, u32::try_from(index)) {
                (Value::Object(item), Ok(index)) if first || self.state.items.is_open(index, &item) => {
                    self.items(out).done(Some(index), item);
                }
                (Value::Object(_), Ok(_)) => {}
                _ if first => self.items(out).warn("an item that is no object was left out"),
                _ => {}
            }
        }
        if let Some(usage) = &response.usage {
            let usage = usage_of(usage);
            if usage != self.state.usage {
                self.state.usage = usage;
                self.aside(ChatEvent::Usage(usage), out);
            }
        }
        if let Some(Value::Array(removed)) = &response.input_transformations
            && !removed.is_empty()
        {
            let message = format!(
                "the vendor left out {} pieces of the history; its metadata says why",
                removed.len()
            );
            self.aside(ChatEvent::Warning(Warning::history("messages", message)), out);
        }
        let mut bag = VendorMetadata::default();
        for (name, value) in [
            ("input_transformations", response.input_transformations),
            ("tool_usage", response.tool_usage),
            ("prompt_cache_diagnostics", response.prompt_cache_diagnostics),
            ("moderation", response.moderation),
        ] {
            if let Some(value) = value.filter(says_something) {
                bag.set(self.dialect.vendor.clone(), name, value);
            }
        }
        if !bag.is_empty() {
            self.aside(ChatEvent::Metadata(bag), out);
        }
        self.state.done = true;
    }
}

/// Our word for why an answer is not complete (wire notes, "Finish reasons").
fn kind_of_reason(reason: &str) -> FinishKind {
    match reason {
        "max_output_tokens" | "max_tokens" => FinishKind::Length,
        "content_filter" => FinishKind::ContentFilter,
        "steered" => FinishKind::Pause,
        _ => FinishKind::Other,
    }
}

/// Cached, cache-written and reasoning tokens are inside the totals, as ours are (wire notes, `common.md`, "Usage").
fn usage_of(wire: &WireUsage) -> Usage {
    let count = |count: Option<Count>| count.map(|count| count.0);
    let mut usage = Usage::default();
    usage.input_tokens = count(wire.input_tokens);
    usage.output_tokens = count(wire.output_tokens);
    if let Some(details) = &wire.input_tokens_details {
        usage.cached_input_tokens = count(details.cached_tokens);
        usage.cache_write_input_tokens = count(details.cache_write_tokens);
        if let Some(times) = &details.cache_write_tokens_details {
            let [short, long] = [times.ttl_30m_tokens, times.ttl_12h_tokens].map(count);
            usage.cache_write_long_input_tokens = long;
            let both = short.zip(long).map(|(short, long)| short.saturating_add(long));
            usage.cache_write_input_tokens = usage.cache_write_input_tokens.or(both).or(short).or(long);
        }
    }
    let details = wire.output_tokens_details.as_ref();
    usage.reasoning_tokens = details.and_then(|details| count(details.reasoning_tokens));
    usage
}

/// Is it more than a way to write nothing?
pub(super) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
