//! Tools, and the choice among them.

use super::blocks::cache_point;
use crate::fault::{invalid, missing};
use crate::fields::{Fields, Notes};
use crate::messages::ANTHROPIC;
use llm_core::{ChatRequest, ContentPart, Result, ToolChoice, ToolSpec};
use serde_json::Value;

pub(super) fn tools(fields: &mut Fields, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    let mut builtin = Vec::new();
    let mut kept = None;
    for (index, value) in fields.list("tools")?.unwrap_or_default().into_iter().enumerate() {
        let kind = value.get("type").and_then(Value::as_str);
        if kind.is_some_and(|kind| kind != "custom") {
            builtin.push(value);
            continue;
        }
        let mut tool = Fields::of(format!("tools[{index}]"), value)?;
        tool.take("type");
        kept = cache_point(&mut tool, notes)?.or(kept);
        request.tools.push(spec(tool, notes)?);
    }
    if !builtin.is_empty() {
        request
            .vendor
            .set(ANTHROPIC, "builtin_tools", Value::Array(builtin));
    }
    // tools stand before everything: what keeps them is a cache point before the first message
    if let (Some(point), Some(first)) = (kept, request.messages.first_mut()) {
        first.content.insert(0, ContentPart::CachePoint(point));
    }
    choice(fields, request, notes)
}

fn spec(mut fields: Fields, notes: &mut Notes) -> Result<ToolSpec> {
    let mut tool = ToolSpec::new(fields.name("name")?);
    tool.description = fields.text("description")?;
    let schema = fields.object("input_schema")?;
    tool.parameters = Some(schema.ok_or_else(|| missing(fields.at("input_schema"), "a JSON schema"))?);
    tool.strict = fields.flag("strict")?;
    fields.finish(notes);
    Ok(tool)
}

fn choice(fields: &mut Fields, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    let Some(mut choice) = fields.inner("tool_choice")? else {
        return Ok(());
    };
    request.tool_choice = Some(match choice.text("type")?.as_deref() {
        Some("auto") => ToolChoice::Auto,
        Some("any") => ToolChoice::Required,
        Some("none") => ToolChoice::None,
        Some("tool") => ToolChoice::Tool(choice.name("name")?),
        _ => {
            let message = "must be one of auto, any, none and tool";
            return Err(invalid(choice.at("type"), message));
        }
    });
    request.parallel_tool_calls = choice
        .flag("disable_parallel_tool_use")?
        .map(|disabled| !disabled);
    choice.finish(notes);
    Ok(())
}
