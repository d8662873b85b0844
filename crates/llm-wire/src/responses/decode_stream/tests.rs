mod endings;
mod folded;

use super::*;
use crate::responses::decode_response;
use llm_core::{Block, ChatResponse, Collector, Grammar, ResponseMeta, ToolCall, VendorId, WarningKind};
use serde_json::json;

fn options(include_reasoning: bool) -> DecodeOptions {
    DecodeOptions {
        include_reasoning,
        meta: ResponseMeta::default(),
        ..DecodeOptions::default()
    }
}

/// Reads a stream of these events, and checks its grammar.
fn try_read(events: &[Value], include: bool) -> Result<ChatResponse> {
    let mut decoder = StreamDecoder::new(&Dialect::openai(), options(include));
    let mut out = Vec::new();
    let fed = events
        .iter()
        .try_for_each(|event| decoder.feed("", &event.to_string(), &mut out));
    let outcome = fed.and_then(|()| decoder.finish(&mut out));
    if outcome.is_err() {
        decoder.interrupt(&mut out);
    }
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in out {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    outcome?;
    grammar.end().unwrap();
    collector.finish()
}

fn read(events: &[Value]) -> ChatResponse {
    try_read(events, true).unwrap()
}

fn plain(response: &Value) -> Result<ChatResponse> {
    decode_response(&Dialect::openai(), options(true), response.to_string().as_bytes())
}

fn created() -> Value {
    json!({"type": "response.created", "sequence_number": 0, "response": {
        "id": "resp_1", "object": "response", "created_at": 7, "status": "in_progress", "model": "gpt-6-luna",
        "service_tier": "auto", "output": [], "usage": null, "error": null}})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": whole(output)})
}

/// A plain answer with these items.
fn whole(output: Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 7, "status": "completed", "model": "gpt-6-luna",
        "output": output, "error": null, "incomplete_details": null, "usage": {
            "input_tokens": 30, "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 5},
            "output_tokens": 14, "output_tokens_details": {"reasoning_tokens": 8}, "total_tokens": 44,
        },
    })
}

fn added(index: u32, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u32, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn delta(kind: &str, index: u32, part: u32, text: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "content_index": part, "delta": text})
}

fn summary(index: u32, part: u32, text: &str) -> Value {
    json!({"type": "response.reasoning_summary_text.delta", "output_index": index, "summary_index": part, "delta": text})
}

fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "summary": [
        {"type": "summary_text", "text": "Adding."}, {"type": "summary_text", "text": "Done."}]})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
        "content": [{"type": "output_text", "text": text, "annotations": [{"type": "url_citation"}]}]})
}

fn call() -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_7", "name": "area", "arguments": "{\"r\":2}",
        "status": "completed", "namespace": "geo"})
}

/// A thought, a message and a call, piece by piece.
fn streamed() -> Vec<Value> {
    let mut empty_message = message("");
    empty_message["content"] = json!([]);
    let mut empty_call = call();
    empty_call["arguments"] = json!("");
    vec![
        created(),
        json!({"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}}),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        summary(0, 0, "Add"),
        summary(0, 0, "ing."),
        summary(0, 1, "Done."),
        done(0, thought()),
        added(1, empty_message),
        json!({"type": "response.content_part.added", "output_index": 1, "content_index": 0, "part": {}}),
        delta("output_text", 1, 0, "Sev"),
        delta("output_text", 1, 0, "en."),
        json!({"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "Seven."}),
        done(1, message("Seven.")),
        added(2, empty_call),
        delta("function_call_arguments", 2, 0, "{\"r\":"),
        delta("function_call_arguments", 2, 0, "2}"),
        done(2, call()),
        completed(json!([thought(), message("Seven."), call()])),
    ]
}

#[test]
fn a_stream_folds_to_the_plain_answer() {
    let plain = plain(&whole(json!([thought(), message("Seven."), call()]))).unwrap();
    let folded = read(&streamed());
    assert_eq!(folded.blocks, plain.blocks);
    assert_eq!(folded.meta, plain.meta);
    assert_eq!((folded.usage, &folded.finish), (plain.usage, &plain.finish));
    assert_eq!(folded.metadata, plain.metadata);
    assert_eq!(
        plain.finish,
        FinishReason::new(FinishKind::ToolCalls, Some("completed".into()))
    );
    assert_eq!(plain.reasoning(), "Adding.\n\nDone.");
    assert_eq!(plain.text(), "Seven.");
    let called = plain.tool_calls().next().unwrap();
    assert_eq!((called.id.as_str(), called.name.as_str()), ("call_7", "area"));
    let usage = plain.usage;
    assert_eq!(
        (usage.input_tokens, usage.cached_input_tokens),
        (Some(30), Some(10))
    );
    assert_eq!(
        (usage.cache_write_input_tokens, usage.output_tokens),
        (Some(5), Some(14))
    );
    assert_eq!(usage.reasoning_tokens, Some(8));
    assert_eq!(plain.meta.id.as_deref(), Some("resp_1"));
    assert_eq!(
        plain.metadata.of("openai").unwrap()["annotations"][0]["type"],
        "url_citation"
    );
}

#[test]
fn what_goes_back_is_the_item_without_its_id() {
    let response = read(&streamed());
    let state: Vec<_> = response
        .blocks
        .iter()
        .map(|block| match block {
            Block::Reasoning(part) => part.replay.as_ref(),
            Block::Text(part) => part.replay.as_ref(),
            Block::ToolCall(ToolCall { replay, .. }) => replay.as_ref(),
            _ => None,
        })
        .map(|replay| {
            let replay = replay.unwrap();
            assert_eq!(replay.origin.vendor, VendorId::from_static("openai"));
            replay.data.clone()
        })
        .collect();
    let mut item = thought();
    item.as_object_mut().unwrap().remove("id");
    assert_eq!(
        state,
        [
            item,
            json!({"phase": "final_answer"}),
            json!({"namespace": "geo"})
        ]
    );
}

#[test]
fn thoughts_go_back_whether_they_are_shown_or_not() {
    let hidden = try_read(&streamed(), false).unwrap();
    assert_eq!(hidden.reasoning(), "");
    assert_eq!(hidden.blocks.len(), 3);
    // neither shown nor taken back: no block at all
    let bare =
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]});
    let events = [
        created(),
        done(0, bare),
        done(1, message("a")),
        completed(json!([])),
    ];
    assert_eq!(try_read(&events, false).unwrap().blocks.len(), 1);
    let shown = read(&events);
    assert_eq!((shown.reasoning().as_str(), shown.blocks.len()), ("hm", 2));
}

#[test]
fn raw_thoughts_of_open_models_are_shown_and_kept() {
    let item =
        json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]});
    let stream = [
        created(),
        delta("reasoning_text", 0, 0, "h"),
        delta("reasoning_text", 0, 0, "m"),
        done(0, item.clone()),
        completed(json!([item])),
    ];
    let folded = read(&stream);
    assert_eq!(folded.reasoning(), "hm");
    assert_eq!(folded.blocks, plain(&whole(json!([item]))).unwrap().blocks);
    let Block::Reasoning(part) = &folded.blocks[0] else {
        panic!()
    };
    assert_eq!(part.replay.as_ref().unwrap().data, item);
}

#[test]
fn refusals_and_own_pieces_have_blocks_of_their_own() {
    let refused = json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let custom =
        json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sh", "input": "ls"});
    let response = plain(&whole(json!([search, refused]))).unwrap();
    assert_eq!(response.refusal().as_deref(), Some("No."));
    assert_eq!(response.finish.kind, FinishKind::Refusal);
    let Block::Opaque(piece) = &response.blocks[0] else {
        panic!()
    };
    assert_eq!(
        (piece.kind.as_str(), &piece.replay.data),
        ("web_search_call", &search)
    );
    let stream = [
        created(),
        delta("refusal", 0, 0, "N"),
        delta("refusal", 0, 0, "o."),
        done(0, refused.clone()),
        completed(json!([refused])),
    ];
    assert_eq!(read(&stream).refusal().as_deref(), Some("No."));
    let response = plain(&whole(json!([custom]))).unwrap();
    assert_eq!(response.finish.kind, FinishKind::ToolCalls);
    let Block::Opaque(piece) = &response.blocks[0] else {
        panic!()
    };
    assert_eq!(piece.replay.data["call_id"], "call_1");
    assert!(piece.replay.data.get("id").is_none());
}

#[test]
fn why_it_ended_is_in_the_status() {
    let ended = |status: Value, reason: Value, output: Value| {
        let mut response = whole(output);
        response["status"] = status;
        response["incomplete_details"] = json!({ "reason": reason });
        let plain = plain(&response).unwrap();
        let event = json!({"type": format!("response.{}", response["status"].as_str().unwrap_or("completed")), "response": response});
        let streamed = read(&[created(), event]);
        assert_eq!(
            (&streamed.finish, &streamed.blocks),
            (&plain.finish, &plain.blocks)
        );
        (plain.finish.kind, plain.finish.raw.unwrap())
    };
    for (status, reason, kind, raw) in [
        ("completed", json!(null), FinishKind::Stop, "completed"),
        (
            "incomplete",
            json!("max_output_tokens"),
            FinishKind::Length,
            "max_output_tokens",
        ),
        (
            "incomplete",
            json!("content_filter"),
            FinishKind::ContentFilter,
            "content_filter",
        ),
        ("incomplete", json!("steered"), FinishKind::Pause, "steered"),
        (
            "incomplete",
            json!("max_messages"),
            FinishKind::Other,
            "max_messages",
        ),
        ("incomplete", json!(null), FinishKind::Other, "incomplete"),
        ("cancelled", json!(null), FinishKind::Other, "cancelled"),
    ] {
        assert_eq!(
            ended(json!(status), reason, json!([message("a")])),
            (kind, raw.to_owned()),
            "{status}"
        );
    }
    let mut unsaid = whole(json!([]));
    unsaid["status"] = json!(null);
    unsaid["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    assert_eq!(plain(&unsaid).unwrap().finish.kind, FinishKind::Length);
}

#[test]
fn a_call_that_was_cut_off_is_never_run() {
    let cut = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"r\":", "status": "incomplete"});
    let empty = json!({"type": "function_call", "call_id": "d", "name": "f", "arguments": "", "status": "incomplete"});
    let mut response = whole(json!([cut, empty]));
    response["status"] = json!("incomplete");
    response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let answer = plain(&response).unwrap();
    assert_eq!(
        (answer.finish.kind, answer.tool_calls().count()),
        (FinishKind::Length, 0)
    );
    assert_eq!(answer.incomplete_tool_calls.len(), 2);
    // the same where the end of the item never came
    let open = [
        created(),
        added(0, json!({"type": "function_call", "call_id": "c", "name": "f"})),
        json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}),
    ];
    let answer = read(&open);
    assert_eq!(
        (answer.tool_calls().count(), answer.incomplete_tool_calls.len()),
        (0, 1)
    );
    let whole_call = [
        created(),
        added(0, json!({"type": "function_call", "call_id": "c", "name": "f"})),
        completed(json!([])),
    ];
    assert_eq!(read(&whole_call).tool_calls().next().unwrap().arguments, "{}");
}

#[test]
fn a_stream_without_its_end_is_interrupted() {
    let events = streamed();
    for end in 1..events.len() - 1 {
        let error = try_read(&events[..end], true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{end}");
    }
    assert_eq!(try_read(&[], true).unwrap_err().phase(), Phase::Sent);
    assert_eq!(
        try_read(&events[..9], true).unwrap_err().phase(),
        Phase::Streaming
    );
}

#[test]
fn failures_in_the_stream_have_the_kind_of_their_own_status() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {
        "code": "rate_limit_exceeded", "message": "Please try again in 2s."}}});
    let error = try_read(&[created(), failed], true).unwrap_err();
    assert_eq!((error.kind(), error.phase()), (ErrorKind::RateLimit, Phase::Sent));
    assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(2)));
    let event = json!({"type": "error", "code": null, "message": "The server had an error", "param": null});
    let error = try_read(&[created(), delta("output_text", 0, 0, "a"), event], true).unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Server, Phase::Streaming)
    );
    let mut body = whole(json!([]));
    body["error"] = json!({"code": "invalid_prompt", "message": "no"});
    assert_eq!(plain(&body).unwrap_err().kind(), ErrorKind::ContentFilter);
    assert_eq!(
        plain(&json!({"detail": "no"})).unwrap_err().kind(),
        ErrorKind::Server
    );
    assert_eq!(
        plain(&json!({"choices": []})).unwrap_err().kind(),
        ErrorKind::Protocol
    );
}

#[test]
fn hosts_that_leave_events_out_are_read_all_the_same() {
    // only the end has the items
    let folded = read(&[
        created(),
        completed(json!([thought(), message("Seven."), call()])),
    ]);
    assert_eq!(folded.blocks, read(&streamed()).blocks);
    // the ends alone
    let ends: Vec<_> = streamed()
        .into_iter()
        .filter(|event| event["type"] != "response.output_item.added")
        .collect();
    assert_eq!(read(&ends).blocks, folded.blocks);
    // no ends, and no numbers
    let bare = [
        json!({"type": "response.output_text.delta", "delta": "a"}),
        json!({"type": "response.output_text.delta", "delta": "b"}),
        json!({"type": "response.of_the_future", "delta": {"x": 1}}),
        json!({"type": "response.completed"}),
    ];
    let answer = read(&bare);
    assert_eq!(
        (answer.text().as_str(), answer.finish.kind),
        ("ab", FinishKind::Stop)
    );
    assert_eq!(answer.blocks.len(), 1);
    // an item's end that comes twice
    let twice = [
        created(),
        done(0, message("a")),
        done(0, message("a")),
        completed(json!([])),
    ];
    assert_eq!(read(&twice).text(), "a");
}

#[test]
fn what_the_vendor_left_out_of_the_history_is_told() {
    let mut response = whole(json!([message("a")]));
    response["input_transformations"] = json!([{"action": "removed", "reason": "model_mismatch"}]);
    let answer = plain(&response).unwrap();
    assert_eq!(answer.warnings[0].kind, WarningKind::History);
    assert_eq!(
        answer.metadata.of("openai").unwrap()["input_transformations"][0]["action"],
        "removed"
    );
}

/// Every value of a document taken out, made null, or made something else: decoding goes on.
#[test]
fn any_field_may_be_missing_null_or_of_another_type() {
    fn paths(value: &Value, at: String, out: &mut Vec<String>) {
        let inner: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| (format!("{at}/{name}"), value))
                .collect(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(n, value)| (format!("{at}/{n}"), value))
                .collect(),
            _ => return,
        };
        for (path, value) in inner {
            out.push(path.clone());
            paths(value, path, out);
        }
    }
    fn change(document: &Value, path: &str, with: Option<Value>) -> Value {
        let mut document = document.clone();
        match with {
            Some(with) => *document.pointer_mut(path).unwrap() = with,
            None => {
                let (above, name) = path.rsplit_once('/').unwrap();
                match document.pointer_mut(above).unwrap() {
                    Value::Object(fields) => drop(fields.remove(name)),
                    Value::Array(items) => drop(items.remove(name.parse().unwrap())),
                    _ => unreachable!(),
                }
            }
        }
        document
    }
    let changes = || {
        [
            None,
            Some(json!(null)),
            Some(json!(17)),
            Some(json!("x")),
            Some(json!([1])),
            Some(json!({"y": 1})),
        ]
    };
    let body = whole(json!([thought(), message("Seven."), call()]));
    let mut all = Vec::new();
    paths(&body, String::new(), &mut all);
    for path in all
        .iter()
        .filter(|path| !path.starts_with("/error") && *path != "/output")
    {
        for with in changes() {
            let changed = change(&body, path, with);
            plain(&changed).unwrap_or_else(|error| panic!("{path}: {error} in {changed}"));
        }
    }
    let events = streamed();
    for (at, event) in events.iter().enumerate() {
        let mut all = Vec::new();
        paths(event, String::new(), &mut all);
        let last = at + 1 == events.len();
        for path in all {
            // what the end says is its type, and that it failed
            if path.ends_with("/error") || (last && path == "/type") {
                continue;
            }
            for with in changes() {
                let mut events = events.clone();
                events[at] = change(event, &path, with);
                try_read(&events, true)
                    .unwrap_or_else(|error| panic!("{at} {path}: {error} in {}", events[at]));
            }
        }
    }
}
