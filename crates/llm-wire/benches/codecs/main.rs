//! Each format there and back, over serde_json alone on the same JSON.
//!
//! Decoding: the peer parses the same JSON to `serde_json::Value`; beside it a client's usual structs are read from it.
//! Of a stream the peers get the payloads, cut out already: cutting bytes into events is part of our figure alone.
//! Encoding: the peer writes a `Value` of the same body that is there already; we start from the neutral request.

mod samples;
mod typed;

use llm_bench_ratio::Contest;
use llm_core::{
    ChatEvent, ChatRequest, ChatResponse, Collector, ModelId, ResolvedModel, ResponseMeta, Result,
};
use llm_wire::frame::{NdjsonDecoder, SseDecoder, SseItem};
use llm_wire::{chat_completions, generate_content, messages, ollama, responses};
use samples::Sample;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn main() -> Result<()> {
    decode::<typed::Completion, typed::CompletionChunk>(
        &samples::chat_completions(),
        |body| chat_completions::decode_response(&chat_completions::Dialect::openai(), options(), body),
        |body| {
            let dialect = chat_completions::Dialect::openai();
            let mut decoder = chat_completions::StreamDecoder::new(&dialect, options());
            let events = events_of(body, |event, data, out| decoder.feed(event, data, out))?;
            finished(events, |out| decoder.finish(out))
        },
    )?;
    decode::<typed::Message, typed::MessageEvent>(
        &samples::messages(),
        |body| messages::decode_response(&messages::Dialect::anthropic(), options(), body),
        |body| {
            let dialect = messages::Dialect::anthropic();
            let mut decoder = messages::StreamDecoder::new(&dialect, options());
            let events = events_of(body, |event, data, out| decoder.feed(event, data, out))?;
            finished(events, |out| decoder.finish(out))
        },
    )?;
    decode::<typed::Generated, typed::Generated>(
        &samples::generate_content(),
        |body| generate_content::decode_response(&generate_content::Dialect::gemini(), options(), body),
        |body| {
            let dialect = generate_content::Dialect::gemini();
            let mut decoder = generate_content::StreamDecoder::new(&dialect, options());
            let events = events_of(body, |event, data, out| decoder.feed(event, data, out))?;
            finished(events, |out| decoder.finish(out))
        },
    )?;
    decode::<typed::OllamaLine, typed::OllamaLine>(
        &samples::ollama(),
        |body| ollama::decode_response(&ollama::Dialect::ollama(), options(), body),
        |body| {
            let mut decoder = ollama::StreamDecoder::new(&ollama::Dialect::ollama(), options());
            let mut events = Vec::new();
            NdjsonDecoder::default().feed(body, |line| decoder.feed(line, &mut events))?;
            finished(events, |out| decoder.finish(out))
        },
    )?;
    decode::<typed::ResponsesAnswer, typed::ResponsesEvent>(
        &samples::responses(),
        |body| responses::decode_response(&responses::Dialect::openai(), options(), body),
        |body| {
            let dialect = responses::Dialect::openai();
            let mut decoder = responses::StreamDecoder::new(&dialect, options());
            let events = events_of(body, |event, data, out| decoder.feed(event, data, out))?;
            finished(events, |out| decoder.finish(out))
        },
    )?;
    encode()?;
    encode_answers()
}

fn options() -> llm_wire::DecodeOptions {
    llm_wire::DecodeOptions::new(&ChatRequest::user("hi"), ResponseMeta::default())
}

fn events_of(
    body: &[u8],
    mut feed: impl FnMut(&str, &str, &mut Vec<ChatEvent>) -> Result<()>,
) -> Result<Vec<ChatEvent>> {
    let mut events = Vec::new();
    SseDecoder::default().feed(body, |item| match item {
        SseItem::Event(event) => feed(event.event, event.data, &mut events),
        _ => Ok(()),
    })?;
    Ok(events)
}

fn finished(
    mut events: Vec<ChatEvent>,
    finish: impl FnOnce(&mut Vec<ChatEvent>) -> Result<()>,
) -> Result<Vec<ChatEvent>> {
    finish(&mut events)?;
    Ok(events)
}

/// Both directions of reading; what is measured is checked to work first.
fn decode<Plain: DeserializeOwned, Chunk: DeserializeOwned>(
    sample: &Sample,
    plain: impl Fn(&[u8]) -> Result<ChatResponse>,
    stream: impl Fn(&[u8]) -> Result<Vec<ChatEvent>>,
) -> Result<()> {
    let mut collector = Collector::default();
    for event in stream(&sample.stream)? {
        collector.push(event)?;
    }
    let texts = (plain(&sample.plain)?.text(), collector.finish()?.text());
    if texts.0 != texts.1 || texts.0.is_empty() || !typed::fit::<Plain, Chunk>(sample) {
        return Err(wrong(sample.format));
    }
    let length = sample.plain.len();
    Contest::new(format!(
        "{}: decode a plain answer ({length} bytes)",
        sample.format
    ))
    .peer("serde_json to Value", || {
        serde_json::from_slice::<Value>(&sample.plain)
    })
    .entry("serde_json to structs", || {
        serde_json::from_slice::<Plain>(&sample.plain)
    })
    .entry("llm-wire to ChatResponse", || plain(&sample.plain))
    .run();
    let title = format!(
        "{}: decode a stream of {} chunks ({} bytes)",
        sample.format,
        sample.payloads.len(),
        sample.stream.len()
    );
    Contest::new(title)
        .peer("serde_json to Values", || {
            sample
                .payloads
                .iter()
                .filter(|text| serde_json::from_str::<Value>(text).is_ok())
                .count()
        })
        .entry("serde_json to structs", || {
            sample
                .payloads
                .iter()
                .filter(|text| serde_json::from_str::<Chunk>(text).is_ok())
                .count()
        })
        .entry("llm-wire to ChatEvents", || stream(&sample.stream))
        .run();
    Ok(())
}

fn wrong(format: &str) -> llm_core::Error {
    llm_core::Error::new(
        llm_core::ErrorKind::Internal,
        format!("{format}: the sample is not read as it should be"),
    )
}

/// A conversation with tools to each format.
fn encode() -> Result<()> {
    let request = samples::conversation()?;
    let model = |name: &str| ModelId::new(name).map(ResolvedModel::unknown);
    let (openai, claude, gemini, llama) = (
        model("gpt-6-luna")?,
        model("claude-haiku-5-5")?,
        model("gemini-3.5-flash")?,
        model("qwen4:8b")?,
    );
    let dialect = chat_completions::Dialect::openai();
    encode_one("Chat Completions", "a request", || {
        chat_completions::encode_request(&dialect, &openai, &request, true).map(|encoded| encoded.body)
    })?;
    let dialect = messages::Dialect::anthropic();
    encode_one("Messages", "a request", || {
        messages::encode_request(&dialect, &claude, &request, true).map(|encoded| encoded.body)
    })?;
    let dialect = generate_content::Dialect::gemini();
    encode_one("generateContent", "a request", || {
        generate_content::encode_request(&dialect, &gemini, &request).map(|encoded| encoded.body)
    })?;
    let dialect = ollama::Dialect::ollama();
    encode_one("Ollama", "a request", || {
        ollama::encode_request(&dialect, &llama, &request, true).map(|encoded| encoded.body)
    })?;
    let dialect = responses::Dialect::openai();
    encode_one("Responses", "a request", || {
        responses::encode_request(&dialect, &openai, &request, true).map(|encoded| encoded.body)
    })
}

fn encode_one(format: &str, what: &str, encode: impl Fn() -> Result<Vec<u8>>) -> Result<()> {
    let body = encode()?;
    let tree: Value = serde_json::from_slice(&body).map_err(|_| wrong(format))?;
    Contest::new(format!("{format}: encode {what} ({} bytes)", body.len()))
        .peer("serde_json from a Value", || serde_json::to_vec(&tree))
        .entry("llm-wire from neutral data", encode)
        .run();
    Ok(())
}

/// What a server answers: whole, and event by event.
fn encode_answers() -> Result<()> {
    let sample = samples::chat_completions();
    let dialect = chat_completions::Dialect::openai();
    let response = chat_completions::decode_response(&dialect, options(), &sample.plain)?;
    let events = llm_core::stream::events_of(llm_core::ChatResponse::clone(&response));
    let events = split_text(events);
    let completions = || chat_completions::EncodeOptions::new("c-1", 1_795_900_000, "demo");
    encode_one("Chat Completions", "a plain answer", || {
        Ok(chat_completions::encode_response(&completions(), &response))
    })?;
    let claude = || messages::EncodeOptions::new("m-1", "demo");
    encode_one("Messages", "a plain answer", || {
        Ok(messages::encode_response(&claude(), &response))
    })?;
    encode_stream_one("Chat Completions", &events, || {
        let mut encoder = chat_completions::StreamEncoder::new(completions());
        move |event: &ChatEvent, out: &mut Vec<u8>| encoder.push(event, out)
    })?;
    encode_stream_one("Messages", &events, || {
        let mut encoder = messages::StreamEncoder::new(claude());
        move |event: &ChatEvent, out: &mut Vec<u8>| encoder.push(event, out)
    })?;
    encode_stream_one("generateContent", &events, || {
        let mut encoder =
            generate_content::StreamEncoder::new(generate_content::EncodeOptions::new("g-1", "demo"));
        move |event: &ChatEvent, out: &mut Vec<u8>| encoder.push(event, out)
    })
}

/// The answer's text in pieces of a word, as a stream brings it.
fn split_text(events: Vec<ChatEvent>) -> Vec<ChatEvent> {
    let mut pieces = Vec::new();
    for event in events {
        match event {
            ChatEvent::BlockDelta {
                index,
                delta: llm_core::Delta::Text(text),
            } => {
                pieces.extend(text.split_inclusive(' ').map(|word| ChatEvent::BlockDelta {
                    index,
                    delta: llm_core::Delta::Text(word.to_owned()),
                }));
            }
            other => pieces.push(other),
        }
    }
    pieces
}

fn encode_stream_one<E: FnMut(&ChatEvent, &mut Vec<u8>)>(
    format: &str,
    events: &[ChatEvent],
    encoder: impl Fn() -> E,
) -> Result<()> {
    let written = || {
        let (mut push, mut out) = (encoder(), Vec::new());
        for event in events {
            push(event, &mut out);
        }
        out
    };
    let bytes = written();
    let text = String::from_utf8(bytes).map_err(|_| wrong(format))?;
    let payloads = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let trees: Vec<Value> = payloads
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect();
    if trees.len() < events.len() / 2 {
        return Err(wrong(format));
    }
    Contest::new(format!(
        "{format}: encode a stream of {} chunks ({} bytes)",
        trees.len(),
        text.len()
    ))
    .peer("serde_json from Values", || {
        let mut out = Vec::new();
        for tree in &trees {
            out.extend_from_slice(b"data: ");
            let _ = serde_json::to_writer(&mut out, tree);
            out.extend_from_slice(b"\n\n");
        }
        out
    })
    .entry("llm-wire from neutral data", written)
    .run();
    Ok(())
}
