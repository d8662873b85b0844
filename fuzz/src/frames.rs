//! Cutting bodies into events, lines and elements.

use crate::cuts;
use llm_core::{ErrorKind, Result};
use llm_wire::frame::{JsonArrayDecoder, NdjsonDecoder, SseDecoder, SseItem};
use llm_wire::generate_content::BodyDecoder;
use std::fmt::Debug;

/// Small, so that the cap is met too.
const CAP: usize = 256;

pub(crate) fn sse(data: &[u8]) {
    same_for_all_cuts(data, |pieces, out| {
        let mut decoder = SseDecoder::new(CAP);
        let fed = pieces.iter().try_for_each(|piece| {
            decoder.feed(piece, |item| {
                out.push(shown(&item));
                Ok(())
            })
        });
        fed.and_then(|()| {
            decoder.finish(|item| {
                out.push(shown(&item));
                Ok(())
            })
        })
    });
}

pub(crate) fn ndjson(data: &[u8]) {
    same_for_all_cuts(data, |pieces, out| {
        let mut decoder = NdjsonDecoder::new(CAP);
        let mut keep = |line: &str| {
            out.push(line.to_owned());
            Ok(())
        };
        let fed = pieces.iter().try_for_each(|piece| decoder.feed(piece, &mut keep));
        fed.and_then(|()| decoder.finish(&mut keep))
    });
}

pub(crate) fn json_array(data: &[u8]) {
    same_for_all_cuts(data, |pieces, out| {
        let mut decoder = JsonArrayDecoder::new(CAP);
        let mut keep = |element: &str| {
            out.push(element.to_owned());
            Ok(())
        };
        let fed = pieces.iter().try_for_each(|piece| decoder.feed(piece, &mut keep));
        fed.and_then(|()| decoder.finish(&mut keep))
    });
}

pub(crate) fn generate_content(data: &[u8]) {
    same_for_all_cuts(data, |pieces, out| {
        let mut decoder = BodyDecoder::new(CAP);
        let fed = pieces.iter().try_for_each(|piece| {
            decoder.feed(piece, |item| {
                out.push(data_of(&item));
                Ok(())
            })
        });
        fed.and_then(|()| {
            decoder.finish(|item| {
                out.push(data_of(&item));
                Ok(())
            })
        })
    });
}

fn shown(item: &SseItem<'_>) -> String {
    match item {
        SseItem::Event(event) => format!(
            "{} {} {} {:?}",
            event.event,
            event.id,
            event.data,
            event.raw.len()
        ),
        _ => "comment".to_owned(),
    }
}

fn data_of(item: &SseItem<'_>) -> String {
    match item {
        SseItem::Event(event) => event.data.to_owned(),
        _ => String::new(),
    }
}

fn same_for_all_cuts(data: &[u8], read: impl Fn(&[&[u8]], &mut Vec<String>) -> Result<()>) {
    let outcomes = cuts(data).map(|pieces| {
        let mut out = Vec::new();
        let outcome = read(&pieces, &mut out);
        (out, outcome.err().map(|error| error.kind()))
    });
    let (whole, failure) = &outcomes[0];
    assert!(matches!(failure, None | Some(ErrorKind::Protocol)), "{failure:?}");
    for (cut, failed) in &outcomes[1..] {
        assert_same(failure, failed);
        if failure.is_none() {
            assert_same(whole, cut);
        }
    }
    // Half of what is not UTF-8 becomes three bytes, and each event may repeat the last id.
    assert!(
        whole.iter().all(|item| item.len() <= 16 * CAP),
        "an item is larger than its cap"
    );
}

fn assert_same<T: PartialEq + Debug>(whole: &T, cut: &T) {
    assert_eq!(
        whole, cut,
        "a body cut in pieces gives something else than the whole"
    );
}
