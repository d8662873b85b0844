//! A JSON array that comes in pieces: its elements, one by one, as soon as each is whole.
//!
//! Google's streams have this form when they are not asked for as server-sent events. Source: `gemini.md` of the
//! project's wire notes, state of 2026-11-29.

use super::{DEFAULT_MAX_FRAME_BYTES, text_of, too_large};
use llm_core::Result;
use memchr::memchr2;

/// Cuts the body of a JSON array into its elements, whatever the pieces it comes in.
///
/// Elements are handed out as text and are not parsed: whoever reads them says what is no JSON. A body that is a
/// single value instead of an array (a plain answer, a failure) is handed out as that value.
///
/// ```
/// use llm_wire::frame::JsonArrayDecoder;
/// let mut decoder = JsonArrayDecoder::default();
/// let mut seen = Vec::new();
/// for piece in ["[{\"a\":\"]}\\", "\"\"}\n,\r\n{\"b\"", ":[1]}]"] {
///     decoder.feed(piece.as_bytes(), |element| Ok(seen.push(element.to_owned())))?;
/// }
/// decoder.finish(|rest| unreachable!("{rest}"))?;
/// assert_eq!(seen, [r#"{"a":"]}\""}"#, r#"{"b":[1]}"#]);
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonArrayDecoder {
    max_bytes: usize,
    /// Was the bracket seen that opens the array?
    opened: bool,
    /// Was the one seen that closes it? What follows is not read.
    closed: bool,
    /// Where in an element the last piece ended.
    place: Place,
    /// The unfinished element. Empty while elements lie whole in their pieces.
    buffer: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Place {
    /// Between elements.
    #[default]
    Between,
    /// In a number or a word.
    Bare,
    /// In an object, an array or a string.
    Nested {
        depth: usize,
        in_string: bool,
        escaped: bool,
    },
}

impl Default for JsonArrayDecoder {
    fn default() -> Self {
        JsonArrayDecoder::new(DEFAULT_MAX_FRAME_BYTES)
    }
}

impl JsonArrayDecoder {
    /// A decoder that takes elements of at most so many bytes.
    pub fn new(max_element_bytes: usize) -> Self {
        JsonArrayDecoder {
            max_bytes: max_element_bytes,
            opened: false,
            closed: false,
            place: Place::Between,
            buffer: Vec::new(),
        }
    }

    /// Takes the next piece of the body and hands out the elements that are complete. Bytes that are not UTF-8 are
    /// replaced by U+FFFD.
    ///
    /// # Errors
    /// `Protocol`, when an element is larger than the cap; else what `on_element` returned. After an error the
    /// decoder is of no more use.
    pub fn feed(&mut self, piece: &[u8], mut on_element: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let mut rest = piece;
        while !rest.is_empty() && !self.closed {
            if let Place::Between = self.place {
                rest = self.skip_between(rest);
                continue;
            }
            let Some(length) = self.element_end(rest) else {
                self.check_size(self.buffer.len() + rest.len())?;
                self.buffer.extend_from_slice(rest);
                return Ok(());
            };
            self.place = Place::Between;
            let (element, after) = rest.split_at(length);
            rest = after;
            self.check_size(self.buffer.len() + element.len())?;
            if self.buffer.is_empty() {
                on_element(&text_of(element))?;
            } else {
                self.buffer.extend_from_slice(element);
                on_element(&text_of(&self.buffer))?;
                self.buffer.clear();
            }
        }
        Ok(())
    }

    /// Ends the body and hands out an element that is not finished. What an element that was cut in the middle
    /// means is the caller's to say.
    ///
    /// # Errors
    /// What `on_element` returned.
    pub fn finish(&mut self, mut on_element: impl FnMut(&str) -> Result<()>) -> Result<()> {
        self.place = Place::Between;
        let unfinished = std::mem::take(&mut self.buffer);
        if unfinished.is_empty() {
            return Ok(());
        }
        on_element(&text_of(&unfinished))
    }

    /// Passes over what stands between elements, up to the first byte of the next one.
    fn skip_between<'p>(&mut self, piece: &'p [u8]) -> &'p [u8] {
        for (at, byte) in piece.iter().enumerate() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                // a byte-order mark, which only ever stands in front
                0xEF | 0xBB | 0xBF if !self.opened => {}
                b'[' if !self.opened => self.opened = true,
                b']' => {
                    self.closed = true;
                    return &[];
                }
                first => {
                    self.place = match first {
                        b'{' | b'[' | b'"' => Place::Nested {
                            depth: 0,
                            in_string: false,
                            escaped: false,
                        },
                        _ => Place::Bare,
                    };
                    return &piece[at..];
                }
            }
        }
        &[]
    }

    /// Where the open element ends; `None`: not in this piece.
    fn element_end(&mut self, piece: &[u8]) -> Option<usize> {
        let Place::Nested {
            mut depth,
            mut in_string,
            mut escaped,
        } = self.place
        else {
            return piece
                .iter()
                .position(|byte| matches!(byte, b',' | b']' | b' ' | b'\t' | b'\r' | b'\n'));
        };
        let mut at = 0;
        while at < piece.len() {
            if escaped {
                escaped = false;
                at += 1;
                continue;
            }
            if in_string {
                let Some(offset) = memchr2(b'"', b'\\', &piece[at..]) else {
                    break;
                };
                at += offset;
                if piece[at] == b'\\' {
                    escaped = true;
                } else {
                    in_string = false;
                }
            } else {
                match piece[at] {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            at += 1;
            if depth == 0 && !in_string {
                return Some(at);
            }
        }
        self.place = Place::Nested {
            depth,
            in_string,
            escaped,
        };
        None
    }

    fn check_size(&self, length: usize) -> Result<()> {
        if length > self.max_bytes {
            Err(too_large("an element of the stream", self.max_bytes))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::ErrorKind;

    fn elements(pieces: &[&[u8]]) -> (Vec<String>, Option<String>) {
        let mut seen = Vec::new();
        let mut decoder = JsonArrayDecoder::default();
        for piece in pieces {
            decoder
                .feed(piece, |element| {
                    seen.push(element.to_owned());
                    Ok(())
                })
                .unwrap();
        }
        let mut rest = None;
        decoder
            .finish(|element| {
                rest = Some(element.to_owned());
                Ok(())
            })
            .unwrap();
        (seen, rest)
    }

    fn whole(body: &str) -> Vec<String> {
        let (seen, rest) = elements(&[body.as_bytes()]);
        assert_eq!(rest, None, "{body}");
        let bytes: Vec<_> = body.as_bytes().chunks(1).collect();
        assert_eq!(elements(&bytes), (seen.clone(), None), "byte by byte: {body}");
        seen
    }

    #[test]
    fn brackets_inside_strings_are_not_structure() {
        assert_eq!(
            whole("[{\"a\":\"]}\\\\\"},\r\n[\"[\\\"\"], \"x,y\"]"),
            ["{\"a\":\"]}\\\\\"}", "[\"[\\\"\"]", "\"x,y\""]
        );
    }

    #[test]
    fn numbers_and_words_are_elements_too() {
        assert_eq!(whole("[1,null , true]"), ["1", "null", "true"]);
    }

    #[test]
    fn an_empty_array_and_what_follows_the_array_are_nothing() {
        assert_eq!(whole("[]"), [""; 0]);
        assert_eq!(whole("\u{feff}[{}] {}"), ["{}"]);
    }

    #[test]
    fn a_body_that_is_no_array_is_one_element() {
        assert_eq!(whole("{\"error\":{}}\n"), ["{\"error\":{}}"]);
    }

    #[test]
    fn what_is_cut_off_is_handed_out_at_the_end() {
        let (seen, rest) = elements(&[b"[{\"a\":1},{\"b", b"\":"]);
        assert_eq!(seen, ["{\"a\":1}"]);
        assert_eq!(rest.as_deref(), Some("{\"b\":"));
    }

    #[test]
    fn a_large_element_is_refused_wherever_it_is_cut() {
        let body = b"[{\"a\":\"0123\"}]";
        for cut in 0..body.len() {
            let mut decoder = JsonArrayDecoder::new(11);
            let outcome = decoder
                .feed(&body[..cut], |_| Ok(()))
                .and_then(|()| decoder.feed(&body[cut..], |_| Ok(())));
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Protocol, "cut at {cut}");
        }
        JsonArrayDecoder::new(12).feed(body, |_| Ok(())).unwrap();
    }
}
