//! Tools, and the choice among them.

use super::Encoding;
use super::recursion::contains_itself;
use super::schema::RECURSIVE;
use super::thinking::Thought;
use crate::bag::Bag;
use crate::fault::{invalid, unsupported};
use crate::messages::request_types::{WireTool, WireToolChoice};
use llm_core::model::Knob;
use llm_core::{ContentPart, Result, ToolChoice};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// What is sent of tools.
#[derive(Debug)]
pub(super) struct Tools<'a> {
    pub(super) offered: Vec<WireTool<'a>>,
    pub(super) choice: Option<WireToolChoice<'a>>,
}

impl<'a> Encoding<'a> {
    pub(super) fn tools(&mut self, bag: &Bag<'a>, thought: &Thought) -> Result<Tools<'a>> {
        let builtin = bag.value("builtin_tools").and_then(|list| list.as_array());
        let mut offered = Vec::with_capacity(self.request.tools.len());
        for (index, tool) in self.request.tools.iter().enumerate() {
            let field = format!("tools[{index}]");
            if tool.name.is_empty() {
                return Err(invalid(format!("{field}.name"), "is empty; give the tool a name"));
            }
            let mut strict = tool.strict;
            if strict == Some(true) && !self.dialect.takes_schemas(self.model) {
                self.warn(
                    format!("{field}.strict"),
                    "is not sent: this host does not take it for this model",
                );
                strict = None;
            }
            if strict == Some(true) && tool.parameters.as_ref().is_some_and(contains_itself) {
                return Err(unsupported(format!("{field}.parameters"), RECURSIVE));
            }
            offered.push(WireTool::Custom {
                name: self.tool_names.sent(&tool.name),
                description: tool.description.as_deref(),
                schema: input_schema(tool.parameters.as_ref()),
                strict,
                kept: None,
            });
        }
        offered.extend(builtin.into_iter().flatten().map(WireTool::Own));
        let mut tools = Tools {
            offered,
            choice: None,
        };
        if tools.offered.is_empty() {
            self.no_tools(&mut tools)?;
        } else {
            self.choice(thought, &mut tools)?;
        }
        Ok(tools)
    }

    fn no_tools(&mut self, tools: &mut Tools<'a>) -> Result<()> {
        match self.request.tool_choice {
            None => {}
            Some(ToolChoice::Auto | ToolChoice::None) => {
                self.warn("tool_choice", "is not sent: no tool is offered");
            }
            Some(_) => return Err(invalid("tool_choice", "asks for a call, but no tool is offered")),
        }
        if self.request.parallel_tool_calls.is_some() {
            self.warn("parallel_tool_calls", "is not sent: no tool is offered");
        }
        let mut named = HashSet::new();
        let parts = self.request.messages.iter().flat_map(|message| &message.content);
        let called = parts.filter_map(|part| match part {
            ContentPart::ToolCall(call) => Some(call.name.as_str()),
            _ => None,
        });
        for name in called.filter(|name| named.insert(*name)) {
            tools.offered.push(WireTool::Custom {
                name: self.tool_names.sent(name),
                description: Some("Not available any more."),
                schema: input_schema(None),
                strict: None,
                kept: None,
            });
        }
        if !tools.offered.is_empty() {
            let message = "are those of the earlier calls, which this format asks for; none may be called";
            self.warn_history("tools", message);
            tools.choice = Some(choice("none", None));
        }
        Ok(())
    }

    fn choice(&mut self, thought: &Thought, tools: &mut Tools<'a>) -> Result<()> {
        let parallel = self.request.parallel_tool_calls;
        let mut chosen = match &self.request.tool_choice {
            None if parallel.is_none() => return Ok(()),
            None | Some(ToolChoice::Auto) => choice("auto", None),
            Some(ToolChoice::None) => choice("none", None),
            Some(ToolChoice::Required) => choice("any", None),
            Some(ToolChoice::Tool(name)) => {
                if !self.request.tools.iter().any(|tool| tool.name == *name) {
                    return Err(invalid("tool_choice", "names a tool that is not offered"));
                }
                choice("tool", Some(self.tool_names.sent(name)))
            }
            _ => {
                return Err(unsupported(
                    "tool_choice",
                    "is of a kind that this format does not know",
                ));
            }
        };
        let forced = matches!(chosen.kind, "any" | "tool");
        let can_be = self.rule.forced_tool_use && !self.model.rejects(Knob::ForcedToolUse);
        if forced && (!can_be || thought.budget) {
            if let Some(only) = chosen.name.take() {
                tools
                    .offered
                    .retain(|tool| matches!(tool, WireTool::Custom { name, .. } if *name == only));
            }
            chosen.kind = "auto";
            let message = "is sent as auto: this model cannot be made to call a tool, or not while it thinks";
            self.warn("tool_choice", message);
        }
        // beside `none` it has no place, and nothing to say
        if chosen.kind != "none" {
            chosen.disable_parallel_tool_use = parallel.map(|parallel| !parallel);
        }
        tools.choice = Some(chosen);
        Ok(())
    }
}

fn choice<'a>(kind: &'static str, name: Option<&'a str>) -> WireToolChoice<'a> {
    WireToolChoice {
        kind,
        name,
        disable_parallel_tool_use: None,
    }
}

/// The schema of a tool's arguments: always an object, and it says so.
fn input_schema(parameters: Option<&Value>) -> Cow<'_, Value> {
    let fields = match parameters {
        Some(schema @ Value::Object(fields)) => {
            if fields.get("type").is_some_and(|kind| kind == "object") {
                return Cow::Borrowed(schema);
            }
            Some(fields)
        }
        _ => None,
    };
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    match fields {
        Some(fields) => {
            let others = fields.iter().filter(|(name, _)| *name != "type");
            schema.extend(others.map(|(name, value)| (name.clone(), value.clone())));
        }
        None => {
            schema.insert("properties".into(), Value::Object(Map::new()));
        }
    }
    Cow::Owned(Value::Object(schema))
}
