use super::*;
use llm_core::stream::events_of;
use llm_core::{
    Block, ChatResponse, ErrorKind, FinishKind, IncompleteToolCall, OpaquePart, Origin, ReasoningPart,
    RefusalPart, Rejection, TextPart, ToolCall, VendorId,
};
use serde_json::json;

/// The chunks of a stream.
fn chunks(events: &[ChatEvent]) -> Vec<Value> {
    let mut encoder = StreamEncoder::new(EncodeOptions::new("r-0", "demo"));
    let mut out = Vec::new();
    for event in events {
        encoder.push(event, &mut out);
    }
    read(&out)
}

fn read(out: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(out).unwrap();
    text.split_terminator("\n\n")
        .filter(|event| !event.starts_with(':'))
        .map(|event| {
            let lines: Vec<_> = event
                .lines()
                .map(|line| line.strip_prefix("data: ").unwrap())
                .collect();
            serde_json::from_str(&lines.join("\n")).unwrap()
        })
        .collect()
}

fn own(data: Value) -> Replay {
    Replay::new(Origin::new(VendorId::from_static(VENDOR)), data)
}

#[test]
fn every_block_is_a_part_and_the_last_chunk_has_the_rest() {
    let mut response = ChatResponse::default();
    response.meta.id = Some("r-1".into());
    response.meta.model = Some("m".into());
    response.meta.service_tier = Some("flex".into());
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}});
    let signed = || own(json!({"id": "f-1", "thoughtSignature": "QQ=="}));
    response.blocks = vec![
        Block::Reasoning(ReasoningPart::new("hm")),
        Block::Text(TextPart::new("a").with_replay(own(json!({"thoughtSignature": "Qg=="})))),
        Block::Refusal(RefusalPart::new("no")),
        Block::ToolCall(ToolCall::new("f-1", "f", "{\n\"a\": 1.50}").with_replay(signed())),
        Block::ToolCall(ToolCall::new("call_x_0", "g", "{}").with_replay(own(json!({})))),
        Block::ToolCall(ToolCall::new("c0", "h", "{}")),
        Block::Opaque(OpaquePart::new("inlineData", own(image.clone()))),
        Block::Opaque(OpaquePart::new(
            "audio",
            Replay::new(Origin::new(VendorId::from_static("openai")), json!({})),
        )),
    ];
    response.incomplete_tool_calls = vec![IncompleteToolCall::new("c1", "h", "{\"half\":")];
    response.finish = FinishReason::new(FinishKind::ToolCalls, Some("STOP".into()));
    response.usage = Usage::new(9, 26);
    response.usage.reasoning_tokens = Some(20);
    response
        .metadata
        .set(VendorId::from_static(VENDOR), "avgLogprobs", json!(-0.5));
    response
        .metadata
        .set(VendorId::from_static(VENDOR), "createTime", json!("t"));
    let chunks = chunks(&events_of(response));
    let (last, earlier) = chunks.split_last().unwrap();
    let parts: Vec<_> = earlier
        .iter()
        .map(|chunk| chunk["candidates"][0]["content"]["parts"][0].clone())
        .collect();
    let expected = [
        json!({"text": "hm", "thought": true}),
        json!({"text": "a"}),
        json!({"text": "", "thoughtSignature": "Qg=="}),
        json!({"text": "no"}),
        json!({"functionCall": {"id": "f-1", "name": "f", "args": {"a": 1.5}}, "thoughtSignature": "QQ=="}),
        json!({"functionCall": {"name": "g", "args": {}}}),
        json!({"functionCall": {"id": "c0", "name": "h", "args": {}}}),
        image,
    ];
    assert_eq!(parts, expected);
    assert_eq!(earlier[0]["usageMetadata"], json!({"serviceTier": "flex"}));
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["responseId"] == "r-1" && chunk["modelVersion"] == "m")
    );
    let candidate = json!({"finishReason": "STOP", "index": 0, "avgLogprobs": -0.5});
    let usage = json!({"promptTokenCount": 9, "candidatesTokenCount": 6, "thoughtsTokenCount": 20,
        "totalTokenCount": 35, "serviceTier": "flex"});
    assert_eq!(
        *last,
        json!({"candidates": [candidate], "usageMetadata": usage, "createTime": "t", "modelVersion": "m",
            "responseId": "r-1"})
    );
}

#[test]
fn what_is_not_known_is_filled_in() {
    let [only] = chunks(&events_of(ChatResponse::default())).try_into().unwrap();
    let candidate = json!({"finishReason": "OTHER", "index": 0});
    assert_eq!(
        only,
        json!({"candidates": [candidate], "modelVersion": "demo", "responseId": "r-0"})
    );
}

#[test]
fn the_vendors_own_word_is_kept_where_it_means_the_same() {
    for (kind, raw, word) in [
        (FinishKind::Stop, Some("end_turn"), "STOP"),
        (FinishKind::ContentFilter, Some("RECITATION"), "RECITATION"),
        (FinishKind::ContentFilter, None, "SAFETY"),
        (FinishKind::Refusal, None, "SAFETY"),
        (FinishKind::Length, Some("STOP"), "MAX_TOKENS"),
        (
            FinishKind::ModelFault,
            Some("MALFORMED_FUNCTION_CALL"),
            "MALFORMED_FUNCTION_CALL",
        ),
        (FinishKind::Other, Some("load"), "OTHER"),
        (FinishKind::Pause, None, "STOP"),
    ] {
        let reason = FinishReason::new(kind, raw.map(str::to_owned));
        assert_eq!(word_of(&reason), word, "{kind:?} {raw:?}");
    }
}

#[test]
fn a_failure_is_the_last_chunk_and_nothing_follows() {
    for (error, code, status) in [
        (Error::new(ErrorKind::Interrupted, "cut"), 502, "INTERNAL"),
        (Error::new(ErrorKind::Overloaded, "busy"), 503, "UNAVAILABLE"),
        (
            Error::new(ErrorKind::RateLimit, "slow"),
            429,
            "RESOURCE_EXHAUSTED",
        ),
        (
            Error::rejected(Rejection::BreakerOpen, "open"),
            503,
            "UNAVAILABLE",
        ),
        (Error::new(ErrorKind::UnknownModel, "no"), 404, "NOT_FOUND"),
        (Error::new(ErrorKind::Auth, "our key"), 500, "INTERNAL"),
        (
            Error::new(ErrorKind::ContextLength, "long"),
            400,
            "INVALID_ARGUMENT",
        ),
        (Error::deadline("late"), 504, "DEADLINE_EXCEEDED"),
    ] {
        let mut encoder = StreamEncoder::new(EncodeOptions::new("r-0", "demo"));
        let mut out = Vec::new();
        encoder.push(&ChatEvent::Start(Box::default()), &mut out);
        encoder.push(&ChatEvent::KeepAlive, &mut out);
        encoder.error(&error, &mut out);
        let reason = FinishReason::new(FinishKind::Stop, None);
        let usage = Usage::default();
        encoder.push(&ChatEvent::Finish { reason, usage }, &mut out);
        encoder.error(&error, &mut out);
        let [only] = read(&out).try_into().unwrap();
        assert_eq!(
            (&only["error"]["code"], &only["error"]["status"]),
            (&json!(code), &json!(status))
        );
        assert!(!only["error"]["message"].as_str().unwrap().contains("our key"));
    }
}

#[test]
fn raw_frames_go_through() {
    let frame = llm_core::RawFrame::new(b"data: {}\n\n".as_slice().into(), true);
    let mut encoder = StreamEncoder::new(EncodeOptions::new("r-0", "demo"));
    let mut out = Vec::new();
    encoder.push(&ChatEvent::Raw(frame), &mut out);
    let reason = FinishReason::new(FinishKind::Stop, None);
    encoder.push(
        &ChatEvent::Finish {
            reason,
            usage: Usage::default(),
        },
        &mut out,
    );
    assert_eq!(out, b"data: {}\n\n");
}
