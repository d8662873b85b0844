use super::*;
use llm_core::ErrorKind;

/// Everything a decoder yields, one line an item.
fn items(max: usize, pieces: &[&[u8]]) -> Result<Vec<String>> {
    let mut seen = Vec::new();
    let mut decoder = SseDecoder::new(max);
    let mut note = |item: SseItem<'_>| {
        seen.push(match item {
            SseItem::Comment => "comment".to_owned(),
            SseItem::Event(event) => format!(
                "{}|{}|{}|{}",
                event.event,
                event.data,
                event.id,
                String::from_utf8_lossy(event.raw)
            ),
        });
        Ok(())
    };
    for piece in pieces {
        decoder.feed(piece, &mut note)?;
    }
    decoder.finish(&mut note)?;
    Ok(seen)
}

/// The same for a whole body, which must not depend on any cut.
fn whole(body: &[u8]) -> Vec<String> {
    let expected = items(1000, &[body]).unwrap();
    for cut in 0..=body.len() {
        let cut_once = items(1000, &[&body[..cut], &body[cut..]]).unwrap();
        assert_eq!(cut_once, expected, "cut at {cut} of {body:?}");
    }
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(items(1000, &bytes).unwrap(), expected, "byte by byte: {body:?}");
    expected
}

#[test]
fn all_three_line_ends_may_be_mixed() {
    let events = whole(b"data: a\r\n\r\ndata: b\n\ndata: c\r\rdata: d\r\n\ndata: e\n\r\n");
    let data: Vec<_> = events
        .iter()
        .map(|event| event.split('|').nth(1).unwrap())
        .collect();
    assert_eq!(data, ["a", "b", "c", "d", "e"]);
}

#[test]
fn raw_lines_keep_their_ends_without_the_blank_line() {
    assert_eq!(
        whole(b"event: x\r\n: note\r\ndata: a\r\n\r\n"),
        ["comment", "x|a||event: x\r\n: note\r\ndata: a\r\n"]
    );
}

#[test]
fn data_lines_are_joined_by_line_feeds() {
    assert_eq!(
        whole(b"data: a\ndata\ndata:b\r\ndata:  c\n\n")[0]
            .split('|')
            .nth(1),
        Some("a\n\nb\n c")
    );
}

#[test]
fn an_event_without_data_is_none_and_resets_the_type() {
    assert_eq!(whole(b"event: x\n\ndata: a\n\n"), ["|a||data: a\n"]);
    assert_eq!(whole(b"\n\r\n\r\r\n"), [""; 0]);
}

#[test]
fn empty_data_is_an_event() {
    assert_eq!(whole(b"data:\n\n"), ["|||data:\n"]);
}

#[test]
fn comments_are_proof_of_life() {
    assert_eq!(
        whole(b": one\n:two\r\n\ndata: a\n\n:"),
        ["comment", "comment", "|a||data: a\n", "comment"]
    );
}

#[test]
fn ids_stay_and_null_bytes_do_not_count() {
    assert_eq!(
        whole(b"id: 7\ndata: a\n\nid: 8\0\ndata: b\n\nid\ndata: c\n\n"),
        [
            "|a|7|id: 7\ndata: a\n",
            "|b|7|id: 8\0\ndata: b\n",
            "|c||id\ndata: c\n"
        ]
    );
}

#[test]
fn retry_takes_digits_only() {
    let mut decoder = SseDecoder::default();
    decoder
        .feed(b"retry: 1500\nretry: soon\nretry: +7\nretry:\n", |_| Ok(()))
        .unwrap();
    assert_eq!(decoder.retry(), Some(Duration::from_millis(1500)));
}

#[test]
fn one_leading_byte_order_mark_is_dropped() {
    assert_eq!(whole(b"\xEF\xBB\xBFdata: a\n\n"), ["|a||data: a\n"]);
    assert_eq!(whole(b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n"), [""; 0]);
    assert_eq!(whole(b"data: a\n\n\xEF\xBB\xBFdata: b\n\n"), ["|a||data: a\n"]);
    assert_eq!(whole(b"\xEF\xBBdata: a\ndata: b\n\n").len(), 1);
    assert_eq!(whole(b"\xEF\xBB"), [""; 0]);
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    assert_eq!(
        whole(b"data: \xF0\x9F\xA6\x80 \xFF\n\n")[0].split('|').nth(1),
        Some("\u{1F980} \u{fffd}")
    );
}

#[test]
fn unknown_fields_are_ignored() {
    assert_eq!(
        whole(b"datas: x\ndat\n: c\ndata: a\n\n").last().unwrap(),
        "|a||datas: x\ndat\n: c\ndata: a\n"
    );
}

#[test]
fn the_last_event_may_lack_its_blank_line() {
    assert_eq!(whole(b"data: a\n\ndata: b"), ["|a||data: a\n", "|b||data: b"]);
    assert_eq!(whole(b"data: a\n\nda"), ["|a||data: a\n"]);
}

#[test]
fn the_cap_holds_wherever_the_body_is_cut() {
    let fits = b"data: 01\ndata: 2\n\n";
    let too_long: [&[u8]; 3] = [
        b"data: 01\ndata: 23\n\n",
        b"data: 0123456789x\n\n",
        b"data: 01\n: ab\ndata:",
    ];
    for cut in 0..fits.len() {
        assert_eq!(
            items(17, &[&fits[..cut], &fits[cut..]]).unwrap().len(),
            1,
            "cut at {cut}"
        );
        for body in too_long {
            let cut = cut.min(body.len());
            let error = items(16, &[&body[..cut], &body[cut..]]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol, "cut at {cut} of {body:?}");
        }
    }
}

#[test]
fn comments_alone_never_reach_the_cap() {
    let mut decoder = SseDecoder::new(16);
    for _ in 0..100 {
        decoder.feed(b": keep-", |_| Ok(())).unwrap();
        decoder.feed(b"alive\n", |_| Ok(())).unwrap();
    }
}

#[test]
fn an_event_inside_one_piece_is_not_copied() {
    let body = b"data: abc\n\n".as_slice();
    let mut decoder = SseDecoder::default();
    decoder
        .feed(body, |item| {
            if let SseItem::Event(event) = item {
                assert!(body.as_ptr_range().contains(&event.data.as_ptr()));
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(decoder.buffer.capacity(), 0);
}

#[test]
fn what_is_written_is_read_again() {
    for data in ["", "{}", "a\nb", "a\r\nb", "a\rb\n", " lead", "\n\n", ":x"] {
        let mut out = Vec::new();
        encode_sse_comment("alive\nstill", &mut out);
        encode_sse(Some("kind\nof"), data, &mut out);
        let expected = data.replace("\r\n", "\n").replace('\r', "\n");
        let seen = items(1000, &[&out]).unwrap();
        assert_eq!(seen[..2], ["comment", "comment"]);
        assert!(seen[2].starts_with(&format!("kind|{expected}||")), "{seen:?}");
    }
}
