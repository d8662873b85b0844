//! Tools, the choice among them, and the form of the answer.
//!
//! Source of the rules: `gemini.md` of the project's wire notes (Tools, Structured output), state of 2026-11-29.

use super::Encoding;
use super::own_options::OwnOptions;
use super::schema::{Flaw, legal};
use crate::fault::{invalid, unsupported, wrong_type};
use crate::generate_content::request_types::{Fields, WireFunction, WireTool};
use llm_core::model::Knob;
use llm_core::{Capability, OutputFormat, Result, Support, ToolChoice, ToolSpec};
use serde_json::{Value, json};

impl<'a> Encoding<'a> {
    pub(super) fn tools(&mut self, own: &OwnOptions<'a>, body: &mut Fields<'a>) -> Result<()> {
        let declarations = self
            .request
            .tools
            .iter()
            .enumerate()
            .map(|(index, tool)| self.function(index, tool))
            .collect::<Result<Vec<_>>>()?;
        let mut server_tools = own.server_tools;
        if !server_tools.is_empty() && self.request.tool_choice == Some(ToolChoice::None) {
            self.warn(
                "tool_choice",
                "leaves the vendor's own tools out: they cannot be kept from being called",
            );
            server_tools = &[];
        }
        let mixed = !declarations.is_empty() && !server_tools.is_empty();
        if mixed && !self.rule.recent {
            let field = format!("vendor.{}.serverTools", self.dialect.vendor);
            return Err(unsupported(
                &field,
                "cannot stand beside tools of your own with this model",
            ));
        }
        let offered = !declarations.is_empty();
        let config = self.tool_config(own, mixed)?;
        self.parallel_tool_calls(offered)?;
        if own.cached_content {
            if offered || !server_tools.is_empty() {
                self.warn("tools", "are not sent: those of the cached content hold");
            }
            if self.request.tool_choice.is_some() {
                self.warn("tool_choice", "is not sent: that of the cached content holds");
            }
            return Ok(());
        }
        let mut tools = Vec::with_capacity(1 + server_tools.len());
        if offered {
            tools.push(WireTool::Functions { declarations });
        }
        tools.extend(server_tools.iter().map(WireTool::Own));
        if !tools.is_empty() {
            body.add("tools", tools);
        }
        body.add_object("toolConfig", config);
        Ok(())
    }

    fn function(&mut self, index: usize, tool: &'a ToolSpec) -> Result<WireFunction<'a>> {
        if tool.name.is_empty() {
            return Err(invalid(
                format!("tools[{index}].name"),
                "is empty; give the tool a name",
            ));
        }
        let name = self.tool_names.sent(&tool.name);
        let schema = match &tool.parameters {
            Some(parameters) => Some(self.schema(&format!("tools[{index}].parameters"), parameters)?),
            None => None,
        };
        Ok(WireFunction {
            name,
            description: tool.description.as_deref(),
            parameters_json_schema: schema.map(as_object).filter(|schema| !takes_nothing(schema)),
        })
    }

    /// A schema as the service reads it. What it does not read is named.
    fn schema(&mut self, field: &str, schema: &Value) -> Result<Value> {
        let legal = legal(schema).map_err(|flaw| match flaw {
            Flaw::NotASchema => wrong_type(field, "a JSON schema"),
            Flaw::Reference => unsupported(
                field,
                "refers to something outside of itself, or that is not there; write it out",
            ),
            Flaw::Size => unsupported(
                field,
                "is too deep or too large once its references are written out",
            ),
        })?;
        if legal.cut {
            let message = "contains itself; it is sent up to the first repetition, where anything is allowed";
            self.warn(field, message);
        }
        if !legal.not_read.is_empty() {
            let words: Vec<_> = legal.not_read.iter().map(String::as_str).collect();
            let message = format!(
                "holds keywords that this vendor does not read: {}",
                words.join(", ")
            );
            self.warn(field, &message);
        }
        Ok(legal.schema)
    }

    /// Which tools may, must or must not be called.
    fn tool_config(&mut self, own: &OwnOptions<'a>, mixed: bool) -> Result<Fields<'a>> {
        let mut config = Fields::new(None);
        let functions = self.function_calling()?;
        if let Some(Value::Object(own)) = own.bag.value("toolConfig") {
            for (name, value) in own {
                config.add(name, value);
            }
        }
        let (mode, allowed) = match functions {
            // the usual mode does not go with the vendor's own tools
            (None | Some("AUTO"), _) if mixed => (Some("VALIDATED"), None),
            other => other,
        };
        if let Some(mode) = mode {
            let mut calling = Fields::new(None);
            calling.add("mode", mode);
            if let Some(name) = allowed {
                calling.add("allowedFunctionNames", [self.tool_names.sent(name)]);
            }
            config.add_object("functionCallingConfig", calling);
        }
        if mixed && self.dialect.server_tool_switch {
            config.add("includeServerSideToolInvocations", true);
        }
        Ok(config)
    }

    /// The mode, and the one function that may be called in it.
    fn function_calling(&mut self) -> Result<(Option<&'static str>, Option<&'a str>)> {
        let request = self.request;
        let offered = !request.tools.is_empty();
        let mut strict = request.tools.iter().any(|tool| tool.strict == Some(true));
        let choice = request.tool_choice.as_ref();
        let forced = !matches!(choice, None | Some(ToolChoice::Auto | ToolChoice::None));
        if forced && !offered {
            return Err(invalid("tool_choice", "asks for a call, but no tool is offered"));
        }
        if forced && self.model.rejects(Knob::ForcedToolUse) {
            let message = "asks for a call, which this model cannot be made to do";
            return Err(unsupported("tool_choice", message));
        }
        if choice.is_some() && !offered {
            self.warn("tool_choice", "is not sent: no tool is offered");
            return Ok((None, None));
        }
        if strict && !request.output.is_text() && !forced {
            self.warn(
                "tools",
                "are not strict: this vendor does not promise that while JSON is asked for",
            );
            strict = false;
        }
        Ok(match choice {
            None | Some(ToolChoice::Auto) if strict => (Some("VALIDATED"), None),
            None => (None, None),
            Some(ToolChoice::Auto) => (Some("AUTO"), None),
            Some(ToolChoice::None) => (Some("NONE"), None),
            Some(ToolChoice::Required) => (Some("ANY"), None),
            Some(ToolChoice::Tool(name)) => {
                if !request.tools.iter().any(|tool| tool.name == *name) {
                    return Err(invalid("tool_choice", "names a tool that is not offered"));
                }
                (Some("ANY"), Some(name))
            }
            Some(_) => {
                return Err(unsupported(
                    "tool_choice",
                    "is of a kind that this format does not know",
                ));
            }
        })
    }

    /// Calls may always come side by side; there is no switch.
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
                let message = "asks for one call at a time, which this vendor cannot promise";
                return Err(unsupported(FIELD, message));
            }
        }
        Ok(())
    }

    pub(super) fn output(&mut self, own: &OwnOptions<'a>, config: &mut Fields<'a>) -> Result<()> {
        let output = &self.request.output;
        let chosen = [
            "responseMimeType",
            "responseSchema",
            "responseJsonSchema",
            "responseFormat",
        ];
        if output.is_text() || chosen.iter().any(|key| own.bag.value(key).is_some()) {
            return Ok(());
        }
        if !self.request.tools.is_empty() {
            if !self.rule.recent {
                let message = "asks for JSON, which this model does not write while tools are offered";
                return Err(unsupported("output", message));
            }
            if matches!(
                self.request.tool_choice,
                Some(ToolChoice::Required | ToolChoice::Tool(_))
            ) {
                let message = "asks for JSON, which cannot be had while a tool must be called";
                return Err(unsupported("output", message));
            }
        }
        match output {
            OutputFormat::Json => config.add("responseMimeType", "application/json"),
            OutputFormat::JsonSchema {
                description, schema, ..
            } => {
                if self.model.capabilities.support(Capability::JsonSchema) == Support::No {
                    let message = "asks for JSON of a schema, which this model cannot promise; ask for JSON";
                    return Err(unsupported("output", message));
                }
                let mut schema = self.schema("output.schema", schema)?;
                if let (Some(description), Value::Object(fields)) = (description, &mut schema)
                    && !fields.contains_key("description")
                {
                    fields.insert("description".to_owned(), json!(description));
                }
                config.add("responseMimeType", "application/json");
                config.add("responseJsonSchema", schema);
            }
            _ => {
                return Err(unsupported(
                    "output",
                    "is of a form that this format does not know",
                ));
            }
        }
        Ok(())
    }
}

/// Arguments are always an object, also where the schema leaves that out.
fn as_object(mut schema: Value) -> Value {
    if let Value::Object(fields) = &mut schema {
        let says_type = ["type", "anyOf", "oneOf", "enum"]
            .iter()
            .any(|key| fields.contains_key(*key));
        if !says_type && !fields.is_empty() {
            fields.insert("type".to_owned(), json!("object"));
        }
    }
    schema
}

/// Is this the schema of a function without arguments? Then it is left out: an object without properties is an error.
fn takes_nothing(schema: &Value) -> bool {
    let empty = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_object)
            .is_some_and(|map| map.is_empty())
    };
    let open = schema
        .get("additionalProperties")
        .is_some_and(|more| *more != Value::Bool(false));
    schema.as_object().is_some_and(|schema| schema.is_empty()) || (empty("properties") && !open)
}
