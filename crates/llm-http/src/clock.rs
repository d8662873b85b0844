//! The system's clock. The one place of this crate that reads the time.

use llm_core::Clock;
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};

/// The system's clock, for every call outside of tests.
///
/// Its monotonic time is tokio's, so a test that pauses tokio's time pauses this too.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else asks"
    )]
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else asks"
    )]
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// The system's clock, shared: what [`CallContext::new`](llm_core::CallContext::new) wants.
///
/// ```
/// let cx = llm_core::CallContext::new(llm_http::shared_clock());
/// assert_eq!(cx.remaining(), None);
/// ```
pub fn shared_clock() -> Arc<dyn Clock> {
    static SHARED: OnceLock<Arc<SystemClock>> = OnceLock::new();
    SHARED.get_or_init(Arc::default).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn monotonic_time_follows_paused_tokio_time() {
        let start = SystemClock.now();
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(SystemClock.now() - start, Duration::from_secs(3600));
    }
}
