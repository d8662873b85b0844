//! Waits that end with the call's deadline.

use llm_core::{CallContext, Error, Phase, Result};

/// The future, or `Timeout` with scope `Request` when the call's deadline passes first.
pub(crate) async fn within_deadline<T>(
    cx: &CallContext,
    future: impl Future<Output = Result<T>>,
) -> Result<T> {
    match cx.remaining() {
        None => future.await,
        Some(left) => tokio::time::timeout(left, future).await.unwrap_or_else(|_| {
            let message = "the call's deadline passed while the answer was awaited; allow more time";
            Err(Error::deadline(message).with_phase(Phase::Sent))
        }),
    }
}
