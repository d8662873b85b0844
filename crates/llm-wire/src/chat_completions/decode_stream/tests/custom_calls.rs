//! Calls of tools of another kind than functions.

use super::*;
use crate::chat_completions::{EncodeOptions, StreamEncoder, encode_request, encode_response};
use llm_core::{ModelId, ResolvedModel, Role};

fn custom(id: &str, input: &str) -> Value {
    json!({"id": id, "type": "custom", "custom": {"name": "sql", "input": input}})
}

fn function() -> Value {
    json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}})
}

/// The calls of the answers below, whole.
fn calls() -> Value {
    json!([custom("c0", "select 1; -- {"), function(), custom("c2", "")])
}

fn whole(finish: &str, calls: Value) -> ChatResponse {
    let choice =
        json!({"index": 0, "finish_reason": finish, "message": {"content": "a", "tool_calls": calls}});
    plain(&Dialect::openai(), options(true), choice).unwrap()
}

fn choices(finish: &str, deltas: &[Value]) -> Vec<Value> {
    let calls = deltas
        .iter()
        .map(|delta| json!({"delta": {"tool_calls": [delta]}}));
    let mut choices: Vec<_> = [json!({"delta": {"content": "a"}})]
        .into_iter()
        .chain(calls)
        .collect();
    choices.push(json!({"delta": {}, "finish_reason": finish}));
    choices
}

/// The same calls in pieces.
fn pieces() -> Vec<Value> {
    let pieces = [
        json!({"index": 0, "id": "c0", "type": "custom", "custom": {"name": "sql", "input": ""}}),
        json!({"index": 0, "custom": {"input": "select "}}),
        json!({"index": 1, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}),
        json!({"index": 0, "custom": {"input": "1; -- {"}}),
        json!({"index": 2, "id": "c2", "type": "custom", "custom": {"name": "sql", "input": ""}}),
    ];
    choices("tool_calls", &pieces)
}

#[test]
fn they_are_kept_as_they_came() {
    let plain = whole("stop", calls());
    let streamed = streamed(&Dialect::openai(), options(true), &pieces());
    assert_eq!(streamed.blocks, plain.blocks);
    for response in [&plain, &streamed] {
        assert_eq!(response.finish.kind, FinishKind::ToolCalls);
        assert_eq!(response.warnings, []);
        let kinds: Vec<_> = shape(response).into_iter().map(|(kind, ..)| kind).collect();
        assert_eq!(kinds, ["text", "other", "call", "other"]);
        let Block::Opaque(piece) = &response.blocks[1] else {
            panic!("{:?}", response.blocks);
        };
        assert_eq!(piece.kind, "custom_tool_call");
        assert_eq!(piece.replay.data, custom("c0", "select 1; -- {"));
        assert_eq!(piece.replay.origin.vendor.as_str(), "openai");
    }
}

#[test]
fn they_go_on_to_a_client_and_back_to_the_vendor() {
    let plain = whole("stop", calls());
    let options = EncodeOptions::new("chatcmpl-0", 7, "demo");
    let body: Value = serde_json::from_slice(&encode_response(&options, &plain)).unwrap();
    assert_eq!(body["choices"][0]["message"]["tool_calls"], calls());

    let mut encoder = StreamEncoder::new(options);
    let mut out = Vec::new();
    for event in events(&Dialect::openai(), super::options(true), &pieces()).0 {
        encoder.push(&event, &mut out);
    }
    let text = String::from_utf8(out).unwrap();
    let mut sent: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
        .filter_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0").cloned())
        .collect();
    sent.sort_by_key(|call| call["id"].to_string());
    for (call, mut expected) in sent.into_iter().zip(calls().as_array().unwrap().clone()) {
        expected["index"] = call["index"].clone();
        assert_eq!(call, expected);
    }
    assert!(text.contains(r#""finish_reason":"tool_calls""#), "{text}");

    let parts = plain.blocks.into_iter().map(ContentPart::from).collect();
    let request = ChatRequest::new([Message::new(Role::Assistant, parts)]);
    let model = ResolvedModel::unknown(ModelId::new("demo").unwrap());
    let encoded = encode_request(&Dialect::openai(), &model, &request, false).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(body["messages"][0]["tool_calls"], calls());
}

#[test]
fn one_that_was_cut_off_is_left_out_with_one_warning() {
    let cut = json!([custom("c0", "whole"), custom("c1", "hal")]);
    let plain = whole("length", cut.clone());
    let mut pieces = cut.as_array().unwrap().clone();
    for (index, piece) in pieces.iter_mut().enumerate() {
        piece["index"] = index.into();
    }
    let streamed = streamed(&Dialect::openai(), options(true), &choices("length", &pieces));
    assert_eq!(streamed.blocks, plain.blocks);
    for response in [plain, streamed] {
        assert_eq!(response.blocks.len(), 2);
        assert_eq!(response.finish.kind, FinishKind::Length);
        assert_eq!(response.warnings.len(), 1);
    }
    let nameless = whole(
        "tool_calls",
        json!([{"id": "c0", "type": "custom", "custom": {"input": "x"}}]),
    );
    assert_eq!((nameless.blocks.len(), nameless.warnings.len()), (1, 1));
}

#[test]
fn an_empty_custom_field_beside_a_function_means_nothing() {
    let mut call = function();
    call["custom"] = json!({});
    assert_eq!(whole("stop", json!([call])).tool_calls().count(), 1);
}

#[test]
fn of_several_open_ones_the_last_that_was_added_to_is_the_one_cut_off() {
    let pieces = [
        json!({"index": 0, "id": "c0", "type": "custom", "custom": {"name": "sql", "input": "sel"}}),
        json!({"index": 1, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": "whole"}}),
        json!({"index": 0, "custom": {"input": "ect"}}),
    ];
    let response = streamed(&Dialect::openai(), options(true), &choices("length", &pieces));
    let kept: Vec<_> = response
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Opaque(piece) => Some(piece.replay.data.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [custom("c1", "whole")]);
    assert_eq!(response.warnings.len(), 1);
}

#[test]
fn what_is_called_may_come_after_the_id() {
    for first in [
        json!({"index": 0, "id": "c0", "type": "custom"}),
        json!({"index": 0, "id": "c0"}),
    ] {
        let pieces = [
            first,
            json!({"index": 0, "custom": {"name": "sql", "input": "x"}}),
        ];
        let response = streamed(&Dialect::openai(), options(true), &choices("tool_calls", &pieces));
        let Some(Block::Opaque(piece)) = response.blocks.last() else {
            panic!("{:?}", response.blocks);
        };
        assert_eq!(piece.replay.data, custom("c0", "x"));
        assert_eq!(response.finish.kind, FinishKind::ToolCalls);
    }
}
