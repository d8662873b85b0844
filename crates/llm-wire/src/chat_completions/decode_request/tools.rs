//! Tools, the choice among them, and their old forms.

use super::OPENAI;
use crate::fault::{invalid, missing, wrong_type};
use crate::fields::{Fields, Notes};
use llm_core::{ChatRequest, Result, ToolChoice, ToolSpec};
use serde_json::Value;

pub(super) fn tools(fields: &mut Fields, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    let mut own = Vec::new();
    for (index, value) in fields.list("tools")?.unwrap_or_default().into_iter().enumerate() {
        let path = format!("tools[{index}]");
        if value.get("type").and_then(Value::as_str) == Some("custom") {
            own.push(value);
            continue;
        }
        let mut tool = Fields::of(path, value)?;
        if tool.text("type")?.as_deref() != Some("function") {
            return Err(invalid(tool.at("type"), "must be function or custom"));
        }
        let inner = tool.inner("function")?;
        let inner = inner.ok_or_else(|| missing(tool.at("function"), "an object with a name"))?;
        request.tools.push(function(inner, notes)?);
        tool.finish(notes);
    }
    if !own.is_empty() {
        request.vendor.set(OPENAI, "custom_tools", Value::Array(own));
    }
    if let Some(list) = fields.list("functions")? {
        notes.warn(
            "functions",
            "is the old form of tools; the answer comes in the form of tool calls",
        );
        for (index, value) in list.into_iter().enumerate() {
            let inner = Fields::of(format!("functions[{index}]"), value)?;
            request.tools.push(function(inner, notes)?);
        }
    }
    choice(fields, request, notes)?;
    request.parallel_tool_calls = fields.flag("parallel_tool_calls")?;
    Ok(())
}

fn function(mut fields: Fields, notes: &mut Notes) -> Result<ToolSpec> {
    let mut tool = ToolSpec::new(fields.name("name")?);
    tool.description = fields.text("description")?;
    tool.parameters = fields.object("parameters")?;
    tool.strict = fields.flag("strict")?;
    fields.finish(notes);
    Ok(tool)
}

fn choice(fields: &mut Fields, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    const WORDS: &str = "must be none, auto, required, or an object that names a tool";
    if let Some(old) = fields.take("function_call") {
        notes.warn("function_call", "is the old form of tool_choice");
        request.tool_choice = Some(match old {
            Value::String(word) if word == "none" => ToolChoice::None,
            Value::String(word) if word == "auto" => ToolChoice::Auto,
            old @ Value::Object(_) => {
                let mut old = Fields::of("function_call".to_owned(), old)?;
                ToolChoice::Tool(old.name("name")?)
            }
            _ => {
                return Err(invalid(
                    "function_call",
                    "must be none, auto, or an object with a name",
                ));
            }
        });
    }
    let choice = match fields.take("tool_choice") {
        None => return Ok(()),
        Some(Value::String(word)) => match word.as_str() {
            "none" => ToolChoice::None,
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            _ => return Err(invalid("tool_choice", WORDS)),
        },
        Some(value @ Value::Object(_)) => match value.get("type").and_then(Value::as_str) {
            Some("function") => {
                let mut choice = Fields::of("tool_choice".to_owned(), value)?;
                choice.take("type");
                let inner = choice.inner("function")?;
                let mut inner =
                    inner.ok_or_else(|| missing("tool_choice.function", "an object with a name"))?;
                let name = inner.name("name")?;
                inner.finish(notes);
                choice.finish(notes);
                ToolChoice::Tool(name)
            }
            // no other vendor has these: they go to OpenAI as they are
            Some("custom" | "allowed_tools") => {
                request.tool_choice = nearest(&value, &request.tools).or(request.tool_choice.take());
                request.vendor.set(OPENAI, "tool_choice", value);
                return Ok(());
            }
            _ => {
                let message = "must be one of function, custom and allowed_tools";
                return Err(invalid("tool_choice.type", message));
            }
        },
        Some(_) => return Err(wrong_type("tool_choice", "a string or an object")),
    };
    request.tool_choice = Some(choice);
    Ok(())
}

/// What is nearest to a choice among some of the tools, for vendors that only know one of all or of none. It never
/// asks for more than was asked: where no function is among them, no call is asked for.
fn nearest(choice: &Value, offered: &[ToolSpec]) -> Option<ToolChoice> {
    let allowed = choice.get("allowed_tools")?;
    match allowed.get("mode")?.as_str()? {
        "auto" => Some(ToolChoice::Auto),
        "required" => {
            let tools = allowed.get("tools")?.as_array()?;
            let names = tools
                .iter()
                .filter_map(|tool| tool.get("function")?.get("name")?.as_str());
            let mut functions = names.filter(|name| offered.iter().any(|tool| tool.name == *name));
            let first = functions.next()?;
            Some(if functions.all(|name| name == first) {
                ToolChoice::Tool(first.to_owned())
            } else {
                ToolChoice::Required
            })
        }
        _ => None,
    }
}
