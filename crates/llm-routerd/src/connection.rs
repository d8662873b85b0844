//! A connection that does not wait for ever: a client that stops reading, or reads too slowly, loses it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// When the answer that is being written must have left, whatever little progress it makes. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteDeadline(Arc<Mutex<Option<Instant>>>);

impl WriteDeadline {
    /// A request came: its answer has so long.
    pub(crate) fn restart(&self, limit: Duration) {
        // the timer's own reading of the time; a limit beyond what it holds is far enough away
        *self.lock() = Some(sleep(limit).deadline());
    }

    fn earlier_than(&self, other: Instant) -> Option<Instant> {
        self.lock().filter(|deadline| *deadline < other)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wraps a connection so that a write which makes no progress for too long, or is not over at its deadline, is an
/// error. The server then drops the connection, and with it the answer and the upstream call behind it.
#[derive(Debug)]
pub(crate) struct StallGuard<C> {
    connection: C,
    limit: Duration,
    deadline: WriteDeadline,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<C> StallGuard<C> {
    pub(crate) fn new(connection: C, limit: Duration, deadline: WriteDeadline) -> Self {
        StallGuard {
            connection,
            limit,
            deadline,
            stalled: None,
        }
    }

    /// Turns a write that waits into an error once it has waited too long.
    fn watch<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stalled = None;
            return outcome;
        }
        let stalled = self.stalled.get_or_insert_with(|| {
            let stalled = sleep(self.limit);
            let earlier = self.deadline.earlier_than(stalled.deadline());
            Box::pin(earlier.map_or(stalled, sleep_until))
        });
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client stopped reading, or read too slowly",
        )))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for StallGuard<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(cx, buffer)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for StallGuard<C> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.connection).poll_write(cx, bytes);
        self.watch(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.connection).poll_write_vectored(cx, slices);
        self.watch(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.connection).poll_flush(cx);
        self.watch(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.connection).poll_shutdown(cx);
        self.watch(cx, outcome)
    }
}
