//! What a vendor answers, as a script: status, headers, pieces of the body with pauses between them, and how it
//! ends. Both [`ScriptedTransport`](crate::ScriptedTransport) and [`FakeServer`](crate::FakeServer) play it.

use bytes::Bytes;
use std::time::Duration;

/// One scripted answer.
///
/// ```
/// use llm_driver_testkit::{Answer, End, Piece};
/// use std::time::Duration;
///
/// let answer = Answer::sse("data: {\"a\":1}\n\n")
///     .with_header("x-request-id", "req-1")
///     .with_piece(Piece::Delay(Duration::from_secs(3)))
///     .with_piece("data: [DONE]\n\n")
///     .with_end(End::Reset);
/// assert_eq!(answer.body_bytes(), b"data: {\"a\":1}\n\ndata: [DONE]\n\n");
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Answer {
    pub(crate) pause: Duration,
    pub(crate) head: Head,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) end: End,
    pub(crate) framing: Framing,
}

/// What comes before the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// A status and headers.
    Status(u16),
    /// Nobody listens.
    Refused,
    /// No connection within the time for it.
    ConnectTimeout,
    /// The request is read, and the connection closed without a byte.
    Closed,
    /// The request is read, and nothing is ever answered.
    Silent,
}

/// A piece of a body, as the network delivers it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// These bytes.
    Bytes(Bytes),
    /// Nothing, for this long.
    Delay(Duration),
    /// Nothing, for ever.
    Hang,
    /// These bytes so many times, each time as a piece of its own. `usize::MAX` is for ever.
    Repeat(Bytes, usize),
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Piece::Bytes(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Piece::Bytes(Bytes::from(text))
    }
}

impl From<&[u8]> for Piece {
    fn from(bytes: &[u8]) -> Self {
        Piece::Bytes(Bytes::copy_from_slice(bytes))
    }
}

impl From<Vec<u8>> for Piece {
    fn from(bytes: Vec<u8>) -> Self {
        Piece::Bytes(Bytes::from(bytes))
    }
}

impl From<Bytes> for Piece {
    fn from(bytes: Bytes) -> Self {
        Piece::Bytes(bytes)
    }
}

impl From<Duration> for Piece {
    fn from(delay: Duration) -> Self {
        Piece::Delay(delay)
    }
}

/// What happens after the last piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The body is complete.
    #[default]
    Eof,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The connection is reset.
    Reset,
    /// Nothing, for ever.
    Hang,
}

/// How the fake server marks the length of a body. The scripted transport has no framing: there
/// `Length` with another figure than the body's is a cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// `content-length` where the body is one piece, else chunked.
    #[default]
    Auto,
    /// Chunked, each piece a chunk.
    Chunked,
    /// This `content-length`, true or not.
    Length(usize),
    /// No length: the body ends where the connection is closed, so a cut looks like an end.
    UntilClose,
}

impl Answer {
    /// An answer of this status with an empty body.
    pub fn status(status: u16) -> Self {
        Answer {
            pause: Duration::ZERO,
            head: Head::Status(status),
            headers: Vec::new(),
            pieces: Vec::new(),
            end: End::Eof,
            framing: Framing::Auto,
        }
    }

    /// A JSON answer.
    pub fn json(status: u16, body: impl Into<Piece>) -> Self {
        Answer::status(status)
            .with_header("content-type", "application/json")
            .with_piece(body)
    }

    /// An HTML answer, as a proxy gives it.
    pub fn html(status: u16, body: impl Into<Piece>) -> Self {
        Answer::status(status)
            .with_header("content-type", "text/html; charset=utf-8")
            .with_piece(body)
    }

    /// The start of an event stream with status 200.
    pub fn sse(body: impl Into<Piece>) -> Self {
        Answer::status(200)
            .with_header("content-type", "text/event-stream")
            .with_piece(body)
    }

    /// No answer: nobody listens. (The fake server, which does listen, closes without a byte.)
    pub fn refused() -> Self {
        Answer::without_head(Head::Refused)
    }

    /// No answer: no connection within the time for it. (The fake server closes without a byte.)
    pub fn connect_timeout() -> Self {
        Answer::without_head(Head::ConnectTimeout)
    }

    /// No answer: the request is read and the connection closed without a byte.
    pub fn closed() -> Self {
        Answer::without_head(Head::Closed)
    }

    /// No answer: the request is read, and then nothing, for ever.
    pub fn silent() -> Self {
        Answer::without_head(Head::Silent)
    }

    fn without_head(head: Head) -> Self {
        Answer {
            head,
            ..Answer::status(0)
        }
    }

    /// A pause before the head.
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// One more header. One that no header can hold is sent as it is by the fake server and is an `Internal`
    /// error at the scripted transport.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Several more headers.
    pub fn with_headers<N: Into<String>, V: Into<String>>(
        self,
        headers: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        headers
            .into_iter()
            .fold(self, |answer, (name, value)| answer.with_header(name, value))
    }

    /// One more piece of the body.
    pub fn with_piece(mut self, piece: impl Into<Piece>) -> Self {
        self.pieces.push(piece.into());
        self
    }

    /// Several more pieces of the body.
    pub fn with_pieces<P: Into<Piece>>(mut self, pieces: impl IntoIterator<Item = P>) -> Self {
        self.pieces.extend(pieces.into_iter().map(Into::into));
        self
    }

    /// What happens after the last piece.
    pub fn with_end(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// How the fake server marks the length of the body.
    pub fn with_framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// The bytes of the body, joined, without what is repeated.
    pub fn body_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for piece in &self.pieces {
            if let Piece::Bytes(bytes) = piece {
                body.extend_from_slice(bytes);
            }
        }
        body
    }

    /// How the body really ends, once a wrong length is taken into account.
    pub(crate) fn true_end(&self) -> End {
        match self.framing {
            Framing::Length(length) if self.end == End::Eof && length > self.body_bytes().len() => End::Cut,
            _ => self.end,
        }
    }
}
