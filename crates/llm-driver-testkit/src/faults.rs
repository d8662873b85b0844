//! What goes wrong with answers: each fault turns an answer into a broken one, for the scripted transport and the
//! fake server alike.

use crate::answer::{Answer, End, Framing, Piece};
use bytes::Bytes;
use std::time::Duration;

impl Answer {
    /// The body as single bytes: every decoder must give the same for it.
    pub fn bytewise(self) -> Self {
        self.split(1)
    }

    /// The body in pieces of this many bytes at most. Zero counts as one; what is repeated stays in its own pieces.
    pub fn split(mut self, size: usize) -> Self {
        let pieces = std::mem::take(&mut self.pieces);
        for piece in pieces {
            match piece {
                Piece::Bytes(mut bytes) => {
                    while !bytes.is_empty() {
                        let first = bytes.split_to(bytes.len().min(size.max(1)));
                        self.pieces.push(Piece::Bytes(first));
                    }
                }
                other => self.pieces.push(other),
            }
        }
        self
    }

    /// The connection is closed after this many bytes of the body.
    pub fn cut_after(self, bytes: usize) -> Self {
        self.only(bytes).with_end(End::Cut)
    }

    /// The connection is reset after this many bytes of the body.
    pub fn reset_after(self, bytes: usize) -> Self {
        self.only(bytes).with_end(End::Reset)
    }

    /// Nothing comes any more after this many bytes of the body.
    pub fn stall_after(self, bytes: usize) -> Self {
        self.only(bytes).with_end(End::Hang)
    }

    /// The body ends after this many bytes as if it were complete.
    pub fn end_after(self, bytes: usize) -> Self {
        self.only(bytes).with_end(End::Eof)
    }

    /// The body in pieces of this many bytes, with a pause before each.
    pub fn drip(self, size: usize, pause: Duration) -> Self {
        let mut split = self.split(size);
        let pieces = std::mem::take(&mut split.pieces);
        for piece in pieces {
            split.pieces.push(Piece::Delay(pause));
            split.pieces.push(piece);
        }
        split
    }

    /// Bytes that are no UTF-8 after this many bytes of the body.
    pub fn bad_utf8_after(mut self, bytes: usize) -> Self {
        let body = self.body_bytes();
        let (before, after) = body.split_at(bytes.min(body.len()));
        self.pieces = vec![Piece::from([before, &[0xC3, 0x28, 0xFF], after].concat())];
        self
    }

    /// A `content-length` that promises this many bytes more than there are.
    pub fn with_too_long_length(self, more: usize) -> Self {
        let length = self.body_bytes().len() + more;
        self.with_framing(Framing::Length(length))
    }

    /// The pieces up to this many bytes; pauses before that point stay.
    fn only(mut self, bytes: usize) -> Self {
        let mut left = bytes;
        let pieces = std::mem::take(&mut self.pieces);
        for piece in pieces {
            match piece {
                Piece::Bytes(mut content) => {
                    let first: Bytes = content.split_to(content.len().min(left));
                    left -= first.len();
                    if !first.is_empty() {
                        self.pieces.push(Piece::Bytes(first));
                    }
                    if left == 0 {
                        break;
                    }
                }
                other => self.pieces.push(other),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer::status(200)
            .with_piece("abc")
            .with_piece(Duration::from_secs(1))
            .with_piece("def")
    }

    #[test]
    fn splitting_keeps_bytes_and_pauses() {
        let split = answer().bytewise();
        assert_eq!(split.pieces.len(), 7);
        assert_eq!(split.body_bytes(), b"abcdef");
        assert_eq!(answer().drip(2, Duration::from_secs(1)).body_bytes(), b"abcdef");
    }

    #[test]
    fn cuts_fall_where_they_are_asked_for() {
        for at in 0..=6 {
            let cut = answer().cut_after(at);
            assert_eq!(cut.body_bytes(), &b"abcdef"[..at]);
            assert_eq!(cut.end, End::Cut);
        }
        assert_eq!(answer().stall_after(3).pieces.len(), 1);
    }

    #[test]
    fn a_length_that_promises_more_is_a_cut() {
        assert_eq!(answer().with_too_long_length(4).true_end(), End::Cut);
        assert_eq!(answer().with_too_long_length(0).true_end(), End::Eof);
    }

    #[test]
    fn bad_utf8_stands_in_the_middle() {
        let body = answer().bad_utf8_after(3).body_bytes();
        assert!(std::str::from_utf8(&body).is_err());
        assert!(body.starts_with(b"abc") && body.ends_with(b"def"));
    }
}
