//! The canonical outcome: what our answer or failure is in the words of the cases.

mod class;
mod compare;
mod expect;

use llm_core::{Block, ChatResponse, Error, FinishKind, FinishReason, Replay, ResponseMeta, Usage};
use serde_json::{Map, Value, json};
use std::time::Duration;

pub(crate) use class::{CLASSES, class_of};
pub(crate) use compare::{differences, same, within};
pub(crate) use expect::{check, check_range};

const USAGE_KEYS: [&str; 5] = [
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "reasoning_tokens",
];

const REPLAY_KEYS: [&str; 3] = ["blocks", "parts", "reasoning_details"];

/// A whole answer, and what of it goes back in the vendor's own form, where that was asked.
pub(crate) fn of_response(response: &ChatResponse, sent_back: Option<(&'static str, Value)>) -> Value {
    let mut outcome = content(response);
    if let Some((key, pieces)) = sent_back {
        outcome.insert("replay".into(), json!({key: pieces}));
    }
    outcome.insert("outcome".into(), json!("ok"));
    Value::Object(outcome)
}

/// A failure, and what had come before it.
pub(crate) fn of_error(error: &Error, partial: &ChatResponse) -> Value {
    let mut failure = Map::new();
    failure.insert("class".into(), json!(class_of(error)));
    failure.insert("retryable".into(), json!(error.retryable()));
    failure.insert("message".into(), json!(error.message()));
    if let Some(hint) = error.retry_after() {
        failure.insert("retry_after_ms".into(), milliseconds(hint));
    }
    json!({"outcome": "error", "error": failure, "partial": content(partial)})
}

/// A failure before anything was answered.
pub(crate) fn of_early_error(error: &Error) -> Value {
    of_error(error, &ChatResponse::new(ResponseMeta::default()))
}

/// A call that nothing ended: no expected outcome is like it.
pub(crate) fn of_no_end() -> Value {
    json!({"outcome": "no end"})
}

/// An answer that its reader dropped: no expected outcome is like it.
pub(crate) fn of_dropped(partial: &ChatResponse) -> Value {
    json!({"outcome": "dropped", "partial": content(partial)})
}

/// Adds when the outcome was known.
pub(crate) fn with_time(mut outcome: Value, after: Duration) -> Value {
    outcome["fires_after_ms"] = milliseconds(after);
    outcome
}

/// A duration as the cases write it.
pub(crate) fn milliseconds(duration: Duration) -> Value {
    let exact = duration.as_secs_f64() * 1e3;
    match u64::try_from(duration.as_millis()) {
        Ok(whole) if whole as f64 == exact => json!(whole),
        _ => json!(exact),
    }
}

fn content(response: &ChatResponse) -> Map<String, Value> {
    let text = response.text();
    let calls: Vec<Value> = response
        .tool_calls()
        .map(|call| {
            let arguments: Value = call
                .parse_arguments()
                .unwrap_or_else(|_| json!(format!("does not parse: {}", call.arguments)));
            json!({"id": call.id, "name": call.name, "arguments": arguments})
        })
        .collect();
    let incomplete: Vec<Value> = response
        .incomplete_tool_calls
        .iter()
        .map(|call| json!({"id": call.id, "name": call.name, "arguments_raw": call.arguments}))
        .collect();
    let mut fields = Map::new();
    let mut add = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    add("text_len", json!(text.chars().count()));
    add("text", json!(text));
    add("reasoning", json!(response.reasoning()));
    add("refusal_text", json!(response.refusal().unwrap_or_default()));
    add("tool_calls", Value::Array(calls));
    add("incomplete_tool_calls", Value::Array(incomplete));
    if let Some(reason) = finish_reason(&response.finish) {
        add("finish_reason", json!(reason));
    }
    add("usage", usage(&response.usage));
    if let Some(cost) = response.usage.cost {
        add("cost_usd", json!(cost.usd()));
    }
    let replay = replay(&response.blocks);
    if !replay.is_empty() {
        add("replay", Value::Object(replay));
    }
    fields
}

fn finish_reason(reason: &FinishReason) -> Option<String> {
    let word = match reason.kind {
        FinishKind::Stop
        | FinishKind::Length
        | FinishKind::ToolCalls
        | FinishKind::ContentFilter
        | FinishKind::Refusal => reason.kind.as_str(),
        _ => return reason.raw.as_ref().map(|raw| format!("other:{raw}")),
    };
    Some(word.to_owned())
}

fn usage(usage: &Usage) -> Value {
    let counts = [
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_input_tokens,
        usage.cache_write_input_tokens,
        usage.reasoning_tokens,
    ];
    USAGE_KEYS
        .into_iter()
        .zip(counts)
        .filter_map(|(key, count)| Some((key.to_owned(), json!(count?))))
        .collect::<Map<_, _>>()
        .into()
}

/// What the blocks want sent back, in the vendor's own form.
fn replay(blocks: &[Block]) -> Map<String, Value> {
    let details: Vec<Value> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Reasoning(part) => part.replay.as_ref(),
            _ => None,
        })
        .filter_map(|Replay { data, .. }| data["reasoning_details"].as_array())
        .flatten()
        .cloned()
        .collect();
    let mut replay = Map::new();
    if !details.is_empty() {
        replay.insert("reasoning_details".into(), Value::Array(details));
    }
    replay
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::{ErrorKind, IncompleteToolCall, Origin, ReasoningPart, TextPart, ToolCall, VendorId};

    #[test]
    fn an_answer_says_everything_the_format_has_a_word_for() {
        let mut response = ChatResponse::new(ResponseMeta::default());
        let state = Replay::new(
            Origin::new(VendorId::from_static("v")),
            json!({"reasoning_details": [{"n": 1}]}),
        );
        response.blocks = vec![
            Block::Reasoning(ReasoningPart::new("hm").with_replay(state)),
            Block::Text(TextPart::new("ä🦀")),
            Block::ToolCall(ToolCall::new("a", "f", "{\"x\":1}")),
        ];
        response.incomplete_tool_calls = vec![IncompleteToolCall::new("b", "g", "{")];
        response.finish = FinishReason::new(FinishKind::Other, Some("eos".to_owned()));
        response.usage = Usage::new(9, 1);
        response.usage.cost = llm_core::Cost::from_reported_usd(0.5);
        assert_eq!(
            of_response(&response, None),
            json!({
                "outcome": "ok", "text": "ä🦀", "text_len": 2, "reasoning": "hm", "refusal_text": "",
                "tool_calls": [{"id": "a", "name": "f", "arguments": {"x": 1}}],
                "incomplete_tool_calls": [{"id": "b", "name": "g", "arguments_raw": "{"}],
                "finish_reason": "other:eos", "usage": {"input_tokens": 9, "output_tokens": 1},
                "cost_usd": 0.5, "replay": {"reasoning_details": [{"n": 1}]},
            })
        );
    }

    #[test]
    fn a_failure_says_its_class_and_what_had_come() {
        let error = Error::new(ErrorKind::RateLimit, "slow").with_retry_after(Duration::from_millis(1500));
        let outcome = with_time(of_early_error(&error), Duration::from_secs(2));
        assert_eq!(
            outcome["error"],
            json!({"class": "rate_limit", "retryable": true, "message": "slow", "retry_after_ms": 1500})
        );
        assert_eq!(outcome["fires_after_ms"], json!(2000));
        assert_eq!(outcome["partial"]["text"], json!(""));
        assert_eq!(outcome["partial"].get("finish_reason"), None);
    }

    #[test]
    fn finish_reasons_without_a_word_keep_the_vendors() {
        let word = |kind, raw: Option<&str>| finish_reason(&FinishReason::new(kind, raw.map(str::to_owned)));
        assert_eq!(word(FinishKind::Stop, Some("end")), Some("stop".into()));
        assert_eq!(
            word(FinishKind::Pause, Some("pause_turn")),
            Some("other:pause_turn".into())
        );
        assert_eq!(word(FinishKind::Other, None), None);
    }
}
