//! Server-sent events, to the rules of the WHATWG HTML standard (section 9.2.6, state of 2026-11-29), with
//! one addition: the last event of a body that ends without a blank line is handed out by
//! [`SseDecoder::finish`] instead of being thrown away, because it usually holds the finish reason.

mod encode;

use super::{DEFAULT_MAX_FRAME_BYTES, text_of, too_large};
use llm_core::Result;
use memchr::memchr2;
use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

pub use encode::{encode_sse, encode_sse_comment};

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// What an event stream yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem<'a> {
    /// An event.
    Event(SseEvent<'a>),
    /// A comment line: proof of life and nothing else.
    Comment,
}

/// One event. It borrows from the piece it came in when it lay whole in that piece, else from the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent<'a> {
    /// Its type; empty means `message`.
    pub event: &'a str,
    /// Its data lines, joined by LF. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub data: &'a str,
    /// The last event id that the stream named, in this event or before it; empty: none.
    pub id: &'a str,
    /// The lines of the event as they came, line ends included, without the blank line that ends it. To pass
    /// an event on, write this and two line feeds: that ends it whatever its last line ends in.
    pub raw: &'a [u8],
}

/// Cuts a body into events, whatever the pieces it comes in.
///
/// ```
/// use llm_wire::frame::{SseDecoder, SseItem};
/// let mut decoder = SseDecoder::default();
/// let mut seen = Vec::new();
/// for piece in [": hello\n\ndata: {\"a\"", ":1}\r\n\r", "\ndata: [DONE]"] {
///     decoder.feed(piece.as_bytes(), |item| {
///         if let SseItem::Event(event) = item {
///             seen.push(event.data.to_owned());
///         }
///         Ok(())
///     })?;
/// }
/// assert_eq!(seen, ["{\"a\":1}"]);
/// decoder.finish(|item| {
///     assert!(matches!(item, SseItem::Event(event) if event.data == "[DONE]"));
///     Ok(())
/// })?;
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    max_bytes: usize,
    /// How many bytes of the byte-order mark were seen; `None`: the start of the body is over.
    mark_seen: Option<usize>,
    /// The last piece ended in CR: an LF at the start of the next one belongs to it.
    after_carriage_return: bool,
    /// The bytes of the unfinished event. Empty while events lie whole in their pieces.
    buffer: Vec<u8>,
    block: Block,
    last_id: String,
    retry: Option<Duration>,
}

/// What is known of the event that is being read. Positions count from the event's first byte, so they hold
/// in the piece and in the buffer alike.
#[derive(Debug, Default)]
struct Block {
    line_start: usize,
    event: Option<Range<usize>>,
    data: Data,
    /// Two or more data lines, joined. Reused from event to event.
    joined: Vec<u8>,
}

#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    /// One line: it stays where it lies.
    Line(Range<usize>),
    /// Several: they are in `joined`.
    Joined,
}

enum Line {
    /// Part of the event.
    Part,
    Comment,
    /// Blank: the event is over.
    End,
}

impl Default for SseDecoder {
    fn default() -> Self {
        SseDecoder::new(DEFAULT_MAX_FRAME_BYTES)
    }
}

impl SseDecoder {
    /// A decoder that takes events of at most so many bytes, line ends and field names included.
    pub fn new(max_event_bytes: usize) -> Self {
        SseDecoder {
            max_bytes: max_event_bytes,
            mark_seen: Some(0),
            after_carriage_return: false,
            buffer: Vec::new(),
            block: Block::default(),
            last_id: String::new(),
            retry: None,
        }
    }

    /// The pause before reconnecting that the stream asked for, if it did.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes the next piece of the body and hands out what is complete.
    ///
    /// # Errors
    /// `Protocol`, when an event is larger than the cap; else what `on_item` returned. After an error the
    /// decoder is of no more use.
    pub fn feed(&mut self, piece: &[u8], mut on_item: impl FnMut(SseItem<'_>) -> Result<()>) -> Result<()> {
        let mut rest = self.skip_mark(piece);
        if let (true, Some(first)) = (self.after_carriage_return, rest.first()) {
            self.after_carriage_return = false;
            if *first == b'\n' {
                rest = &rest[1..];
                if !self.buffer.is_empty() {
                    self.buffer.push(b'\n');
                    self.block.line_start = self.buffer.len();
                }
            }
        }
        if !self.buffer.is_empty() {
            rest = self.complete_buffered(rest, &mut on_item)?;
        }
        self.feed_whole(rest, &mut on_item)
    }

    /// Ends the body. An event without its blank line is handed out if it has data; what a payload that was
    /// cut in the middle means is the caller's to say.
    ///
    /// # Errors
    /// What `on_item` returned.
    pub fn finish(&mut self, mut on_item: impl FnMut(SseItem<'_>) -> Result<()>) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let length = buffer.len();
        if self.block.line_start < length
            && let Line::Comment = self.read_line(&buffer, length)
        {
            on_item(SseItem::Comment)?;
        }
        let outcome = self.dispatch(&buffer, length, &mut on_item);
        buffer.clear();
        self.buffer = buffer;
        outcome
    }

    /// Drops one byte-order mark at the very start of the body, also when it comes in pieces.
    fn skip_mark<'p>(&mut self, mut piece: &'p [u8]) -> &'p [u8] {
        while let (Some(seen), Some(first)) = (self.mark_seen, piece.first()) {
            if *first == BYTE_ORDER_MARK[seen] {
                piece = &piece[1..];
                self.mark_seen = (seen + 1 < BYTE_ORDER_MARK.len()).then_some(seen + 1);
            } else {
                self.buffer.extend_from_slice(&BYTE_ORDER_MARK[..seen]);
                self.mark_seen = None;
            }
        }
        piece
    }

    /// Adds lines to the buffered event until it is complete. Returns what is left of the piece; nothing is
    /// left while the event is not complete.
    fn complete_buffered<'p>(
        &mut self,
        piece: &'p [u8],
        on_item: &mut impl FnMut(SseItem<'_>) -> Result<()>,
    ) -> Result<&'p [u8]> {
        let mut rest = piece;
        while let Some(length) = memchr2(b'\n', b'\r', rest) {
            let after = self.after_line_end(rest, length);
            let end = self.buffer.len() + length;
            self.buffer.extend_from_slice(&rest[..after]);
            rest = &rest[after..];
            self.check_size(end)?;
            let mut buffer = std::mem::take(&mut self.buffer);
            let line_start = self.block.line_start;
            let line = self.read_line(&buffer, end);
            self.block.line_start = buffer.len();
            let done = match line {
                Line::Part => false,
                Line::Comment => {
                    on_item(SseItem::Comment)?;
                    line_start == 0
                }
                Line::End => {
                    self.dispatch(&buffer, end, on_item)?;
                    true
                }
            };
            if done {
                buffer.clear();
                self.block.reset();
            }
            self.buffer = buffer;
            if done {
                return Ok(rest);
            }
        }
        self.buffer.extend_from_slice(rest);
        self.check_size(self.buffer.len())?;
        Ok(&[])
    }

    /// Reads events that lie whole in the piece, without copying, and keeps what is unfinished at its end.
    fn feed_whole(
        &mut self,
        piece: &[u8],
        on_item: &mut impl FnMut(SseItem<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut rest = piece;
        let mut scanned = 0;
        while let Some(length) = memchr2(b'\n', b'\r', &rest[scanned..]) {
            let end = scanned + length;
            let after = self.after_line_end(rest, end);
            self.check_size(end)?;
            let line_start = self.block.line_start;
            let line = self.read_line(rest, end);
            self.block.line_start = after;
            scanned = after;
            let done = match line {
                Line::Part => false,
                Line::Comment => {
                    on_item(SseItem::Comment)?;
                    line_start == 0
                }
                Line::End => {
                    self.dispatch(rest, end, on_item)?;
                    true
                }
            };
            if done {
                rest = &rest[after..];
                scanned = 0;
                self.block.reset();
            }
        }
        self.check_size(rest.len())?;
        self.buffer.extend_from_slice(rest);
        Ok(())
    }

    /// Where the next line starts, when a line ends at `end`.
    fn after_line_end(&mut self, bytes: &[u8], end: usize) -> usize {
        if bytes[end] == b'\n' {
            return end + 1;
        }
        match bytes.get(end + 1) {
            Some(b'\n') => end + 2,
            Some(_) => end + 1,
            None => {
                self.after_carriage_return = true;
                end + 1
            }
        }
    }

    fn check_size(&self, length: usize) -> Result<()> {
        if length > self.max_bytes {
            Err(too_large("an event of the stream", self.max_bytes))
        } else {
            Ok(())
        }
    }

    /// Takes in the line that begins at the block's `line_start`. `bytes` begins with the event.
    fn read_line(&mut self, bytes: &[u8], end: usize) -> Line {
        let start = self.block.line_start;
        let line = &bytes[start..end];
        let (name, value) = match line {
            [] => return Line::End,
            [b':', ..] => return Line::Comment,
            // The field of nearly every line; anything else is looked at more slowly.
            [b'd', b'a', b't', b'a', b':', b' ', ..] => (&line[..4], start + 6..end),
            _ => match memchr::memchr(b':', line) {
                Some(colon) => {
                    let space = usize::from(line.get(colon + 1) == Some(&b' '));
                    (&line[..colon], start + colon + 1 + space..end)
                }
                None => (line, end..end),
            },
        };
        match name {
            b"data" => self.block.add_data(bytes, value),
            b"event" => self.block.event = Some(value),
            b"id" => {
                let id = &bytes[value];
                if !id.contains(&0) {
                    self.last_id = text_of(id).into_owned();
                }
            }
            b"retry" => {
                let digits = std::str::from_utf8(&bytes[value]).unwrap_or_default();
                if !digits.is_empty()
                    && digits.bytes().all(|byte| byte.is_ascii_digit())
                    && let Ok(milliseconds) = digits.parse()
                {
                    self.retry = Some(Duration::from_millis(milliseconds));
                }
            }
            _ => {}
        }
        Line::Part
    }

    /// Hands out the event, if it has data. `end` is where its lines end.
    fn dispatch(
        &mut self,
        bytes: &[u8],
        end: usize,
        on_item: &mut impl FnMut(SseItem<'_>) -> Result<()>,
    ) -> Result<()> {
        let data = match &self.block.data {
            Data::None => {
                self.block.reset();
                return Ok(());
            }
            Data::Line(range) => &bytes[range.clone()],
            Data::Joined => &self.block.joined,
        };
        let data = text_of(data);
        let event = match &self.block.event {
            Some(range) => text_of(&bytes[range.clone()]),
            None => Cow::Borrowed(""),
        };
        let outcome = on_item(SseItem::Event(SseEvent {
            event: &event,
            data: &data,
            id: &self.last_id,
            raw: &bytes[..end],
        }));
        self.block.reset();
        outcome
    }
}

impl Block {
    fn add_data(&mut self, bytes: &[u8], value: Range<usize>) {
        match &self.data {
            Data::None => {
                self.data = Data::Line(value);
                return;
            }
            Data::Line(first) => {
                self.joined.clear();
                self.joined.extend_from_slice(&bytes[first.clone()]);
                self.data = Data::Joined;
            }
            Data::Joined => {}
        }
        self.joined.push(b'\n');
        self.joined.extend_from_slice(&bytes[value]);
    }

    fn reset(&mut self) {
        self.line_start = 0;
        self.event = None;
        self.data = Data::None;
    }
}

#[cfg(test)]
mod tests;
