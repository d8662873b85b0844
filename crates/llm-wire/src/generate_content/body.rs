//! The body of a stream, in whichever framing it comes.

use crate::frame::{DEFAULT_MAX_FRAME_BYTES, JsonArrayDecoder, SseDecoder, SseEvent, SseItem};
use llm_core::Result;
use memchr::memchr;

/// The most bytes that are kept of what stands outside of the framing.
const LONGEST_STRAY: usize = 64 * 1024;

/// Cuts the body of a stream into payloads: server-sent events, or the elements of a JSON array where the stream was
/// not asked for as events. A failure that stands in the body as plain JSON, outside of the framing, is handed out
/// at the end.
///
/// It is used like the decoder of server-sent events, and hands out the same items.
///
/// ```
/// use llm_core::{ChatRequest, ErrorKind, ResponseMeta};
/// use llm_wire::frame::SseItem;
/// use llm_wire::generate_content::{BodyDecoder, DecodeOptions, Dialect, StreamDecoder};
/// let mut body = BodyDecoder::default();
/// let mut decoder = StreamDecoder::new(&Dialect::gemini(), DecodeOptions::default());
/// let mut events = Vec::new();
/// body.feed(b"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel\"}]}}]}\n\n", |item| match item {
///     SseItem::Event(event) => decoder.feed(event.event, event.data, &mut events),
///     _ => Ok(decoder.keep_alive(&mut events)),
/// })?;
/// body.feed(b"{\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}", |_| unreachable!())?;
/// let outcome = body.finish(|item| match item {
///     SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, &mut events),
///     _ => Ok(()),
/// });
/// assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Overloaded);
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct BodyDecoder {
    framing: Framing,
    events: SseDecoder,
    elements: JsonArrayDecoder,
    stray: Stray,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// Nothing came yet that says so.
    Unknown,
    Events,
    Array,
}

/// Lines of plain JSON among events, up to the end of the body.
#[derive(Debug, Default)]
struct Stray {
    mid_line: bool,
    /// Does one begin in what was kept?
    begun: bool,
    kept: Vec<u8>,
}

impl Default for BodyDecoder {
    fn default() -> Self {
        BodyDecoder::new(DEFAULT_MAX_FRAME_BYTES)
    }
}

impl BodyDecoder {
    /// A decoder that takes events and elements of at most so many bytes.
    pub fn new(max_bytes: usize) -> Self {
        BodyDecoder {
            framing: Framing::Unknown,
            events: SseDecoder::new(max_bytes),
            elements: JsonArrayDecoder::new(max_bytes),
            stray: Stray::default(),
        }
    }

    /// Takes the next piece of the body and hands out what is complete.
    ///
    /// # Errors
    /// `Protocol`, when an event or element is larger than the cap; else what `on_item` returned. After an error the
    /// decoder is of no more use.
    pub fn feed(&mut self, piece: &[u8], mut on_item: impl FnMut(SseItem<'_>) -> Result<()>) -> Result<()> {
        let mut piece = piece;
        if self.framing == Framing::Unknown {
            // a byte-order mark and white space in front say nothing
            let begins = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0xEF | 0xBB | 0xBF);
            let Some(start) = piece.iter().position(begins) else {
                return Ok(());
            };
            piece = &piece[start..];
            self.framing = match piece.first() {
                Some(b'[' | b'{') => Framing::Array,
                _ => Framing::Events,
            };
        }
        if self.framing == Framing::Array {
            return self.elements.feed(piece, |element| on_item(event_of(element)));
        }
        self.stray.take(piece);
        self.events.feed(piece, on_item)
    }

    /// Ends the body and hands out what it left unfinished or outside of the framing. What a payload that was cut in
    /// the middle means is the caller's to say.
    ///
    /// # Errors
    /// What `on_item` returned.
    pub fn finish(&mut self, mut on_item: impl FnMut(SseItem<'_>) -> Result<()>) -> Result<()> {
        if self.framing == Framing::Array {
            return self.elements.finish(|element| on_item(event_of(element)));
        }
        self.events.finish(&mut on_item)?;
        let stray = std::mem::take(&mut self.stray.kept);
        if serde_json::from_slice::<serde::de::IgnoredAny>(&stray).is_ok() {
            on_item(event_of(&String::from_utf8_lossy(&stray)))?;
        }
        Ok(())
    }
}

fn event_of(element: &str) -> SseItem<'_> {
    SseItem::Event(SseEvent {
        event: "",
        data: element,
        id: "",
        raw: element.as_bytes(),
    })
}

impl Stray {
    /// Keeps the body from the first line on that begins like a JSON document. Lines of events never do.
    fn take(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !self.begun && !rest.is_empty() {
            if !self.mid_line && matches!(rest.first(), Some(b'{' | b'[')) {
                self.begun = true;
                break;
            }
            let end = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            self.mid_line = rest[end - 1] != b'\n';
            rest = &rest[end..];
        }
        // what is longer was no failure, and cut off it does not parse
        let room = LONGEST_STRAY - self.kept.len();
        self.kept.extend_from_slice(&rest[..rest.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> (Vec<String>, Vec<String>) {
        let bytes: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
        let whole = pieces(&[body.as_bytes()]);
        assert_eq!(pieces(&bytes), whole, "byte by byte: {body}");
        whole
    }

    fn pieces(pieces: &[&[u8]]) -> (Vec<String>, Vec<String>) {
        let mut decoder = BodyDecoder::default();
        let (mut fed, mut left) = (Vec::new(), Vec::new());
        let note = |item: SseItem<'_>, into: &mut Vec<String>| {
            into.push(match item {
                SseItem::Event(event) => event.data.to_owned(),
                _ => ":".to_owned(),
            });
            Ok(())
        };
        for piece in pieces {
            decoder.feed(piece, |item| note(item, &mut fed)).unwrap();
        }
        decoder.finish(|item| note(item, &mut left)).unwrap();
        (fed, left)
    }

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_first_byte_says_which_framing_it_is() {
        assert_eq!(read("\u{feff}data: {}\n\n"), (strings(&["{}"]), strings(&[])));
        assert_eq!(
            read("\u{feff}\n [{},\n{\"a\":1}]"),
            (strings(&["{}", "{\"a\":1}"]), strings(&[]))
        );
        assert_eq!(read("{\"error\":1}"), (strings(&["{\"error\":1}"]), strings(&[])));
        assert_eq!(read(": hi\n\n"), (strings(&[":"]), strings(&[])));
        assert_eq!(read(""), (strings(&[]), strings(&[])));
    }

    #[test]
    fn plain_json_after_events_is_handed_out_at_the_end() {
        let error = "{\n \"error\": {\n  \"code\": 503\n }\n}\n";
        let (fed, left) = read(&format!("data: {{}}\n\n{error}"));
        assert_eq!((fed, left), (strings(&["{}"]), strings(&[error])));
        // what does not parse, and what stands in an event, is none
        assert_eq!(read("data: a\n{\"half\":\n\n").1, strings(&[]));
        assert_eq!(read("data: [1\ndata: {}]\n\n").1, strings(&[]));
    }

    #[test]
    fn what_is_unfinished_is_handed_out_at_the_end() {
        assert_eq!(read("data: {\"a\":1}").1, strings(&["{\"a\":1}"]));
        assert_eq!(read("[{},{\"a\"").1, strings(&["{\"a\""]));
    }
}
