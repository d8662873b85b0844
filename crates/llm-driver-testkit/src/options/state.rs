//! Vendor state of the driver's own answers, on its way back.

use super::{Sample, sample};
use llm_core::chat::RequestOption;
use llm_core::{ChatRequest, ChatResponse, ContentPart, Message, ToolCall, ToolResult};
use serde_json::Value;

/// What a vendor wants back of its own answers: the same history with and without the state of one part.
pub(crate) fn own_state(request: &ChatRequest, response: &ChatResponse) -> Vec<(RequestOption, Sample)> {
    let whole = response.to_message();
    let mut found = Vec::new();
    for (index, part) in whole.content.iter().enumerate() {
        let (option, replay, stripped) = match part {
            ContentPart::Text(text) => {
                let stripped = ContentPart::text(text.text.clone());
                (RequestOption::TextReplay, text.replay.clone(), Some(stripped))
            }
            ContentPart::Reasoning(thought) => (RequestOption::ReasoningReplay, thought.replay.clone(), None),
            ContentPart::ToolCall(call) => {
                let stripped = ToolCall::new(call.id.clone(), call.name.clone(), call.arguments.clone());
                let stripped = ContentPart::ToolCall(stripped);
                (RequestOption::ToolCallReplay, call.replay.clone(), Some(stripped))
            }
            ContentPart::Opaque(piece) => (RequestOption::Opaque, Some(piece.replay.clone()), None),
            _ => continue,
        };
        let Some(replay) = replay else { continue };
        let mut without = whole.clone();
        match stripped {
            Some(stripped) => without.content[index] = stripped,
            // What was shown of a thought goes too: alone, it may go back as text.
            None if matches!(part, ContentPart::Reasoning(_)) => {
                let is_thought = |part: &ContentPart| matches!(part, ContentPart::Reasoning(_));
                without.content.retain(|part| !is_thought(part));
            }
            None => drop(without.content.remove(index)),
        }
        let mut sample = sample(
            next_turn(request, without, response),
            next_turn(request, whole.clone(), response),
            &[],
        );
        sample.marks = longest_text(&replay.data).into_iter().collect();
        if matches!(part, ContentPart::ToolCall(_)) {
            // Some state of a call is its id, which goes back in any case.
            sample.without = None;
        }
        found.push((option, sample));
    }
    found
}

/// The request that follows an answer.
fn next_turn(request: &ChatRequest, answer: Message, response: &ChatResponse) -> ChatRequest {
    let calls = response.tool_calls();
    let results: Vec<_> = calls
        .map(|call| ToolResult::new(call.id.clone(), "kit result").with_name(call.name.clone()))
        .collect();
    let next = if results.is_empty() {
        Message::user("And now?")
    } else {
        Message::tool_results(results)
    };
    request.clone().with_message(answer).with_message(next)
}

/// The longest text of a value, as it stands in JSON.
fn longest_text(value: &Value) -> Option<String> {
    let texts: Vec<String> = match value {
        Value::String(_) => vec![value.to_string().trim_matches('"').to_owned()],
        Value::Array(items) => items.iter().filter_map(longest_text).collect(),
        Value::Object(fields) => fields.values().filter_map(longest_text).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    texts.into_iter().max_by_key(String::len)
}
