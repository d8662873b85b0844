//! Input of Messages that nobody should send.

use crate::messages_neutral::canonical;
use crate::neutral::{json_value, word};
use llm_core::{
    BlockKind, ChatEvent, Collector, Delta, Error, ErrorKind, FinishKind, FinishReason, Grammar, ModelId,
    Origin, Replay, ResolvedModel, Usage, VendorId,
};
use llm_wire::frame::{SseDecoder, SseItem};
use llm_wire::messages::{
    DecodeOptions, Dialect, EncodeOptions, StreamDecoder, StreamEncoder, decode_count_request, decode_error,
    decode_invoke_request, decode_request, decode_response, encode_request,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

fn options(include: bool) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = include;
    options
}

/// Everything that reads bytes from outside, on the same bytes.
fn read_all(body: &[u8]) {
    let dialect = Dialect::anthropic();
    let _ = decode_request(body);
    let _ = decode_count_request(body);
    let _ = decode_invoke_request(ModelId::new("demo").unwrap(), body);
    for status in [None, Some(400), Some(429), Some(529)] {
        let _ = decode_error(&dialect, status, body);
    }
    for include in [false, true] {
        let _ = decode_response(&dialect, options(include), body);
        let _ = read_stream(include, body);
    }
}

/// Reads a stream as a driver does; whatever comes out is legal up to its end.
fn read_stream(include: bool, body: &[u8]) -> Result<(), Error> {
    let mut frames = SseDecoder::default();
    let mut decoder = StreamDecoder::new(&Dialect::anthropic(), options(include));
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
    match &outcome {
        Ok(()) => grammar.end().unwrap(),
        Err(_) => grammar.fail().unwrap(),
    }
    collector.partial();
    outcome
}

/// A document with one place of it changed, for each place: the place and what was done, and the document.
fn mutations(document: &Value) -> Vec<(String, Value)> {
    fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
        let inner: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(name, inner)| (format!("{path}/{name}"), inner))
                .collect(),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(index, inner)| (format!("{path}/{index}"), inner))
                    .collect()
            }
            _ => return,
        };
        for (path, inner) in inner {
            paths(inner, &path, found);
            found.push(path);
        }
    }
    fn at(document: &Value, path: &str, change: impl FnOnce(&mut Value, &str)) -> Value {
        let mut changed = document.clone();
        let (parent, name) = path.rsplit_once('/').unwrap();
        change(changed.pointer_mut(parent).unwrap(), name);
        changed
    }
    let mut found = Vec::new();
    paths(document, "", &mut found);
    let mut mutations = Vec::new();
    for path in found {
        let set = |value: Value| {
            at(document, &path, move |parent, name| match parent {
                Value::Object(fields) => fields[name] = value,
                parent => parent[name.parse::<usize>().unwrap()] = value,
            })
        };
        let removed = at(document, &path, |parent, name| match parent {
            Value::Object(fields) => {
                fields.shift_remove(name);
            }
            parent => {
                parent.as_array_mut().unwrap().remove(name.parse().unwrap());
            }
        });
        mutations.push((format!("{path} removed"), removed));
        mutations.push((format!("{path} null"), set(Value::Null)));
        for other in [
            json!(7),
            json!("seven"),
            json!([7]),
            json!({"seven": 7}),
            json!(true),
            json!(-1.5),
        ] {
            mutations.push((format!("{path} as {other}"), set(other)));
        }
        let renamed = at(document, &path, |parent, name| {
            if let Value::Object(fields) = parent {
                let value = fields.shift_remove(name).unwrap();
                fields.insert(format!("{name}_renamed"), value);
            }
        });
        mutations.push((format!("{path} renamed"), renamed));
    }
    mutations
}

/// A message with everything in it that an answer may have.
fn answer() -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "SIG"},
            {"type": "redacted_thinking", "data": "ENC"},
            {"type": "text", "text": "so", "citations": [{"type": "char_location", "n": 1}]},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1]}, "caller": {"type": "direct"}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null, "stop_details": {"type": "refusal", "category": "bio"},
        "container": {"id": "c"}, "context_management": {"applied_edits": []},
        "usage": {"input_tokens": 3, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 1,
            "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1}, "output_tokens": 9,
            "output_tokens_details": {"thinking_tokens": 4}, "service_tier": "standard",
            "server_tool_use": {"web_search_requests": 1},
            "iterations": [{"type": "message", "input_tokens": 3, "output_tokens": 9}]},
    })
}

/// The same as a stream.
fn stream() -> Vec<Value> {
    let mut message = answer();
    let blocks = message["content"].take();
    let usage = message["usage"].clone();
    let message: Map<String, Value> = message.as_object().unwrap().clone();
    let mut begun = message;
    begun.insert("content".into(), json!([]));
    begun.insert("stop_reason".into(), Value::Null);
    let mut events = vec![
        json!({"type": "message_start", "message": begun}),
        json!({"type": "ping"}),
    ];
    let delta =
        |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    for (index, block) in blocks.as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let deltas = match block["type"].as_str().unwrap() {
            "thinking" => {
                start["thinking"] = "".into();
                start["signature"] = "".into();
                vec![
                    json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                    json!({"type": "signature_delta", "signature": block["signature"]}),
                ]
            }
            "text" => {
                start["text"] = "".into();
                start["citations"] = json!([]);
                vec![
                    json!({"type": "text_delta", "text": block["text"]}),
                    json!({"type": "citations_delta", "citation": block["citations"][0]}),
                ]
            }
            "redacted_thinking" => vec![],
            _ => {
                start["input"] = json!({});
                let input = block["input"].to_string();
                let (one, two) = input.split_at(input.len() / 2);
                let piece = |json: &str| json!({"type": "input_json_delta", "partial_json": json});
                vec![piece(""), piece(one), piece(two)]
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(deltas.into_iter().map(|said| delta(index, said)));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(
        json!({"type": "message_delta", "usage": usage, "context_management": {"applied_edits": []},
        "delta": {"stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c"},
            "stop_details": {"type": "refusal", "category": "bio"}}}),
    );
    events.push(json!({"type": "message_stop"}));
    events
}

fn written(events: &[Value]) -> Vec<u8> {
    let events = events.iter().map(|event| {
        // the name stands for the type, also where that was changed
        let name = event["type"].as_str().unwrap_or("message_delta");
        format!("event: {name}\ndata: {event}\n\n")
    });
    events.collect::<String>().into_bytes()
}

#[test]
fn the_stream_is_the_answer() {
    let fold = |body: &[u8]| {
        let mut frames = SseDecoder::default();
        let mut decoder = StreamDecoder::new(&Dialect::anthropic(), options(true));
        let mut collector = Collector::default();
        let mut events = Vec::new();
        let fed = frames.feed(body, |item| match item {
            SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
            _ => Ok(()),
        });
        fed.unwrap();
        decoder.finish(&mut events).unwrap();
        events
            .into_iter()
            .for_each(|event| collector.push(event).unwrap());
        collector.finish().unwrap()
    };
    let plain = decode_response(
        &Dialect::anthropic(),
        options(true),
        answer().to_string().as_bytes(),
    )
    .unwrap();
    let streamed = fold(&written(&stream()));
    assert_eq!(streamed.blocks, plain.blocks);
    assert_eq!(streamed.meta, plain.meta);
    assert_eq!((streamed.usage, &streamed.finish), (plain.usage, &plain.finish));
    assert_eq!(streamed.metadata, plain.metadata);
    assert_eq!((plain.blocks.len(), plain.warnings.len()), (5, 0));
}

/// A place that is missing or of another kind costs that place, never the answer.
#[test]
fn every_place_of_an_answer_may_be_anything() {
    for (what, document) in mutations(&answer()) {
        let decoded = decode_response(
            &Dialect::anthropic(),
            options(true),
            document.to_string().as_bytes(),
        );
        assert!(decoded.is_ok(), "{what}: {:?}", decoded.err());
    }
}

#[test]
fn every_place_of_a_stream_may_be_anything() {
    let events = stream();
    for (index, event) in events.iter().enumerate() {
        for (what, changed) in mutations(event) {
            let mut events = events.clone();
            events[index] = changed;
            let outcome = read_stream(true, &written(&events));
            assert!(outcome.is_ok(), "{index} {what}: {:?}", outcome.err());
        }
    }
    for index in 0..events.len() {
        let mut events = events.clone();
        events.remove(index);
        read_stream(true, &written(&events)).unwrap();
    }
}

#[test]
fn every_place_of_a_request_may_be_anything() {
    let body = json!({
        "model": "demo", "max_tokens": 9, "system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "SIG"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "r"}]}]},
        ],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}], "tool_choice": {"type": "tool", "name": "f"},
        "thinking": {"type": "enabled", "budget_tokens": 2000}, "output_config": {"effort": "low"},
        "stop_sequences": ["x"], "metadata": {"user_id": "u"}, "temperature": 0.5,
    });
    let model = ResolvedModel::unknown(ModelId::new("demo").unwrap());
    for (what, document) in mutations(&body) {
        match decode_request(document.to_string().as_bytes()) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{what}"),
            // what was understood can be sent on, or is refused naming the field
            Ok(decoded) => match encode_request(&Dialect::anthropic(), &model, &decoded.request, false) {
                Ok(sent) => {
                    let again = decode_request(&sent.body);
                    assert!(again.is_ok(), "{what}: {:?}", again.err());
                }
                Err(error) => assert!(error.vendor().param.is_some(), "{what}: {error}"),
            },
        }
    }
}

/// A few bytes changed, left out or doubled.
fn mutate(mut body: Vec<u8>, changes: &[(Index, u8, u8)]) -> Vec<u8> {
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

fn changes() -> impl Strategy<Value = Vec<(Index, u8, u8)>> {
    let byte = prop_oneof![any::<u8>(), select(b"{}[]\",:\\0-n".to_vec())];
    vec((any::<Index>(), any::<u8>(), byte), 0..5)
}

/// Any events in any order.
fn events() -> impl Strategy<Value = Vec<ChatEvent>> {
    let index = || 0..3_u32;
    let kind = prop_oneof![
        Just(BlockKind::Text),
        Just(BlockKind::Reasoning),
        (word(), word()).prop_map(|(id, name)| BlockKind::ToolCall { id, name }),
        word().prop_map(|kind| BlockKind::Opaque { kind }),
    ];
    let origin = || Origin::new(VendorId::from_static("anthropic"));
    let delta = prop_oneof![
        word().prop_map(Delta::Text),
        word().prop_map(Delta::Reasoning),
        word().prop_map(Delta::Refusal),
        word().prop_map(Delta::Name),
        word().prop_map(Delta::Arguments),
        json_value().prop_map(move |data| Delta::Replay(Replay::new(origin(), data))),
    ];
    let event = prop_oneof![
        1 => Just(ChatEvent::Start(Box::default())),
        4 => (index(), kind).prop_map(|(index, kind)| ChatEvent::BlockStart { index, kind }),
        8 => (index(), delta).prop_map(|(index, delta)| ChatEvent::BlockDelta { index, delta }),
        4 => (index(), any::<bool>()).prop_map(|(index, complete)| ChatEvent::BlockEnd { index, complete }),
        1 => Just(ChatEvent::KeepAlive),
        1 => Just(ChatEvent::Finish {
            reason: FinishReason::new(FinishKind::Stop, None),
            usage: Usage::default()
        }),
    ];
    vec(event, 0..16)
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
    fn mutated_answers_never_panic_and_streams_stay_legal(
        order in vec(any::<Index>(), 0..20),
        changes in changes(),
    ) {
        read_all(&mutate(answer().to_string().into_bytes(), &changes));
        let events = stream();
        read_all(&mutate(written(&events), &changes));
        let shuffled: Vec<_> = order.iter().map(|place| place.get(&events).clone()).collect();
        read_all(&written(&shuffled));
    }

    #[test]
    fn mutated_requests_never_panic(request in canonical(), changes in changes()) {
        let model = ResolvedModel::unknown(request.model.clone().unwrap());
        let encoded = encode_request(&Dialect::anthropic(), &model, &request, true).unwrap();
        if let Err(error) = decode_request(&mutate(encoded.body, &changes)) {
            prop_assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        }
    }

    #[test]
    fn any_events_are_written_as_an_event_stream(events in events(), failed in any::<bool>()) {
        let mut encoder = StreamEncoder::new(EncodeOptions::new("msg_0", "demo"));
        let mut out = Vec::new();
        for event in &events {
            encoder.push(event, &mut out);
        }
        if failed {
            encoder.error(&Error::new(ErrorKind::Server, "it broke"), &mut out);
        }
        let mut decoder = SseDecoder::default();
        let fed = decoder.feed(&out, |item| {
            if let SseItem::Event(event) = item {
                let data: Value = serde_json::from_str(event.data).unwrap();
                assert_eq!(data["type"], event.event);
            }
            Ok(())
        });
        fed.unwrap();
    }
}
