//! Reading one event, or a whole message: which field says what.

use super::super::types::{Event, Message, WireDelta, WireUsage};
use super::{StreamDecoder, is_there};
use crate::lenient::{Content, Rare, Text};
use llm_core::{ChatEvent, VendorMetadata, Warning};
use serde_json::{Map, Value};

/// What an event came to.
pub(super) enum Outcome {
    Fine,
    /// It holds the vendor's failure.
    Failed,
    /// It cannot be understood.
    Broken(&'static str),
}

impl StreamDecoder {
    /// Takes one event; `name` counts where the data itself has no type.
    pub(super) fn event(&mut self, name: &str, event: Event<'_>, out: &mut Vec<ChatEvent>) -> Outcome {
        if is_there(&event.error) {
            return Outcome::Failed;
        }
        let kind = event
            .kind
            .as_deref()
            .filter(|kind| !kind.is_empty())
            .unwrap_or(name);
        let index = event.index.map(|index| index.0);
        self.state.intervened |= event.guardrail.as_deref() == Some("INTERVENED");
        match kind {
            "message_start" => {
                let message = event.message.unwrap_or_default();
                if std::mem::replace(&mut self.state.message_seen, true) {
                    let known = self.options.meta.id.as_deref();
                    return match message.id.as_deref() {
                        Some(id) if known.is_some_and(|known| known != id) => {
                            Outcome::Broken("a second message came in one answer")
                        }
                        _ => Outcome::Fine,
                    };
                }
                self.message(*message, out);
            }
            "content_block_start" => {
                self.start(out);
                self.blocks(out)
                    .start(index, event.content_block.map(|block| *block).unwrap_or_default());
            }
            "content_block_delta" => {
                self.start(out);
                if let Some(delta) = event.delta {
                    self.blocks(out).delta(index, delta);
                }
            }
            "content_block_stop" => self.blocks(out).stop(index),
            "message_delta" => {
                self.start(out);
                let WireDelta {
                    stop_reason,
                    stop_sequence,
                    stop_details,
                    container,
                    ..
                } = event.delta.unwrap_or_default();
                self.note_usage(event.usage, out);
                self.note_metadata(
                    [
                        ("stop_sequence", stop_sequence),
                        ("stop_details", stop_details),
                        ("container", container),
                        ("context_management", event.context_management),
                        ("input_transformations", event.input_transformations),
                    ],
                    out,
                );
                self.note_stop(stop_reason);
            }
            "message_stop" => self.state.done = true,
            "error" => return Outcome::Failed,
            _ => self.keep_alive(out),
        }
        if let Some(metrics) = event.metrics {
            self.state.counts.fill_in(&metrics);
            self.report_usage(out);
        }
        Outcome::Fine
    }

    /// A message as it begins. It may hold content already; that of a plain answer holds everything.
    pub(super) fn message(&mut self, message: Message<'_>, out: &mut Vec<ChatEvent>) {
        self.state.intervened |= message.guardrail.as_deref() == Some("INTERVENED");
        if !self.state.started {
            let filled = |text: Option<Text<'_>>| text.filter(|text| !text.is_empty()).map(Text::into_string);
            let meta = &mut self.options.meta;
            meta.id = filled(message.id).or(meta.id.take());
            meta.model = filled(message.model).or(meta.model.take());
            let tier = message
                .usage
                .as_ref()
                .and_then(|usage| usage.service_tier.clone());
            meta.service_tier = tier.filter(|tier| !tier.is_empty()).or(meta.service_tier.take());
        }
        self.start(out);
        self.note_usage(message.usage, out);
        match message.content {
            Content::Absent => {}
            Content::Text(text) => {
                let mut block = Map::new();
                block.insert("type".into(), "text".into());
                block.insert("text".into(), text.into_string().into());
                self.blocks(out).take_whole(block);
            }
            Content::Parts(parts) => {
                for part in parts {
                    match part {
                        Value::Object(block) => self.blocks(out).take_whole(block),
                        _ => out.push(ChatEvent::Warning(Warning::wire(
                            "content",
                            "a block that is no object was left out",
                        ))),
                    }
                }
            }
        }
        self.note_metadata(
            [
                ("stop_sequence", message.stop_sequence),
                ("stop_details", message.stop_details),
                ("container", message.container),
                ("context_management", message.context_management),
                ("input_transformations", message.input_transformations),
                ("diagnostics", message.diagnostics),
            ],
            out,
        );
        self.note_stop(message.stop_reason);
    }

    fn note_stop(&mut self, reason: Option<Text<'_>>) {
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.state.stop = Some(reason.into_string());
        }
    }

    fn note_usage(&mut self, usage: Rare<WireUsage>, out: &mut Vec<ChatEvent>) {
        let Some(mut usage) = usage else { return };
        self.note_metadata(
            [
                ("server_tool_use", usage.server_tool_use.take()),
                ("speed", usage.speed.take()),
                ("inference_geo", usage.inference_geo.take()),
            ],
            out,
        );
        self.state.counts.merge(*usage);
        self.report_usage(out);
    }

    fn report_usage(&mut self, out: &mut Vec<ChatEvent>) {
        let usage = self.state.counts.usage();
        if usage != self.state.usage {
            self.state.usage = usage;
            self.aside(ChatEvent::Usage(usage), out);
        }
    }

    fn note_metadata<const N: usize>(
        &mut self,
        fields: [(&'static str, Rare<Value>); N],
        out: &mut Vec<ChatEvent>,
    ) {
        let mut bag = VendorMetadata::default();
        for (name, value) in fields {
            if let Some(value) = value.filter(|value| says_something(value)) {
                bag.set(self.dialect.vendor.clone(), name, *value);
            }
        }
        if !bag.is_empty() {
            self.aside(ChatEvent::Metadata(bag), out);
        }
    }
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
