//! Answers and streams of Messages there and back.

use crate::messages_neutral::{ANTHROPIC, citations, cited, piece, signed};
use crate::neutral::{json_object, text, word};
use llm_core::stream::events_of;
use llm_core::{
    Block, ChatEvent, ChatResponse, Collector, Delta, FinishKind, FinishReason, Grammar, ReasoningPart,
    ResponseMeta, ToolCall, Usage,
};
use llm_wire::frame::{SseDecoder, SseItem};
use llm_wire::messages::{
    DecodeOptions, Dialect, EncodeOptions, StreamDecoder, StreamEncoder, decode_response, encode_response,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        3 => (text(), citations()).prop_map(|(text, citations)| Block::Text(cited(text, citations))),
        1 => text().prop_map(|text| Block::Reasoning(signed(&text))),
        1 => Just(Block::Reasoning(signed(""))),
        1 => text().prop_map(|text| Block::Reasoning(ReasoningPart::new(text))),
        1 => piece().prop_map(Block::Opaque),
        2 => (word(), json_object()).prop_map(|(name, arguments)| {
            Block::ToolCall(ToolCall::new("", name, arguments.to_string()))
        }),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    let count = || 0_u64..1 << 40;
    let written = of((count(), of(count())));
    (count(), count(), of(count()), written, of(count())).prop_map(
        |(input, output, read, written, thinking)| {
            let mut usage = Usage::new(input, output);
            usage.cached_input_tokens = read;
            if let Some((short, long)) = written {
                usage.cache_write_input_tokens = Some(short + long.unwrap_or(0));
                usage.cache_write_long_input_tokens = long;
            }
            let beside = read.unwrap_or(0) + usage.cache_write_input_tokens.unwrap_or(0);
            usage.input_tokens = Some(input + beside);
            usage.reasoning_tokens = thinking;
            usage
        },
    )
}

/// A response as this format can hold it: blocks in any order, a stop reason that goes with them.
fn canonical() -> impl Strategy<Value = ChatResponse> {
    let words = [
        "end_turn",
        "stop_sequence",
        "max_tokens",
        "refusal",
        "pause_turn",
        "model_context_window_exceeded",
    ];
    let meta = (of(word()), of(word()), of(word()));
    (vec(block(), 0..6), select(words.to_vec()), usage(), meta).prop_map(|(mut blocks, word, usage, meta)| {
        let mut response = ChatResponse::default();
        response.meta.id = meta.0.or(Some("msg_0".into()));
        response.meta.model = meta.1.or(Some("demo".into()));
        response.meta.service_tier = meta.2;
        response.usage = usage;
        let mut cited = Vec::new();
        let mut called = false;
        for (number, block) in blocks.iter_mut().enumerate() {
            match block {
                Block::ToolCall(call) => {
                    call.id = format!("call_{number}");
                    called = true;
                }
                Block::Text(part) => {
                    let data = part.replay.as_ref().map(|replay| &replay.data);
                    cited.extend(
                        data.and_then(|data| data["citations"].as_array())
                            .into_iter()
                            .flatten()
                            .cloned(),
                    );
                }
                _ => {}
            }
        }
        if !cited.is_empty() {
            response.metadata.set(ANTHROPIC, "citations", Value::Array(cited));
        }
        if word == "stop_sequence" {
            response.metadata.set(ANTHROPIC, "stop_sequence", json!("END"));
        }
        let (kind, word) = match word {
            // whatever the reason, it did call
            _ if called => (FinishKind::ToolCalls, "tool_use"),
            "max_tokens" | "model_context_window_exceeded" => (FinishKind::Length, word),
            "refusal" => (FinishKind::Refusal, word),
            "pause_turn" => (FinishKind::Pause, word),
            _ => (FinishKind::Stop, word),
        };
        response.finish = FinishReason::new(kind, word.to_owned());
        response.blocks = blocks;
        response
    })
}

fn options() -> EncodeOptions {
    EncodeOptions::new("msg_0", "demo")
}

fn decode_options() -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = true;
    options
}

/// Two responses are equal in everything that goes over the wire.
fn same(one: &ChatResponse, other: &ChatResponse) -> Result<(), TestCaseError> {
    prop_assert_eq!(&one.meta, &other.meta);
    prop_assert_eq!(&one.blocks, &other.blocks);
    prop_assert_eq!(&one.incomplete_tool_calls, &other.incomplete_tool_calls);
    prop_assert_eq!(&one.finish, &other.finish);
    prop_assert_eq!(&one.usage, &other.usage);
    prop_assert_eq!(&one.warnings, &other.warnings);
    prop_assert_eq!(&one.metadata, &other.metadata);
    Ok(())
}

fn encode_stream(events: &[ChatEvent]) -> Vec<u8> {
    let mut encoder = StreamEncoder::new(options());
    let mut body = Vec::new();
    for event in events {
        encoder.push(event, &mut body);
    }
    body
}

/// The events of a stream in pieces.
fn events_in(pieces: &[&[u8]]) -> Vec<ChatEvent> {
    let mut frames = SseDecoder::default();
    let mut decoder = StreamDecoder::new(&Dialect::anthropic(), decode_options());
    let mut events = Vec::new();
    for piece in pieces {
        let fed = frames.feed(piece, |item| match item {
            SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
            _ => Ok(()),
        });
        fed.unwrap();
    }
    assert!(decoder.is_done(), "the end is missing");
    decoder.finish(&mut events).unwrap();
    events
}

fn fold(events: Vec<ChatEvent>) -> ChatResponse {
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in events {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    grammar.end().unwrap();
    collector.finish().unwrap()
}

/// The same events with every text cut in two where a cut is given, and all blocks begun before any goes on.
fn fragmented(events: Vec<ChatEvent>, cuts: &[Index], interleave: bool) -> Vec<ChatEvent> {
    let mut cuts = cuts.iter();
    let mut pieces = Vec::new();
    for event in events {
        type Kind = fn(String) -> Delta;
        let (index, text, kind): (u32, &str, Kind) = match &event {
            ChatEvent::BlockDelta {
                index,
                delta: Delta::Text(text),
            } => (*index, text, Delta::Text),
            ChatEvent::BlockDelta {
                index,
                delta: Delta::Reasoning(text),
            } => (*index, text, Delta::Reasoning),
            ChatEvent::BlockDelta {
                index,
                delta: Delta::Arguments(text),
            } => (*index, text, Delta::Arguments),
            _ => {
                pieces.push(event);
                continue;
            }
        };
        let places: Vec<_> = text.char_indices().map(|(place, _)| place).collect();
        let place = cuts.next().map_or(0, |cut| *cut.get(&places));
        for piece in [&text[..place], &text[place..]] {
            if !piece.is_empty() {
                pieces.push(ChatEvent::BlockDelta {
                    index,
                    delta: kind(piece.to_owned()),
                });
            }
        }
    }
    if interleave {
        // stable: the pieces of one block keep their order
        pieces.sort_by_key(|event| match event {
            ChatEvent::BlockDelta { .. } => 1,
            ChatEvent::BlockEnd { index, .. } => 2 + u64::from(u32::MAX - index),
            ChatEvent::Finish { .. } => u64::MAX,
            _ => 0,
        });
    }
    pieces
}

/// The rules for streams of this format, from the translation cases.
fn check_form(body: &[u8]) -> Result<(), TestCaseError> {
    let mut events: Vec<Value> = Vec::new();
    let mut frames = SseDecoder::default();
    let fed = frames.feed(body, |item| {
        if let SseItem::Event(event) = item {
            let data: Value = serde_json::from_str(event.data).unwrap();
            assert_eq!(data["type"], event.event);
            events.push(data);
        }
        Ok(())
    });
    fed.unwrap();
    let kind = |event: &Value| event["type"].as_str().unwrap().to_owned();
    let count = |wanted: &str| events.iter().filter(|event| kind(event) == wanted).count();
    prop_assert_eq!(kind(&events[0]), "message_start");
    prop_assert_eq!(
        (
            count("message_start"),
            count("message_delta"),
            count("message_stop")
        ),
        (1, 1, 1)
    );
    prop_assert_eq!(kind(events.last().unwrap()), "message_stop");
    let (mut next, mut open) = (0, None);
    for event in &events {
        match kind(event).as_str() {
            "content_block_start" => {
                prop_assert!(open.is_none(), "one open block at a time");
                prop_assert_eq!(&event["index"], next);
                open = Some(event["content_block"]["type"].as_str().unwrap().to_owned());
                next += 1;
            }
            "content_block_delta" => {
                prop_assert_eq!(&event["index"], next - 1);
                let fits: &[&str] = match open.as_deref().unwrap() {
                    "text" => &["text_delta", "citations_delta"],
                    "thinking" => &["thinking_delta", "signature_delta"],
                    "tool_use" => &["input_json_delta"],
                    _ => &[],
                };
                prop_assert!(fits.contains(&event["delta"]["type"].as_str().unwrap()));
            }
            "content_block_stop" => prop_assert!(open.take().is_some()),
            _ => {}
        }
    }
    prop_assert!(open.is_none(), "every block is stopped");
    Ok(())
}

proptest! {
    #[test]
    fn an_answer_comes_back(response in canonical()) {
        let body = encode_response(&options(), &response);
        let decoded = decode_response(&Dialect::anthropic(), decode_options(), &body).unwrap();
        same(&decoded, &response)?;
    }

    #[test]
    fn a_stream_comes_back_as_the_answer(
        response in canonical(),
        cuts in vec(any::<Index>(), 0..6),
        interleave in any::<bool>(),
    ) {
        let body = encode_response(&options(), &response);
        let plain = decode_response(&Dialect::anthropic(), decode_options(), &body).unwrap();
        let stream = encode_stream(&fragmented(events_of(response.clone()), &cuts, interleave));
        check_form(&stream)?;
        let decoded = fold(events_in(&[&stream]));
        same(&decoded, &plain)?;
        same(&decoded, &response)?;
    }

    #[test]
    fn any_cut_of_the_bytes_gives_the_same_events(response in canonical(), cuts in vec(any::<Index>(), 0..5)) {
        let stream = encode_stream(&events_of(response));
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        places.sort_unstable();
        let mut pieces = Vec::new();
        let mut rest = stream.as_slice();
        let mut start = 0;
        for place in places {
            let (piece, after) = rest.split_at(place - start);
            pieces.push(piece);
            rest = after;
            start = place;
        }
        pieces.push(rest);
        prop_assert_eq!(events_in(&pieces), events_in(&[&stream]));
        let bytes: Vec<_> = stream.chunks(1).collect();
        prop_assert_eq!(events_in(&bytes), events_in(&[&stream]));
    }

    #[test]
    fn what_was_answered_goes_back_as_it_came(response in canonical()) {
        use llm_core::{ChatRequest, Message, ModelId, ResolvedModel};
        let content: Value = serde_json::from_slice(&encode_response(&options(), &response)).unwrap();
        let mut expected = content["content"].as_array().unwrap().clone();
        // unsigned thoughts are for people
        expected.retain(|block| block["type"] != "thinking" || block["signature"] != "");
        let turn = [Message::user("a"), response.to_message(), Message::user("b")];
        let request = ChatRequest::new(turn);
        let model = ResolvedModel::unknown(ModelId::new("claude-opus-5-5").unwrap());
        let encoded = llm_wire::messages::encode_request(&Dialect::anthropic(), &model, &request, false).unwrap();
        let body: Value = serde_json::from_slice(&encoded.body).unwrap();
        let messages = body["messages"].as_array().unwrap();
        let sent = messages.iter().filter(|message| message["role"] == "assistant");
        let sent: Vec<_> = sent.flat_map(|message| message["content"].as_array().unwrap().clone()).collect();
        prop_assert_eq!(sent, expected);
    }

    #[test]
    fn meta_data_that_is_not_known_is_filled_in(response in canonical()) {
        let mut bare = response;
        bare.meta = ResponseMeta::default();
        let body = encode_response(&options(), &bare);
        let decoded = decode_response(&Dialect::anthropic(), decode_options(), &body).unwrap();
        prop_assert_eq!(decoded.meta.id.as_deref(), Some("msg_0"));
        prop_assert_eq!(decoded.meta.model.as_deref(), Some("demo"));
    }
}
