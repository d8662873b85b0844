//! Everything of a request but model, messages and tools.

use super::OPENAI;
use crate::chat_completions::dialect::OptionKey;
use crate::fault::{invalid, missing, unsupported, wrong_type};
use crate::fields::{Fields, Notes};
use llm_core::{ChatRequest, OutputFormat, Reasoning, ReasoningEffort, Result, Sampling};
use serde_json::Value;

pub(super) fn settings(fields: &mut Fields, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    request.output = output(fields, notes)?;
    request.sampling = sampling(fields)?;
    reasoning(fields, request)?;
    request.max_output_tokens = max_output(fields, notes)?;
    request.stop = stop(fields)?;
    request.service_tier = fields.text("service_tier")?;
    caller(fields, request)?;
    if fields.integer("n")?.is_some_and(|answers| answers != 1) {
        return Err(unsupported(
            "n",
            "must be 1: an answer has one choice here; ask several times for several",
        ));
    }
    for key in OptionKey::OPENAI {
        // in the bag only, and no field of the body
        if key.name == "custom_tools" {
            continue;
        }
        if let Some(value) = fields.value(key.name, key.form)? {
            request.vendor.set(OPENAI, key.name, value);
        }
    }
    Ok(())
}

fn output(fields: &mut Fields, notes: &mut Notes) -> Result<OutputFormat> {
    let Some(mut format) = fields.inner("response_format")? else {
        return Ok(OutputFormat::Text);
    };
    let kind = format.text("type")?.unwrap_or_default();
    let output = match kind.as_str() {
        "text" => OutputFormat::Text,
        "json_object" => OutputFormat::Json,
        "json_schema" => {
            let schema = format.inner("json_schema")?;
            let mut schema =
                schema.ok_or_else(|| missing(format.at("json_schema"), "an object with name and schema"))?;
            let name = schema.name("name")?;
            let output = OutputFormat::JsonSchema {
                name,
                description: schema.text("description")?,
                schema: schema
                    .object("schema")?
                    .ok_or_else(|| missing(schema.at("schema"), "a JSON schema"))?,
                strict: schema.flag("strict")?,
            };
            schema.finish(notes);
            output
        }
        _ => {
            return Err(invalid(
                format.at("type"),
                "must be one of text, json_object and json_schema",
            ));
        }
    };
    format.finish(notes);
    Ok(output)
}

fn sampling(fields: &mut Fields) -> Result<Sampling> {
    let mut sampling = Sampling::default();
    sampling.temperature = fields.number("temperature")?;
    sampling.top_p = fields.number("top_p")?;
    sampling.top_k = fields.count("top_k")?;
    sampling.frequency_penalty = fields.number("frequency_penalty")?;
    sampling.presence_penalty = fields.number("presence_penalty")?;
    sampling.seed = fields.integer("seed")?;
    Ok(sampling)
}

/// `minimal` has no neutral word: it is low for everybody, and itself for OpenAI.
fn reasoning(fields: &mut Fields, request: &mut ChatRequest) -> Result<()> {
    const FIELD: &str = "reasoning_effort";
    let effort = match fields.text(FIELD)?.as_deref() {
        None => None,
        Some("minimal") => {
            request.vendor.set(OPENAI, FIELD, Value::from("minimal"));
            Some(ReasoningEffort::Low)
        }
        Some(word) => Some(ReasoningEffort::parse(word).ok_or_else(|| {
            invalid(
                FIELD,
                "must be one of none, minimal, low, medium, high, xhigh and max",
            )
        })?),
    };
    // not OpenAI's: several compatible hosts ask for shown reasoning by this name
    let include = fields.flag("include_reasoning")?.unwrap_or(false);
    if effort.is_some() || include {
        let mut reasoning = Reasoning::default().with_include(include);
        reasoning.effort = effort;
        request.reasoning = Some(reasoning);
    }
    Ok(())
}

fn max_output(fields: &mut Fields, notes: &mut Notes) -> Result<Option<u32>> {
    let old = fields.count("max_tokens")?;
    let new = fields.count("max_completion_tokens")?;
    if new.is_some() && old.is_some() && old != new {
        notes.warn(
            "max_tokens",
            "is the old name of max_completion_tokens, which is taken instead",
        );
    }
    Ok(new.or(old))
}

fn stop(fields: &mut Fields) -> Result<Vec<String>> {
    const EXPECTED: &str = "a string or a list of strings";
    match fields.take("stop") {
        None => Ok(Vec::new()),
        Some(Value::String(stop)) => Ok(vec![stop]),
        Some(Value::Array(list)) => {
            let texts = list.into_iter().map(|value| match value {
                Value::String(stop) => Ok(stop),
                _ => Err(wrong_type("stop", EXPECTED)),
            });
            texts.collect()
        }
        Some(_) => Err(wrong_type("stop", EXPECTED)),
    }
}

/// The end user has an old and a new name; where both are given, the old one goes to OpenAI only.
fn caller(fields: &mut Fields, request: &mut ChatRequest) -> Result<()> {
    let old = fields.text("user")?;
    request.user = match fields.text("safety_identifier")? {
        None => old,
        new => {
            if let Some(old) = old {
                request.vendor.set(OPENAI, "user", Value::from(old));
            }
            new
        }
    };
    Ok(())
}
