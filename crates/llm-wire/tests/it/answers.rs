//! Answers and streams there and back.

use crate::neutral::{OPENAI, json_object, text, word};
use llm_core::stream::events_of;
use llm_core::{
    Block, ChatEvent, ChatResponse, Collector, Delta, FinishKind, FinishReason, Grammar, IncompleteToolCall,
    ReasoningPart, RefusalPart, ResponseMeta, TextPart, ToolCall, Usage,
};
use llm_wire::chat_completions::{
    DecodeOptions, Dialect, EncodeOptions, StreamDecoder, StreamEncoder, decode_response, encode_response,
};
use llm_wire::frame::{SseDecoder, SseItem};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// A response as this format can hold it: reasoning, text and refusal as one block each, then calls; a finish
/// word that goes with them; usage only where input and output are known.
fn canonical() -> impl Strategy<Value = ChatResponse> {
    let blocks = (of(text()), of(text()), of(text()));
    let calls = vec((word(), json_object()), 0..3);
    let cut = vec((word(), json_object()), 0..2);
    let kind = select(vec![
        FinishKind::Stop,
        FinishKind::Length,
        FinishKind::ToolCalls,
        FinishKind::ContentFilter,
    ]);
    let count = || of(0_u64..1 << 40);
    let usage = of((0_u64..1 << 40, 0_u64..1 << 40, count(), count(), count()));
    let meta = (of(word()), of(1_u64..1 << 40), of(word()), of(word()), of(word()));
    (blocks, calls, cut, kind, usage, meta).prop_map(
        |((reasoning, text, refusal), calls, cut, kind, usage, (id, created, model, tier, fingerprint))| {
            let mut response = ChatResponse::default();
            response.meta.id = id.or(Some("chatcmpl-0".into()));
            response.meta.created = created.or(Some(7));
            response.meta.model = model.or(Some("demo".into()));
            response.meta.service_tier = tier;
            let refused = refusal.is_some();
            let blocks = &mut response.blocks;
            blocks.extend(reasoning.map(|text| Block::Reasoning(ReasoningPart::new(text))));
            blocks.extend(text.map(|text| Block::Text(TextPart::new(text))));
            blocks.extend(refusal.map(|text| Block::Refusal(RefusalPart::new(text))));
            let runnable = !calls.is_empty();
            for (number, (name, arguments)) in calls.into_iter().enumerate() {
                let id = format!("call_{number}");
                blocks.push(Block::ToolCall(ToolCall::new(id, name, arguments.to_string())));
            }
            for (number, (name, arguments)) in cut.into_iter().enumerate() {
                let mut arguments = arguments.to_string();
                arguments.pop();
                let id = format!("cut_{number}");
                response
                    .incomplete_tool_calls
                    .push(IncompleteToolCall::new(id, name, arguments));
            }
            let any_call = runnable || !response.incomplete_tool_calls.is_empty();
            let (kind, word) = match kind {
                FinishKind::Length => (kind, "length"),
                FinishKind::ContentFilter => (kind, "content_filter"),
                FinishKind::ToolCalls if any_call => (kind, "tool_calls"),
                _ if runnable => (FinishKind::ToolCalls, "tool_calls"),
                _ if refused => (FinishKind::Refusal, "stop"),
                _ => (FinishKind::Stop, "stop"),
            };
            response.finish = FinishReason::new(kind, word.to_owned());
            if let Some((input, output, cached, written, reasoning)) = usage {
                response.usage = Usage::new(input, output);
                response.usage.cached_input_tokens = cached;
                response.usage.cache_write_input_tokens = written;
                response.usage.reasoning_tokens = reasoning;
            }
            if let Some(fingerprint) = fingerprint {
                response
                    .metadata
                    .set(OPENAI, "system_fingerprint", fingerprint.into());
                response
                    .metadata
                    .set(OPENAI, "annotations", json!([{"type": "url_citation"}]));
                response
                    .metadata
                    .set(OPENAI, "logprobs_content", json!([{"token": "a"}]));
            }
            response
        },
    )
}

fn options() -> EncodeOptions {
    EncodeOptions::new("chatcmpl-0", 7, "demo").with_include_usage(true)
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

/// Reads a stream in pieces, and checks its grammar.
fn decode_stream(pieces: &[&[u8]]) -> ChatResponse {
    let mut frames = SseDecoder::default();
    let mut decoder = StreamDecoder::new(&Dialect::openai(), decode_options());
    let mut events = Vec::new();
    for piece in pieces {
        frames
            .feed(piece, |item| match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
                _ => Ok(()),
            })
            .unwrap();
    }
    assert!(decoder.is_done(), "the end mark is missing");
    decoder.finish(&mut events).unwrap();
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in events {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    grammar.end().unwrap();
    collector.finish().unwrap()
}

/// The same events with every text cut in two where a cut is given, and calls that are not cut off interleaved.
fn fragmented(events: Vec<ChatEvent>, cuts: &[Index], interleave: bool) -> Vec<ChatEvent> {
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
            Delta::Refusal(text) => (text, Delta::Refusal),
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
    if interleave {
        // starts stay in order and come first, then deltas by turns, then ends
        let rank = |event: &ChatEvent| match event {
            ChatEvent::BlockDelta {
                delta: Delta::Arguments(_),
                ..
            } => 1,
            ChatEvent::BlockEnd { .. } => 2,
            ChatEvent::Finish { .. } => 3,
            _ => 0,
        };
        pieces.sort_by_key(rank);
        let calls = pieces.iter().filter(|event| rank(event) == 1).count();
        let first = pieces.iter().position(|event| rank(event) == 1).unwrap_or(0);
        if let Some(deltas) = pieces.get_mut(first..first + calls) {
            // stable: the pieces of one call keep their order
            let mut seen = std::collections::HashMap::<u32, usize>::new();
            deltas.sort_by_cached_key(|event| match event {
                ChatEvent::BlockDelta { index, .. } => {
                    let turn = seen.entry(*index).or_default();
                    *turn += 1;
                    (*turn, std::cmp::Reverse(*index))
                }
                _ => (0, std::cmp::Reverse(0)),
            });
        }
    }
    pieces
}

/// The rules for streams of this format, from the translation cases.
fn check_form(body: &[u8], include_usage: bool) -> Result<(), TestCaseError> {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let mut payloads: Vec<_> = text
        .split("\n\n")
        .filter(|event| !event.is_empty())
        .map(|event| event.strip_prefix("data: ").unwrap())
        .collect();
    prop_assert_eq!(payloads.pop(), Some("[DONE]"));
    let mut chunks: Vec<Value> = payloads
        .iter()
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    if chunks.last().is_some_and(|last| last["choices"] == json!([])) {
        let usage = chunks.pop().unwrap();
        prop_assert!(include_usage && usage["usage"].is_object());
    }
    let finished = |chunk: &Value| !chunk["choices"][0]["finish_reason"].is_null();
    prop_assert_eq!(chunks.iter().filter(|chunk| finished(chunk)).count(), 1);
    prop_assert!(chunks.last().is_some_and(finished));
    let mut shown = 0;
    for chunk in &chunks {
        prop_assert!(include_usage || chunk.get("usage").is_none());
        for call in chunk["choices"][0]["delta"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let index = call["index"].as_u64().unwrap();
            if call.get("id").is_some() {
                prop_assert_eq!(index, shown);
                prop_assert!(call["function"].get("name").is_some());
                shown += 1;
            } else {
                prop_assert!(index < shown);
                prop_assert!(call["function"].get("name").is_none());
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn an_answer_comes_back(response in canonical()) {
        let body = encode_response(&options(), &response);
        let decoded = decode_response(&Dialect::openai(), decode_options(), &body).unwrap();
        same(&decoded, &response)?;
    }

    #[test]
    fn a_stream_comes_back_as_the_answer(
        response in canonical(),
        cuts in vec(any::<Index>(), 0..6),
        interleave in any::<bool>(),
        cut in any::<Index>(),
    ) {
        let body = encode_response(&options(), &response);
        let plain = decode_response(&Dialect::openai(), decode_options(), &body).unwrap();
        let events = fragmented(events_of(response.clone()), &cuts, interleave);
        let stream = encode_stream(&events);
        check_form(&stream, true)?;
        let (head, tail) = stream.split_at(cut.index(stream.len()));
        let decoded = decode_stream(&[head, tail]);
        same(&decoded, &plain)?;
        same(&decoded, &response)?;
    }

    #[test]
    fn no_usage_is_sent_that_was_not_asked_for(response in canonical()) {
        let mut encoder = StreamEncoder::new(options().with_include_usage(false));
        let mut body = Vec::new();
        for event in events_of(response) {
            encoder.push(&event, &mut body);
        }
        check_form(&body, false)?;
    }

    #[test]
    fn meta_data_that_is_not_known_is_filled_in(response in canonical()) {
        let mut bare = response;
        bare.meta = ResponseMeta::default();
        let body = encode_response(&options(), &bare);
        let decoded = decode_response(&Dialect::openai(), decode_options(), &body).unwrap();
        prop_assert_eq!(decoded.meta.id.as_deref(), Some("chatcmpl-0"));
        prop_assert_eq!(decoded.meta.created, Some(7));
        prop_assert_eq!(decoded.meta.model.as_deref(), Some("demo"));
    }
}
