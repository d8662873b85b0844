//! What is read is what was written, and nothing else is read.

use super::*;
use crate::cache::key::Asked;
use llm_core::rate_limit::LimitWindow;
use llm_core::{
    Block, ChatRequest, Cost, CostSource, DriverId, DriverInfo, FinishKind, FinishReason, IncompleteToolCall,
    ModelId, OpaquePart, Origin, RateLimitSnapshot, ReasoningPart, RefusalPart, Replay, ResponseMeta,
    TextPart, ToolCall, Usage, VendorId, Warning,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

const ROOM: usize = 1 << 20;

fn key(text: &str) -> CacheKey {
    let vendor = VendorId::from_static("alpha");
    CacheKey::of(&Asked {
        driver: &DriverInfo::new(DriverId::from_static("alpha"), vendor, "Alpha"),
        model: &ModelId::new("m1").unwrap(),
        namespaces: ["", ""],
        request: &ChatRequest::user(text),
    })
    .unwrap()
}

fn any_data() -> impl Strategy<Value = Value> {
    let number = any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite());
    prop_oneof![
        ".{0,12}".prop_map(Value::from),
        number.prop_map(Value::from),
        any::<u64>().prop_map(|n| json!({"n": n, "list": [n, null, true]})),
    ]
}

fn any_replay() -> impl Strategy<Value = Option<Replay>> {
    let origin = Origin::new(VendorId::from_static("alpha"));
    let tied = origin.clone().with_model(ModelId::new("m1").unwrap());
    let origin = prop_oneof![Just(origin), Just(tied)];
    proptest::option::of((origin, any_data()).prop_map(|(origin, data)| Replay::new(origin, data)))
}

fn any_block() -> impl Strategy<Value = Block> {
    let text = ".{0,20}";
    prop_oneof![
        (text, any_replay()).prop_map(|(text, replay)| {
            let mut part = TextPart::new(text);
            part.replay = replay;
            Block::Text(part)
        }),
        (text, any_replay()).prop_map(|(text, replay)| {
            let mut part = ReasoningPart::new(text);
            part.replay = replay;
            Block::Reasoning(part)
        }),
        text.prop_map(|text| Block::Refusal(RefusalPart::new(text))),
        (text, text, text, any_replay()).prop_map(|(id, name, arguments, replay)| {
            let mut call = ToolCall::new(id, name, arguments);
            call.replay = replay;
            Block::ToolCall(call)
        }),
        (text, any_data()).prop_map(|(kind, data)| {
            let origin = Origin::new(VendorId::from_static("alpha"));
            Block::Opaque(OpaquePart::new(kind, Replay::new(origin, data)))
        }),
    ]
}

fn any_count() -> impl Strategy<Value = Option<u64>> {
    proptest::option::of(any::<u64>())
}

prop_compose! {
    fn any_usage()(counts in proptest::array::uniform7(any_count())) -> Usage {
        let [input, cached, written, long, output, reasoning, cost] = counts;
        let mut usage = Usage::default();
        usage.input_tokens = input;
        usage.cached_input_tokens = cached;
        usage.cache_write_input_tokens = written;
        usage.cache_write_long_input_tokens = long;
        usage.output_tokens = output;
        usage.reasoning_tokens = reasoning;
        usage.cost = cost.map(|pico| Cost::new(pico, CostSource::Reported));
        usage
    }
}

prop_compose! {
    fn any_meta()(
        texts in proptest::array::uniform4(proptest::option::of(".{0,12}")),
        created in any_count(),
        limits in proptest::option::of((any_count(), any_count(), any::<u32>())),
    ) -> ResponseMeta {
        let [id, model, request_id, service_tier] = texts;
        let mut meta = ResponseMeta::new(DriverId::from_static("alpha"), ModelId::new("m1").ok());
        meta.id = id;
        meta.model = model;
        meta.created = created;
        meta.request_id = request_id;
        meta.service_tier = service_tier;
        meta.rate_limits = limits.map(|(limit, remaining, reset)| {
            let mut snapshot = RateLimitSnapshot::default();
            snapshot.tokens = LimitWindow::new(limit, remaining, Some(Duration::from_millis(reset.into())));
            snapshot.into()
        });
        meta
    }
}

prop_compose! {
    fn any_response()(
        meta in any_meta(),
        blocks in proptest::collection::vec(any_block(), 0..5),
        incomplete in proptest::collection::vec((".{0,9}", ".{0,9}", ".{0,9}"), 0..2),
        kind in prop_oneof![
            Just(FinishKind::Stop), Just(FinishKind::ToolCalls), Just(FinishKind::Length), Just(FinishKind::Other)
        ],
        raw in proptest::option::of(".{0,9}"),
        usage in any_usage(),
        warnings in proptest::collection::vec((".{0,9}", ".{0,9}"), 0..3),
        metadata in proptest::option::of(any_data()),
    ) -> ChatResponse {
        let mut response = ChatResponse::new(meta);
        response.blocks = blocks;
        response.incomplete_tool_calls = incomplete
            .into_iter()
            .map(|(id, name, arguments)| IncompleteToolCall::new(id, name, arguments))
            .collect();
        response.finish = FinishReason::new(kind, raw);
        response.usage = usage;
        response.warnings = warnings
            .into_iter()
            .map(|(field, message)| Warning::wire(field, message))
            .collect();
        if let Some(data) = metadata {
            response.metadata.set(VendorId::from_static("alpha"), "logprobs", data);
        }
        response
    }
}

/// Every field, those too that do not serialise.
fn shown(response: &ChatResponse) -> String {
    format!("{response:?}")
}

proptest! {
    #[test]
    fn every_field_survives_the_store(response in any_response()) {
        let bytes = write(key("a"), &response, ROOM).unwrap();
        let read = read(key("a"), &bytes, ROOM).unwrap();
        prop_assert_eq!(shown(&read), shown(&response));
    }

    #[test]
    fn damage_never_panics(response in any_response(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = write(key("a"), &response, ROOM).unwrap().to_vec();
        let place = at.index(bytes.len());
        let _ = read(key("a"), &bytes[..place], ROOM).map(|_| panic!("a part is no record"));
        bytes[place] = byte;
        let _ = read(key("a"), &bytes, ROOM);
    }

    #[test]
    fn noise_is_absent(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(key("a"), &bytes, ROOM).is_none());
    }
}

#[test]
fn another_key_another_version_and_too_much_are_absent() {
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.blocks.push(Block::Text(TextPart::new("Seven.")));
    let bytes = write(key("a"), &response, ROOM).unwrap();
    assert!(read(key("a"), &bytes, ROOM).is_some());
    assert!(read(key("b"), &bytes, ROOM).is_none());
    let changed = |change: fn(&mut Value)| {
        let mut record: Value = serde_json::from_slice(&bytes).unwrap();
        change(&mut record);
        read(key("a"), record.to_string().as_bytes(), ROOM)
    };
    assert!(changed(|_| {}).is_some());
    for change in [
        (|record| record["version"] = json!(SCHEMA + 1)) as fn(&mut Value),
        |record| record["version"] = json!("1"),
        |record| drop(record.as_object_mut().unwrap().remove("response")),
        |record| record["response"]["blocks"] = json!([{"type": "applet", "text": "x"}]),
        |record| record["response"]["finish"] = json!({"kind": "won"}),
        |record| record["response"] = json!("Seven."),
        |record| *record = json!([record]),
    ] {
        assert!(changed(change).is_none());
    }
    let deep = "[".repeat(100_000);
    assert!(read(key("a"), deep.as_bytes(), ROOM).is_none());
    assert_eq!(write(key("a"), &response, bytes.len()), Some(bytes.clone()));
    assert_eq!(write(key("a"), &response, bytes.len() - 1), None);
    assert!(read(key("a"), &bytes, bytes.len() - 1).is_none());
}
