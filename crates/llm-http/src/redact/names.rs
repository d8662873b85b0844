//! Names that say what is wrong, and that a caller's text may hold too: they stay readable.

use std::ops::Range;

/// Names in the wire formats: they say what is wrong, and a caller's text may hold them too.
const NAMES: [&str; 50] = [
    "additionalproperties",
    "array",
    "arguments",
    "assistant",
    "boolean",
    "completion",
    "content",
    "contents",
    "developer",
    "false",
    "file",
    "function",
    "function_call_output",
    "generatecontentrequest",
    "generation_config",
    "generationconfig",
    "image",
    "image_url",
    "input",
    "instructions",
    "integer",
    "json",
    "json_object",
    "json_schema",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "messages",
    "model",
    "none",
    "null",
    "number",
    "object",
    "parameters",
    "prompt",
    "properties",
    "reasoning",
    "reasoning_effort",
    "required",
    "response_format",
    "role",
    "string",
    "system",
    "temperature",
    "text",
    "tool_choice",
    "tool_config",
    "tools",
    "true",
    "user",
];

/// Words behind which a name stands in quotes.
const NAMED: [&str; 4] = ["function", "functions", "tool", "tools"];

/// The model, or a field of a format with the way to it: `messages[0].content`.
pub(super) fn is_name(said: &str, model: Option<&str>) -> bool {
    let said = said.trim();
    model == Some(said)
        || (!is_number(said)
            && said
                .split(['.', '[', ']'])
                .all(|step| is_number(step) || is_known(step)))
}

/// Identifiers behind a field of a format: `tools[0].function_declarations[0]`.
pub(super) fn is_path(said: &str) -> bool {
    let mut steps = said.split(['.', '[', ']']);
    let is_below = steps.next().is_some_and(is_known);
    let mut below = steps.peekable();
    is_below && below.peek().is_some() && below.all(is_identifier)
}

/// The steps of a path that could be what a caller wrote.
pub(super) fn steps(path: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    let steps = path.split(['.', '[', ']']).map(move |step| {
        let start = at;
        at += step.len() + 1;
        start..start + step.len()
    });
    steps.filter(|step| !is_known(&path[step.clone()]))
}

/// Does the text before say that a name follows, and is this one?
pub(super) fn is_named(before: &str, said: &str) -> bool {
    if said.is_empty() || !is_identifier(said) {
        return false;
    }
    let word = before.trim_end_matches(|c: char| c.is_whitespace() || "\"'`:\\".contains(c));
    let word = word
        .rsplit(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    NAMED.iter().any(|name| name.eq_ignore_ascii_case(word))
}

fn is_known(step: &str) -> bool {
    NAMES.iter().any(|name| name.eq_ignore_ascii_case(step))
}

fn is_identifier(step: &str) -> bool {
    step.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_number(said: &str) -> bool {
    said.bytes().all(|byte| byte.is_ascii_digit())
}
