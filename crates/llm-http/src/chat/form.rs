//! In which form an answer comes: whole, or as a stream of one of the kinds its format has. What the host calls it
//! is believed; where it says nothing, or what could be either, the first bytes decide.

use crate::exchange::{CallFacts, Exchange};
use crate::transport::Body;
use bytes::Bytes;
use futures_core::Stream;
use llm_core::{Framing, Result};
use serde::de::IgnoredAny;
use std::pin::Pin;
use std::task::{Context, Poll};

/// An answer to a stream call.
pub(super) enum Opened {
    Stream(Framing, CallFacts, Body),
    Whole(CallFacts, Bytes),
}

/// What is asked for in `accept`.
pub(super) fn media_type(framing: Framing) -> &'static str {
    match framing {
        Framing::Events => "text/event-stream",
        Framing::Lines => "application/x-ndjson",
        _ => "application/json",
    }
}

/// The framing that a media type names, among those that can be read.
pub(super) fn labelled(media_type: &str, framings: &[Framing]) -> Option<Framing> {
    let named = match media_type {
        "text/event-stream" => Framing::Events,
        "application/x-ndjson"
        | "application/ndjson"
        | "application/jsonl"
        | "application/x-jsonlines"
        | "application/jsonlines" => Framing::Lines,
        _ => return None,
    };
    framings.contains(&named).then_some(named)
}

/// Finds out in which form the answer to a stream call comes; a whole one is read to its end.
pub(super) async fn open(exchange: Exchange, framings: &[Framing], max_body: usize) -> Result<Opened> {
    let (is_json, framing) = {
        let media_type = exchange.media_type();
        let is_json = media_type == "application/json" || media_type.ends_with("+json");
        (is_json, labelled(&media_type, framings))
    };
    if let Some(framing) = framing {
        let (facts, body) = exchange.stream();
        return Ok(Opened::Stream(framing, facts, body));
    }
    // Events are never called JSON. Lines and arrays are.
    if is_json && framings == [Framing::Events] {
        let (facts, body) = exchange.read().await?;
        return Ok(Opened::Whole(facts, body));
    }
    let (facts, mut body) = exchange.stream();
    let first = loop {
        match body.next_piece().await {
            Ok(Some(piece)) if piece.trim_ascii().is_empty() => {}
            Ok(piece) => break piece.unwrap_or_default(),
            Err(error) => return Err(facts.annotate(error, &[], [])),
        }
    };
    let begun = framings.iter().find(|framing| begins(&first, **framing)).copied();
    let body = Body::new(Resumed {
        first: Some(first),
        rest: body,
    });
    if let Some(framing) = begun {
        return Ok(Opened::Stream(framing, facts, body));
    }
    match body.read_all(max_body).await {
        Ok(body) => Ok(Opened::Whole(facts, body)),
        Err(error) => Err(facts.annotate(error, &[], [])),
    }
}

/// The framing of a whole body that is a stream all the same.
pub(super) fn of_whole(body: &[u8], framings: &[Framing]) -> Option<Framing> {
    let is = |framing: Framing| match framing {
        // One line alone is a whole answer.
        Framing::Lines => {
            first_line(body).is_some_and(|(line, rest)| !rest.trim_ascii().is_empty() && is_json(line))
        }
        framing => begins(body, framing),
    };
    framings.iter().copied().find(|framing| is(*framing))
}

/// Does a body begin like this, rather than like a whole answer?
fn begins(first: &[u8], framing: Framing) -> bool {
    let start = start_of(first);
    match framing {
        Framing::Events => [&b"data:"[..], b"event:", b"id:", b"retry:", b":"]
            .iter()
            .any(|field| start.starts_with(field)),
        Framing::Lines => first_line(first).is_some_and(|(line, _)| is_json(line)),
        Framing::Array => start.starts_with(b"["),
        _ => false,
    }
}

/// Without white space and a byte-order mark.
fn start_of(body: &[u8]) -> &[u8] {
    let start = body.trim_ascii_start();
    start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start)
}

/// The first line that is not blank, if its end is there, and what follows it.
fn first_line(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = start_of(body);
    let end = start.iter().position(|byte| *byte == b'\n')?;
    Some((&start[..end], &start[end + 1..]))
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// A body after what was read of it already.
struct Resumed {
    first: Option<Bytes>,
    rest: Body,
}

impl Stream for Resumed {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => Pin::new(&mut self.rest).poll_next(task),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_streams_are_told_from_json() {
        for events in [
            "data: {}",
            "\n\r\n: comment",
            "event: x\ndata: 1",
            "\u{feff}data: 1",
        ] {
            assert!(begins(events.as_bytes(), Framing::Events), "{events}");
        }
        for other in ["{}", "  [1]", "", "<html>", "\"data: \""] {
            assert!(!begins(other.as_bytes(), Framing::Events), "{other}");
        }
    }

    #[test]
    fn lines_and_arrays_are_told_from_one_object() {
        let whole = |body: &str| of_whole(body.as_bytes(), &[Framing::Lines, Framing::Array]);
        assert_eq!(whole("{\"a\":1}\n{\"a\":2}\n"), Some(Framing::Lines));
        assert_eq!(whole("\n{\"a\":1}\r\n{\"a\""), Some(Framing::Lines));
        assert_eq!(whole(" [{\"a\":1}\n]"), Some(Framing::Array));
        for one in ["{\"a\":1}", "{\"a\":1}\n\n", "{\n  \"a\": 1\n}\n", ""] {
            assert_eq!(whole(one), None, "{one}");
        }
        // The first line of a stream call may be all that is there yet.
        assert!(begins(b"{\"a\":1}\n", Framing::Lines));
        assert!(!begins(b"{\n\"a\":1}\n", Framing::Lines) && !begins(b"{\"a\"", Framing::Lines));
    }

    #[test]
    fn a_label_counts_where_its_form_can_be_read() {
        let of = |label: &str, framings: &[Framing]| labelled(label, framings);
        assert_eq!(of("text/event-stream", &[Framing::Events]), Some(Framing::Events));
        assert_eq!(of("text/event-stream", &[Framing::Lines]), None);
        assert_eq!(
            of("application/x-ndjson", &[Framing::Lines]),
            Some(Framing::Lines)
        );
        assert_eq!(of("application/json", &[Framing::Lines, Framing::Array]), None);
    }
}
