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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    const LIMIT: Duration = Duration::from_secs(10);

    fn guarded(deadline: &WriteDeadline) -> (StallGuard<DuplexStream>, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(64);
        (StallGuard::new(ours, LIMIT, deadline.clone()), theirs)
    }

    /// Writes for ever; gives back how long that went well.
    async fn write_on(mut guard: StallGuard<DuplexStream>) -> (Duration, io::ErrorKind) {
        let begin = sleep(Duration::ZERO).deadline();
        loop {
            if let Err(error) = guard.write_all(&[0; 32]).await {
                return (sleep(Duration::ZERO).deadline() - begin, error.kind());
            }
        }
    }

    /// Reads a little, again and again.
    async fn trickle(mut theirs: DuplexStream) {
        let mut little = [0; 8];
        while theirs.read_exact(&mut little).await.is_ok() {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_makes_no_progress_fails_at_the_limit() {
        let (guard, theirs) = guarded(&WriteDeadline::default());
        let (after, kind) = write_on(guard).await;
        assert_eq!((after, kind), (LIMIT, io::ErrorKind::TimedOut));
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_is_progress_until_the_deadline() {
        let deadline = WriteDeadline::default();
        let (guard, theirs) = guarded(&deadline);
        deadline.restart(Duration::from_secs(60));
        let (after, kind) = tokio::select! {
            ended = write_on(guard) => ended,
            () = trickle(theirs) => unreachable!("the writer ends first"),
        };
        assert!(
            after >= Duration::from_secs(60) && after < Duration::from_secs(64),
            "{after:?}"
        );
        assert_eq!(kind, io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_request_has_a_deadline_of_its_own() {
        let deadline = WriteDeadline::default();
        let (mut guard, mut theirs) = guarded(&deadline);
        deadline.restart(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_secs(2)).await;
        // nothing waits to be written, so nothing fails; and then a request comes
        guard.write_all(b"ok").await.unwrap();
        deadline.restart(Duration::from_secs(60));
        let reading = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            theirs.read_exact(&mut [0; 100]).await.unwrap();
        };
        let (written, ()) = tokio::join!(guard.write_all(&[0; 100]), reading);
        written.unwrap();
    }
}
