//! One request form into another: what is checked is the translated request.

use super::{case, demo, gemini_request};
use llm_core::{ContentPart, Origin, Replay, Role, VendorId};
use llm_wire::{chat_completions, ollama};
use serde_json::Value;

pub(super) fn check_translation(id: &str) {
    let case = case(id);
    let mut source = case["input"]["request"].clone();
    let mut replays = Vec::new();
    for message in source["messages"].as_array_mut().unwrap() {
        if message["role"] == "assistant" {
            replays.push(
                message
                    .as_object_mut()
                    .unwrap()
                    .remove("replay")
                    .unwrap_or_default(),
            );
        }
    }
    let mut request = chat_completions::decode_request(source.to_string().as_bytes())
        .unwrap()
        .request;
    let turns = request
        .messages
        .iter_mut()
        .filter(|message| message.role == Role::Assistant);
    for (message, replay) in turns.zip(replays) {
        let parts = replay["parts"].as_array().cloned().unwrap_or_default();
        for (part, kept) in message.content.iter_mut().zip(parts) {
            let state = Replay::new(Origin::new(VendorId::from_static("gemini")), kept);
            match part {
                ContentPart::ToolCall(call) => call.replay = Some(state),
                ContentPart::Text(text) => text.replay = Some(state),
                _ => {}
            }
        }
    }
    let sent = match case["input"]["to"].as_str().unwrap() {
        "gemini" => gemini_request(&request),
        "ollama-chat" => {
            let dialect = ollama::Dialect::ollama();
            let encoded = ollama::encode_request(&dialect, &demo(), &request, false).unwrap();
            serde_json::from_slice(&encoded.body).unwrap()
        }
        other => panic!("{other}"),
    };
    let accepted = case["accept"].as_array().into_iter().flatten();
    let mut faults = std::iter::once(&case["expect"]).chain(accepted).map(|outcome| {
        let checks = outcome["checks"].as_array().unwrap();
        checks.iter().find(|check| !holds(check, &sent)).cloned()
    });
    let first = faults.next().unwrap();
    assert!(
        first.is_none() || faults.any(|fault| fault.is_none()),
        "{id}: {first:?} in {sent}"
    );
}

/// All nodes that a pointer with `*` and `**` selects.
fn select<'v>(value: &'v Value, steps: &[&str], found: &mut Vec<&'v Value>) {
    let children = || -> Vec<(String, &'v Value)> {
        match value {
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(at, value)| (at.to_string(), value))
                .collect(),
            _ => Vec::new(),
        }
    };
    let Some((step, rest)) = steps.split_first() else {
        return found.push(value);
    };
    if *step == "**" {
        select(value, rest, found);
    }
    for (key, child) in children() {
        match *step {
            "**" => select(child, steps, found),
            "*" => select(child, rest, found),
            step if step == key => select(child, rest, found),
            _ => {}
        }
    }
}

fn holds(check: &Value, document: &Value) -> bool {
    let path = check["path"].as_str().unwrap();
    let steps: Vec<_> = path.split('/').skip(1).collect();
    let mut nodes = Vec::new();
    select(document, &steps, &mut nodes);
    let value = &check["value"];
    let text = |node: &Value| node.as_str().map_or_else(|| node.to_string(), str::to_owned);
    let matches = |node: &Value| {
        let pattern = value.as_str().unwrap().replace("\\{", "{");
        match pattern
            .strip_prefix("^(")
            .and_then(|rest| rest.strip_suffix(")$"))
        {
            Some(words) => words.split('|').any(|word| text(node) == word),
            None => text(node).contains(&pattern),
        }
    };
    match check["op"].as_str().unwrap() {
        "absent" => nodes.is_empty(),
        "equals" => !nodes.is_empty() && nodes.iter().all(|node| *node == value),
        "not_equals" => nodes.iter().all(|node| *node != value),
        "matches" => !nodes.is_empty() && nodes.iter().all(|node| matches(node)),
        "type" => !nodes.is_empty() && nodes.iter().all(|node| node.is_object() == (value == "object")),
        other => panic!("{other}"),
    }
}
