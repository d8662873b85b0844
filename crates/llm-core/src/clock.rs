//! Time, through a trait, so that every wait and every stamp can be driven by a test.

use std::fmt::Debug;
use std::time::{Instant, SystemTime};

/// Where the time comes from. The workspace reads no clock but through this.
///
/// Implementations live where time is allowed to be read: `llm-http` has the system's clock, the testkit
/// one that a test moves.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The monotonic time, for deadlines and durations.
    fn now(&self) -> Instant;

    /// The calendar time, for stamps, date headers and price windows.
    fn wall(&self) -> SystemTime;
}
