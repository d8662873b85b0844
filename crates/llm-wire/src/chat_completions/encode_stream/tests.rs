use super::*;
use crate::frame::{SseDecoder, SseItem};
use bytes::Bytes;
use llm_core::{ErrorKind, FinishKind, RawFrame, VendorId};
use serde_json::json;

fn options() -> EncodeOptions {
    EncodeOptions::new("chatcmpl-0", 7, "demo")
}

fn start(index: u32, kind: BlockKind) -> ChatEvent {
    ChatEvent::BlockStart { index, kind }
}

fn call(index: u32, id: &str, name: &str) -> ChatEvent {
    let (id, name) = (id.to_owned(), name.to_owned());
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

fn end(index: u32) -> ChatEvent {
    ChatEvent::BlockEnd {
        index,
        complete: true,
    }
}

fn finish(kind: FinishKind) -> ChatEvent {
    let reason = FinishReason::new(kind, None);
    ChatEvent::Finish {
        reason,
        usage: Usage::new(5, 7),
    }
}

/// Encodes the events after a start, and checks what holds for every stream.
fn encoded(options: EncodeOptions, events: impl IntoIterator<Item = ChatEvent>) -> Vec<Value> {
    let mut encoder = StreamEncoder::new(options);
    let mut out = Vec::new();
    encoder.push(&ChatEvent::Start(Box::default()), &mut out);
    for event in events {
        encoder.push(&event, &mut out);
    }
    let length = out.len();
    encoder.push(&text(0, "late"), &mut out);
    encoder.error(&Error::new(ErrorKind::Server, "late"), &mut out);
    assert_eq!(out.len(), length, "nothing follows the end");
    payloads(&out)
}

/// The payloads of a stream without its end mark, which must be the last.
fn payloads(bytes: &[u8]) -> Vec<Value> {
    let mut payloads = Vec::new();
    let mut take = |item: SseItem<'_>| {
        if let SseItem::Event(event) = item {
            payloads.push(event.data.to_owned());
        }
        Ok(())
    };
    let mut decoder = SseDecoder::default();
    decoder.feed(bytes, &mut take).unwrap();
    decoder.finish(&mut take).unwrap();
    assert_eq!(payloads.pop().as_deref(), Some("[DONE]"));
    payloads
        .iter()
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// The deltas of all chunks after the first, and the word of the one finish reason, which is in the last of them.
fn deltas(events: impl IntoIterator<Item = ChatEvent>) -> (Vec<Value>, String) {
    let mut chunks = encoded(options(), events);
    let last = chunks.pop().unwrap();
    assert_eq!(last["choices"][0]["delta"], json!({}));
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["choices"][0]["finish_reason"].is_null())
    );
    let mut deltas: Vec<_> = chunks
        .iter_mut()
        .map(|chunk| chunk["choices"][0]["delta"].take())
        .collect();
    assert_eq!(deltas.remove(0), json!({"role": "assistant", "content": ""}));
    (
        deltas,
        last["choices"][0]["finish_reason"].as_str().unwrap().to_owned(),
    )
}

/// The fragment that shows a call.
fn shown(index: u32, id: &str, name: &str, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "id": id, "type": "function",
        "function": {"name": name, "arguments": arguments}}]})
}

/// A later fragment of it.
fn more(index: u32, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
}

#[test]
fn a_text_stream_has_the_vendors_form() {
    let events = [
        start(0, BlockKind::Text),
        text(0, "Sev"),
        text(0, "en."),
        end(0),
        finish(FinishKind::Stop),
    ];
    let mut chunks = encoded(options(), events.clone());
    assert_eq!(
        chunks[1],
        json!({"id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 7, "model": "demo",
            "choices": [{"index": 0, "delta": {"content": "Sev"}, "finish_reason": null}]})
    );
    assert_eq!(chunks.len(), 4);
    assert_eq!(chunks.pop().unwrap()["choices"][0]["finish_reason"], "stop");

    let chunks = encoded(options().with_include_usage(true), events);
    assert_eq!(chunks.len(), 5);
    assert!(
        chunks[..4]
            .iter()
            .all(|chunk| chunk["usage"].is_null() && chunk.get("usage").is_some())
    );
    assert_eq!(
        (&chunks[4]["choices"], &chunks[4]["usage"]),
        (
            &json!([]),
            &json!({"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12})
        )
    );
}

#[test]
fn reasoning_and_refusals_have_their_fields() {
    let events = [
        start(0, BlockKind::Reasoning),
        delta(0, Delta::Reasoning("hm".into())),
        end(0),
        start(1, BlockKind::Refusal),
        delta(1, Delta::Refusal("no".into())),
        end(1),
        finish(FinishKind::Refusal),
    ];
    assert_eq!(
        deltas(events),
        (
            vec![json!({"reasoning_content": "hm"}), json!({"refusal": "no"})],
            "stop".into()
        )
    );
    assert_eq!(
        deltas([finish(FinishKind::Refusal)]),
        (vec![], "content_filter".into())
    );
}

#[test]
fn block_numbers_become_call_numbers() {
    let events = [
        start(0, BlockKind::Text),
        text(0, "Look"),
        end(0),
        call(1, "toolu_a", "f"),
        arguments(1, "{\"a\""),
        arguments(1, ":1}"),
        end(1),
        finish(FinishKind::ToolCalls),
    ];
    let expected = vec![
        json!({"content": "Look"}),
        shown(0, "toolu_a", "f", "{\"a\""),
        more(0, ":1}"),
    ];
    assert_eq!(deltas(events), (expected, "tool_calls".into()));
}

#[test]
fn a_call_is_shown_once_with_its_whole_name() {
    let events = [
        call(0, "c0", "loo"),
        delta(0, Delta::Name("kup".into())),
        arguments(0, "{}"),
        end(0),
        finish(FinishKind::ToolCalls),
    ];
    assert_eq!(deltas(events).0, [shown(0, "c0", "lookup", "{}")]);
}

#[test]
fn interleaved_calls_keep_their_order() {
    let events = [
        call(4, "c0", "f"),
        call(7, "c1", "g"),
        arguments(7, "{\"b\":2}"),
        arguments(4, "{\"a\":1}"),
        end(4),
        end(7),
        finish(FinishKind::ToolCalls),
    ];
    let expected = [
        shown(0, "c0", "f", ""),
        shown(1, "c1", "g", "{\"b\":2}"),
        more(0, "{\"a\":1}"),
    ];
    assert_eq!(deltas(events).0, expected);
}

#[test]
fn a_call_without_arguments_gets_empty_ones() {
    let at_once = [call(0, "c0", "f"), end(0), finish(FinishKind::ToolCalls)];
    assert_eq!(deltas(at_once).0, [shown(0, "c0", "f", "{}")]);
    let late = [
        call(0, "c0", "f"),
        text(1, "x"),
        end(0),
        finish(FinishKind::ToolCalls),
    ];
    assert_eq!(
        deltas(late).0,
        [shown(0, "c0", "f", ""), json!({"content": "x"}), more(0, "{}")]
    );
}

#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_never_shown() {
    let cut = ChatEvent::BlockEnd {
        index: 0,
        complete: false,
    };
    let events = [
        call(0, "c0", "f"),
        cut,
        call(1, "c1", "g"),
        end(1),
        finish(FinishKind::Length),
    ];
    assert_eq!(deltas(events), (vec![shown(0, "c1", "g", "{}")], "length".into()));
}

#[test]
fn a_failed_stream_ends_with_its_error_and_no_end_mark() {
    let mut encoder = StreamEncoder::new(options().with_include_usage(true));
    let mut out = Vec::new();
    encoder.push(&ChatEvent::Start(Box::default()), &mut out);
    encoder.push(&text(0, "half"), &mut out);
    encoder.error(&Error::new(ErrorKind::Interrupted, "cut"), &mut out);
    encoder.push(&finish(FinishKind::Stop), &mut out);
    let out = String::from_utf8(out).unwrap();
    let last = out
        .trim_end()
        .rsplit("\n\n")
        .next()
        .unwrap()
        .strip_prefix("data: ")
        .unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["error"]["type"], "server_error");
    assert!(!out.contains("[DONE]") && out.contains("half"));
}

#[test]
fn an_error_before_anything_else_stands_alone() {
    let mut encoder = StreamEncoder::new(options());
    let mut out = Vec::new();
    encoder.push(&ChatEvent::Start(Box::default()), &mut out);
    encoder.error(&Error::new(ErrorKind::RateLimit, "slow"), &mut out);
    assert!(
        out.starts_with(b"data: {\"error\":"),
        "{}",
        String::from_utf8_lossy(&out)
    );
}

#[test]
fn proof_of_life_is_a_comment_and_raw_frames_stay_as_they_are() {
    let mut encoder = StreamEncoder::new(options());
    let mut out = Vec::new();
    encoder.push(&ChatEvent::Start(Box::default()), &mut out);
    encoder.push(&ChatEvent::KeepAlive, &mut out);
    encoder.push(
        &ChatEvent::Raw(RawFrame::new(Bytes::from_static(b"data: x\n\n"), true)),
        &mut out,
    );
    encoder.push(&finish(FinishKind::Stop), &mut out);
    assert_eq!(out, b": keep-alive\n\ndata: x\n\n");
}

#[test]
fn openais_own_reports_are_passed_on() {
    let mut bag = VendorMetadata::default();
    let openai = VendorId::from_static("openai");
    bag.set(openai.clone(), "system_fingerprint", json!("fp"));
    bag.set(openai.clone(), "logprobs_content", json!([1]));
    bag.set(openai.clone(), "annotations", json!([2]));
    bag.set(openai, "moderation", json!({"a": 1}));
    let chunks = encoded(
        options(),
        [
            text(0, "a"),
            ChatEvent::Metadata(bag),
            text(0, "b"),
            finish(FinishKind::Stop),
        ],
    );
    assert_eq!(chunks[1].get("system_fingerprint"), None);
    assert_eq!(
        chunks[2],
        json!({"id": "chatcmpl-0", "object": "chat.completion.chunk", "created": 7, "model": "demo",
            "system_fingerprint": "fp", "moderation": {"a": 1},
            "choices": [{"index": 0, "delta": {"annotations": [2]}, "logprobs": {"content": [1]},
                "finish_reason": null}]})
    );
    assert_eq!(chunks[3]["system_fingerprint"], "fp");
}

#[test]
fn an_end_for_calls_without_one_is_a_stop() {
    let chunks = encoded(options(), [finish(FinishKind::ToolCalls)]);
    let words: Vec<_> = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str())
        .collect();
    assert_eq!(words, ["stop"]);
}
