//! The time of a test: tokio's clock, which a test may pause and move.

use llm_core::{CallContext, Clock};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// 2026-11-29T00:00:00Z.
const START: Duration = Duration::from_secs(1_795_910_400);

/// A clock that follows tokio's time, so that under `start_paused = true` waits take no time and every stamp is
/// the same in each run.
///
/// ```
/// use llm_core::Clock;
/// use llm_driver_testkit::TestClock;
/// use std::time::{Duration, UNIX_EPOCH};
///
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let clock = TestClock::shared();
///     tokio::time::sleep(Duration::from_secs(60)).await;
///     assert_eq!(clock.wall(), UNIX_EPOCH + Duration::from_secs(1_795_910_460));
/// });
/// ```
#[derive(Debug)]
pub struct TestClock {
    /// A moment, and what the calendar says then.
    anchor: Mutex<(Instant, SystemTime)>,
}

impl TestClock {
    /// A clock whose calendar begins now at 2026-11-29T00:00:00Z.
    pub fn new() -> Self {
        TestClock::starting_at(SystemTime::UNIX_EPOCH + START)
    }

    /// A clock whose calendar begins now at this time.
    pub fn starting_at(wall: SystemTime) -> Self {
        TestClock {
            anchor: Mutex::new((now(), wall)),
        }
    }

    /// A new clock, shared.
    pub fn shared() -> Arc<TestClock> {
        Arc::new(TestClock::new())
    }

    /// The context of a call on a new clock: a first attempt without a deadline.
    pub fn context() -> CallContext {
        CallContext::new(TestClock::shared())
    }

    /// Sets the calendar. The monotonic time goes on as it was: use `tokio::time::advance` to move that.
    pub fn set_wall(&self, wall: SystemTime) {
        *self.anchor.lock().unwrap_or_else(PoisonError::into_inner) = (now(), wall);
    }
}

impl Default for TestClock {
    fn default() -> Self {
        TestClock::new()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        now()
    }

    fn wall(&self) -> SystemTime {
        let (moment, wall) = *self.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        wall + now().saturating_duration_since(moment)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is where the kit's time comes from"
)]
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_moves_only_when_it_is_moved() {
        let clock = TestClock::shared();
        let start = clock.now();
        assert_eq!(clock.now(), start);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(clock.now() - start, Duration::from_secs(5));
        clock.set_wall(SystemTime::UNIX_EPOCH);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(clock.wall(), SystemTime::UNIX_EPOCH + Duration::from_secs(5));
    }
}
