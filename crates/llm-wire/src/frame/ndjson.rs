//! Lines of JSON: one value a line, LF or CR LF, blank lines skipped, the last line may lack its end.
//!
//! Source: `common.md` of the project's wire notes (NDJSON), state of 2026-11-29.

use super::{DEFAULT_MAX_FRAME_BYTES, text_of, too_large};
use llm_core::Result;
use memchr::memchr;

/// Cuts a body into lines, whatever the pieces it comes in.
///
/// ```
/// use llm_wire::frame::NdjsonDecoder;
/// let mut decoder = NdjsonDecoder::default();
/// let mut seen = Vec::new();
/// for piece in ["{\"a\":1}\r\n\n{\"a\"", ":2}\n{\"a\":3}"] {
///     decoder.feed(piece.as_bytes(), |line| Ok(seen.push(line.to_owned())))?;
/// }
/// decoder.finish(|line| Ok(seen.push(line.to_owned())))?;
/// assert_eq!(seen, ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"]);
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct NdjsonDecoder {
    max_bytes: usize,
    /// The unfinished line. Empty while lines lie whole in their pieces.
    buffer: Vec<u8>,
}

impl Default for NdjsonDecoder {
    fn default() -> Self {
        NdjsonDecoder::new(DEFAULT_MAX_FRAME_BYTES)
    }
}

impl NdjsonDecoder {
    /// A decoder that takes lines of at most so many bytes.
    pub fn new(max_line_bytes: usize) -> Self {
        NdjsonDecoder {
            max_bytes: max_line_bytes,
            buffer: Vec::new(),
        }
    }

    /// Takes the next piece of the body and hands out the lines that are complete, without their ends. Bytes
    /// that are not UTF-8 are replaced by U+FFFD.
    ///
    /// # Errors
    /// `Protocol`, when a line is larger than the cap; else what `on_line` returned. After an error the
    /// decoder is of no more use.
    pub fn feed(&mut self, piece: &[u8], mut on_line: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let mut rest = piece;
        while let Some(end) = memchr(b'\n', rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            self.check_size(self.buffer.len() + line.len())?;
            if self.buffer.is_empty() {
                hand_out(line, &mut on_line)?;
            } else {
                self.buffer.extend_from_slice(line);
                hand_out(&self.buffer, &mut on_line)?;
                self.buffer.clear();
            }
        }
        self.check_size(self.buffer.len() + rest.len())?;
        self.buffer.extend_from_slice(rest);
        Ok(())
    }

    /// Ends the body and hands out a last line that lacks its end. What a line that was cut in the middle
    /// means is the caller's to say.
    ///
    /// # Errors
    /// What `on_line` returned.
    pub fn finish(&mut self, mut on_line: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let outcome = hand_out(&self.buffer, &mut on_line);
        self.buffer.clear();
        outcome
    }

    fn check_size(&self, length: usize) -> Result<()> {
        if length > self.max_bytes {
            Err(too_large("a line of the stream", self.max_bytes))
        } else {
            Ok(())
        }
    }
}

fn hand_out(line: &[u8], on_line: &mut impl FnMut(&str) -> Result<()>) -> Result<()> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    on_line(&text_of(line))
}

/// Writes one line. Line breaks inside the JSON text, which can only stand between its tokens, become spaces.
///
/// ```
/// let mut out = Vec::new();
/// llm_wire::frame::encode_ndjson("{\n\"a\":1}", &mut out);
/// assert_eq!(out, b"{ \"a\":1}\n");
/// ```
pub fn encode_ndjson(json: &str, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(json.as_bytes());
    for byte in &mut out[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::ErrorKind;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut decoder = NdjsonDecoder::default();
        let mut note = |line: &str| {
            seen.push(line.to_owned());
            Ok(())
        };
        for piece in pieces {
            decoder.feed(piece, &mut note).unwrap();
        }
        decoder.finish(&mut note).unwrap();
        seen
    }

    #[test]
    fn a_line_end_may_be_cut() {
        assert_eq!(lines(&[b"1\r", b"\n2", b"\n"]), ["1", "2"]);
    }

    #[test]
    fn blank_lines_and_a_missing_last_end_are_fine() {
        assert_eq!(lines(&[b"\n \n1\n\r\n2"]), ["1", "2"]);
        assert_eq!(lines(&[b""]), [""; 0]);
    }

    #[test]
    fn a_character_may_be_cut_and_a_broken_one_is_replaced() {
        assert_eq!(
            lines(&[b"\"\xC3", b"\xA9\"\n\"\xFF\"\n"]),
            ["\"\u{e9}\"", "\"\u{fffd}\""]
        );
    }

    #[test]
    fn a_long_line_is_refused_wherever_it_is_cut() {
        for cut in 0..12 {
            let mut decoder = NdjsonDecoder::new(10);
            let body = b"0123456789a\n";
            let outcome = decoder
                .feed(&body[..cut], |_| Ok(()))
                .and_then(|()| decoder.feed(&body[cut..], |_| Ok(())));
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Protocol, "cut at {cut}");
        }
        NdjsonDecoder::new(10).feed(b"0123456789\n", |_| Ok(())).unwrap();
    }
}
