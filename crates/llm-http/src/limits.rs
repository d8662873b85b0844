//! How large answers may get. Every byte that is kept in memory counts against one of these.

use crate::transport::Body;
use bytes::Bytes;
use futures_core::Stream;
use llm_core::{Error, ErrorKind, Phase, Result};
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Size caps for answers, in bytes.
///
/// ```
/// let limits = llm_http::Limits::default().with_max_body_bytes(1024 * 1024);
/// assert_eq!(limits.max_event_bytes, 16 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// The body of a plain answer. A longer one is a `Protocol` error.
    pub max_body_bytes: usize,
    /// The body of an answer that is an error. A longer one is cut: its start says enough.
    pub max_error_body_bytes: usize,
    /// One event or line of a stream. For the decoder of frames.
    pub max_event_bytes: usize,
    /// A whole stream. A longer one is a `Protocol` error.
    pub max_stream_bytes: u64,
}

impl Default for Limits {
    /// 64 MiB, 64 KiB, 16 MiB and 1 GiB.
    fn default() -> Self {
        Limits {
            max_body_bytes: 64 * 1024 * 1024,
            max_error_body_bytes: 64 * 1024,
            max_event_bytes: 16 * 1024 * 1024,
            max_stream_bytes: 1024 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// Another cap for plain answers.
    #[must_use]
    pub fn with_max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    /// Another cap for answers that are errors.
    #[must_use]
    pub fn with_max_error_body_bytes(mut self, bytes: usize) -> Self {
        self.max_error_body_bytes = bytes;
        self
    }

    /// Another cap for one event of a stream.
    #[must_use]
    pub fn with_max_event_bytes(mut self, bytes: usize) -> Self {
        self.max_event_bytes = bytes;
        self
    }

    /// Another cap for whole streams.
    #[must_use]
    pub fn with_max_stream_bytes(mut self, bytes: u64) -> Self {
        self.max_stream_bytes = bytes;
        self
    }
}

/// The error of an answer over its cap.
pub(crate) fn too_long(cap: u64) -> Error {
    let message = format!("the answer is longer than the cap of {cap} bytes; raise the cap if it is wanted");
    Error::new(ErrorKind::Protocol, message).with_phase(Phase::Sent)
}

/// A body that fails once it has handed out `cap` bytes and more would come.
pub(crate) struct Capped {
    /// Absent once the cap was passed.
    pieces: Option<Body>,
    cap: u64,
    left: u64,
}

impl Capped {
    pub(crate) fn new(pieces: Body, cap: u64) -> Self {
        Capped {
            pieces: Some(pieces),
            cap,
            left: cap,
        }
    }
}

impl Stream for Capped {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(pieces) = &mut self.pieces else {
            return Poll::Ready(None);
        };
        let piece = ready!(Pin::new(pieces).poll_next(task));
        if let Some(Ok(bytes)) = &piece {
            match self.left.checked_sub(bytes.len() as u64) {
                Some(left) => self.left = left,
                None => {
                    self.pieces = None;
                    return Poll::Ready(Some(Err(too_long(self.cap))));
                }
            }
        }
        Poll::Ready(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_ends_with_an_error_at_its_cap() {
        let mut body = Body::from(Bytes::from_static(b"12345")).capped(5);
        assert_eq!(body.next_piece().await.unwrap().as_deref(), Some(&b"12345"[..]));
        assert!(body.next_piece().await.unwrap().is_none());

        let mut body = Body::from(Bytes::from_static(b"12345")).capped(4);
        let error = body.next_piece().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(body.next_piece().await.unwrap().is_none());
    }
}
