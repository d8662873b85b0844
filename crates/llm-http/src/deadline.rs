//! The call's deadline as a bound on every wait.

use crate::transport::Body;
use bytes::Bytes;
use futures_core::Stream;
use llm_core::{CallContext, Error, ErrorKind, Phase, Result};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::Sleep;

/// Waits for a future, but no longer than the call's deadline allows.
///
/// `phase` is what an error says when the deadline passes: [`Phase::Sent`] for whatever may have reached the
/// vendor, [`Phase::NotSent`] for what happens before. Needs a tokio runtime with its timer, as soon as there
/// is a deadline.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
/// use llm_core::{CallContext, ErrorKind, Phase, Scope};
/// use std::time::Duration;
/// let cx = CallContext::new(llm_http::shared_clock()).with_timeout(Duration::from_secs(5));
/// let endless = std::future::pending::<llm_core::Result<()>>();
/// let error = llm_http::within_deadline(&cx, Phase::Sent, endless).await.unwrap_err();
/// assert_eq!((error.kind(), error.scope()), (ErrorKind::Timeout, Scope::Request));
/// # }
/// ```
///
/// # Errors
/// `Timeout` with scope `Request`, when the deadline passes; `Config` outside of a tokio runtime; else what
/// the future fails with.
///
/// # Cancellation
/// Dropping it drops the future.
pub async fn within_deadline<T>(
    cx: &CallContext,
    phase: Phase,
    future: impl Future<Output = Result<T>>,
) -> Result<T> {
    let Some(left) = cx.remaining() else {
        return future.await;
    };
    if left.is_zero() {
        return Err(passed(phase));
    }
    require_runtime()?;
    match tokio::time::timeout(left, future).await {
        Ok(outcome) => outcome,
        Err(_elapsed) => Err(passed(phase)),
    }
}

/// Bounds every further piece of a body by the call's deadline. For transports of your own.
///
/// # Errors
/// `Config` outside of a tokio runtime, where the call has a deadline.
pub fn bound_body(cx: &CallContext, body: Body) -> Result<Body> {
    let Some(left) = cx.remaining() else {
        return Ok(body);
    };
    require_runtime()?;
    Ok(Body::new(Bounded {
        pieces: Some(body),
        timer: Box::pin(tokio::time::sleep(left)),
    }))
}

/// Says in words what tokio would say in a panic.
pub(crate) fn require_runtime() -> Result<()> {
    match tokio::runtime::Handle::try_current() {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::new(
            ErrorKind::Config,
            "there is no tokio runtime here; call from within one, with its timer and I/O enabled",
        )),
    }
}

fn passed(phase: Phase) -> Error {
    let message = match phase {
        Phase::NotSent => "the call's deadline passed before it was sent; allow more time",
        _ => "the call's deadline passed before the answer was complete; allow more time",
    };
    Error::deadline(message).with_phase(phase)
}

struct Bounded {
    /// Absent after the deadline: the exchange is closed as soon as nobody wants it.
    pieces: Option<Body>,
    timer: Pin<Box<Sleep>>,
}

impl Stream for Bounded {
    type Item = Result<Bytes>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(pieces) = &mut this.pieces else {
            return Poll::Ready(None);
        };
        // The timer is asked first: a server that never stops sending must not outlive the deadline.
        if this.timer.as_mut().poll(task).is_pending() {
            return Pin::new(pieces).poll_next(task);
        }
        this.pieces = None;
        Poll::Ready(Some(Err(passed(Phase::Sent))))
    }
}
