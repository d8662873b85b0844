//! The one place of this crate that waits for the time. What time it *is*, every call's own clock says.

use std::time::Duration;

/// What the future gives, or `None` when it takes longer than this; without a limit, however long it takes. What is ready
/// in the same instant wins over the limit.
pub(crate) async fn within<T>(limit: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, future).await.ok(),
        None => Some(future.await),
    }
}
