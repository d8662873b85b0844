//! OpenAI Responses: any cut of the bytes gives the same events, and a stream the same answer as a plain call; hostile
//! bytes never panic; every request is made legal or refused.

use crate::hostile::{changes, mutate, replace};
use crate::neutral::{canonical, json_value, messy_messages, text, word};
use llm_core::{ChatEvent, ChatResponse, Collector, Error, Grammar, ModelId, ResolvedModel};
use llm_wire::DecodeOptions;
use llm_wire::frame::{SseDecoder, SseItem};
use llm_wire::responses::{Dialect, StreamDecoder, decode_error, decode_response, encode_request};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use std::collections::HashMap;

fn options(include: bool) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = include;
    options
}

/// Reads a body in pieces, as a driver does. The events are legal up to their end.
fn read(pieces: &[&[u8]], include: bool) -> (Vec<ChatEvent>, Result<ChatResponse, Error>) {
    let mut frames = SseDecoder::default();
    let mut decoder = StreamDecoder::new(&Dialect::openai(), options(include));
    let mut events = Vec::new();
    let fed = pieces.iter().try_for_each(|piece| {
        frames.feed(piece, |item| match item {
            SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
            _ => {
                decoder.keep_alive(&mut events);
                Ok(())
            }
        })
    });
    let ended = fed.and_then(|()| {
        frames.finish(|item| match item {
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
    let response = outcome.and_then(|()| collector.finish());
    (events, response)
}

/// Everything that reads bytes from outside, on the same bytes.
fn read_all(body: &[u8]) {
    for include in [false, true] {
        let _ = decode_response(&Dialect::openai(), options(include), body);
        let _ = read(&[body], include);
    }
    for status in [None, Some(400), Some(500)] {
        let _ = decode_error(&Dialect::openai(), status, body);
    }
}

/// Items of every kind.
fn items() -> impl Strategy<Value = Vec<Value>> {
    let texts = || vec(text(), 0..3);
    let phase = select(vec![json!(null), json!("commentary"), json!("final_answer")]);
    let message = (texts(), texts(), phase).prop_map(|(said, refused, phase)| {
        let said = said.into_iter().map(|text| json!({"type": "output_text", "text": text, "annotations": [1]}));
        let refused = refused.into_iter().map(|text| json!({"type": "refusal", "refusal": text}));
        json!({"type": "message", "id": "msg", "content": said.chain(refused).collect::<Vec<_>>(), "phase": phase})
    });
    let thought = (texts(), of(word())).prop_map(|(texts, state)| {
        let summary: Vec<_> = texts
            .iter()
            .map(|text| json!({"type": "summary_text", "text": text}))
            .collect();
        json!({"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": state})
    });
    let call = (word(), of(word()), select(vec!["", "{}", "{\"a\":1}", "{\"a\":"])).prop_map(|(name, id, arguments)| {
        json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments, "status": "completed"})
    });
    let own = word().prop_map(|id| json!({"type": "web_search_call", "id": id}));
    vec(prop_oneof![3 => message, 2 => thought, 2 => call, 1 => own], 0..5)
}

/// The events of an answer of these items, every text in two pieces.
fn events_of(items: &[Value], ended: bool) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "response.created", "response": {"id": "r", "status": "in_progress"}})];
    for (index, item) in items.iter().enumerate() {
        let mut delta = |kind: &str, place: &str, part: usize, text: &Value| {
            let text = text.as_str().unwrap_or_default();
            let middle = text
                .char_indices()
                .nth(text.chars().count() / 2)
                .map_or(0, |(at, _)| at);
            for piece in [&text[..middle], &text[middle..]] {
                events.push(json!({"type": format!("response.{kind}.delta"), "output_index": index, place: part, "delta": piece}));
            }
        };
        for (part, content) in item["content"].as_array().into_iter().flatten().enumerate() {
            delta("output_text", "content_index", part, &content["text"]);
            delta("refusal", "content_index", part, &content["refusal"]);
        }
        for (part, content) in item["summary"].as_array().into_iter().flatten().enumerate() {
            delta("reasoning_summary_text", "summary_index", part, &content["text"]);
        }
        if item["type"] == "function_call" {
            let mut begun = item.clone();
            begun["arguments"] = json!("");
            events.push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
            let arguments = &item["arguments"];
            events.push(json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    if ended {
        events.push(json!({"type": "response.completed", "response": whole(items)}));
    }
    events
}

fn whole(items: &[Value]) -> Value {
    json!({
        "id": "r", "object": "response", "status": "completed", "output": items,
        "usage": {"input_tokens": 3, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}},
    })
}

fn as_events(events: &[Value], last_end: bool) -> Vec<u8> {
    let body = events.iter().map(|event| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\r\ndata: {event}\r\n\r\n")
    });
    let mut body: String = body.collect();
    if !last_end {
        body.truncate(body.trim_end().len());
    }
    body.into_bytes()
}

/// What the vendor asks of the items of a request.
fn check_items(items: &[Value]) -> Result<(), TestCaseError> {
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        let id = item["call_id"].as_str();
        match item["type"].as_str().unwrap() {
            "function_call" => {
                prop_assert!(id.unwrap().len() <= 64 && item["name"].as_str().unwrap().len() <= 64);
                let arguments: Value = serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
                prop_assert!(arguments.is_object());
                *open.entry(id.unwrap()).or_default() += 1;
            }
            "function_call_output" => {
                let waiting = open.get_mut(id.unwrap()).filter(|waiting| **waiting > 0);
                prop_assert!(waiting.is_some(), "a result without a call in {items:?}");
                *waiting.unwrap() -= 1;
            }
            "reasoning" => {
                prop_assert!(item.get("id").is_none() && item["encrypted_content"].is_string());
                let next = items.get(at + 1).map(|next| next["type"].as_str().unwrap());
                let follows = matches!(next, Some("reasoning" | "function_call" | "message"));
                prop_assert!(follows, "reasoning that nothing follows in {items:?}");
            }
            "message" => prop_assert!(item["role"].is_string() && !item["content"].is_null()),
            _ => {}
        }
    }
    prop_assert!(
        open.values().all(|open| *open == 0),
        "a call without a result in {items:?}"
    );
    Ok(())
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_events(
        items in items(),
        cuts in vec(any::<Index>(), 0..4),
        ended in any::<bool>(),
        last_end in any::<bool>(),
        include in any::<bool>(),
    ) {
        let body = as_events(&events_of(&items, ended), last_end);
        let (expected, outcome) = read(&[&body], include);
        prop_assert_eq!(outcome.is_ok(), ended);
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        places.extend([0, body.len()]);
        places.sort_unstable();
        let pieces: Vec<_> = places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        prop_assert_eq!(&read(&pieces, include).0, &expected);
        let bytes: Vec<_> = body.chunks(1).collect();
        prop_assert_eq!(&read(&bytes, include).0, &expected);
    }

    #[test]
    fn a_stream_folds_to_the_plain_answer(items in items(), include in any::<bool>()) {
        let streamed = read(&[&as_events(&events_of(&items, true), true)], include).1.unwrap();
        let body = whole(&items).to_string();
        let plain = decode_response(&Dialect::openai(), options(include), body.as_bytes()).unwrap();
        prop_assert_eq!(streamed.blocks, plain.blocks);
        prop_assert_eq!(streamed.incomplete_tool_calls, plain.incomplete_tool_calls);
        prop_assert_eq!((streamed.finish, streamed.usage), (plain.finish, plain.usage));
        prop_assert_eq!(streamed.metadata, plain.metadata);
    }

    #[test]
    fn arbitrary_bytes_never_panic(body in vec(any::<u8>(), 0..200), value in json_value()) {
        read_all(&body);
        read_all(value.to_string().as_bytes());
        read_all(format!("data: {value}\n\n").as_bytes());
    }

    #[test]
    fn mutated_answers_never_panic_and_streams_stay_legal(
        items in items(),
        paths in vec((any::<Index>(), vec(any::<Index>(), 0..6), json_value()), 1..4),
        changes in changes(),
    ) {
        let mut plain = whole(&items);
        let mut events = events_of(&items, true);
        for (at, path, with) in paths {
            let at = at.index(events.len());
            replace(&mut events[at], &path, with.clone());
            replace(&mut plain, &path, with);
        }
        read_all(&mutate(plain.to_string().into_bytes(), &changes));
        let body = as_events(&events, true);
        read_all(&body);
        read_all(&mutate(body, &changes));
    }

    #[test]
    fn any_request_is_made_legal_or_refused(
        request in canonical(true),
        history in of(messy_messages()),
        name in select(vec!["gpt-6-luna", "gpt-4o"]),
        stream in any::<bool>(),
    ) {
        let mut request = request;
        if let Some(history) = history {
            request.messages = history;
        }
        let model = ResolvedModel::unknown(ModelId::new(name).unwrap());
        match encode_request(&Dialect::openai(), &model, &request, stream) {
            Err(error) => prop_assert!(error.vendor().param.is_some(), "{}", error),
            Ok(encoded) => {
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                prop_assert_eq!(body.get("stream").is_some(), stream);
                check_items(body["input"].as_array().unwrap())?;
            }
        }
    }
}
