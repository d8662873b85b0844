//! Messages.

use super::OPENAI;
use super::content::{Allowed, content};
use crate::custom::CUSTOM_CALL;
use crate::fault::{invalid, missing};
use crate::fields::{Fields, Notes};
use llm_core::{
    ContentPart, Message, OpaquePart, Origin, ReasoningPart, RefusalPart, Replay, Result, Role, ToolCall,
    ToolResult,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Calls in the old form have no ids: they are given some.
#[derive(Default)]
struct OldCalls {
    seen: usize,
    /// The ids of those without a result, by name, the latest last.
    open: HashMap<String, Vec<String>>,
}

pub(super) fn messages(list: Vec<Value>, notes: &mut Notes) -> Result<Vec<Message>> {
    if list.is_empty() {
        return Err(invalid("messages", "is empty; give at least one message"));
    }
    let mut messages: Vec<Message> = Vec::with_capacity(list.len());
    let mut old_calls = OldCalls::default();
    for (index, value) in list.into_iter().enumerate() {
        let mut fields = Fields::of(format!("messages[{index}]"), value)?;
        let role = fields.text("role")?.unwrap_or_default();
        let message = match role.as_str() {
            "system" | "developer" => plain(Role::System, Allowed::Text, &mut fields, notes)?,
            "user" => plain(Role::User, Allowed::All, &mut fields, notes)?,
            "assistant" => assistant(&mut fields, &mut old_calls, notes)?,
            "tool" => tool(&mut fields, notes)?,
            "function" => old_result(&mut fields, &mut old_calls)?,
            _ => {
                let message = "must be one of developer, system, user, assistant and tool";
                return Err(invalid(fields.at("role"), message));
            }
        };
        fields.finish(notes);
        match messages.last_mut() {
            // the answers to one turn's calls belong into one message
            Some(last) if last.role == Role::Tool && message.role == Role::Tool => {
                last.content.extend(message.content);
            }
            _ => messages.push(message),
        }
    }
    Ok(messages)
}

fn plain(role: Role, allowed: Allowed, fields: &mut Fields, notes: &mut Notes) -> Result<Message> {
    let parts = required_content(allowed, fields, notes)?;
    let mut message = Message::new(role, parts);
    message.name = fields.text("name")?;
    Ok(message)
}

fn required_content(allowed: Allowed, fields: &mut Fields, notes: &mut Notes) -> Result<Vec<ContentPart>> {
    content(allowed, fields, notes)?
        .ok_or_else(|| missing(fields.at("content"), "a string or a list of parts"))
}

fn assistant(fields: &mut Fields, old_calls: &mut OldCalls, notes: &mut Notes) -> Result<Message> {
    let mut parts = Vec::new();
    reasoning(fields, &mut parts, notes);
    // callers send an answer back as they got it, null content included
    parts.extend(content(Allowed::TextAndRefusal, fields, notes)?.unwrap_or_default());
    if let Some(refusal) = fields.text("refusal")?.filter(|text| !text.is_empty()) {
        parts.push(ContentPart::Refusal(RefusalPart::new(refusal)));
    }
    for (position, value) in fields
        .list("tool_calls")?
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        let path = format!("{}[{position}]", fields.at("tool_calls"));
        parts.push(call(Fields::of(path, value)?, notes)?);
    }
    if let Some(mut old) = fields.inner("function_call")? {
        notes.warn(
            old.path(),
            "is the old form; the answer comes in the form of tool calls",
        );
        let name = old.name("name")?;
        let id = format!("call_{}", old_calls.seen);
        let arguments = arguments(&mut old)?;
        old.finish(notes);
        parts.push(ContentPart::ToolCall(ToolCall::new(&id, &name, arguments)));
        old_calls.seen += 1;
        old_calls.open.entry(name).or_default().push(id);
    }
    if let Some(audio) = fields.inner("audio")? {
        let mut audio = audio;
        let data = json!({"id": audio.name("id")?});
        // the sound itself is known to the vendor by its id
        audio.ignore(&["data", "transcript", "expires_at"]);
        audio.finish(notes);
        parts.push(own_piece("audio", data));
    }
    fields.ignore(&["annotations"]);
    let mut message = Message::new(Role::Assistant, parts);
    message.name = fields.text("name")?;
    Ok(message)
}

/// Reasoning that a caller sends back. Which vendor wrote it is not known, so text stays text.
fn reasoning(fields: &mut Fields, parts: &mut Vec<ContentPart>, notes: &mut Notes) {
    let mut text = None;
    for key in ["reasoning_content", "reasoning"] {
        match fields.take(key) {
            Some(Value::String(thought)) => text = text.or(Some(thought)),
            Some(_) => notes.warn(&fields.at(key), "is no string and was left out"),
            None => {}
        }
    }
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        parts.push(ContentPart::Reasoning(ReasoningPart::new(text)));
    }
    match fields.take("reasoning_details") {
        Some(Value::Array(details)) if !details.is_empty() => {
            let data = json!({"reasoning_details": details});
            let replay = Replay::new(Origin::new(OPENAI), data);
            parts.push(ContentPart::Reasoning(
                ReasoningPart::default().with_replay(replay),
            ));
        }
        Some(Value::Array(_)) | None => {}
        Some(_) => notes.warn(&fields.at("reasoning_details"), "is no list and was left out"),
    }
}

fn call(mut fields: Fields, notes: &mut Notes) -> Result<ContentPart> {
    let kind = fields.text("type")?.unwrap_or_default();
    // pieces of a stream have it, and callers send them back as they got them
    fields.ignore(&["index"]);
    match kind.as_str() {
        "function" => {
            let id = fields.name("id")?;
            let mut function = fields
                .inner("function")?
                .ok_or_else(|| missing(fields.at("function"), "an object with name and arguments"))?;
            let name = function.name("name")?;
            let arguments = arguments(&mut function)?;
            function.finish(notes);
            fields.finish(notes);
            Ok(ContentPart::ToolCall(ToolCall::new(id, name, arguments)))
        }
        "custom" => {
            let id = fields.name("id")?;
            let custom = fields
                .object("custom")?
                .ok_or_else(|| missing(fields.at("custom"), "an object with name and input"))?;
            fields.finish(notes);
            let data = json!({"id": id, "type": "custom", "custom": custom});
            Ok(own_piece(CUSTOM_CALL, data))
        }
        _ => Err(invalid(fields.at("type"), "must be function or custom")),
    }
}

fn arguments(function: &mut Fields) -> Result<String> {
    let arguments = function.text("arguments")?.filter(|text| !text.trim().is_empty());
    Ok(arguments.unwrap_or_else(|| "{}".to_owned()))
}

fn own_piece(kind: &str, data: Value) -> ContentPart {
    ContentPart::Opaque(OpaquePart::new(kind, Replay::new(Origin::new(OPENAI), data)))
}

fn tool(fields: &mut Fields, notes: &mut Notes) -> Result<Message> {
    let id = fields.name("tool_call_id")?;
    let parts = required_content(Allowed::Text, fields, notes)?;
    let mut result = ToolResult::new(id, "").with_content(parts);
    result.name = fields.text("name")?;
    Ok(Message::tool_results([result]))
}

/// A result in the old form answers the latest open call of its name.
fn old_result(fields: &mut Fields, old_calls: &mut OldCalls) -> Result<Message> {
    let name = fields.name("name")?;
    let Some(id) = old_calls.open.get_mut(&name).and_then(Vec::pop) else {
        return Err(invalid(fields.at("name"), "answers no function_call before it"));
    };
    let text = fields.text("content")?.unwrap_or_default();
    let mut result = ToolResult::new(id, "").with_name(name);
    result.content = if text.is_empty() {
        Vec::new()
    } else {
        vec![ContentPart::text(text)]
    };
    Ok(Message::tool_results([result]))
}
