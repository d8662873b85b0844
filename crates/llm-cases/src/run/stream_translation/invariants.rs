//! The rules for the shape of a translated stream, by name.

use crate::case::Fault;
use crate::form::Form;
use llm_core::Error;
use llm_wire::frame::{SseDecoder, SseItem};
use serde_json::Value;

/// One event of a stream.
#[derive(Debug)]
pub(super) struct Frame {
    text: String,
    /// Null, where it is no JSON.
    data: Value,
}

/// Cuts what was written into its events.
pub(super) fn frames(written: &[u8]) -> Result<Vec<Frame>, Fault> {
    let mut frames = Vec::new();
    let mut take = |item: SseItem<'_>| {
        if let SseItem::Event(event) = item {
            frames.push(Frame {
                text: event.data.to_owned(),
                data: serde_json::from_str(event.data).unwrap_or_default(),
            });
        }
        Ok(())
    };
    let mut decoder = SseDecoder::default();
    let cut = decoder
        .feed(written, &mut take)
        .and_then(|()| decoder.finish(&mut take));
    cut.map_err(|error: Error| Fault::unsupported(format!("a stream that cannot be cut: {error}")))?;
    Ok(frames)
}

type Rule = fn(&[Frame]) -> bool;

const RULES: &[(&str, Form, Rule)] = &[
    ("one_message_start", Form::Messages, one_message_start),
    (
        "one_open_block_at_a_time",
        Form::Messages,
        one_open_block_at_a_time,
    ),
    ("block_indices_contiguous_from_0", Form::Messages, block_indices),
    ("every_block_stopped", Form::Messages, every_block_stopped),
    (
        "delta_type_matches_block",
        Form::Messages,
        delta_type_matches_block,
    ),
    ("one_stop_reason", Form::Messages, one_stop_reason),
    ("ends_with_message_stop", Form::Messages, ends_with_message_stop),
    ("error_event_last", Form::Messages, |frames| {
        last_type(frames) == "error"
    }),
    ("error_event_last", Form::ChatCompletions, error_last),
    ("error_event_last", Form::GenerateContent, error_last),
    ("no_message_stop", Form::Messages, |frames| {
        of_type(frames, "message_stop").next().is_none()
    }),
    (
        "tool_index_contiguous_from_0",
        Form::ChatCompletions,
        tool_indices,
    ),
    (
        "id_only_on_first_tool_delta",
        Form::ChatCompletions,
        id_only_on_first,
    ),
    ("one_finish_chunk", Form::ChatCompletions, one_finish_chunk),
    ("done_last", Form::ChatCompletions, done_last),
    ("no_usage_chunk", Form::ChatCompletions, |frames| {
        usage_chunks(frames).next().is_none()
    }),
    (
        "usage_chunk_after_finish_with_empty_choices",
        Form::ChatCompletions,
        usage_after_finish,
    ),
    (
        "finish_only_on_last_chunk",
        Form::GenerateContent,
        finish_only_on_last,
    ),
    (
        "finish_only_on_last_chunk",
        Form::ChatCompletions,
        finish_only_on_last_of_chat,
    ),
];

/// A rule that a case names.
#[derive(Debug)]
pub(super) struct Invariant {
    name: &'static str,
    rule: Rule,
}

impl Invariant {
    /// The rule of a name for streams of a form.
    pub(super) fn of(name: &str, form: Form) -> Result<Invariant, Fault> {
        let found = RULES.iter().find(|(known, of, _)| *known == name && *of == form);
        match found {
            Some((name, _, rule)) => Ok(Invariant { name, rule: *rule }),
            None if RULES.iter().any(|(known, ..)| *known == name) => Err(Fault::malformed(format!(
                "{name} says nothing of streams of the form {form:?}"
            ))),
            None => Err(Fault::unknown("invariant", name)),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn holds(&self, frames: &[Frame]) -> bool {
        (self.rule)(frames)
    }
}

/// What an event of Messages is.
fn type_of(frame: &Frame) -> &str {
    frame.data["type"].as_str().unwrap_or_default()
}

fn last_type(frames: &[Frame]) -> &str {
    frames.last().map(type_of).unwrap_or_default()
}

fn of_type<'a>(frames: &'a [Frame], name: &'a str) -> impl Iterator<Item = &'a Value> {
    let named = frames.iter().filter(move |frame| type_of(frame) == name);
    named.map(|frame| &frame.data)
}

fn one_message_start(frames: &[Frame]) -> bool {
    frames
        .first()
        .is_some_and(|first| type_of(first) == "message_start")
        && of_type(frames, "message_start").count() == 1
}

fn one_open_block_at_a_time(frames: &[Frame]) -> bool {
    let mut open = None;
    frames.iter().all(|frame| match type_of(frame) {
        "content_block_start" => open.replace(&frame.data["index"]).is_none(),
        "content_block_delta" => open == Some(&frame.data["index"]),
        "content_block_stop" => open.take() == Some(&frame.data["index"]),
        _ => true,
    })
}

fn block_indices(frames: &[Frame]) -> bool {
    let mut starts = of_type(frames, "content_block_start").zip(0_u64..);
    starts.all(|(start, number)| start["index"] == number)
}

fn every_block_stopped(frames: &[Frame]) -> bool {
    let mut open: Vec<&Value> = Vec::new();
    let paired = frames.iter().all(|frame| {
        let index = &frame.data["index"];
        match type_of(frame) {
            "content_block_start" => open.push(index),
            "content_block_stop" => match open.iter().position(|known| *known == index) {
                Some(at) => drop(open.remove(at)),
                None => return false,
            },
            _ => {}
        }
        true
    });
    paired && open.is_empty()
}

fn delta_type_matches_block(frames: &[Frame]) -> bool {
    of_type(frames, "content_block_delta").all(|delta| {
        let mut starts = of_type(frames, "content_block_start");
        let block = starts.find(|start| start["index"] == delta["index"]);
        let kind = block.and_then(|block| block["content_block"]["type"].as_str());
        match delta["delta"]["type"].as_str() {
            Some("text_delta" | "citations_delta") => kind == Some("text"),
            Some("input_json_delta") => kind.is_some_and(|kind| kind.ends_with("tool_use")),
            Some("thinking_delta" | "signature_delta") => kind == Some("thinking"),
            _ => false,
        }
    })
}

fn one_stop_reason(frames: &[Frame]) -> bool {
    let said = |delta: &&Value| delta["delta"]["stop_reason"].is_string();
    of_type(frames, "message_delta").filter(said).count() == 1
}

fn ends_with_message_stop(frames: &[Frame]) -> bool {
    last_type(frames) == "message_stop" && of_type(frames, "message_stop").count() == 1
}

/// For the forms whose failures are an event with an `error`: it is the last one, so that no end mark stands behind.
fn error_last(frames: &[Frame]) -> bool {
    frames.last().is_some_and(|last| last.data["error"].is_object())
}

fn choices(frame: &Frame) -> impl Iterator<Item = &Value> {
    frame.data["choices"].as_array().into_iter().flatten()
}

/// The pieces of calls, of the first choice.
fn tool_deltas(frames: &[Frame]) -> impl Iterator<Item = &Value> {
    let choices = frames.iter().flat_map(choices);
    choices
        .filter(|choice| choice["index"].as_u64().unwrap_or_default() == 0)
        .filter_map(|choice| choice["delta"]["tool_calls"].as_array())
        .flatten()
}

fn tool_indices(frames: &[Frame]) -> bool {
    let mut next = 0;
    tool_deltas(frames).all(|delta| match delta["index"].as_u64() {
        Some(index) if index == next => {
            next += 1;
            true
        }
        Some(index) => index < next,
        None => false,
    })
}

fn id_only_on_first(frames: &[Frame]) -> bool {
    let mut seen: Vec<&Value> = Vec::new();
    tool_deltas(frames).all(|delta| {
        let named = [&delta["id"], &delta["function"]["name"]];
        if seen.contains(&&delta["index"]) {
            return named.iter().all(|field| field.is_null());
        }
        seen.push(&delta["index"]);
        named.iter().all(|field| field.is_string())
    })
}

fn finishes(frame: &Frame) -> bool {
    choices(frame).any(|choice| choice["finish_reason"].is_string())
}

fn one_finish_chunk(frames: &[Frame]) -> bool {
    let mut finished: Vec<u64> = Vec::new();
    for choice in frames.iter().flat_map(choices) {
        if choice["finish_reason"].is_string() {
            finished.push(choice["index"].as_u64().unwrap_or_default());
        }
    }
    let count = finished.len();
    finished.sort_unstable();
    finished.dedup();
    count > 0 && finished.len() == count
}

fn is_done(frame: &Frame) -> bool {
    frame.text == "[DONE]"
}

fn done_last(frames: &[Frame]) -> bool {
    frames.last().is_some_and(is_done) && frames.iter().filter(|frame| is_done(frame)).count() == 1
}

/// Chunks that say what was used, and where they stand.
fn usage_chunks(frames: &[Frame]) -> impl Iterator<Item = (usize, &Frame)> {
    let all = frames.iter().enumerate();
    all.filter(|(_, frame)| frame.data["usage"].is_object())
}

fn usage_after_finish(frames: &[Frame]) -> bool {
    let mut chunks = usage_chunks(frames);
    let (Some((at, chunk)), None) = (chunks.next(), chunks.next()) else {
        return false;
    };
    let empty = chunk.data["choices"].as_array().is_some_and(Vec::is_empty);
    empty && frames[..at].iter().any(finishes) && !frames[at..].iter().any(finishes)
}

fn finish_only_on_last(frames: &[Frame]) -> bool {
    let finishes = |frame: &Frame| {
        let mut candidates = frame.data["candidates"].as_array().into_iter().flatten();
        candidates.any(|candidate| !candidate["finishReason"].is_null())
    };
    frames
        .split_last()
        .is_some_and(|(last, before)| finishes(last) && !before.iter().any(finishes))
}

/// Behind the finish reason stand only the usage and the end mark.
fn finish_only_on_last_of_chat(frames: &[Frame]) -> bool {
    let with_choices = |frame: &&Frame| choices(frame).next().is_some();
    let chunks: Vec<&Frame> = frames.iter().filter(with_choices).collect();
    chunks
        .split_last()
        .is_some_and(|(last, before)| finishes(last) && !before.iter().any(|chunk| finishes(chunk)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stream(events: &[Value]) -> Vec<Frame> {
        let written: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        frames(written.as_bytes()).unwrap()
    }

    /// The rules of a form that a stream breaks.
    fn broken(form: Form, frames: &[Frame]) -> Vec<&'static str> {
        let of_form = RULES.iter().filter(|(_, of, _)| *of == form);
        let broken = of_form.filter(|(.., rule)| !rule(frames));
        broken.map(|(name, ..)| *name).collect()
    }

    #[test]
    fn a_stream_of_messages_is_judged_rule_by_rule() {
        let start = |index: u64, kind: &str| json!({"type": "content_block_start", "index": index, "content_block": {"type": kind}});
        let delta = |index: u64, kind: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": kind}});
        let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
        let good = vec![
            json!({"type": "message_start"}),
            start(0, "text"),
            delta(0, "text_delta"),
            stop(0),
            start(1, "tool_use"),
            delta(1, "input_json_delta"),
            stop(1),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            json!({"type": "message_stop"}),
        ];
        let broken = |change: fn(&mut Vec<Value>)| {
            let mut events = good.clone();
            change(&mut events);
            let mut names = broken(Form::Messages, &stream(&events));
            // these two are for streams that failed
            names.retain(|name| !matches!(*name, "error_event_last" | "no_message_stop"));
            names
        };
        assert_eq!(broken(|_| ()), [""; 0]);
        assert_eq!(broken(|events| drop(events.remove(0))), ["one_message_start"]);
        assert_eq!(broken(|events| events.swap(3, 4)), ["one_open_block_at_a_time"]);
        assert_eq!(
            broken(|events| drop(events.drain(1..4))),
            ["block_indices_contiguous_from_0"]
        );
        assert_eq!(broken(|events| drop(events.remove(6))), ["every_block_stopped"]);
        assert_eq!(
            broken(|events| events[2]["delta"]["type"] = json!("thinking_delta")),
            ["delta_type_matches_block"]
        );
        assert_eq!(broken(|events| drop(events.remove(7))), ["one_stop_reason"]);
        assert_eq!(broken(|events| drop(events.pop())), ["ends_with_message_stop"]);
    }

    #[test]
    fn a_stream_of_chat_completions_is_judged_rule_by_rule() {
        let chunk = |delta: Value, finish: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        let call = |index: u64, id: Value| json!({"tool_calls": [{"index": index, "id": id, "function": {"name": id, "arguments": ""}}]});
        let events = |calls: [Value; 2], finishes: usize, usage: bool, done: bool| {
            let mut written = String::new();
            let mut add = |data: String| written.push_str(&format!("data: {data}\n\n"));
            for delta in calls {
                add(chunk(delta, Value::Null).to_string());
            }
            for _ in 0..finishes {
                add(chunk(json!({}), json!("stop")).to_string());
            }
            if usage {
                add(json!({"choices": [], "usage": {}}).to_string());
            }
            if done {
                add("[DONE]".to_owned());
            }
            let frames = frames(written.as_bytes()).unwrap();
            let mut names = broken(Form::ChatCompletions, &frames);
            names.retain(|name| *name != "error_event_last");
            names
        };
        let calls = || [call(0, json!("a")), call(1, json!("b"))];
        let not_asked = "usage_chunk_after_finish_with_empty_choices";
        assert_eq!(events(calls(), 1, true, true), ["no_usage_chunk"]);
        assert_eq!(events(calls(), 1, false, true), [not_asked]);
        assert_eq!(events(calls(), 1, false, false), ["done_last", not_asked]);
        assert_eq!(
            events(calls(), 2, false, true),
            ["one_finish_chunk", not_asked, "finish_only_on_last_chunk"]
        );
        assert_eq!(
            events([call(0, json!("a")), call(2, json!("b"))], 1, false, true),
            ["tool_index_contiguous_from_0", not_asked]
        );
        assert_eq!(
            events([call(0, json!("a")), call(0, json!("a"))], 1, false, true),
            ["id_only_on_first_tool_delta", not_asked]
        );
    }

    #[test]
    fn failures_and_finish_reasons_stand_last() {
        let candidate = |finish: Value| json!({"candidates": [{"finishReason": finish}]});
        let rule = |name| Invariant::of(name, Form::GenerateContent).unwrap();
        let last = rule("finish_only_on_last_chunk");
        assert!(last.holds(&stream(&[candidate(Value::Null), candidate(json!("STOP"))])));
        assert!(!last.holds(&stream(&[candidate(json!("STOP")), candidate(json!("STOP"))])));
        assert!(!last.holds(&stream(&[candidate(Value::Null)])));
        let failed = stream(&[candidate(Value::Null), json!({"error": {"code": 503}})]);
        assert!(rule("error_event_last").holds(&failed));
        let unknown = Invariant::of("whim", Form::Messages).unwrap_err().to_string();
        assert_eq!(unknown, "unknown invariant whim");
        let elsewhere = Invariant::of("done_last", Form::Messages).unwrap_err();
        assert!(matches!(elsewhere, Fault::Malformed(_)));
    }
}
