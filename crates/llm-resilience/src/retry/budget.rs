//! How many retries all calls of a layer may make together. Pure: the time is an argument.
//!
//! When a vendor is down, every call fails, and retries multiply the load by the number of attempts just when it
//! hurts most. A budget turns that into a fixed share on top, while a few retries are always left for a process
//! that makes few calls.

use serde::Deserialize;
use std::time::{Duration, Instant};

/// How many retries there may be in a window of time: a share of the calls made in it, and some on top.
///
/// ```
/// use llm_resilience::BudgetPolicy;
/// let default: BudgetPolicy = serde_json::from_str("{}")?;
/// assert_eq!((default.percent, default.reserve, default.window.as_secs()), (20, 10, 10));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BudgetPolicy {
    /// Retries for each hundred calls of the window. Default 20. (First attempts count as calls, retries do not.)
    pub percent: u32,
    /// Retries that are there in each window whatever was called. Default 10.
    pub reserve: u32,
    /// The length of the window, `window_ms` in configuration. Default 10 s.
    #[serde(rename = "window_ms", deserialize_with = "crate::millis::plain")]
    pub window: Duration,
}

impl Default for BudgetPolicy {
    fn default() -> Self {
        BudgetPolicy {
            percent: 20,
            reserve: 10,
            window: Duration::from_secs(10),
        }
    }
}

impl BudgetPolicy {
    /// A share of the calls (in percent) and a reserve, in each 10 s.
    pub fn new(percent: u32, reserve: u32) -> Self {
        BudgetPolicy {
            percent,
            reserve,
            ..BudgetPolicy::default()
        }
    }

    /// Another window than 10 s.
    #[must_use]
    pub fn with_window(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }
}

/// The window is cut into this many slices, which bounds memory and work whatever the traffic is.
const SLICES: u64 = 10;
/// One slice more than the window has: the present slice is only partly over, so the oldest one still reaches
/// into the window.
const KEPT: usize = SLICES as usize + 1;

/// What was called and retried lately.
///
/// The count is on the careful side by one slice: retries count for up to a slice longer than the window, calls
/// for up to a slice less. So in every window that ends with a retry there are no more retries than the policy
/// says.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    policy: BudgetPolicy,
    /// Where slices are counted from: the first moment it was told.
    origin: Option<Instant>,
    /// A ring: slice `n` stands at `n % KEPT`.
    slices: [Slice; KEPT],
}

#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    number: u64,
    calls: u64,
    retries: u64,
}

impl RetryBudget {
    pub(crate) fn new(policy: BudgetPolicy) -> Self {
        RetryBudget {
            policy,
            origin: None,
            slices: [Slice::default(); KEPT],
        }
    }

    /// A logical call begins.
    pub(crate) fn record_call(&mut self, now: Instant) {
        self.slice(now).calls += 1;
    }

    /// Is there room for a retry?
    pub(crate) fn has_room(&mut self, now: Instant) -> bool {
        let present = self.slice(now).number;
        let mut calls = 0_u64;
        let mut retries = 0_u64;
        for slice in &self.slices {
            let age = present.saturating_sub(slice.number);
            if age < SLICES {
                calls = calls.saturating_add(slice.calls);
            }
            if age <= SLICES {
                retries = retries.saturating_add(slice.retries);
            }
        }
        let share = calls.saturating_mul(u64::from(self.policy.percent)) / 100;
        retries < share.saturating_add(u64::from(self.policy.reserve))
    }

    /// A retry is going to be made.
    pub(crate) fn record_retry(&mut self, now: Instant) {
        self.slice(now).retries += 1;
    }

    /// The slice of this moment. A moment before the newest one (another thread's clock was read a little
    /// earlier) counts into whichever slice stands at its place.
    fn slice(&mut self, now: Instant) -> &mut Slice {
        let origin = *self.origin.get_or_insert(now);
        let since = now.saturating_duration_since(origin).as_nanos();
        let length = (self.policy.window.as_nanos() / u128::from(SLICES)).max(1);
        // 2^64 slices of a nanosecond are five hundred years.
        let number = u64::try_from(since / length).unwrap_or(u64::MAX);
        let place = usize::try_from(number % KEPT as u64).unwrap_or(0);
        let slice = &mut self.slices[place];
        if slice.number < number {
            *slice = Slice {
                number,
                ..Slice::default()
            };
        }
        slice
    }
}

#[cfg(test)]
mod tests;
