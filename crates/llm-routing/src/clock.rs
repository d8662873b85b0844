//! The one place of this crate that waits for the time. What time it *is*, every call's own clock says.

use llm_core::error::{Error, ErrorKind, Result};
use std::time::Duration;

/// # Errors
/// `Config`, where there is no runtime whose timer could be waited for.
pub(crate) fn require_runtime() -> Result<()> {
    match tokio::runtime::Handle::try_current() {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::new(
            ErrorKind::Config,
            "a call with a deadline needs a tokio runtime; make it inside of one, or without a deadline",
        )),
    }
}

/// What the future gives, or `None` when it takes longer than this; without a limit, however long it takes. What is ready
/// in the same instant wins over the limit.
pub(crate) async fn within<T>(limit: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, future).await.ok(),
        None => Some(future.await),
    }
}
