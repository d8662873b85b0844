//! The replayable cases of Gemini and Ollama, through the codecs alone.

mod translation;

use llm_core::{
    ChatEvent, ChatResponse, Collector, Error, ErrorKind, FinishKind, Grammar, ModelId, ResolvedModel,
};
use llm_wire::frame::{NdjsonDecoder, SseDecoder, SseItem};
use llm_wire::{DecodeOptions, chat_completions, generate_content, ollama};
use serde_json::{Value, json};
use std::path::Path;
use translation::check_translation;

fn case(id: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../llm-cases/cases");
    let text = std::fs::read_to_string(folder.join(format!("{id}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn options() -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = true;
    options
}

/// A decoder of one format, as a driver uses it.
trait Decode {
    fn feed(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<(), Error>;
    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), Error>;
    fn interrupt(&mut self, out: &mut Vec<ChatEvent>);
}

struct Gemini(generate_content::BodyDecoder, generate_content::StreamDecoder);

impl Decode for Gemini {
    fn feed(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<(), Error> {
        self.0.feed(piece, |item| match item {
            SseItem::Event(event) => self.1.feed(event.event, event.data, out),
            _ => {
                self.1.keep_alive(out);
                Ok(())
            }
        })
    }

    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), Error> {
        self.0.finish(|item| match item {
            SseItem::Event(event) => self.1.feed_unterminated(event.event, event.data, out),
            _ => Ok(()),
        })?;
        self.1.finish(out)
    }

    fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        self.1.interrupt(out);
    }
}

struct Ollama(NdjsonDecoder, ollama::StreamDecoder);

impl Decode for Ollama {
    fn feed(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<(), Error> {
        self.0.feed(piece, |line| self.1.feed(line, out))
    }

    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<(), Error> {
        self.0.finish(|line| self.1.feed_unterminated(line, out))?;
        self.1.finish(out)
    }

    fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        self.1.interrupt(out);
    }
}

fn decoder(wire: &str) -> Box<dyn Decode> {
    match wire {
        "gemini-sse" | "gemini-array-stream" => Box::new(Gemini(
            generate_content::BodyDecoder::default(),
            generate_content::StreamDecoder::new(&generate_content::Dialect::gemini(), options()),
        )),
        "ollama-ndjson" => Box::new(Ollama(
            NdjsonDecoder::default(),
            ollama::StreamDecoder::new(&ollama::Dialect::ollama(), options()),
        )),
        other => panic!("no decoder for {other}"),
    }
}

/// What came of a stream: the answer, or the failure with what came before it.
fn read_stream(wire: &str, pieces: &[&[u8]]) -> (ChatResponse, Option<Error>) {
    let mut decoder = decoder(wire);
    let mut events = Vec::new();
    let fed = pieces
        .iter()
        .try_for_each(|piece| decoder.feed(piece, &mut events));
    let outcome = fed.and_then(|()| decoder.finish(&mut events));
    if outcome.is_err() {
        decoder.interrupt(&mut events);
    }
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    for event in events {
        grammar.check(&event).unwrap();
        collector.push(event).unwrap();
    }
    match outcome {
        Ok(()) => {
            grammar.end().unwrap();
            (collector.finish().unwrap(), None)
        }
        Err(error) => (collector.partial(), Some(error)),
    }
}

fn class(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Interrupted => "connection",
        other => other.as_str(),
    }
}

/// What differs from an outcome. Fields that are not named are not compared.
fn fault(expected: &Value, response: &ChatResponse, error: Option<&Error>) -> Option<String> {
    let differs = |what: &str, expected: &Value, got: Value| {
        let null_is_zero = expected == &json!(0) && got.is_null();
        (*expected != got && !null_is_zero).then(|| format!("{what}: expected {expected}, got {got}"))
    };
    for (key, expected) in expected.as_object().unwrap() {
        let fault = match key.as_str() {
            "outcome" => differs(key, expected, json!(if error.is_some() { "error" } else { "ok" })),
            "text" => differs(key, expected, json!(response.text())),
            "reasoning" => differs(key, expected, json!(response.reasoning())),
            "finish_reason" => {
                let raw = response.finish.raw.clone().unwrap_or_default();
                let got = match response.finish.kind {
                    FinishKind::Pause | FinishKind::ModelFault | FinishKind::Other => format!("other:{raw}"),
                    kind => kind.as_str().to_owned(),
                };
                differs(key, expected, json!(got))
            }
            "tool_calls" => {
                let expected = expected.as_array().unwrap();
                let calls: Vec<_> = response.tool_calls().collect();
                let mut ids: Vec<_> = calls.iter().map(|call| &call.id).collect();
                ids.sort();
                ids.dedup();
                assert_eq!(ids.len(), calls.len(), "ids are unique");
                let same = calls.len() == expected.len()
                    && calls.iter().zip(expected).all(|(call, expected)| {
                        let id = expected["id"] == "<any-unique>" || expected["id"] == call.id.as_str();
                        id && expected["name"] == call.name.as_str()
                            && expected["arguments"] == call.parse_arguments::<Value>().unwrap()
                    });
                (!same).then(|| format!("tool_calls: {calls:?}"))
            }
            "usage" => expected.as_object().unwrap().iter().find_map(|(name, expected)| {
                let usage = &response.usage;
                let got = match name.as_str() {
                    "input_tokens" => usage.input_tokens,
                    "output_tokens" => usage.output_tokens,
                    "cached_input_tokens" => usage.cached_input_tokens,
                    "reasoning_tokens" => usage.reasoning_tokens,
                    other => panic!("{other}"),
                };
                differs(name, expected, json!(got))
            }),
            "partial" => fault(expected, response, None),
            "error" => error.and_then(|error| {
                expected
                    .as_object()
                    .unwrap()
                    .iter()
                    .find_map(|(name, expected)| match name.as_str() {
                        "class" => differs(name, expected, json!(class(error))),
                        "retryable" => differs(name, expected, json!(error.retryable())),
                        "retry_after_ms" => {
                            let got = error.retry_after().map(|wait| wait.as_millis() as u64);
                            differs(name, expected, json!(got))
                        }
                        "message_contains" => {
                            let there = error.message().contains(expected.as_str().unwrap());
                            (!there).then(|| error.to_string())
                        }
                        other => panic!("{other}"),
                    })
            }),
            "replay" => {
                let request =
                    llm_core::ChatRequest::new([llm_core::Message::user("x"), response.to_message()]);
                let sent = gemini_request(&request);
                differs(key, &expected["parts"], sent["contents"][1]["parts"].clone())
            }
            other => panic!("an outcome has {other}"),
        };
        if fault.is_some() {
            return fault;
        }
    }
    None
}

fn check_outcome(case: &Value, how: &str, response: &ChatResponse, error: Option<&Error>) {
    let accepted = case["accept"].as_array().into_iter().flatten();
    let mut faults = std::iter::once(&case["expect"])
        .chain(accepted)
        .map(|expected| fault(expected, response, error));
    let first = faults.next().unwrap();
    let id = &case["id"];
    assert!(
        first.is_none() || faults.any(|fault| fault.is_none()),
        "{id} {how}: {first:?} {error:?}"
    );
}

fn check_stream(id: &str) {
    let case = case(id);
    let wire = case["wire"].as_str().unwrap();
    let chunks: Vec<_> = case["input"]["chunks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chunk| chunk.as_str().unwrap())
        .collect();
    let whole: Vec<_> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
    let joined = whole.concat();
    let bytewise: Vec<_> = joined.chunks(1).collect();
    for (how, pieces) in [("as cut", whole), ("byte by byte", bytewise)] {
        let (response, error) = read_stream(wire, &pieces);
        check_outcome(&case, how, &response, error.as_ref());
    }
}

fn check_error(id: &str) {
    let case = case(id);
    let input = &case["input"];
    let status = input["status"]
        .as_u64()
        .and_then(|status| u16::try_from(status).ok());
    let body = input["body"].as_str().unwrap().as_bytes();
    let error = match input["dialect"].as_str().unwrap() {
        "gemini" => generate_content::decode_error(&generate_content::Dialect::gemini(), status, body),
        "ollama" => ollama::decode_error(&ollama::Dialect::ollama(), status, body),
        other => panic!("{other}"),
    };
    check_outcome(&case, "", &ChatResponse::default(), Some(&error));
}

fn demo() -> ResolvedModel {
    ResolvedModel::unknown(ModelId::new("demo").unwrap())
}

fn gemini_request(request: &llm_core::ChatRequest) -> Value {
    let dialect = generate_content::Dialect::gemini();
    let encoded = generate_content::encode_request(&dialect, &demo(), request).unwrap();
    serde_json::from_slice(&encoded.body).unwrap()
}

#[test]
fn streams_of_gemini() {
    for id in [
        "gemini-empty-block-reason",
        "gemini-empty-content-object",
        "gemini-error-in-stream",
        "gemini-id-preserved",
        "gemini-json-array-framing",
        "gemini-parallel-same-name-no-id",
        "gemini-prompt-blocked",
        "gemini-safety-no-content",
        "gemini-signature-on-call-and-late-duplicate",
        "gemini-text-and-signature-same-part",
        "usage-gemini-cumulative-thoughts-cached",
    ] {
        check_stream(id);
    }
}

#[test]
fn failures_of_gemini() {
    for id in ["gemini-per-day-quota", "gemini-retry-delay-in-body", "ctx-gemini"] {
        check_error(id);
    }
}

#[test]
fn requests_to_gemini() {
    for id in [
        "gemini-signature-replayed",
        "tr-gemini-const-and-anyof-null",
        "tr-gemini-nullable-array-items",
        "tr-gemini-ref-and-additional-properties",
        "tr-gemini-response-with-ref-key",
        "tr-gemini-type-array-nullable",
    ] {
        check_translation(id);
    }
}

#[test]
fn streams_of_ollama() {
    for id in [
        "ollama-error-line",
        "ollama-no-trailing-newline-no-reason",
        "ollama-thinking",
        "ollama-tool-call-in-done-line",
    ] {
        check_stream(id);
    }
}

#[test]
fn failures_of_ollama() {
    check_error("http-404-model-string-error");
}

#[test]
fn requests_to_ollama() {
    check_translation("tr-ollama-arguments-object");
}

#[test]
fn a_stream_of_another_format_becomes_one_of_gemini() {
    let case = case("gw-null-finish-is-not-stop");
    let body = case["input"]["chunks"][0].as_str().unwrap();
    let mut frames = SseDecoder::default();
    let mut decoder =
        chat_completions::StreamDecoder::new(&chat_completions::Dialect::compatible(), options());
    let mut events = Vec::new();
    frames
        .feed(body.as_bytes(), |item| match item {
            SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
            _ => Ok(()),
        })
        .unwrap();
    decoder.finish(&mut events).unwrap();
    let mut encoder = generate_content::StreamEncoder::new(generate_content::EncodeOptions::new("r", "m"));
    let mut stream = Vec::new();
    for event in &events {
        encoder.push(event, &mut stream);
    }
    let text = String::from_utf8(stream.clone()).unwrap();
    let chunks: Vec<Value> = text
        .split_terminator("\n\n")
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect();
    let (last, earlier) = chunks.split_last().unwrap();
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert!(
        earlier
            .iter()
            .all(|chunk| chunk["candidates"][0]["finishReason"].is_null()),
        "{text}"
    );
    let (response, error) = read_stream("gemini-sse", &[&stream]);
    assert!(error.is_none());
    assert_eq!(fault(&case["expect"]["assembled"], &response, None), None);
}
