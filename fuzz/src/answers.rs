//! Reading answers and errors, in every format and dialect.

use crate::{cuts, pick};
use llm_core::stream::events_of;
use llm_core::{ChatEvent, ChatResponse, Collector, Error, Grammar, Result};
use llm_wire::frame::{NdjsonDecoder, SseDecoder, SseItem};
use llm_wire::{DecodeOptions, chat_completions, generate_content, messages, ollama, responses};

pub(crate) fn chat_completions_response(data: &[u8]) {
    let dialect = pick(&completions_dialects(), data).clone();
    let read = |body: &[u8]| chat_completions::decode_response(&dialect, options(data), body);
    let Some(response) = plain(data, read) else { return };
    let answer = chat_completions::EncodeOptions::new("c", 1, "m");
    written_again(
        &response,
        &chat_completions::encode_response(&answer, &response),
        |body| chat_completions::decode_response(&chat_completions::Dialect::openai(), shown(), body),
    );
}

pub(crate) fn chat_completions_stream(data: &[u8]) {
    let dialect = pick(&completions_dialects(), data).clone();
    stream(data, |pieces, events| {
        let mut frames = SseDecoder::new(1 << 16);
        let mut decoder = chat_completions::StreamDecoder::new(&dialect, options(data));
        let fed = pieces.iter().try_for_each(|piece| {
            frames.feed(piece, |item| match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, events),
                _ => Ok(decoder.keep_alive(events)),
            })
        });
        let ended = fed.and_then(|()| {
            frames.finish(|item| match item {
                SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, events),
                _ => Ok(()),
            })
        });
        let outcome = ended.and_then(|()| decoder.finish(events));
        if outcome.is_err() {
            decoder.interrupt(events);
        }
        outcome
    });
}

pub(crate) fn messages_response(data: &[u8]) {
    let dialects = [messages::Dialect::anthropic(), messages::Dialect::bedrock()];
    let dialect = pick(&dialects, data);
    let read = |body: &[u8]| messages::decode_response(dialect, options(data), body);
    let Some(response) = plain(data, read) else { return };
    let answer = messages::EncodeOptions::new("m", "m");
    written_again(
        &response,
        &messages::encode_response(&answer, &response),
        |body| messages::decode_response(&messages::Dialect::anthropic(), shown(), body),
    );
}

pub(crate) fn messages_stream(data: &[u8]) {
    let dialects = [messages::Dialect::anthropic(), messages::Dialect::bedrock()];
    let dialect = pick(&dialects, data);
    stream(data, |pieces, events| {
        let mut frames = SseDecoder::new(1 << 16);
        let mut decoder = messages::StreamDecoder::new(dialect, options(data));
        let fed = pieces.iter().try_for_each(|piece| {
            frames.feed(piece, |item| match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, events),
                _ => Ok(decoder.keep_alive(events)),
            })
        });
        let ended = fed.and_then(|()| {
            frames.finish(|item| match item {
                SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, events),
                _ => Ok(()),
            })
        });
        let outcome = ended.and_then(|()| decoder.finish(events));
        if outcome.is_err() {
            decoder.interrupt(events);
        }
        outcome
    });
}

pub(crate) fn generate_content_response(data: &[u8]) {
    let dialects = [
        generate_content::Dialect::gemini(),
        generate_content::Dialect::vertex(),
    ];
    let dialect = pick(&dialects, data);
    plain(data, |body| {
        generate_content::decode_response(dialect, options(data), body)
    });
}

pub(crate) fn generate_content_stream(data: &[u8]) {
    let dialects = [
        generate_content::Dialect::gemini(),
        generate_content::Dialect::vertex(),
    ];
    let dialect = pick(&dialects, data);
    stream(data, |pieces, events| {
        let mut frames = generate_content::BodyDecoder::new(1 << 16);
        let mut decoder = generate_content::StreamDecoder::new(dialect, options(data));
        let fed = pieces.iter().try_for_each(|piece| {
            frames.feed(piece, |item| match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, events),
                _ => Ok(decoder.keep_alive(events)),
            })
        });
        let ended = fed.and_then(|()| {
            frames.finish(|item| match item {
                SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, events),
                _ => Ok(()),
            })
        });
        let outcome = ended.and_then(|()| decoder.finish(events));
        if outcome.is_err() {
            decoder.interrupt(events);
        }
        outcome
    });
}

pub(crate) fn ollama_response(data: &[u8]) {
    plain(data, |body| {
        ollama::decode_response(&ollama::Dialect::ollama(), options(data), body)
    });
}

pub(crate) fn ollama_stream(data: &[u8]) {
    let mut dialect = ollama::Dialect::ollama();
    dialect.extract_think_tags = data.len() % 3 == 0;
    stream(data, |pieces, events| {
        let mut lines = NdjsonDecoder::new(1 << 16);
        let mut decoder = ollama::StreamDecoder::new(&dialect, options(data));
        let fed = pieces
            .iter()
            .try_for_each(|piece| lines.feed(piece, |line| decoder.feed(line, events)));
        let ended = fed.and_then(|()| lines.finish(|line| decoder.feed_unterminated(line, events)));
        let outcome = ended.and_then(|()| decoder.finish(events));
        if outcome.is_err() {
            decoder.interrupt(events);
        }
        outcome
    });
}

pub(crate) fn responses_response(data: &[u8]) {
    let dialects = [responses::Dialect::openai(), responses::Dialect::compatible()];
    let dialect = pick(&dialects, data);
    plain(data, |body| {
        responses::decode_response(dialect, options(data), body)
    });
}

pub(crate) fn responses_stream(data: &[u8]) {
    let dialects = [responses::Dialect::openai(), responses::Dialect::compatible()];
    let dialect = pick(&dialects, data);
    stream(data, |pieces, events| {
        let mut frames = SseDecoder::new(1 << 16);
        let mut decoder = responses::StreamDecoder::new(dialect, options(data));
        let fed = pieces.iter().try_for_each(|piece| {
            frames.feed(piece, |item| match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, events),
                _ => Ok(decoder.keep_alive(events)),
            })
        });
        let ended = fed.and_then(|()| {
            frames.finish(|item| match item {
                SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, events),
                _ => Ok(()),
            })
        });
        let outcome = ended.and_then(|()| decoder.finish(events));
        if outcome.is_err() {
            decoder.interrupt(events);
        }
        outcome
    });
}

/// Bodies of errors, under some status or inside a 200.
pub(crate) fn errors(data: &[u8]) {
    let statuses = [
        None,
        Some(0),
        Some(400),
        Some(401),
        Some(402),
        Some(403),
        Some(404),
        Some(413),
        Some(429),
        Some(529),
    ];
    let status = *pick(&statuses, data);
    for error in [
        chat_completions::decode_error(&chat_completions::Dialect::openai(), status, data),
        messages::decode_error(&messages::Dialect::anthropic(), status, data),
        generate_content::decode_error(&generate_content::Dialect::gemini(), status, data),
        ollama::decode_error(&ollama::Dialect::ollama(), status, data),
        responses::decode_error(&responses::Dialect::openai(), status, data),
    ] {
        checked(&error);
        let (code, body) = chat_completions::encode_error(&error);
        assert!((400..600).contains(&code), "{code}");
        checked(&chat_completions::decode_error(
            &chat_completions::Dialect::openai(),
            Some(code),
            &body,
        ));
        let (code, body) = messages::encode_error(&error);
        assert!((400..600).contains(&code), "{code}");
        checked(&messages::decode_error(
            &messages::Dialect::anthropic(),
            Some(code),
            &body,
        ));
    }
}

/// An error can be shown, in one line.
fn checked(error: &Error) {
    let text = error.to_string();
    assert!(!text.is_empty() && !error.message().contains('\n'), "{text:?}");
}

fn completions_dialects() -> [chat_completions::Dialect; 7] {
    use chat_completions::Dialect;
    let mut splitting = Dialect::compatible();
    splitting.extract_think_tags = true;
    splitting.replay_reasoning_field = Some("reasoning_content");
    [
        Dialect::openai(),
        Dialect::compatible(),
        splitting,
        Dialect::mistral(),
        Dialect::groq(),
        Dialect::deepseek(),
        Dialect::kimi(),
    ]
}

/// With and without thoughts, by the input.
fn options(data: &[u8]) -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = data.len() % 2 == 0;
    options
}

fn shown() -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.include_reasoning = true;
    options
}

/// A plain answer, if it is one: its events obey the grammar and fold to it again.
fn plain(data: &[u8], read: impl Fn(&[u8]) -> Result<ChatResponse>) -> Option<ChatResponse> {
    let response = match read(data) {
        Ok(response) => response,
        Err(error) => {
            checked(&error);
            return None;
        }
    };
    let events = events_of(response.clone());
    obey(&events, true);
    let folded = fold(events).unwrap_or_else(|error| panic!("its own events do not fold: {error}"));
    assert_eq!(
        format!("{folded:?}"),
        format!("{response:?}"),
        "folded again it is something else"
    );
    Some(response)
}

/// Written as an answer of ours and read again, it says the same.
fn written_again(response: &ChatResponse, body: &[u8], read: impl Fn(&[u8]) -> Result<ChatResponse>) {
    let again = read(body).unwrap_or_else(|error| {
        panic!(
            "what was written cannot be read: {error}: {}",
            String::from_utf8_lossy(body)
        )
    });
    assert_eq!(again.text(), response.text(), "{}", String::from_utf8_lossy(body));
    let calls = |response: &ChatResponse| {
        response
            .tool_calls()
            .map(|call| call.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        calls(&again),
        calls(response),
        "{}",
        String::from_utf8_lossy(body)
    );
}

fn stream(data: &[u8], read: impl Fn(&[&[u8]], &mut Vec<ChatEvent>) -> Result<()>) {
    let outcomes = cuts(data).map(|pieces| {
        let mut events = Vec::new();
        let outcome = read(&pieces, &mut events).map_err(|error| {
            checked(&error);
            (error.kind(), error.message().to_owned())
        });
        obey(&events, outcome.is_ok());
        (events, outcome)
    });
    for cut in &outcomes[1..] {
        assert_eq!(
            &outcomes[0], cut,
            "a body cut in pieces gives something else than the whole"
        );
    }
    let (events, outcome) = &outcomes[0];
    let size: usize = events.iter().map(|event| format!("{event:?}").len()).sum();
    assert!(
        size <= 65_536 + 64 * data.len(),
        "{size} bytes of events from {}",
        data.len()
    );
    if outcome.is_ok() {
        fold(events.clone()).unwrap_or_else(|error| panic!("legal events do not fold: {error}"));
    }
}

fn obey(events: &[ChatEvent], complete: bool) {
    let mut grammar = Grammar::default();
    for event in events {
        if let Err(broken) = grammar.check(event) {
            panic!("{broken}: {event:?} in {events:?}");
        }
    }
    let end = if complete { grammar.end() } else { grammar.fail() };
    end.unwrap_or_else(|broken| panic!("{broken}: {events:?}"));
}

fn fold(events: Vec<ChatEvent>) -> Result<ChatResponse> {
    let mut collector = Collector::default();
    for event in events {
        collector.push(event)?;
    }
    collector.finish()
}
