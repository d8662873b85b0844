//! Gemini's format: any cut of the bytes, in either framing, gives the same events; hostile bytes never panic; what
//! was written as a stream comes back; every request is made legal or refused.

mod requests;
mod schemas;

use crate::hostile::{changes, mutate, replace};
use crate::neutral::{json_object, json_value, text, word};
use llm_core::stream::events_of;
use llm_core::{
    Block, ChatEvent, ChatResponse, Collector, Delta, Error, FinishKind, FinishReason, Grammar, OpaquePart,
    Origin, ReasoningPart, Replay, TextPart, ToolCall, Usage, VendorId,
};
use llm_wire::DecodeOptions;
use llm_wire::frame::SseItem;
use llm_wire::generate_content::{
    BodyDecoder, Dialect, EncodeOptions, StreamDecoder, StreamEncoder, decode_error, decode_response,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

const GEMINI: VendorId = VendorId::from_static("gemini");

fn options(include: bool) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = include;
    options
}

/// Reads a body in pieces, as a driver does. The events are legal up to their end.
fn read(pieces: &[&[u8]], include: bool) -> (Vec<ChatEvent>, Result<(), Error>) {
    let mut body = BodyDecoder::default();
    let mut decoder = StreamDecoder::new(&Dialect::gemini(), options(include));
    let mut events = Vec::new();
    let fed = pieces.iter().try_for_each(|piece| {
        body.feed(piece, |item| match item {
            SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
            _ => {
                decoder.keep_alive(&mut events);
                Ok(())
            }
        })
    });
    let ended = fed.and_then(|()| {
        body.finish(|item| match item {
            SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, &mut events),
            _ => Ok(()),
        })
    });
    let outcome = ended.and_then(|()| decoder.finish(&mut events));
    if outcome.is_err() {
        decoder.interrupt(&mut events);
    }
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in &events {
        if let Err(broken) = grammar.check(event) {
            panic!("{broken}: {event:?}");
        }
        collector.push(event.clone()).unwrap();
    }
    match outcome {
        Ok(()) => grammar.end().unwrap(),
        Err(_) => grammar.fail().unwrap(),
    }
    collector.partial();
    (events, outcome)
}

/// Everything that reads bytes from outside, on the same bytes.
fn read_all(body: &[u8]) {
    for include in [false, true] {
        let _ = decode_response(&Dialect::gemini(), options(include), body);
        let _ = read(&[body], include);
    }
    for status in [None, Some(400), Some(429)] {
        let _ = decode_error(&Dialect::gemini(), status, body);
    }
}

/// A chunk with everything in it that an answer may have.
fn chunk() -> Value {
    json!({
        "candidates": [{"index": 0, "finishReason": "STOP", "safetyRatings": [{"category": "c"}],
            "citationMetadata": {"citationSources": [{"uri": "u"}]}, "continuationToken": "QQ==",
            "content": {"role": "model", "parts": [
                {"text": "hm", "thought": true, "thoughtSignature": "QQ=="},
                {"text": "a"},
                {"functionCall": {"id": "f-1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "Qg=="},
                {"functionCall": {"name": "g", "willContinue": false}},
                {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
                {"text": "", "thoughtSignature": "Qw=="},
            ]}}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": "2", "thoughtsTokenCount": 1,
            "totalTokenCount": 12, "serviceTier": "flex"},
        "promptFeedback": {"blockReason": ""}, "modelVersion": "m", "responseId": "r", "createTime": "t",
    })
}

/// Parts as they come in a stream.
fn wire_part() -> impl Strategy<Value = Value> {
    let signed = |part: BoxedStrategy<Value>| {
        (part, of(word())).prop_map(|(mut part, signature)| {
            if let Some(signature) = signature {
                part["thoughtSignature"] = json!(signature);
            }
            part
        })
    };
    let part = prop_oneof![
        3 => text().prop_map(|text| json!({"text": text})),
        1 => Just(json!({"text": ""})),
        2 => text().prop_map(|text| json!({"text": text, "thought": true})),
        2 => (word(), json_object(), of(word())).prop_map(|(name, args, id)| {
            json!({"functionCall": {"name": name, "args": args, "id": id}})
        }),
        1 => word().prop_map(|code| json!({"executableCode": {"code": code}})),
    ];
    signed(part.boxed())
}

fn wire_chunks() -> impl Strategy<Value = Vec<Value>> {
    let chunk = vec(wire_part(), 0..4).prop_map(
        |parts| json!({"candidates": [{"index": 0, "content": {"parts": parts}}], "responseId": "r"}),
    );
    (vec(chunk, 0..4), of(select(vec!["STOP", "MAX_TOKENS", "SAFETY"]))).prop_map(|(mut chunks, reason)| {
        if let Some(reason) = reason {
            chunks.push(
                json!({"candidates": [{"finishReason": reason}], "usageMetadata": {"promptTokenCount": 3}}),
            );
        }
        chunks
    })
}

fn as_events(chunks: &[Value]) -> Vec<u8> {
    chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\r\n\r\n"))
        .collect::<String>()
        .into_bytes()
}

fn as_array(chunks: &[Value]) -> Vec<u8> {
    let chunks: Vec<_> = chunks.iter().map(Value::to_string).collect();
    format!("[{}\n]", chunks.join("\n,\r\n")).into_bytes()
}

fn own(data: Value) -> Replay {
    Replay::new(Origin::new(GEMINI), data)
}

fn signed(signature: String) -> Replay {
    own(json!({"thoughtSignature": signature}))
}

/// A block as a stream of this format can hold it: signatures on texts stand on an empty text of their own, and calls
/// have the vendor's id.
fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        3 => text().prop_map(|text| Block::Text(TextPart::new(text))),
        1 => word().prop_map(|signature| Block::Text(TextPart::new("").with_replay(signed(signature)))),
        2 => text().prop_map(|text| Block::Reasoning(ReasoningPart::new(text))),
        1 => word().prop_map(|signature| {
            Block::Reasoning(ReasoningPart::new("").with_replay(signed(signature)))
        }),
        3 => (word(), json_object(), of(word())).prop_map(|(name, arguments, signature)| {
            let data = match signature {
                Some(signature) => json!({"thoughtSignature": signature}),
                None => json!({}),
            };
            Block::ToolCall(ToolCall::new("", name, arguments.to_string()).with_replay(own(data)))
        }),
        1 => json_object().prop_map(|code| {
            Block::Opaque(OpaquePart::new("executableCode", own(json!({"executableCode": code}))))
        }),
    ]
}

fn is_plain(block: &Block, other: &Block) -> bool {
    match (block, other) {
        (Block::Text(one), Block::Text(other)) => one.replay.is_none() && other.replay.is_none(),
        (Block::Reasoning(one), Block::Reasoning(other)) => one.replay.is_none() && other.replay.is_none(),
        _ => false,
    }
}

/// A response as a stream of this format can hold it.
fn response() -> impl Strategy<Value = ChatResponse> {
    let kind = select(vec![
        (FinishKind::Stop, "STOP"),
        (FinishKind::Length, "MAX_TOKENS"),
        (FinishKind::ContentFilter, "RECITATION"),
        (FinishKind::ModelFault, "MALFORMED_FUNCTION_CALL"),
    ]);
    let count = || of(0_u64..1 << 40);
    let usage = (count(), count(), count(), 0_u64..100);
    let meta = (of(word()), of(word()), of(word()), of(word()));
    (vec(block(), 0..6), kind, usage, meta).prop_map(
        |(mut blocks, (kind, word), (input, output, cached, reasoning), (id, model, tier, uri))| {
            blocks.dedup_by(|later, earlier| is_plain(later, earlier));
            let mut runnable = false;
            for (number, block) in blocks.iter_mut().enumerate() {
                if let Block::ToolCall(call) = block {
                    runnable = true;
                    call.id = format!("f-{number}");
                    if let Some(replay) = &mut call.replay {
                        replay.data["id"] = json!(call.id);
                    }
                }
            }
            let kind = if kind == FinishKind::Stop && runnable {
                FinishKind::ToolCalls
            } else {
                kind
            };
            let mut response = ChatResponse::default();
            response.blocks = blocks;
            response.finish = FinishReason::new(kind, word.to_owned());
            response.usage = Usage::default();
            response.usage.input_tokens = input;
            response.usage.output_tokens = output;
            response.usage.cached_input_tokens = cached;
            response.usage.reasoning_tokens = output.map(|output| output.min(reasoning));
            response.meta.id = id.or(Some("r-0".into()));
            response.meta.model = model.or(Some("demo".into()));
            response.meta.service_tier = tier;
            if let Some(uri) = uri {
                let sources = json!({"citationSources": [{"uri": uri}]});
                response.metadata.set(GEMINI, "citationMetadata", sources);
                response.metadata.set(GEMINI, "createTime", json!("t"));
            }
            response
        },
    )
}

/// The same events with texts cut in two.
fn fragmented(events: Vec<ChatEvent>, cuts: &[Index]) -> Vec<ChatEvent> {
    let mut cuts = cuts.iter();
    let mut pieces = Vec::new();
    for event in events {
        let ChatEvent::BlockDelta { index, delta } = &event else {
            pieces.push(event);
            continue;
        };
        type Kind = fn(String) -> Delta;
        let (text, kind): (&str, Kind) = match delta {
            Delta::Text(text) => (text, Delta::Text),
            Delta::Reasoning(text) => (text, Delta::Reasoning),
            Delta::Arguments(text) => (text, Delta::Arguments),
            _ => {
                pieces.push(event);
                continue;
            }
        };
        let places: Vec<_> = text.char_indices().map(|(place, _)| place).collect();
        let place = cuts.next().map_or(0, |cut| *cut.get(&places));
        for piece in [&text[..place], &text[place..]] {
            if !piece.is_empty() {
                let delta = kind(piece.to_owned());
                pieces.push(ChatEvent::BlockDelta { index: *index, delta });
            }
        }
    }
    pieces
}

proptest! {
    #[test]
    fn any_cut_in_either_framing_gives_the_same_events(
        chunks in wire_chunks(),
        cuts in vec(any::<Index>(), 0..4),
        include in any::<bool>(),
    ) {
        let events = as_events(&chunks);
        let (expected, outcome) = read(&[&events], include);
        for body in [events, as_array(&chunks)] {
            let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
            places.extend([0, body.len()]);
            places.sort_unstable();
            let pieces: Vec<_> = places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
            let (events, cut) = read(&pieces, include);
            prop_assert_eq!(&events, &expected);
            prop_assert_eq!(cut.is_ok(), outcome.is_ok());
            let bytes: Vec<_> = body.chunks(1).collect();
            prop_assert_eq!(&read(&bytes, include).0, &expected);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(body in vec(any::<u8>(), 0..200), value in json_value()) {
        read_all(&body);
        read_all(value.to_string().as_bytes());
        read_all(format!("data: {value}\n\n{value}").as_bytes());
    }

    #[test]
    fn mutated_answers_never_panic_and_streams_stay_legal(
        paths in vec((vec(any::<Index>(), 0..7), of(json_value())), 1..3),
        changes in changes(),
    ) {
        let mut chunks = Vec::new();
        for (path, with) in paths {
            let mut value = chunk();
            if let Some(with) = with {
                replace(&mut value, &path, with);
            }
            read_all(&mutate(value.to_string().into_bytes(), &changes));
            chunks.push(value);
        }
        for body in [as_events(&chunks), as_array(&chunks)] {
            read_all(&body);
            read_all(&mutate(body, &changes));
        }
    }

    #[test]
    fn a_stream_comes_back_as_the_answer(
        response in response(),
        cuts in vec(any::<Index>(), 0..6),
        cut in any::<Index>(),
    ) {
        let mut encoder = StreamEncoder::new(EncodeOptions::new("r-0", "demo"));
        let mut body = Vec::new();
        for event in fragmented(events_of(response.clone()), &cuts) {
            encoder.push(&event, &mut body);
        }
        let reasons = body.windows(14).filter(|at| at == b"\"finishReason\"").count();
        prop_assert!(reasons >= 1);
        let (head, tail) = body.split_at(cut.index(body.len()));
        let (events, outcome) = read(&[head, tail], true);
        outcome.unwrap();
        let mut collector = Collector::default();
        for event in events {
            collector.push(event).unwrap();
        }
        let decoded = collector.finish().unwrap();
        prop_assert_eq!(&decoded.meta, &response.meta);
        prop_assert_eq!(&decoded.blocks, &response.blocks);
        prop_assert_eq!(&decoded.finish, &response.finish);
        prop_assert_eq!(&decoded.usage, &response.usage);
        prop_assert_eq!(&decoded.metadata, &response.metadata);
        prop_assert_eq!(&decoded.warnings, &[]);
    }
}
