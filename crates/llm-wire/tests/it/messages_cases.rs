//! The replayable cases of Messages, through the codecs alone.

use llm_core::{
    ChatEvent, ChatRequest, ChatResponse, Collector, Error, ErrorKind, FinishKind, Grammar, Message, ModelId,
    ResolvedModel,
};
use llm_wire::frame::{SseDecoder, SseItem};
use llm_wire::messages::{Dialect, EncodeOptions, StreamEncoder};
use llm_wire::{DecodeOptions, chat_completions, messages};
use serde_json::{Value, json};
use std::path::Path;

/// All cases whose name begins so.
fn cases(prefix: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../llm-cases/cases");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no case begins with {prefix}");
    let read =
        |path: std::path::PathBuf| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    names.into_iter().map(read).collect()
}

fn options() -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = true;
    options
}

/// The bytes of a case's stream.
fn bytes_of(case: &Value) -> Vec<u8> {
    let chunks = case["input"]["chunks"].as_array().unwrap();
    chunks
        .iter()
        .flat_map(|chunk| chunk.as_str().unwrap().bytes())
        .collect()
}

/// A decoder of one format, as a driver uses it.
trait Decode {
    fn feed(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<(), Error>;
    fn last(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<(), Error>;
    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), Error>;
    fn interrupt(&mut self, out: &mut Vec<ChatEvent>);
}

macro_rules! decode {
    ($($decoder:ty),*) => {$(
        impl Decode for $decoder {
            fn feed(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<(), Error> {
                self.feed(event, data, out)
            }
            fn last(&mut self, event: &str, data: &str, out: &mut Vec<ChatEvent>) -> Result<(), Error> {
                self.feed_unterminated(event, data, out)
            }
            fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), Error> {
                self.finish(out)
            }
            fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
                self.interrupt(out);
            }
        }
    )*};
}
decode!(messages::StreamDecoder, chat_completions::StreamDecoder);

fn decoder(wire: &str) -> Box<dyn Decode> {
    match wire {
        "anthropic-sse" => Box::new(messages::StreamDecoder::new(&Dialect::anthropic(), options())),
        "openai-chat-sse" => {
            let dialect = chat_completions::Dialect::compatible();
            Box::new(chat_completions::StreamDecoder::new(&dialect, options()))
        }
        other => panic!("no decoder for {other}"),
    }
}

/// The events of a stream in pieces, and how it ended.
fn read(wire: &str, pieces: &[&[u8]]) -> (Vec<ChatEvent>, Option<Error>) {
    let mut frames = SseDecoder::default();
    let mut decoder = decoder(wire);
    let mut events = Vec::new();
    let mut fed = Ok(());
    for piece in pieces {
        if fed.is_ok() {
            fed = frames.feed(piece, |item| match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
                _ => Ok(()),
            });
        }
    }
    let ended = fed.and_then(|()| {
        frames.finish(|item| match item {
            SseItem::Event(event) => decoder.last(event.event, event.data, &mut events),
            _ => Ok(()),
        })
    });
    let outcome = ended.and_then(|()| decoder.finish(&mut events));
    if outcome.is_err() {
        decoder.interrupt(&mut events);
    }
    let mut grammar = Grammar::default();
    events.iter().for_each(|event| grammar.check(event).unwrap());
    (events, outcome.err())
}

fn fold(events: Vec<ChatEvent>) -> ChatResponse {
    let mut collector = Collector::default();
    events
        .into_iter()
        .for_each(|event| collector.push(event).unwrap());
    collector.partial()
}

/// The outcome in the words of the cases.
fn outcome(response: &ChatResponse) -> Value {
    let finish = match response.finish.kind {
        FinishKind::Pause | FinishKind::Other => {
            format!("other:{}", response.finish.raw.as_deref().unwrap_or_default())
        }
        kind => kind.as_str().to_owned(),
    };
    let calls = response.tool_calls().map(|call| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        json!({"id": call.id, "name": call.name, "arguments": arguments})
    });
    let calls: Vec<_> = calls.collect();
    let cut = response.incomplete_tool_calls.iter();
    let cut: Vec<_> = cut
        .map(|call| json!({"id": call.id, "name": call.name, "arguments_raw": call.arguments}))
        .collect();
    let mut request = ChatRequest::new([Message::user("a"), response.to_message(), Message::user("b")]);
    request.max_output_tokens = Some(9);
    let sent =
        messages::encode_request(&Dialect::anthropic(), &model("claude-opus-5-5"), &request, false).unwrap();
    let sent: Value = serde_json::from_slice(&sent.body).unwrap();
    json!({
        "outcome": "ok", "text": response.text(), "reasoning": response.reasoning(), "tool_calls": calls,
        "incomplete_tool_calls": cut, "finish_reason": finish,
        "usage": serde_json::to_value(response.usage).unwrap(),
        "replay": {"blocks": sent["messages"][1]["content"]},
    })
}

fn model(name: &str) -> ResolvedModel {
    ResolvedModel::unknown(ModelId::new(name).unwrap())
}

/// Does the outcome hold everything that is expected?
fn holds(outcome: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(fields) => fields.iter().all(|(name, value)| match name.as_str() {
            // compared whole
            "tool_calls" | "incomplete_tool_calls" | "replay" => outcome[name] == *value,
            _ => holds(&outcome[name], value),
        }),
        _ => outcome == expected,
    }
}

fn check(case: &Value, outcome: &Value) {
    let others = case["accept"].as_array().into_iter().flatten();
    let mut expected = std::iter::once(&case["expect"]).chain(others);
    assert!(
        expected.any(|expected| holds(outcome, expected)),
        "{}: {outcome:#}",
        case["id"]
    );
}

#[test]
fn streams_come_out_right_whole_and_byte_by_byte() {
    let mut all = cases("anthropic-");
    all.extend(cases("usage-anthropic-"));
    for case in all {
        let bytes = bytes_of(&case);
        let single: Vec<_> = bytes.chunks(1).collect();
        for pieces in [vec![bytes.as_slice()], single] {
            let (events, error) = read("anthropic-sse", &pieces);
            assert!(error.is_none(), "{}: {error:?}", case["id"]);
            check(&case, &outcome(&fold(events)));
        }
    }
}

#[test]
fn errors_have_their_class() {
    let mut all = cases("ctx-anthropic-");
    all.extend(cases("http-"));
    all.retain(|case| case["input"]["dialect"] == "anthropic");
    assert!(all.len() >= 4);
    for case in all {
        let status = u16::try_from(case["input"]["status"].as_u64().unwrap()).unwrap();
        let body = case["input"]["body"].as_str().unwrap();
        let error = messages::decode_error(&Dialect::anthropic(), Some(status), body.as_bytes());
        let expected = &case["expect"]["error"];
        assert_eq!(error.kind().as_str(), expected["class"], "{}", case["id"]);
        assert_eq!(error.retryable(), expected["retryable"], "{}", case["id"]);
    }
}

/// Streams of one format, put into the other and read again.
#[test]
fn streams_are_put_into_the_other_format() {
    for case in cases("gw-") {
        let (from, to) = (
            case["input"]["from"].as_str().unwrap(),
            case["input"]["to"].as_str().unwrap(),
        );
        if to == "gemini-sse" {
            continue;
        }
        let (events, error) = read(from, &[&bytes_of(&case)]);
        let mut out = Vec::new();
        match to {
            "anthropic-sse" => {
                let mut encoder = StreamEncoder::new(EncodeOptions::new("msg_0", "demo"));
                events.iter().for_each(|event| encoder.push(event, &mut out));
                error.iter().for_each(|error| encoder.error(error, &mut out));
                check_invariants(&case, &out);
            }
            _ => {
                let options = chat_completions::EncodeOptions::new("chatcmpl-0", 7, "demo");
                let mut encoder = chat_completions::StreamEncoder::new(options);
                events.iter().for_each(|event| encoder.push(event, &mut out));
                error.iter().for_each(|error| encoder.error(error, &mut out));
            }
        }
        let (events, error) = read(to, &[&out]);
        let assembled = outcome(&fold(events));
        let expected = &case["expect"]["assembled"];
        if case["expect"]["outcome"] == "error" {
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::Server),
                "{}",
                case["id"]
            );
            assert_eq!(assembled["text"], expected["text"]);
        } else {
            assert!(error.is_none(), "{}: {error:?}", case["id"]);
            assert!(holds(&assembled, expected), "{}: {assembled:#}", case["id"]);
        }
    }
}

fn check_invariants(case: &Value, stream: &[u8]) {
    let mut events: Vec<Value> = Vec::new();
    let mut frames = SseDecoder::default();
    let fed = frames.feed(stream, |item| {
        if let SseItem::Event(event) = item {
            events.push(serde_json::from_str(event.data).unwrap());
        }
        Ok(())
    });
    fed.unwrap();
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let count = |kind: &str| kinds.iter().filter(|other| **other == kind).count();
    let starts = events
        .iter()
        .filter(|event| event["type"] == "content_block_start");
    let starts: Vec<_> = starts.map(|event| event["index"].as_u64().unwrap()).collect();
    let mut open = 0_i32;
    let most_open = kinds.iter().map(|kind| {
        open += i32::from(*kind == "content_block_start") - i32::from(*kind == "content_block_stop");
        open
    });
    let most_open = most_open.max().unwrap_or(0);
    for invariant in case["expect"]["invariants"].as_array().unwrap() {
        let holds = match invariant.as_str().unwrap() {
            "one_message_start" => kinds[0] == "message_start" && count("message_start") == 1,
            "one_open_block_at_a_time" => most_open <= 1,
            "block_indices_contiguous_from_0" => starts.iter().copied().eq(0..starts.len() as u64),
            "every_block_stopped" => count("content_block_start") == count("content_block_stop"),
            // checked on every stream in `messages_answers`
            "delta_type_matches_block" => true,
            "one_stop_reason" => count("message_delta") == 1,
            "ends_with_message_stop" => kinds.last() == Some(&"message_stop"),
            "error_event_last" => kinds.last() == Some(&"error"),
            "no_message_stop" => count("message_stop") == 0,
            other => panic!("no check for {other}"),
        };
        assert!(holds, "{}: {invariant} {kinds:?}", case["id"]);
    }
}

/// What a translation case asks of the request; the few operations that these cases use.
fn check_request(checks: &Value, request: &Value) -> Result<(), String> {
    for check in checks.as_array().unwrap() {
        let path = check["path"].as_str().unwrap();
        let nodes = select(request, path);
        let (op, value) = (check["op"].as_str().unwrap(), &check["value"]);
        let fits = |node: &Value| match op {
            "equals" => node == value,
            "not_equals" => node != value,
            "contains" => node.to_string().contains(value.as_str().unwrap()),
            "not_contains" => !node.to_string().contains(value.as_str().unwrap()),
            "length" => node.as_array().map(Vec::len) == value.as_u64().map(|length| length as usize),
            "type" => node.is_u64() && value == "integer",
            // the one pattern of these cases
            "not_matches" if value == "\\s$" => node.as_str().is_none_or(|text| text.trim_end() == text),
            other => panic!("no operation {other}"),
        };
        let held = if check["any"] == true {
            nodes.iter().any(|node| fits(node))
        } else {
            nodes.iter().all(|node| fits(node))
                && (!nodes.is_empty() || op.starts_with("not") || check["optional"] == true)
        };
        if !held {
            return Err(format!("{check} on {request:#}"));
        }
    }
    Ok(())
}

fn select<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut nodes = vec![value];
    for step in path.split('/').skip(1) {
        let children = |node: &'a Value| -> Vec<&'a Value> {
            match node {
                Value::Object(fields) => fields.values().collect(),
                Value::Array(items) => items.iter().collect(),
                _ => Vec::new(),
            }
        };
        nodes = match step {
            "*" => nodes.into_iter().flat_map(children).collect(),
            "**" => {
                let mut all = Vec::new();
                let mut rest = nodes;
                while let Some(node) = rest.pop() {
                    all.push(node);
                    rest.extend(children(node));
                }
                all
            }
            name => nodes
                .into_iter()
                .filter_map(|node| node.pointer(&format!("/{name}")))
                .collect(),
        };
    }
    nodes
}

#[test]
fn requests_are_put_into_this_format_and_out_of_it() {
    let mut all = cases("tr-");
    all.retain(|case| {
        case["input"]["to"] == "anthropic-messages" || case["input"]["from"] == "anthropic-messages"
    });
    assert!(all.len() >= 6);
    for case in all {
        let body = case["input"]["request"].to_string();
        let request = match case["input"]["from"].as_str().unwrap() {
            "openai-chat" => chat_completions::decode_request(body.as_bytes()).unwrap().request,
            _ => messages::decode_request(body.as_bytes()).unwrap().request,
        };
        let model = ResolvedModel::unknown(request.model.clone().unwrap());
        let sent = match case["input"]["to"].as_str().unwrap() {
            "openai-chat" => {
                let dialect = chat_completions::Dialect::openai();
                chat_completions::encode_request(&dialect, &model, &request, false)
                    .unwrap()
                    .body
            }
            _ => {
                messages::encode_request(&Dialect::anthropic(), &model, &request, false)
                    .unwrap()
                    .body
            }
        };
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        check_request(&case["expect"]["checks"], &sent)
            .unwrap_or_else(|wrong| panic!("{}: {wrong}", case["id"]));
    }
}
