//! Cutting bytes into frames.

use llm_wire::frame::{NdjsonDecoder, SseDecoder, SseItem, encode_ndjson, encode_sse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Pieces that bodies of event streams are made of, and some that they are not.
fn sse_body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"data: ".to_vec()),
        2 => Just(b"data:".to_vec()),
        1 => Just(b"data".to_vec()),
        1 => Just(b"event: ping".to_vec()),
        1 => Just(b"id: 7".to_vec()),
        1 => Just(b"retry: 10".to_vec()),
        1 => Just(b": comment".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        3 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        2 => Just("{\"a\":\"\u{1F980}\"}".as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Cuts bytes at these places.
fn cut<'b>(body: &'b [u8], cuts: &[Index]) -> Vec<&'b [u8]> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    places.sort_unstable();
    let mut pieces = Vec::new();
    let mut start = 0;
    for place in places {
        pieces.push(&body[start..place]);
        start = place;
    }
    pieces.push(&body[start..]);
    pieces
}

#[derive(Debug, PartialEq)]
enum Item {
    Comment,
    Event {
        event: String,
        data: String,
        id: String,
        raw: Option<Vec<u8>>,
    },
}

/// Everything a decoder yields, up to an error.
fn items(max_bytes: usize, pieces: &[&[u8]]) -> (Vec<Item>, bool) {
    let mut seen = Vec::new();
    let mut take = |item: SseItem<'_>| {
        seen.push(match item {
            SseItem::Event(event) => Item::Event {
                event: event.event.to_owned(),
                data: event.data.to_owned(),
                id: event.id.to_owned(),
                raw: Some(event.raw.to_owned()),
            },
            _ => Item::Comment,
        });
        Ok(())
    };
    let mut decoder = SseDecoder::new(max_bytes);
    let fed = pieces.iter().try_for_each(|piece| decoder.feed(piece, &mut take));
    let failed = fed.and_then(|()| decoder.finish(&mut take)).is_err();
    (seen, failed)
}

/// The standard's algorithm as it is written there, slow and on the whole body; without raw bytes.
fn standard(body: &[u8]) -> Vec<Item> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut bytes = body.iter().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' => {
                bytes.next_if_eq(&&b'\n');
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            other => lines.last_mut().unwrap().push(*other),
        }
    }
    // ours, not the standard's: the last event needs no blank line
    lines.push(Vec::new());
    let (mut items, mut event, mut data, mut id) = (Vec::new(), String::new(), String::new(), String::new());
    for line in lines {
        let line = String::from_utf8_lossy(&line).into_owned();
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" if line.is_empty() => {
                if let Some(data) = data.strip_suffix('\n') {
                    items.push(Item::Event {
                        event: event.clone(),
                        data: data.to_owned(),
                        id: id.clone(),
                        raw: None,
                    });
                }
                event.clear();
                data.clear();
            }
            "" => items.push(Item::Comment),
            "event" => event = value.to_owned(),
            "data" => data = format!("{data}{value}\n"),
            "id" if !value.contains('\0') => id = value.to_owned(),
            _ => {}
        }
    }
    items
}

proptest! {
    #[test]
    fn any_cut_of_a_stream_gives_the_same_items(body in sse_body(), cuts in vec(any::<Index>(), 0..6)) {
        let whole = items(1 << 20, &[&body]);
        prop_assert_eq!(&items(1 << 20, &cut(&body, &cuts)), &whole);
        let bytes: Vec<_> = body.chunks(1).collect();
        prop_assert_eq!(&items(1 << 20, &bytes), &whole);
    }

    #[test]
    fn the_cap_is_met_at_the_same_event_whatever_the_cut(
        body in sse_body(),
        cuts in vec(any::<Index>(), 0..6),
        max_bytes in 0_usize..40,
    ) {
        prop_assert_eq!(items(max_bytes, &cut(&body, &cuts)), items(max_bytes, &[&body]));
    }

    #[test]
    fn the_items_are_those_of_the_standard(body in sse_body()) {
        let mut seen = items(1 << 20, &[&body]).0;
        for item in &mut seen {
            if let Item::Event { raw, .. } = item {
                *raw = None;
            }
        }
        prop_assert_eq!(seen, standard(&body));
    }

    #[test]
    fn raw_events_put_together_are_the_same_stream(body in sse_body()) {
        let seen = items(1 << 20, &[&body]).0;
        // a line end first, so that a byte-order mark inside the first event stays one inside
        let mut again = b"\n".to_vec();
        for item in &seen {
            if let Item::Event { raw: Some(raw), .. } = item {
                again.extend_from_slice(raw);
                again.extend_from_slice(b"\n\n");
            }
        }
        let data = |items: Vec<Item>| -> Vec<_> {
            items
                .into_iter()
                .filter_map(|item| match item {
                    Item::Event { event, data, .. } => Some((event, data)),
                    Item::Comment => None,
                })
                .collect()
        };
        prop_assert_eq!(data(items(1 << 20, &[&again]).0), data(seen));
    }

    #[test]
    fn written_events_are_read_again(
        events in vec((proptest::option::of("[a-z_]{1,9}"), "\\PC*|[\r\n: x]{0,9}"), 0..5),
        cuts in vec(any::<Index>(), 0..4),
    ) {
        let mut body = Vec::new();
        for (event, data) in &events {
            encode_sse(event.as_deref(), data, &mut body);
        }
        let expected: Vec<_> = events
            .into_iter()
            .map(|(event, data)| (event.unwrap_or_default(), data.replace("\r\n", "\n").replace('\r', "\n")))
            .collect();
        let (seen, failed) = items(1 << 20, &cut(&body, &cuts));
        let seen: Vec<_> = seen
            .into_iter()
            .map(|item| match item {
                Item::Event { event, data, .. } => (event, data),
                Item::Comment => panic!("there is no comment"),
            })
            .collect();
        prop_assert!(!failed);
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn any_cut_of_lines_gives_the_same_lines(
        body in vec(prop_oneof![Just(b"\n".to_vec()), Just(b"\r\n".to_vec()), vec(any::<u8>(), 0..5)], 0..30),
        cuts in vec(any::<Index>(), 0..6),
        max_bytes in prop_oneof![Just(1 << 20), 0_usize..20],
    ) {
        let body = body.concat();
        prop_assert_eq!(lines(max_bytes, &cut(&body, &cuts)), lines(max_bytes, &[&body]));
    }

    #[test]
    fn written_lines_are_read_again(values in vec("[a-z{}\":]{1,9}", 0..5)) {
        let mut body = Vec::new();
        for value in &values {
            encode_ndjson(value, &mut body);
        }
        prop_assert_eq!(lines(1 << 20, &[&body]), (values, false));
    }
}

fn lines(max_bytes: usize, pieces: &[&[u8]]) -> (Vec<String>, bool) {
    let mut seen = Vec::new();
    let mut take = |line: &str| {
        seen.push(line.to_owned());
        Ok(())
    };
    let mut decoder = NdjsonDecoder::new(max_bytes);
    let fed = pieces.iter().try_for_each(|piece| decoder.feed(piece, &mut take));
    let failed = fed.and_then(|()| decoder.finish(&mut take)).is_err();
    (seen, failed)
}
