//! Tools, and the choice among them.

use super::Encoding;
use crate::bag::Bag;
use crate::custom;
use crate::fault::{invalid, unsupported};
use crate::responses::request_types::{Body, WireTool, WireToolChoice};
use llm_core::model::Knob;
use llm_core::{Capability, Result, Support, ToolChoice};
use serde_json::{Value, json};
use std::borrow::Cow;

impl<'a> Encoding<'a> {
    /// Adds tools, choice and parallel calls. `own` are tools of other kinds than functions.
    pub(super) fn tools(&mut self, own: &'a [Value], bag: &Bag<'a>, body: &mut Body<'a>) -> Result<()> {
        let mut tools = Vec::with_capacity(self.request.tools.len() + own.len());
        for (index, tool) in self.request.tools.iter().enumerate() {
            if tool.name.is_empty() {
                let field = format!("tools[{index}].name");
                return Err(invalid(&field, "is empty; give the tool a name"));
            }
            let parameters = match &tool.parameters {
                Some(parameters) => Cow::Borrowed(parameters),
                None => Cow::Owned(
                    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
                ),
            };
            let sent = self.dialect.strict_schemas.sent(parameters, tool.strict);
            if let Some(message) = sent.why_not {
                self.warn(format_args!("tools[{index}].strict"), &message);
            }
            tools.push(WireTool::Function {
                kind: "function",
                name: self.tool_names.sent(&tool.name),
                description: tool.description.as_deref(),
                parameters: sent.schema,
                // left out, the host would make schemas strict that are not meant so
                strict: sent.strict.unwrap_or(false),
            });
        }
        tools.extend(own.iter().map(|tool| WireTool::Own(custom::flat(tool))));
        let offered = !tools.is_empty();
        if offered {
            body.add("tools", tools);
        }
        match bag.value("tool_choice") {
            Some(own) => body.add("tool_choice", custom::flat(own)),
            None => self.tool_choice(offered, body)?,
        }
        self.parallel_tool_calls(offered, body);
        Ok(())
    }

    fn tool_choice(&mut self, offered: bool, body: &mut Body<'a>) -> Result<()> {
        let Some(choice) = &self.request.tool_choice else {
            return Ok(());
        };
        let forced = !matches!(choice, ToolChoice::Auto | ToolChoice::None);
        if !offered {
            if forced {
                return Err(invalid("tool_choice", "asks for a call, but no tool is offered"));
            }
            self.warn("tool_choice", "is not sent: no tool is offered");
            return Ok(());
        }
        if forced && self.model.rejects(Knob::ForcedToolUse) {
            let message = "asks for a call, which this model cannot be made to do";
            return Err(unsupported("tool_choice", message));
        }
        let choice = match choice {
            ToolChoice::Auto => WireToolChoice::Word("auto"),
            ToolChoice::None => WireToolChoice::Word("none"),
            ToolChoice::Required => WireToolChoice::Word("required"),
            ToolChoice::Tool(name) => {
                if !self.request.tools.iter().any(|tool| tool.name == *name) {
                    return Err(invalid("tool_choice", "names a tool that is not offered"));
                }
                WireToolChoice::Function {
                    kind: "function",
                    name: self.tool_names.sent(name),
                }
            }
            _ => {
                let message = "is of a kind that this format does not know";
                return Err(unsupported("tool_choice", message));
            }
        };
        body.add("tool_choice", choice);
        Ok(())
    }

    fn parallel_tool_calls(&mut self, offered: bool, body: &mut Body<'a>) {
        const FIELD: &str = "parallel_tool_calls";
        let Some(parallel) = self.request.parallel_tool_calls else {
            return;
        };
        let one_at_a_time = self.model.capabilities.support(Capability::ParallelTools) == Support::No;
        match parallel {
            _ if !offered => self.warn(FIELD, "is not sent: no tool is offered"),
            true if one_at_a_time => self.warn(FIELD, "is not sent: this model calls one tool at a time"),
            // such models keep to it anyway
            false if one_at_a_time => {}
            _ => body.add(FIELD, parallel),
        }
    }
}
