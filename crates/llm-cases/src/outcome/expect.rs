//! Reading an expected outcome strictly: a word that nobody compares must not pass unseen.

use super::class::CLASSES;
use crate::case::{Fault, Fields, list, text};
use serde_json::Value;

const FINISH_REASONS: &[&str] = &["stop", "length", "tool_calls", "content_filter", "refusal"];

/// Checks the keys and words of a canonical outcome.
pub(crate) fn check(outcome: &Value, at: &str) -> Result<(), Fault> {
    let mut fields = Fields::of(outcome, at)?;
    let failed = match fields.text("outcome")? {
        "ok" => false,
        "error" => true,
        other => return Err(Fault::unknown("outcome", other)),
    };
    match (failed, fields.optional("error")) {
        (true, Some(error)) => check_error(error, &fields.at("error"))?,
        (false, None) => {}
        _ => {
            return Err(Fault::malformed(format!(
                "{at}: `error` goes with the outcome `error`"
            )));
        }
    }
    if let Some(partial) = fields.optional("partial") {
        check_content(Fields::of(partial, fields.at("partial"))?)?;
    }
    if let Some(range) = fields.optional("fires_after_ms") {
        check_range(range, &fields.at("fires_after_ms"))?;
    }
    check_content(fields)
}

/// Checks the keys of a range.
pub(crate) fn check_range(range: &Value, at: &str) -> Result<(), Fault> {
    let mut fields = Fields::of(range, at)?;
    for key in ["min", "max"] {
        if fields.optional(key).is_some_and(|end| !end.is_number()) {
            return Err(Fault::malformed(format!("{at}.{key} is not a number")));
        }
    }
    fields.end()
}

fn check_content(mut fields: Fields<'_>) -> Result<(), Fault> {
    fields.optional_text("text")?;
    fields.optional("text_len");
    fields.optional_text("reasoning")?;
    fields.optional_text("refusal_text")?;
    fields.optional("cost_usd");
    if let Some(reason) = fields
        .optional("finish_reason")
        .filter(|reason| !reason.is_null())
    {
        let reason = text(reason, &fields.at("finish_reason"))?;
        if !FINISH_REASONS.contains(&reason) && !reason.starts_with("other:") {
            return Err(Fault::unknown("finish reason", reason));
        }
    }
    for (key, arguments) in [
        ("tool_calls", "arguments"),
        ("incomplete_tool_calls", "arguments_raw"),
    ] {
        let Some(calls) = fields.optional(key).filter(|calls| !calls.is_null()) else {
            continue;
        };
        let at = fields.at(key);
        for (number, call) in list(calls, &at)?.iter().enumerate() {
            let mut call = Fields::of(call, format!("{at}[{number}]"))?;
            call.text("id")?;
            call.text("name")?;
            call.required(arguments)?;
            call.end()?;
        }
    }
    if let Some(usage) = fields.optional("usage").filter(|usage| !usage.is_null()) {
        let mut usage = Fields::of(usage, fields.at("usage"))?;
        for key in super::USAGE_KEYS {
            usage.optional(key);
        }
        usage.end()?;
    }
    if let Some(replay) = fields.optional("replay") {
        let mut replay = Fields::of(replay, fields.at("replay"))?;
        for key in super::REPLAY_KEYS {
            replay.optional(key);
        }
        replay.end()?;
    }
    fields.end()
}

fn check_error(error: &Value, at: &str) -> Result<(), Fault> {
    let mut fields = Fields::of(error, at)?;
    let class = fields.text("class")?;
    if !CLASSES.contains(&class) {
        return Err(Fault::unknown("error class", class));
    }
    fields.optional("retryable");
    fields.optional("retry_after_ms");
    fields.optional_text("message_contains")?;
    fields.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(outcome: Value) -> String {
        match check(&outcome, "expect") {
            Ok(()) => "no fault".to_owned(),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn every_key_of_the_format_is_known_and_no_other() {
        let content = json!({
            "text": "", "text_len": 1, "reasoning": "", "refusal_text": "", "cost_usd": 1,
            "finish_reason": "other:x",
            "tool_calls": [{"id": "a", "name": "b", "arguments": {}}],
            "incomplete_tool_calls": [{"id": "a", "name": "b", "arguments_raw": ""}],
            "usage": {"input_tokens": 1, "output_tokens": 1, "cached_input_tokens": 1,
                "cache_write_input_tokens": 1, "reasoning_tokens": 1},
            "replay": {"blocks": [], "parts": [], "reasoning_details": []},
        });
        let mut whole = content.clone();
        whole["outcome"] = json!("error");
        whole["partial"] = content;
        whole["fires_after_ms"] = json!({"min": 1, "max": 2});
        whole["error"] = json!({"class": "server", "retryable": true, "retry_after_ms": null,
            "message_contains": "x"});
        assert_eq!(fault(whole.clone()), "no fault");
        let places = [
            "",
            "/partial",
            "/partial/usage",
            "/partial/replay",
            "/partial/tool_calls/0",
            "/error",
            "/fires_after_ms",
        ];
        for place in places {
            let mut wrong = whole.clone();
            wrong.pointer_mut(place).unwrap()["whim"] = json!(1);
            let found = fault(wrong);
            assert!(
                found.starts_with("unknown key expect.") && found.ends_with("whim"),
                "{place}: {found}"
            );
        }
    }

    #[test]
    fn null_means_nothing_and_is_no_fault() {
        let nothing = json!({"outcome": "ok", "usage": null, "tool_calls": null, "finish_reason": null});
        assert_eq!(fault(nothing), "no fault");
    }

    #[test]
    fn words_outside_the_vocabulary_are_faults() {
        assert_eq!(fault(json!({"outcome": "maybe"})), "unknown outcome maybe");
        assert_eq!(
            fault(json!({"outcome": "error", "error": {"class": "bad"}})),
            "unknown error class bad"
        );
        assert_eq!(
            fault(json!({"outcome": "ok", "finish_reason": "eos"})),
            "unknown finish reason eos"
        );
        let halves = [
            json!({"outcome": "error"}),
            json!({"outcome": "ok", "error": {"class": "server"}}),
        ];
        for half in halves {
            assert!(fault(half).starts_with("malformed"));
        }
    }
}
