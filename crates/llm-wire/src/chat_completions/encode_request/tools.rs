//! Tools, the choice among them, and the form of the answer.

use super::own_options::OwnOptions;
use super::{Encoding, moonshot_schema};
use crate::chat_completions::dialect::{Schemas, StrictTools};
use crate::chat_completions::request_types::{
    Body, WireFunction, WireName, WireResponseFormat, WireSchema, WireTool, WireToolChoice,
};
use crate::custom;
use crate::fault::{invalid, unsupported};
use llm_core::model::Knob;
use llm_core::{Capability, OutputFormat, Result, Support, ToolChoice, ToolSpec};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Display;

impl<'a> Encoding<'a> {
    pub(super) fn tools(&mut self, own: &OwnOptions<'a>, body: &mut Body<'a>) -> Result<()> {
        let request = self.request;
        let mut tools = Vec::with_capacity(request.tools.len() + own.own_tools.len());
        for (index, tool) in request.tools.iter().enumerate() {
            if tool.name.is_empty() {
                return Err(invalid(
                    format!("tools[{index}].name"),
                    "is empty; give the tool a name",
                ));
            }
            let without = self.dialect.tools.parameters_required;
            let parameters = match &tool.parameters {
                Some(parameters) => Some(Cow::Borrowed(parameters)),
                None => without.then(|| Cow::Owned(json!({"type": "object", "properties": {}}))),
            };
            let asked = self.strict(index, tool.strict)?;
            let (parameters, strict) = match parameters {
                Some(parameters) => {
                    let (schema, strict) =
                        self.held_to(format_args!("tools[{index}].strict"), parameters, asked);
                    (Some(schema), strict)
                }
                None => (None, asked),
            };
            tools.push(WireTool::Function {
                kind: "function",
                function: WireFunction {
                    name: self.tool_names.sent(&tool.name),
                    description: tool.description.as_deref(),
                    parameters,
                    strict,
                },
            });
        }
        tools.extend(
            own.own_tools
                .iter()
                .map(|tool| WireTool::Own(custom::nested(tool))),
        );
        let offered = !tools.is_empty();
        if offered {
            body.add("tools", tools);
        }
        // the vendor's own words for it have won already
        if !body.has("tool_choice") {
            self.tool_choice(offered, body)?;
        }
        self.parallel_tool_calls(offered, body)
    }

    /// A schema and whether the host is to hold its model to it. Says so in a warning where it cannot.
    fn held_to(
        &mut self,
        field: impl Display,
        schema: Cow<'a, Value>,
        asked: Option<bool>,
    ) -> (Cow<'a, Value>, Option<bool>) {
        let sent = self.dialect.strict_schemas.sent(schema, asked);
        if let Some(message) = sent.why_not {
            self.warn(field, &message);
        }
        (sent.schema, sent.strict)
    }

    /// What a tool asks for in the way of guaranteed arguments.
    fn strict(&self, index: usize, asked: Option<bool>) -> Result<Option<bool>> {
        let is_strict = |tool: &ToolSpec| tool.strict == Some(true);
        let field = || format!("tools[{index}].strict");
        match self.dialect.tools.strict {
            StrictTools::Each => Ok(asked),
            StrictTools::No if asked == Some(true) => {
                let message =
                    "asks for arguments that are sure to fit, which this host does not promise here";
                Err(unsupported(field(), message))
            }
            StrictTools::No => Ok(None),
            StrictTools::AllOrNone => {
                let tools = &self.request.tools;
                if asked == Some(true) && !tools.iter().all(is_strict) {
                    let message = "is taken here only where all tools of the request are strict";
                    return Err(unsupported(field(), message));
                }
                Ok(asked)
            }
        }
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
            return Err(unsupported(
                "tool_choice",
                "asks for a call, which this model cannot be made to do",
            ));
        }
        let tools = &self.request.tools;
        let function = |name| WireToolChoice::Function {
            kind: "function",
            function: WireName { name },
        };
        let word = match choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required if !self.rule.required_choice => match tools.as_slice() {
                // to have to call one of one is to have to call that one
                [only] => {
                    body.add("tool_choice", function(self.tool_names.sent(&only.name)));
                    return Ok(());
                }
                _ => {
                    let message =
                        "asks for a call of any tool, which this model cannot be made to do; name one";
                    return Err(unsupported("tool_choice", message));
                }
            },
            ToolChoice::Required => "required",
            ToolChoice::Tool(name) => {
                if !tools.iter().any(|tool| tool.name == *name) {
                    return Err(invalid("tool_choice", "names a tool that is not offered"));
                }
                body.add("tool_choice", function(self.tool_names.sent(name)));
                return Ok(());
            }
            _ => {
                return Err(unsupported(
                    "tool_choice",
                    "is of a kind that this format does not know",
                ));
            }
        };
        body.add("tool_choice", WireToolChoice::Word(word));
        Ok(())
    }

    fn parallel_tool_calls(&mut self, offered: bool, body: &mut Body<'a>) -> Result<()> {
        const FIELD: &str = "parallel_tool_calls";
        let Some(parallel) = self.request.parallel_tool_calls else {
            return Ok(());
        };
        if !offered {
            self.warn(FIELD, "is not sent: no tool is offered");
            return Ok(());
        }
        let one_at_a_time = self.model.capabilities.support(Capability::ParallelTools) == Support::No;
        match (parallel, one_at_a_time) {
            // such models refuse the field and keep to it anyway
            (false, true) => {}
            (true, true) => self.warn(FIELD, "is not sent: this model calls one tool at a time"),
            (_, false) if self.dialect.parallel_tool_calls => body.add(FIELD, parallel),
            (true, false) => self.warn(FIELD, "is not sent: this host does not take it"),
            (false, false) => {
                let message = "asks for one call at a time, which this host cannot promise";
                return Err(unsupported(FIELD, message));
            }
        }
        Ok(())
    }

    pub(super) fn output(&mut self, own: &OwnOptions<'a>, body: &mut Body<'a>) -> Result<()> {
        let json = !self.request.output.is_text();
        let tools = !self.request.tools.is_empty() || !own.own_tools.is_empty();
        if json && tools && !self.dialect.tools.with_json {
            let message = "is a form, which cannot be had together with tools here";
            return Err(unsupported("output", message));
        }
        let format = match &self.request.output {
            OutputFormat::Text => return Ok(()),
            OutputFormat::Json => WireResponseFormat::JsonObject,
            OutputFormat::JsonSchema {
                name,
                description,
                schema,
                strict,
            } => {
                let model = self.model.capabilities.support(Capability::JsonSchema);
                if !self.dialect.json_schema || model == Support::No {
                    let message =
                        "asks for JSON of a schema, which this host or model cannot promise; ask for JSON";
                    return Err(unsupported("output", message));
                }
                if name.is_empty() {
                    return Err(invalid("output.name", "is empty; give the schema a name"));
                }
                let schema = self.schema(schema)?;
                let (schema, strict) = self.held_to("output.strict", schema, *strict);
                WireResponseFormat::JsonSchema {
                    json_schema: WireSchema {
                        name,
                        description: description.as_deref(),
                        schema,
                        strict,
                    },
                }
            }
            _ => {
                return Err(unsupported(
                    "output",
                    "is of a form that this format does not know",
                ));
            }
        };
        body.add("response_format", format);
        Ok(())
    }

    fn schema(&self, schema: &'a Value) -> Result<Cow<'a, Value>> {
        match self.dialect.json.schemas {
            Schemas::AsGiven => Ok(Cow::Borrowed(schema)),
            Schemas::Moonshot => moonshot_schema::rewritten(schema).map(Cow::Owned),
        }
    }

    /// Can the answer come piece by piece? Says so in a warning where not.
    pub(super) fn can_be_streamed(&mut self) -> bool {
        if self.dialect.json.streamed || self.request.output.is_text() {
            return true;
        }
        self.warn(
            "output",
            "is answered in one piece: this host does not stream answers of a form",
        );
        false
    }
}
