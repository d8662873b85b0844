//! Input that nobody should send.

use crate::neutral::{canonical, json_value, word};
use llm_core::{
    BlockKind, ChatEvent, Collector, Delta, Error, ErrorKind, FinishKind, FinishReason, Grammar, ModelId,
    ResolvedModel, Usage,
};
use llm_wire::chat_completions::{
    DecodeOptions, Dialect, EncodeOptions, StreamDecoder, StreamEncoder, decode_error, decode_request,
    decode_response, encode_request,
};
use llm_wire::frame::{NdjsonDecoder, SseDecoder, SseItem};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// Everything that reads bytes from outside, on the same bytes.
fn read_all(body: &[u8]) {
    let mut dialect = Dialect::compatible();
    dialect.extract_think_tags = true;
    dialect.replay_reasoning_field = Some("reasoning_content");
    let _ = decode_request(body);
    for status in [None, Some(400), Some(429), Some(500), Some(0)] {
        let _ = decode_error(&dialect, status, body);
    }
    for include in [false, true] {
        let mut options = DecodeOptions::default();
        options.include_reasoning = include;
        let _ = decode_response(&dialect, options.clone(), body);
        read_stream(&dialect, options, body);
    }
    let mut lines = NdjsonDecoder::new(64);
    let _ = lines.feed(body, |_| Ok(()));
    let _ = lines.finish(|_| Ok(()));
}

/// Reads a stream as a driver does; whatever comes out is legal up to its end.
fn read_stream(dialect: &Dialect, options: DecodeOptions, body: &[u8]) {
    let mut frames = SseDecoder::default();
    let mut decoder = StreamDecoder::new(dialect, options);
    let mut events = Vec::new();
    let fed = frames.feed(body, |item| match item {
        SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
        _ => {
            decoder.keep_alive(&mut events);
            Ok(())
        }
    });
    let ended = fed.and_then(|()| {
        frames.finish(|item| match item {
            SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, &mut events),
            _ => Ok(()),
        })
    });
    let outcome = match ended {
        Ok(()) => decoder.finish(&mut events),
        Err(error) => {
            decoder.interrupt(&mut events);
            Err(error)
        }
    };
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in events {
        if let Err(broken) = grammar.check(&event) {
            panic!("{broken}: {event:?}");
        }
        collector.push(event).unwrap();
    }
    match outcome {
        Ok(()) => grammar.end().unwrap(),
        Err(_) => grammar.fail().unwrap(),
    }
    collector.partial();
}

/// A few bytes changed, left out or doubled.
pub(crate) fn mutate(mut body: Vec<u8>, changes: &[(Index, u8, u8)]) -> Vec<u8> {
    for (place, what, byte) in changes {
        if body.is_empty() {
            break;
        }
        let at = place.index(body.len());
        match what % 4 {
            0 => body[at] = *byte,
            1 => {
                body.remove(at);
            }
            2 => body.insert(at, *byte),
            _ => body.truncate(at),
        }
    }
    body
}

pub(crate) fn changes() -> impl Strategy<Value = Vec<(Index, u8, u8)>> {
    let byte = prop_oneof![any::<u8>(), select(b"{}[]\",:\\0-n".to_vec())];
    vec((any::<Index>(), any::<u8>(), byte), 0..5)
}

/// Puts other JSON in some place of a document.
pub(crate) fn replace(value: &mut Value, path: &[Index], with: Value) {
    let inner = path.split_first().and_then(|(step, rest)| match &mut *value {
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(step.index(fields.len())).unwrap().clone();
            fields.get_mut(&key).map(|inner| (inner, rest))
        }
        Value::Array(items) if !items.is_empty() => {
            let at = step.index(items.len());
            Some((&mut items[at], rest))
        }
        _ => None,
    });
    match inner {
        Some((inner, rest)) => replace(inner, rest, with),
        None => *value = with,
    }
}

/// A body with everything in it that an answer or a chunk may have.
fn answer() -> Value {
    let call =
        json!({"index": 0, "id": "c0", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let message = json!({
        "role": "assistant", "content": [{"type": "text", "text": "a"}], "refusal": "no", "reasoning_content": "hm",
        "reasoning": "hm", "reasoning_details": [{"a": 1}], "tool_calls": [call],
        "function_call": {"name": "g", "arguments": "{"}, "audio": {"id": "x", "transcript": "y"},
        "annotations": [1],
    });
    json!({
        "id": "c1", "object": "chat.completion", "created": 7, "model": "m", "system_fingerprint": "fp",
        "choices": [{"index": 0, "message": message, "delta": message, "logprobs": {"content": []},
            "finish_reason": "stop", "content_filter_results": {}, "usage": null}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 1}, "cost": 0.1},
        "service_tier": "x", "x_groq": {"usage": {"prompt_tokens": 1}},
    })
}

/// Any events in any order.
fn events() -> impl Strategy<Value = Vec<ChatEvent>> {
    let index = || 0..3_u32;
    let kind = prop_oneof![
        Just(BlockKind::Text),
        Just(BlockKind::Reasoning),
        (word(), word()).prop_map(|(id, name)| BlockKind::ToolCall { id, name }),
    ];
    let delta = prop_oneof![
        word().prop_map(Delta::Text),
        word().prop_map(Delta::Refusal),
        word().prop_map(Delta::Name),
        word().prop_map(Delta::Arguments),
    ];
    let event = prop_oneof![
        Just(ChatEvent::Start(Box::default())),
        (index(), kind).prop_map(|(index, kind)| ChatEvent::BlockStart { index, kind }),
        (index(), delta).prop_map(|(index, delta)| ChatEvent::BlockDelta { index, delta }),
        (index(), any::<bool>()).prop_map(|(index, complete)| ChatEvent::BlockEnd { index, complete }),
        Just(ChatEvent::KeepAlive),
        Just(ChatEvent::Finish {
            reason: FinishReason::new(FinishKind::Stop, None),
            usage: Usage::default()
        }),
    ];
    vec(event, 0..12)
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(body in vec(any::<u8>(), 0..200)) {
        read_all(&body);
    }

    #[test]
    fn arbitrary_json_never_panics(value in json_value()) {
        read_all(value.to_string().as_bytes());
        read_all(format!("data: {value}\n\n").as_bytes());
    }

    #[test]
    fn mutated_requests_never_panic(
        request in canonical(true),
        path in vec(any::<Index>(), 0..6),
        with in json_value(),
        changes in changes(),
    ) {
        let model = ResolvedModel::unknown(ModelId::new("demo").unwrap());
        let encoded = encode_request(&Dialect::compatible(), &model, &request, true).unwrap();
        let mut value: Value = serde_json::from_slice(&encoded.body).unwrap();
        replace(&mut value, &path, with);
        let body = value.to_string().into_bytes();
        if let Err(error) = decode_request(&body) {
            prop_assert!(matches!(error.kind(), ErrorKind::InvalidRequest | ErrorKind::Unsupported));
        }
        let _ = decode_request(&mutate(body, &changes));
    }

    #[test]
    fn mutated_answers_never_panic_and_streams_stay_legal(
        paths in vec((vec(any::<Index>(), 0..6), of(json_value())), 1..4),
        changes in changes(),
    ) {
        let mut stream = Vec::new();
        for (path, with) in paths {
            let mut value = answer();
            if let Some(with) = with {
                replace(&mut value, &path, with);
            }
            read_all(&mutate(value.to_string().into_bytes(), &changes));
            stream.extend_from_slice(format!("data: {value}\n\n").as_bytes());
        }
        read_all(&stream);
        read_all(&mutate(stream, &changes));
    }

    #[test]
    fn any_events_are_written_as_an_event_stream(events in events(), failed in any::<bool>()) {
        let mut encoder = StreamEncoder::new(EncodeOptions::new("c", 1, "m"));
        let mut out = Vec::new();
        for event in &events {
            encoder.push(event, &mut out);
        }
        if failed {
            encoder.error(&Error::new(ErrorKind::Server, "it broke"), &mut out);
        }
        let mut decoder = SseDecoder::default();
        decoder
            .feed(&out, |item| {
                if let SseItem::Event(event) = item
                    && event.data != "[DONE]"
                {
                    serde_json::from_str::<Value>(event.data).unwrap();
                }
                Ok(())
            })
            .unwrap();
    }
}
