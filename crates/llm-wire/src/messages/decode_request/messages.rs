//! `system` and `messages`.

use super::blocks::{Blocks, Speaker};
use crate::fault::{invalid, missing, wrong_type};
use crate::fields::{Fields, Notes};
use llm_core::{ChatRequest, Message, Result, Role};
use serde_json::Value;

/// The instructions above the conversation become its first message.
pub(super) fn system(fields: &mut Fields, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    let blocks = match fields.take("system") {
        None => return Ok(()),
        Some(value) => Blocks::read(Speaker::System, "system", value, notes)?,
    };
    if !blocks.parts.is_empty() {
        request.messages.push(Message::new(Role::System, blocks.parts));
    }
    Ok(())
}

pub(super) fn messages(list: Vec<Value>, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    if list.is_empty() {
        return Err(invalid("messages", "is empty; give at least one message"));
    }
    request.messages.reserve(list.len());
    for (index, value) in list.into_iter().enumerate() {
        let mut fields = Fields::of(format!("messages[{index}]"), value)?;
        let (role, speaker) = match fields.text("role")?.as_deref() {
            Some("user") => (Role::User, Speaker::User),
            Some("assistant") => (Role::Assistant, Speaker::Assistant),
            Some("system") => (Role::System, Speaker::System),
            _ => {
                let message = "must be one of user, assistant and system";
                return Err(invalid(fields.at("role"), message));
            }
        };
        let path = fields.at("content");
        let blocks = match fields.take("content") {
            Some(value @ (Value::String(_) | Value::Array(_))) => Blocks::read(speaker, &path, value, notes)?,
            Some(_) => return Err(wrong_type(&path, "a string or a list of blocks")),
            None => return Err(missing(&path, "a string or a list of blocks")),
        };
        fields.finish(notes);
        let only_results = blocks.parts.is_empty() && !blocks.results.is_empty();
        if !blocks.results.is_empty() {
            request.messages.push(Message::new(Role::Tool, blocks.results));
        }
        if !only_results {
            request.messages.push(Message::new(role, blocks.parts));
        }
    }
    Ok(())
}
