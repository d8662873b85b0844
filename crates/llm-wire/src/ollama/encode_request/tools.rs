//! Tools, the choice among them, and the form of the answer.
//!
//! Source of the rules: `ollama.md` of the project's wire notes (Tools, Structured output), state of 2026-11-29.

use super::Encoding;
use crate::fault::{invalid, unsupported, wrong_type};
use crate::ollama::request_types::{
    Fields, NoProperties, WireFunction, WireMessage, WireParameters, WireTool,
};
use llm_core::model::Knob;
use llm_core::{Capability, OutputFormat, Result, Support, ToolChoice, ToolSpec};
use serde_json::{Value, json};

impl<'a> Encoding<'a> {
    pub(super) fn tools(&mut self, body: &mut Fields<'a>, messages: &mut Vec<WireMessage<'a>>) -> Result<()> {
        let mut tools = Vec::with_capacity(self.request.tools.len());
        for (index, tool) in self.request.tools.iter().enumerate() {
            tools.push(self.tool(index, tool)?);
        }
        let offered = !tools.is_empty();
        self.parallel_tool_calls(offered)?;
        if let Some(choice) = &self.request.tool_choice {
            self.tool_choice(choice, &mut tools, messages)?;
        }
        if !tools.is_empty() {
            body.add("tools", tools);
        }
        Ok(())
    }

    fn tool(&mut self, index: usize, tool: &'a ToolSpec) -> Result<WireTool<'a>> {
        if tool.name.is_empty() {
            return Err(invalid(
                format!("tools[{index}].name"),
                "is empty; give the tool a name",
            ));
        }
        if tool.strict == Some(true) {
            let field = format!("tools[{index}].strict");
            self.warn(
                &field,
                "cannot be had: no server of this format guarantees arguments",
            );
        }
        let parameters = match &tool.parameters {
            Some(parameters) if parameters.is_object() => WireParameters::Given(parameters),
            Some(_) => return Err(wrong_type(format!("tools[{index}].parameters"), "a JSON schema")),
            None => WireParameters::None {
                kind: "object",
                properties: NoProperties {},
            },
        };
        Ok(WireTool {
            kind: "function",
            function: WireFunction {
                name: &tool.name,
                description: tool.description.as_deref(),
                parameters,
            },
        })
    }

    /// There is no switch: tools are left out, or the instructions say what is wanted.
    fn tool_choice(
        &mut self,
        choice: &'a ToolChoice,
        tools: &mut Vec<WireTool<'a>>,
        messages: &mut Vec<WireMessage<'a>>,
    ) -> Result<()> {
        const FIELD: &str = "tool_choice";
        let forced = !matches!(choice, ToolChoice::Auto | ToolChoice::None);
        if tools.is_empty() {
            if forced {
                return Err(invalid(FIELD, "asks for a call, but no tool is offered"));
            }
            self.warn(FIELD, "is not sent: no tool is offered");
            return Ok(());
        }
        if forced && self.model.rejects(Knob::ForcedToolUse) {
            let message = "asks for a call, which this model cannot be made to do";
            return Err(unsupported(FIELD, message));
        }
        let sentence = match choice {
            ToolChoice::Auto => return Ok(()),
            ToolChoice::None => {
                tools.clear();
                return Ok(());
            }
            ToolChoice::Required => "Answer with a call of at least one of the tools.".to_owned(),
            ToolChoice::Tool(name) => {
                tools.retain(|tool| tool.function.name == name);
                if tools.is_empty() {
                    return Err(invalid(FIELD, "names a tool that is not offered"));
                }
                format!("Answer with a call of the tool {name}.")
            }
            _ => return Err(unsupported(FIELD, "is of a kind that this format does not know")),
        };
        self.warn(
            FIELD,
            "is asked for in the instructions: nothing makes the model call a tool here",
        );
        let place = messages
            .iter()
            .take_while(|message| message.role == "system")
            .count();
        messages.insert(place, WireMessage::new("system", sentence));
        Ok(())
    }

    fn parallel_tool_calls(&mut self, offered: bool) -> Result<()> {
        const FIELD: &str = "parallel_tool_calls";
        let one_at_a_time = self.model.capabilities.support(Capability::ParallelTools) == Support::No;
        match self.request.parallel_tool_calls {
            None => {}
            Some(_) if !offered => self.warn(FIELD, "is not sent: no tool is offered"),
            Some(true) if one_at_a_time => {
                self.warn(FIELD, "is not sent: this model calls one tool at a time")
            }
            Some(true) => {}
            Some(false) if one_at_a_time => {}
            Some(false) => {
                let message = "asks for one call at a time, which this format cannot promise";
                return Err(unsupported(FIELD, message));
            }
        }
        Ok(())
    }

    pub(super) fn output(&mut self, body: &mut Fields<'a>) -> Result<()> {
        match &self.request.output {
            OutputFormat::Text => return Ok(()),
            OutputFormat::Json => body.add("format", "json"),
            OutputFormat::JsonSchema {
                description, schema, ..
            } => {
                if self.model.capabilities.support(Capability::JsonSchema) == Support::No {
                    let message = "asks for JSON of a schema, which this model cannot promise; ask for JSON";
                    return Err(unsupported("output", message));
                }
                let Value::Object(fields) = schema else {
                    return Err(wrong_type("output.schema", "a JSON schema"));
                };
                match description {
                    Some(description) if !fields.contains_key("description") => {
                        let mut fields = fields.clone();
                        fields.insert("description".to_owned(), json!(description));
                        body.add("format", Value::Object(fields));
                    }
                    _ => body.add("format", schema),
                }
            }
            _ => {
                return Err(unsupported(
                    "output",
                    "is of a form that this format does not know",
                ));
            }
        }
        if body.has("tools") {
            self.warn(
                "output",
                "keeps most models from calling a tool; ask for one or the other",
            );
        }
        Ok(())
    }
}
