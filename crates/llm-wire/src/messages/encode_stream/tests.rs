use super::*;
use crate::frame::{SseDecoder, SseItem};
use bytes::Bytes;
use llm_core::{ErrorKind, FinishKind, Origin, RawFrame, VendorId};
use serde_json::json;

fn start(index: u32, kind: BlockKind) -> ChatEvent {
    ChatEvent::BlockStart { index, kind }
}

fn call(index: u32, id: &str) -> ChatEvent {
    let (id, name) = (id.to_owned(), "f".to_owned());
    start(index, BlockKind::ToolCall { id, name })
}

fn delta(index: u32, delta: Delta) -> ChatEvent {
    ChatEvent::BlockDelta { index, delta }
}

fn text(index: u32, text: &str) -> ChatEvent {
    delta(index, Delta::Text(text.to_owned()))
}

fn arguments(index: u32, text: &str) -> ChatEvent {
    delta(index, Delta::Arguments(text.to_owned()))
}

fn replay(index: u32, data: Value) -> ChatEvent {
    let origin = Origin::new(VendorId::from_static("anthropic"));
    delta(index, Delta::Replay(Replay::new(origin, data)))
}

fn end(index: u32, complete: bool) -> ChatEvent {
    ChatEvent::BlockEnd { index, complete }
}

fn finish(kind: FinishKind) -> ChatEvent {
    let reason = FinishReason::new(kind, None);
    let usage = Usage::new(5, 7);
    ChatEvent::Finish { reason, usage }
}

/// The payloads of a stream of these events after a start; each event's name is its type.
fn encoded(events: impl IntoIterator<Item = ChatEvent>) -> Vec<Value> {
    let mut encoder = StreamEncoder::new(EncodeOptions::new("msg_0", "demo"));
    let mut out = Vec::new();
    encoder.push(&ChatEvent::Start(Box::default()), &mut out);
    for event in events {
        encoder.push(&event, &mut out);
    }
    payloads(&out)
}

fn payloads(bytes: &[u8]) -> Vec<Value> {
    let mut payloads = Vec::new();
    let mut decoder = SseDecoder::default();
    let taken = decoder.feed(bytes, |item| {
        if let SseItem::Event(event) = item {
            let payload: Value = serde_json::from_str(event.data).unwrap();
            assert_eq!(payload["type"], event.event);
            payloads.push(payload);
        }
        Ok(())
    });
    taken.unwrap();
    payloads
}

/// What came between the beginning and the end, in short.
fn blocks(events: impl IntoIterator<Item = ChatEvent>) -> Vec<String> {
    let payloads = encoded(events);
    let kinds: Vec<_> = payloads
        .iter()
        .map(|payload| payload["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        (kinds[0], kinds[kinds.len() - 2]),
        ("message_start", "message_delta")
    );
    assert_eq!(kinds[kinds.len() - 1], "message_stop");
    let between = &payloads[1..payloads.len() - 2];
    let short = between
        .iter()
        .map(|payload| match payload["type"].as_str().unwrap() {
            "content_block_start" => {
                let block = &payload["content_block"];
                format!(
                    "{}+{} {}",
                    payload["index"],
                    block["type"].as_str().unwrap(),
                    block["id"].as_str().unwrap_or("")
                )
            }
            "content_block_delta" => {
                let fields = payload["delta"].as_object().unwrap();
                let said: Vec<_> = fields.values().skip(1).map(Value::to_string).collect();
                format!("{} {}", payload["index"], said.join(" "))
            }
            "content_block_stop" => format!("{}-", payload["index"]),
            other => other.to_owned(),
        });
    short.map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn a_stream_begins_and_ends_as_the_format_wants() {
    let mut usage = Usage::new(249, 1);
    usage.cached_input_tokens = Some(200);
    let payloads = encoded([
        ChatEvent::Usage(usage),
        ChatEvent::KeepAlive,
        start(0, BlockKind::Text),
        text(0, "Hi"),
        end(0, true),
        finish(FinishKind::Stop),
    ]);
    assert_eq!(
        payloads[0],
        json!({"type": "message_start", "message": {
            "id": "msg_0", "type": "message", "role": "assistant", "model": "demo", "content": [],
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 49, "cache_read_input_tokens": 200, "output_tokens": 1}}})
    );
    assert_eq!(
        payloads[1],
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    );
    assert_eq!(
        payloads[2],
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}})
    );
    assert_eq!(
        payloads[4],
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"input_tokens": 0, "cache_read_input_tokens": 200, "output_tokens": 7}})
    );
    assert_eq!(encoded([finish(FinishKind::Stop)]).len(), 3, "nothing was said");
}

#[test]
fn one_block_is_open_at_a_time() {
    let interleaved = [
        call(0, "a"),
        call(1, "b"),
        call(2, "c"),
        arguments(1, "{\"b\""),
        arguments(0, "{\"a\":1}"),
        arguments(1, ":2}"),
        end(2, true),
        end(1, true),
        end(0, true),
        finish(FinishKind::ToolCalls),
    ];
    assert_eq!(
        blocks(interleaved),
        [
            "0+tool_use a",
            "0 \"{\\\"a\\\":1}\"",
            "0-",
            "1+tool_use b",
            "1 \"{\\\"b\\\"\"",
            "1 \":2}\"",
            "1-",
            "2+tool_use c",
            "2-"
        ]
    );
}

#[test]
fn blocks_without_content_are_no_blocks() {
    let empty = [
        start(0, BlockKind::Text),
        start(1, BlockKind::Reasoning),
        end(0, true),
        end(1, true),
        start(5, BlockKind::Refusal),
        delta(5, Delta::Refusal("no".into())),
        end(5, true),
        call(7, "cut"),
        end(7, false),
        call(8, "late"),
        delta(8, Delta::Name("oo".into())),
        arguments(8, "{\"a"),
        finish(FinishKind::Length),
    ];
    let lines = [
        "0+text",
        "0 \"no\"",
        "0-",
        "1+tool_use late",
        "1 \"{\\\"a\"",
        "1-",
    ];
    assert_eq!(blocks(empty.clone()), lines);
    let named = encoded(empty);
    let call = named
        .iter()
        .find(|payload| payload["content_block"]["type"] == "tool_use")
        .unwrap();
    assert_eq!(call["content_block"]["name"], "foo");
}

#[test]
fn state_of_the_vendor_is_given_back_in_its_own_way() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "SIG"});
    let events = [
        start(0, BlockKind::Reasoning),
        delta(0, Delta::Reasoning("h".into())),
        delta(0, Delta::Reasoning("m".into())),
        replay(0, thinking.clone()),
        end(0, true),
        start(1, BlockKind::Reasoning),
        replay(1, thinking),
        end(1, true),
        start(
            2,
            BlockKind::Opaque {
                kind: "redacted_thinking".into(),
            },
        ),
        replay(2, json!({"type": "redacted_thinking", "data": "ENC"})),
        end(2, true),
        start(3, BlockKind::Text),
        text(3, "so"),
        replay(3, json!({"citations": [7]})),
        end(3, true),
        call(4, "t"),
        replay(4, json!({"caller": {"type": "direct"}})),
        end(4, true),
        start(5, BlockKind::Opaque { kind: "x".into() }),
        end(5, true),
        finish(FinishKind::ToolCalls),
    ];
    assert_eq!(
        blocks(events.clone()),
        [
            "0+thinking",
            "0 \"h\"",
            "0 \"m\"",
            "0 \"SIG\"",
            "0-",
            "1+thinking",
            "1 \"hm\"",
            "1 \"SIG\"",
            "1-",
            "2+redacted_thinking",
            "2-",
            "3+text",
            "3 \"so\"",
            "3 7",
            "3-",
            "4+tool_use t",
            "4-",
        ]
    );
    let payloads = encoded(events);
    let redacted = payloads.iter().find(|payload| payload["index"] == 2).unwrap();
    assert_eq!(
        redacted["content_block"],
        json!({"type": "redacted_thinking", "data": "ENC"})
    );
    let call = payloads.iter().find(|payload| payload["index"] == 4).unwrap();
    assert_eq!(call["content_block"]["caller"], json!({"type": "direct"}));
    let foreign = Replay::new(Origin::new(VendorId::from_static("gemini")), json!({"type": "x"}));
    let piece = BlockKind::Opaque { kind: "x".into() };
    let events = [
        start(0, piece),
        delta(0, Delta::Replay(foreign)),
        end(0, true),
        finish(FinishKind::Stop),
    ];
    assert_eq!(blocks(events), [""; 0]);
}

#[test]
fn a_failed_stream_ends_with_its_failure() {
    let mut encoder = StreamEncoder::new(EncodeOptions::new("msg_0", "demo"));
    let mut out = Vec::new();
    for event in [
        ChatEvent::Start(Box::default()),
        start(0, BlockKind::Text),
        text(0, "half"),
    ] {
        encoder.push(&event, &mut out);
    }
    encoder.error(&Error::new(ErrorKind::Interrupted, "it was cut off"), &mut out);
    let length = out.len();
    encoder.push(&finish(FinishKind::Stop), &mut out);
    encoder.error(&Error::new(ErrorKind::Server, "again"), &mut out);
    assert_eq!(out.len(), length, "nothing follows the end");
    let payloads = payloads(&out);
    assert_eq!(payloads.last().unwrap()["error"]["type"], "api_error");
    assert!(payloads.iter().all(|payload| payload["type"] != "message_stop"));
}

#[test]
fn raw_frames_are_passed_on_as_they_are() {
    let mut encoder = StreamEncoder::new(EncodeOptions::new("msg_0", "demo"));
    let mut out = Vec::new();
    let frame = RawFrame::new(Bytes::from_static(b"event: x\ndata: {}\n\n"), true);
    for event in [
        ChatEvent::Start(Box::default()),
        ChatEvent::Raw(frame),
        finish(FinishKind::Stop),
    ] {
        encoder.push(&event, &mut out);
    }
    assert_eq!(out, b"event: x\ndata: {}\n\n");
}

#[test]
fn what_the_vendor_reports_stands_at_the_end() {
    let mut metadata = VendorMetadata::default();
    let vendor = VendorId::from_static("anthropic");
    metadata.set(vendor.clone(), "stop_sequence", json!("END"));
    metadata.set(vendor, "context_management", json!({"applied_edits": []}));
    let payloads = encoded([ChatEvent::Metadata(metadata), finish(FinishKind::Stop)]);
    assert_eq!(
        payloads[1]["delta"],
        json!({"stop_reason": "end_turn", "stop_sequence": "END"})
    );
    assert_eq!(payloads[1]["context_management"], json!({"applied_edits": []}));
}

/// A piece of the body without a whole event is proof of life as well: how many there are is the network's business.
#[test]
fn proof_of_life_changes_nothing_that_a_client_sees() {
    let quiet = [
        start(0, BlockKind::Text),
        text(0, "Hi"),
        text(0, "!"),
        end(0, true),
        finish(FinishKind::Stop),
    ];
    let chatty = quiet
        .iter()
        .flat_map(|event| [ChatEvent::KeepAlive, event.clone()]);
    assert_eq!(encoded(chatty), encoded(quiet.clone()));

    let mut encoder = StreamEncoder::new(EncodeOptions::new("msg_0", "demo"));
    let mut out = Vec::new();
    encoder.push(&ChatEvent::Start(Box::default()), &mut out);
    encoder.push(&ChatEvent::KeepAlive, &mut out);
    assert_eq!(out, b": keep-alive\n\n");
    encoder.error(&Error::new(ErrorKind::QuotaExhausted, "no credit"), &mut out);
    let kinds: Vec<_> = payloads(&out)
        .iter()
        .map(|payload| payload["type"].clone())
        .collect();
    assert_eq!(kinds, ["error"], "an answer that never began is not begun");
}

#[test]
fn calls_that_cannot_be_shown_are_none_to_wait_for() {
    let stop = |events: Vec<ChatEvent>| {
        let ends = encoded(events).into_iter();
        let mut ends = ends.filter(|event| event["type"] == "message_delta");
        ends.next().map(|end| end["delta"]["stop_reason"].clone())
    };
    let kind = "custom_tool_call".to_owned();
    let data = json!({"id": "c0", "type": "custom", "custom": {"name": "sql", "input": "x"}});
    let foreign = Replay::new(Origin::new(VendorId::from_static("openai")), data);
    let custom = [
        start(0, BlockKind::Opaque { kind }),
        delta(0, Delta::Replay(foreign)),
        end(0, true),
    ];
    let and = |more: Vec<ChatEvent>| custom.iter().cloned().chain(more).collect();
    assert_eq!(
        stop(and(vec![finish(FinishKind::ToolCalls)])),
        Some(json!("end_turn"))
    );
    let function = vec![call(1, "t"), end(1, true), finish(FinishKind::ToolCalls)];
    assert_eq!(stop(and(function)), Some(json!("tool_use")));
}
