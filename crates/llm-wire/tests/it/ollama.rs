//! Ollama's format: any cut of the bytes gives the same events; hostile bytes never panic; every request is made legal
//! or refused.

use crate::hostile::{changes, mutate, replace};
use crate::neutral::{canonical, json_object, json_value, messy_messages, text, word};
use llm_core::{
    ChatEvent, ChatRequest, Collector, ContentPart, Error, Grammar, ModelId, ResolvedModel, VendorId,
};
use llm_wire::DecodeOptions;
use llm_wire::frame::NdjsonDecoder;
use llm_wire::ollama::{Dialect, StreamDecoder, decode_error, decode_response, encode_request};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

fn options(include: bool) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = include;
    options
}

fn dialect(think_tags: bool) -> Dialect {
    let mut dialect = Dialect::ollama();
    dialect.extract_think_tags = think_tags;
    dialect
}

/// Reads a body in pieces, as a driver does. The events are legal up to their end.
fn read(pieces: &[&[u8]], include: bool, think_tags: bool) -> (Vec<ChatEvent>, Result<(), Error>) {
    let mut lines = NdjsonDecoder::default();
    let mut decoder = StreamDecoder::new(&dialect(think_tags), options(include));
    let mut events = Vec::new();
    let fed = pieces
        .iter()
        .try_for_each(|piece| lines.feed(piece, |line| decoder.feed(line, &mut events)));
    let ended = fed.and_then(|()| lines.finish(|line| decoder.feed_unterminated(line, &mut events)));
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
    for flag in [false, true] {
        let _ = decode_response(&dialect(!flag), options(flag), body);
        let _ = read(&[body], flag, !flag);
    }
    for status in [None, Some(400), Some(500)] {
        let _ = decode_error(&Dialect::ollama(), status, body);
    }
}

/// A line with everything in it that an answer may have.
fn line(done: bool) -> Value {
    json!({
        "model": "m", "created_at": "2026-11-29T10:00:00.1Z", "done": done, "done_reason": "stop",
        "message": {"role": "assistant", "content": "a", "thinking": "hm", "tool_calls": [
            {"id": "c0", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}},
            {"function": {"name": "g", "arguments": "{}"}},
        ]},
        "prompt_eval_count": 3, "eval_count": 2, "total_duration": 7, "logprobs": [{"token": "a"}],
        "remote_model": "big",
    })
}

fn wire_lines() -> impl Strategy<Value = Vec<Value>> {
    let call = (word(), json_object(), of(word())).prop_map(
        |(name, arguments, id)| json!({"id": id, "function": {"name": name, "arguments": arguments}}),
    );
    let tags = select(vec!["<think>", "</think>", "<th", "ink>"]).prop_map(str::to_owned);
    let content = prop_oneof![3 => text(), 1 => tags];
    let message = (of(content), of(text()), vec(call, 0..2)).prop_map(|(content, thinking, calls)| {
        json!({"message": {"content": content, "thinking": thinking, "tool_calls": calls}, "done": false})
    });
    let end = of(of(select(vec!["stop", "length", "load"])));
    (vec(message, 0..5), end).prop_map(|(mut lines, end)| {
        if let Some(reason) = end {
            lines.push(
                json!({"message": {"content": ""}, "done": true, "done_reason": reason, "eval_count": 3}),
            );
        }
        lines
    })
}

fn as_lines(lines: &[Value], last_end: bool) -> Vec<u8> {
    let mut body: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    if !last_end {
        body.truncate(body.trim_end().len());
    }
    body.into_bytes()
}

/// What templates and the server ask of messages.
fn check_messages(messages: &[Value]) -> Result<(), TestCaseError> {
    let mut open: Vec<(&str, &str)> = Vec::new();
    for message in messages {
        prop_assert!(message["content"].is_string());
        if message["role"] == "tool" {
            let answered = (
                message["tool_call_id"].as_str().unwrap(),
                message["tool_name"].as_str().unwrap(),
            );
            prop_assert!(!open.is_empty(), "a result without a call in {:?}", messages);
            prop_assert_eq!(
                answered,
                open.remove(0),
                "results in the order of calls in {:?}",
                messages
            );
            continue;
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls: Vec<_> = calls
            .map(|call| {
                assert!(call["function"]["arguments"].is_object());
                (
                    call["id"].as_str().unwrap(),
                    call["function"]["name"].as_str().unwrap(),
                )
            })
            .collect();
        prop_assert!(
            open.is_empty() || message["role"] == "assistant",
            "a call without a result in {:?}",
            messages
        );
        open.extend(calls);
        for image in message["images"].as_array().into_iter().flatten() {
            prop_assert!(!image.as_str().unwrap().starts_with("data:"));
        }
    }
    prop_assert!(
        open.is_empty(),
        "a call without a result at the end of {:?}",
        messages
    );
    Ok(())
}

/// The same messages with one vendor's thoughts as this one's.
fn with_own_thoughts(mut request: ChatRequest) -> ChatRequest {
    for message in &mut request.messages {
        for part in &mut message.content {
            if let ContentPart::Reasoning(part) = part
                && let Some(replay) = &mut part.replay
                && replay.origin.vendor.as_str() == "openai"
            {
                replay.origin.vendor = VendorId::from_static("ollama");
            }
        }
    }
    request
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_events(
        lines in wire_lines(),
        cuts in vec(any::<Index>(), 0..4),
        last_end in any::<bool>(),
        include in any::<bool>(),
        think_tags in any::<bool>(),
    ) {
        let body = as_lines(&lines, last_end);
        let (expected, outcome) = read(&[&body], include, think_tags);
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        places.extend([0, body.len()]);
        places.sort_unstable();
        let pieces: Vec<_> = places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        let (events, cut) = read(&pieces, include, think_tags);
        prop_assert_eq!(&events, &expected);
        prop_assert_eq!(cut.is_ok(), outcome.is_ok());
        let bytes: Vec<_> = body.chunks(1).collect();
        prop_assert_eq!(&read(&bytes, include, think_tags).0, &expected);
    }

    #[test]
    fn arbitrary_bytes_never_panic(body in vec(any::<u8>(), 0..200), value in json_value()) {
        read_all(&body);
        read_all(value.to_string().as_bytes());
    }

    #[test]
    fn mutated_answers_never_panic_and_streams_stay_legal(
        paths in vec((vec(any::<Index>(), 0..6), of(json_value()), any::<bool>()), 1..4),
        changes in changes(),
    ) {
        let mut lines = Vec::new();
        for (path, with, done) in paths {
            let mut value = line(done);
            if let Some(with) = with {
                replace(&mut value, &path, with);
            }
            read_all(&mutate(value.to_string().into_bytes(), &changes));
            lines.push(value);
        }
        let body = as_lines(&lines, true);
        read_all(&body);
        read_all(&mutate(body, &changes));
    }

    #[test]
    fn any_request_is_made_legal_or_refused(
        request in canonical(true),
        history in of(messy_messages()),
        name in select(vec!["qwen4:8b", "gpt-oss:20b"]),
        stream in any::<bool>(),
    ) {
        let mut request = request;
        if let Some(history) = history {
            request.messages = history;
        }
        let request = with_own_thoughts(request);
        let model = ResolvedModel::unknown(ModelId::new(name).unwrap());
        match encode_request(&Dialect::ollama(), &model, &request, stream) {
            Err(error) => prop_assert!(error.vendor().param.is_some(), "{}", error),
            Ok(encoded) => {
                let body: Value = serde_json::from_slice(&encoded.body).unwrap();
                prop_assert_eq!(&body["stream"], &json!(stream));
                check_messages(body["messages"].as_array().unwrap())?;
            }
        }
    }
}
