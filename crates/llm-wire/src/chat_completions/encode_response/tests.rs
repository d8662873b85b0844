use super::*;
use llm_core::{
    FinishReason, IncompleteToolCall, OpaquePart, Origin, ReasoningPart, RefusalPart, Replay, TextPart,
    VendorId,
};
use serde_json::json;

fn options() -> EncodeOptions {
    EncodeOptions::new("chatcmpl-0", 7, "demo")
}

fn response(blocks: Vec<Block>, finish: FinishKind) -> ChatResponse {
    let mut response = ChatResponse::default();
    response.blocks = blocks;
    response.finish = FinishReason::new(finish, None);
    response
}

/// The choice of an encoded response.
fn choice(response: &ChatResponse) -> Value {
    let mut body: Value = serde_json::from_slice(&encode_response(&options(), response)).unwrap();
    body["choices"][0].take()
}

fn check(response: &ChatResponse, message: Value, finish: &str) {
    assert_eq!(
        choice(response),
        json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish})
    );
}

fn text(text: &str) -> Block {
    Block::Text(TextPart::new(text))
}

fn call(id: &str) -> Block {
    Block::ToolCall(ToolCall::new(id, "f", "{\"a\":1}"))
}

#[test]
fn a_whole_answer_has_the_vendors_form() {
    let mut response = response(vec![text("Sev"), text("en.")], FinishKind::Stop);
    response.meta.id = Some("chatcmpl-x1".into());
    response.meta.created = Some(1_795_000_000);
    response.meta.model = Some("gpt-6-luna".into());
    response.meta.service_tier = Some("default".into());
    response.usage = Usage::new(21, 9);
    response.usage.cached_input_tokens = Some(4);
    response.usage.reasoning_tokens = Some(6);
    let openai = VendorId::from_static("openai");
    response
        .metadata
        .set(openai.clone(), "system_fingerprint", json!("fp_1"));
    response
        .metadata
        .set(openai, "logprobs_content", json!([{"token": "S"}]));
    let body: Value = serde_json::from_slice(&encode_response(&options(), &response)).unwrap();
    assert_eq!(
        body,
        json!({
            "id": "chatcmpl-x1", "object": "chat.completion", "created": 1_795_000_000, "model": "gpt-6-luna",
            "service_tier": "default", "system_fingerprint": "fp_1",
            "choices": [{"index": 0, "finish_reason": "stop", "logprobs": {"content": [{"token": "S"}]},
                "message": {"role": "assistant", "content": "Seven.", "refusal": null}}],
            "usage": {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 6}},
        })
    );
}

#[test]
fn what_is_not_known_is_filled_in_or_left_out() {
    let mut response = response(vec![], FinishKind::Other);
    response.usage.output_tokens = Some(3);
    let body: Value = serde_json::from_slice(&encode_response(&options(), &response)).unwrap();
    assert_eq!(
        (&body["id"], &body["created"], &body["model"]),
        (&json!("chatcmpl-0"), &json!(7), &json!("demo"))
    );
    assert_eq!(body.get("usage"), None);
    check(
        &response,
        json!({"role": "assistant", "content": "", "refusal": null}),
        "stop",
    );
}

#[test]
fn calls_refusals_and_reasoning_have_their_fields() {
    check(
        &response(
            vec![Block::Reasoning(ReasoningPart::new("hm")), call("c0")],
            FinishKind::ToolCalls,
        ),
        json!({"role": "assistant", "content": null, "refusal": null, "reasoning_content": "hm", "tool_calls":
            [{"id": "c0", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}),
        "tool_calls",
    );
    let refusal = Block::Refusal(RefusalPart::new("no"));
    check(
        &response(vec![refusal], FinishKind::Refusal),
        json!({"role": "assistant", "content": null, "refusal": "no"}),
        "stop",
    );
    let silent = response(vec![text("x")], FinishKind::Refusal);
    check(
        &silent,
        json!({"role": "assistant", "content": "x", "refusal": null}),
        "content_filter",
    );
}

#[test]
fn calls_that_were_cut_off_are_sent_only_where_they_show_it() {
    let mut response = response(vec![call("c0")], FinishKind::Length);
    response.incomplete_tool_calls = vec![
        IncompleteToolCall::new("c1", "g", "{\"a\":"),
        IncompleteToolCall::new("c2", "g", ""),
        IncompleteToolCall::new("c3", "g", "{}"),
    ];
    let calls = choice(&response)["message"]["tool_calls"].clone();
    let ids: Vec<_> = calls
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["c0", "c1"]);
}

#[test]
fn vendor_state_stays_inside() {
    let replay = Replay::new(
        Origin::new(VendorId::from_static("claude")),
        json!({"signature": "c2VjcmV0"}),
    );
    let blocks = vec![
        Block::Opaque(OpaquePart::new("redacted", replay.clone())),
        Block::Reasoning(ReasoningPart::default().with_replay(replay)),
        text("a"),
    ];
    check(
        &response(blocks, FinishKind::Stop),
        json!({"role": "assistant", "content": "a", "refusal": null}),
        "stop",
    );
}

#[test]
fn every_end_has_one_of_openais_words() {
    let words = [
        (FinishKind::Stop, "stop"),
        (FinishKind::Length, "length"),
        // no call is shown
        (FinishKind::ToolCalls, "stop"),
        (FinishKind::ContentFilter, "content_filter"),
        (FinishKind::Pause, "stop"),
        (FinishKind::ModelFault, "stop"),
        (FinishKind::Other, "stop"),
    ];
    for (kind, word) in words {
        assert_eq!(choice(&response(vec![text("a")], kind))["finish_reason"], word);
    }
}

#[test]
fn a_custom_call_of_the_responses_api_is_one_of_this_format() {
    let piece = |kind: &str, data: Value| {
        let replay = Replay::new(Origin::new(VendorId::from_static("openai")), data);
        Block::Opaque(OpaquePart::new(kind, replay))
    };
    let item = json!({"type": "custom_tool_call", "call_id": "c0", "name": "sql", "input": "select 1"});
    let search = json!({"type": "web_search_call", "call_id": "c1", "name": "sql", "input": "x"});
    let blocks = vec![piece("custom_tool_call", item), piece("web_search_call", search)];
    check(
        &response(blocks, FinishKind::ToolCalls),
        json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "c0", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}]}),
        "tool_calls",
    );
}
