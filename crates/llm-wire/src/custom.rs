//! What two formats of one vendor say in two forms: tools of another kind than functions, their calls, and the choice
//! among tools. Chat Completions nests (`{"type":"custom","custom":{…}}`), Responses does not.
//!
//! Sources: `openai-chat.md` and `openai-responses.md` of the project's wire notes ("Tools", "Input items"), state of
//! 2026-11-29.

use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What a call of a custom tool is called among the pieces of the vendor's own, whichever format recorded it.
pub(crate) const CUSTOM_CALL: &str = "custom_tool_call";

/// What is called of a custom tool.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct CustomCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) input: &'a str,
}

/// The call of a custom tool that a piece of the vendor's own is, with its id, in whichever form.
pub(crate) fn call<'a>(kind: &str, data: &'a Value) -> Option<(&'a str, CustomCall<'a>)> {
    let data = Some(data).filter(|_| kind == CUSTOM_CALL)?;
    let (id, custom) = match data.get("custom") {
        Some(custom) => (data.get("id"), custom),
        None => (data.get("call_id"), data),
    };
    let text = |name: &str| custom.get(name).and_then(Value::as_str);
    let (name, input) = (text("name")?, text("input")?);
    Some((id?.as_str()?, CustomCall { name, input }))
}

/// A tool or a choice among tools, in the form of Responses.
pub(crate) fn flat(value: &Value) -> Cow<'_, Value> {
    in_form(value, unnested)
}

/// The same in the form of Chat Completions.
pub(crate) fn nested(value: &Value) -> Cow<'_, Value> {
    in_form(value, nested_in)
}

/// Brings one thing of a kind into a form; nothing where it has it.
type Form = fn(&str, &Map<String, Value>) -> Option<Map<String, Value>>;

/// Brings a value into a form, and what it is made of: the format of a tool's input, the tools of a choice.
fn in_form(value: &Value, form: Form) -> Cow<'_, Value> {
    let kind = value.get("type").and_then(Value::as_str);
    let (Some(kind @ ("function" | "custom" | "allowed_tools" | "grammar")), Value::Object(fields)) =
        (kind, value)
    else {
        return Cow::Borrowed(value);
    };
    let Some(mut fields) = form(kind, fields) else {
        return Cow::Borrowed(value);
    };
    let inner = match fields.get_mut(kind) {
        Some(Value::Object(inner)) => inner,
        _ => &mut fields,
    };
    if let Some(format) = inner.get_mut("format") {
        *format = in_form(format, form).into_owned();
    }
    if let Some(Value::Array(tools)) = inner.get_mut("tools") {
        for tool in tools {
            *tool = in_form(tool, form).into_owned();
        }
    }
    Cow::Owned(Value::Object(fields))
}

/// Takes what is said of a kind out of the field of its name.
fn unnested(kind: &str, fields: &Map<String, Value>) -> Option<Map<String, Value>> {
    let inner = fields.get(kind)?.as_object()?;
    let mut flat = fields.clone();
    flat.remove(kind);
    flat.extend(inner.clone());
    flat.insert("type".to_owned(), kind.into());
    Some(flat)
}

/// Puts what is said of a kind into a field of its name.
fn nested_in(kind: &str, fields: &Map<String, Value>) -> Option<Map<String, Value>> {
    if fields.contains_key(kind) {
        return None;
    }
    let mut inner = fields.clone();
    inner.remove("type");
    let both = [
        ("type".to_owned(), kind.into()),
        (kind.to_owned(), Value::Object(inner)),
    ];
    Some(both.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_form_becomes_the_other() {
        let grammar = json!({"syntax": "lark", "definition": "start: /a/"});
        let flat_grammar = json!({"type": "grammar", "syntax": "lark", "definition": "start: /a/"});
        for (in_chat, in_responses) in [
            (
                json!({"type": "custom", "custom": {"name": "sql", "description": "d"}}),
                json!({"type": "custom", "name": "sql", "description": "d"}),
            ),
            (
                json!({"type": "custom", "custom": {"name": "sql", "format": {"type": "grammar", "grammar": grammar}}}),
                json!({"type": "custom", "name": "sql", "format": flat_grammar}),
            ),
            (
                json!({"type": "function", "function": {"name": "f"}}),
                json!({"type": "function", "name": "f"}),
            ),
            (
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
                    {"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "sql"}}]}}),
                json!({"type": "allowed_tools", "mode": "auto", "tools": [
                    {"type": "function", "name": "f"}, {"type": "custom", "name": "sql"}]}),
            ),
        ] {
            assert_eq!(*flat(&in_chat), in_responses);
            assert_eq!(*nested(&in_responses), in_chat);
            assert_eq!(*flat(&in_responses), in_responses);
            assert_eq!(*nested(&in_chat), in_chat);
        }
    }

    #[test]
    fn what_has_one_form_is_left_alone() {
        for value in [
            json!({"type": "web_search"}),
            json!({"type": "mcp", "server_label": "a"}),
            json!({"type": "builtin_function", "function": {"name": "$web_search"}}),
            json!("auto"),
            json!({}),
        ] {
            assert!(matches!(flat(&value), Cow::Borrowed(same) if *same == value));
            assert!(matches!(nested(&value), Cow::Borrowed(same) if *same == value));
        }
    }
}
