use super::*;
use crate::ollama::decode_response;
use llm_core::{Block, ChatResponse, Collector, Grammar, VendorId};
use serde_json::json;

fn options(include_reasoning: bool) -> DecodeOptions {
    DecodeOptions {
        include_reasoning,
        ..DecodeOptions::default()
    }
}

/// Reads a stream of these lines, and checks its grammar.
fn read_with(mut decoder: StreamDecoder, lines: &[Value]) -> Result<ChatResponse> {
    let mut events = Vec::new();
    let fed = lines
        .iter()
        .try_for_each(|line| decoder.feed(&line.to_string(), &mut events));
    let outcome = fed.and_then(|()| decoder.finish(&mut events));
    if outcome.is_err() {
        decoder.interrupt(&mut events);
    }
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in events {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    outcome?;
    collector.finish()
}

fn try_read(lines: &[Value], include: bool) -> Result<ChatResponse> {
    read_with(StreamDecoder::new(&Dialect::ollama(), options(include)), lines)
}

fn read(lines: &[Value]) -> ChatResponse {
    try_read(lines, true).unwrap()
}

fn says(message: Value) -> Value {
    json!({"model": "qwen4:8b", "created_at": "2026-11-29T10:00:00.1Z", "message": message, "done": false})
}

fn done(reason: &str) -> Value {
    json!({"model": "qwen4:8b", "created_at": "2026-11-29T10:00:01Z", "message": {"content": ""}, "done": true,
        "done_reason": reason})
}

fn blocks(response: &ChatResponse) -> Vec<(&'static str, &str, Option<&Value>)> {
    response
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(part) => ("text", part.text.as_str(), None),
            Block::Reasoning(part) => {
                let replay = part.replay.as_ref().unwrap();
                assert_eq!(replay.origin.vendor, VendorId::from_static("ollama"));
                ("reasoning", part.text.as_str(), Some(&replay.data))
            }
            Block::ToolCall(call) => ("call", call.arguments.as_str(), None),
            _ => ("other", "", None),
        })
        .collect()
}

#[test]
fn thoughts_go_back_whether_they_are_shown_or_not() {
    let lines = [
        says(json!({"content": "", "thinking": "h"})),
        says(json!({"content": "", "thinking": "m"})),
        says(json!({"content": "Fo"})),
        says(json!({"content": "ur"})),
        done("stop"),
    ];
    let shown = read(&lines);
    assert_eq!(
        blocks(&shown),
        [("reasoning", "hm", Some(&json!({}))), ("text", "Four", None)]
    );
    let hidden = try_read(&lines, false).unwrap();
    let state = json!({"thinking": "hm"});
    assert_eq!(
        blocks(&hidden),
        [("reasoning", "", Some(&state)), ("text", "Four", None)]
    );
    let only_thoughts = try_read(&[says(json!({"thinking": "hm"})), done("length")], false).unwrap();
    assert_eq!(blocks(&only_thoughts), [("reasoning", "", Some(&state))]);
    assert_eq!(only_thoughts.finish.kind, FinishKind::Length);
}

#[test]
fn calls_come_whole_with_ids_of_their_own() {
    let call =
        |id: Value, arguments: Value| json!({"id": id, "function": {"name": "f", "arguments": arguments}});
    let response = read(&[
        says(
            json!({"content": "Look.", "tool_calls": [call(json!("a"), json!({"x": 1})), call(json!(null), json!(null))]}),
        ),
        says(json!({"tool_calls": [call(json!("a"), json!("{\"y\":")), call(json!(""), json!("{}")), {}]})),
        done("stop"),
    ]);
    let ids: Vec<_> = response.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!((ids.len(), ids[0]), (3, "a"));
    assert!(ids[1].starts_with("call_") && ids[2].starts_with("call_") && ids[1] != ids[2]);
    assert_eq!(
        blocks(&response),
        [
            ("text", "Look.", None),
            ("call", "{\"x\":1}", None),
            ("call", "{}", None),
            ("call", "{}", None)
        ]
    );
    assert_eq!(response.incomplete_tool_calls.len(), 1);
    assert_eq!(
        response.finish,
        FinishReason::new(FinishKind::ToolCalls, Some("stop".into()))
    );
}

#[test]
fn every_reason_has_a_kind() {
    for (reason, kind) in [
        ("stop", FinishKind::Stop),
        ("", FinishKind::Stop),
        ("length", FinishKind::Length),
        ("brand_new", FinishKind::Other),
    ] {
        let finish = read(&[says(json!({"content": "a"})), done(reason)]).finish;
        assert_eq!(finish.kind, kind, "{reason}");
        assert_eq!(
            finish.raw.as_deref(),
            Some(reason).filter(|reason| !reason.is_empty())
        );
    }
    for reason in ["load", "unload"] {
        let error = try_read(&[done(reason)], true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{reason}");
    }
}

#[test]
fn a_stream_that_is_not_done_is_cut_off() {
    for lines in [
        vec![],
        vec![says(json!({"content": "half"}))],
        vec![json!({"done_reason": "stop"})],
    ] {
        assert_eq!(try_read(&lines, true).unwrap_err().kind(), ErrorKind::Interrupted);
    }
    let error = try_read(
        &[
            says(json!({"content": "half"})),
            json!({"error": "runner stopped"}),
        ],
        true,
    )
    .unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Server, Phase::Streaming)
    );
    let after_the_end = read(&[
        says(json!({"content": "a"})),
        done("stop"),
        json!({"error": "late"}),
    ]);
    assert_eq!(after_the_end.text(), "a");
}

#[test]
fn the_last_line_reports_what_was_used() {
    let mut last = done("stop");
    last["prompt_eval_count"] = json!(61);
    last["eval_count"] = json!(22);
    last["total_duration"] = json!(812_000_000);
    last["remote_model"] = json!("big");
    let mut first = says(json!({"content": "a"}));
    first["logprobs"] = json!([{"token": "a"}]);
    last["logprobs"] = json!([{"token": "b"}]);
    let response = read(&[first, last]);
    assert_eq!(response.usage, Usage::new(61, 22));
    let own = response.metadata.of("ollama").unwrap();
    assert_eq!(
        (&own["total_duration"], &own["remote_model"]),
        (&json!(812_000_000), &json!("big"))
    );
    assert_eq!(own["logprobs"], json!([{"token": "a"}, {"token": "b"}]));
    assert_eq!(response.meta.model.as_deref(), Some("qwen4:8b"));
    assert_eq!(response.meta.created, Some(1_795_946_400));
    assert_eq!(read(&[done("stop")]).usage, Usage::default());
}

#[test]
fn think_tags_are_split_off_where_that_is_on() {
    let mut dialect = Dialect::ollama();
    dialect.extract_think_tags = true;
    let lines = [
        says(json!({"content": "<thi"})),
        says(json!({"content": "nk>hm</think>\n\nFour"})),
        done("stop"),
    ];
    let response = read_with(StreamDecoder::new(&dialect, options(true)), &lines).unwrap();
    assert_eq!(
        blocks(&response),
        [("reasoning", "hm", Some(&json!({}))), ("text", "Four", None)]
    );
    assert_eq!(read(&lines).text(), "<think>hm</think>\n\nFour");
}

#[test]
fn a_plain_answer_is_one_line() {
    let plain = |body: Value| decode_response(&Dialect::ollama(), options(true), body.to_string().as_bytes());
    let mut body = done("stop");
    body["message"] = json!({"role": "assistant", "content": "Four", "thinking": "hm"});
    let response = plain(body.clone()).unwrap();
    assert_eq!(
        (response.text().as_str(), response.reasoning().as_str()),
        ("Four", "hm")
    );
    body["done"] = json!(null);
    assert_eq!(plain(body).unwrap().finish.kind, FinishKind::Stop);
    for (body, kind) in [
        (json!({}), ErrorKind::Protocol),
        (json!([]), ErrorKind::Protocol),
        (done("load"), ErrorKind::Protocol),
        (json!({"error": "model \"x\" not found"}), ErrorKind::NotFound),
        (json!({"detail": "Not authenticated"}), ErrorKind::Auth),
    ] {
        assert_eq!(plain(body.clone()).unwrap_err().kind(), kind, "{body}");
    }
}

#[test]
fn a_field_of_another_form_costs_that_field() {
    let response = read(&[
        json!({"model": 7, "message": {"content": "a", "tool_calls": {}}, "eval_count": "many"}),
        json!({"message": {"content": ["x"]}, "done": true}),
    ]);
    assert_eq!(response.text(), "a");
    assert_eq!(response.warnings.len(), 4);
}
