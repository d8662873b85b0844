//! Everything of a request but model, cap, messages and tools.

use crate::fault::{invalid, missing, wrong_type};
use crate::fields::{Fields, Notes};
use crate::messages::ANTHROPIC;
use crate::option_key::{JsonForm, OptionKey};
use llm_core::{ChatRequest, OutputFormat, Reasoning, ReasoningEffort, Result};
use serde_json::{Map, Value};

/// Keys of the options bag that are read here from other places of the body.
const ELSEWHERE: [&str; 5] = [
    "betas",
    "builtin_tools",
    "task_budget",
    "thinking",
    "output_config",
];

pub(super) fn settings(fields: &mut Fields, request: &mut ChatRequest, notes: &mut Notes) -> Result<()> {
    request.sampling.temperature = fields.number("temperature")?;
    request.sampling.top_p = fields.number("top_p")?;
    request.sampling.top_k = fields.count("top_k")?;
    request.stop = stop(fields)?;
    if let Some(mut metadata) = fields.inner("metadata")? {
        request.user = metadata.text("user_id")?;
        metadata.finish(notes);
    }
    request.service_tier = fields.text("service_tier")?;
    let effort = output_config(fields, request, notes)?;
    thinking(fields, effort, request)?;
    for key in OptionKey::ANTHROPIC {
        if ELSEWHERE.contains(&key.name) {
            continue;
        }
        if let Some(value) = fields.value(key.name, key.form)? {
            request.vendor.set(ANTHROPIC, key.name, value);
        }
    }
    Ok(())
}

fn stop(fields: &mut Fields) -> Result<Vec<String>> {
    let list = fields.list("stop_sequences")?.unwrap_or_default();
    let texts = list.into_iter().map(|value| match value {
        Value::String(stop) => Ok(stop),
        _ => Err(wrong_type("stop_sequences", "a list of strings")),
    });
    texts.collect()
}

/// Effort, form of the answer, and a budget for a task.
fn output_config(
    fields: &mut Fields,
    request: &mut ChatRequest,
    notes: &mut Notes,
) -> Result<Option<ReasoningEffort>> {
    let Some(mut config) = fields.inner("output_config")? else {
        return Ok(None);
    };
    let effort = match config.text("effort")? {
        None => None,
        Some(word) => Some(
            ReasoningEffort::parse(&word)
                .filter(|level| *level != ReasoningEffort::None)
                .ok_or_else(|| {
                    invalid(
                        config.at("effort"),
                        "must be one of low, medium, high, xhigh and max",
                    )
                })?,
        ),
    };
    if let Some(mut format) = config.inner("format")? {
        if format.text("type")?.as_deref() != Some("json_schema") {
            return Err(invalid(format.at("type"), "must be json_schema"));
        }
        let schema = format.object("schema")?;
        let schema = schema.ok_or_else(|| missing(format.at("schema"), "a JSON schema"))?;
        request.output = OutputFormat::json_schema("output", schema);
        format.finish(notes);
    }
    if let Some(budget) = config.value("task_budget", JsonForm::Object)? {
        request.vendor.set(ANTHROPIC, "task_budget", budget);
    }
    config.finish(notes);
    Ok(effort)
}

/// What has no neutral form is kept in the bag as well: an Anthropic target gets it as it is.
fn thinking(fields: &mut Fields, effort: Option<ReasoningEffort>, request: &mut ChatRequest) -> Result<()> {
    let mut reasoning = Reasoning::default();
    reasoning.effort = effort;
    let Some(own) = fields.object("thinking")? else {
        request.reasoning = effort.map(|_| reasoning);
        return Ok(());
    };
    let thinking = own.as_object();
    let field = |name: &str| thinking.and_then(|thinking| thinking.get(name));
    let display = field("display").and_then(Value::as_str);
    let mut plain = only(thinking, &["type", "display"]) && matches!(display, Some("summarized" | "omitted"));
    reasoning.include = display == Some("summarized");
    match field("type").and_then(Value::as_str) {
        Some("adaptive") => plain &= effort.is_some(),
        Some("disabled") => {
            plain = only(thinking, &["type"]) && effort.is_none();
            reasoning.effort = Some(ReasoningEffort::None);
        }
        Some("between_tools") => reasoning.effort = Some(ReasoningEffort::None),
        Some("enabled") => {
            let tokens = field("budget_tokens").and_then(Value::as_u64);
            let tokens =
                tokens.ok_or_else(|| missing("thinking.budget_tokens", "a whole number of at least 1024"))?;
            reasoning.effort = effort.or(Some(effort_of(tokens)));
            reasoning.include = display != Some("omitted");
            plain = false;
        }
        _ => {
            let message = "must be one of adaptive, enabled, disabled and between_tools";
            return Err(invalid("thinking.type", message));
        }
    }
    if !plain {
        request.vendor.set(ANTHROPIC, "thinking", own);
        if let Some(level) = effort {
            let config = Map::from_iter([("effort".to_owned(), level.as_str().into())]);
            request
                .vendor
                .set(ANTHROPIC, "output_config", Value::Object(config));
        }
    }
    request.reasoning = Some(reasoning);
    Ok(())
}

fn only(fields: Option<&Map<String, Value>>, names: &[&str]) -> bool {
    fields.is_some_and(|fields| fields.keys().all(|name| names.contains(&name.as_str())))
}

/// The level that a budget of tokens is nearest to.
fn effort_of(tokens: u64) -> ReasoningEffort {
    match tokens {
        ..4_096 => ReasoningEffort::Low,
        4_096..12_288 => ReasoningEffort::Medium,
        12_288..24_576 => ReasoningEffort::High,
        _ => ReasoningEffort::XHigh,
    }
}
