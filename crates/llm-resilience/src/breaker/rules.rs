//! A policy as the integers that decide: the same in this process and in a script.

use super::config::BreakerPolicy;
use super::window::SLICES;
use std::time::Duration;

/// A [`BreakerPolicy`] as the numbers that decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) failures: u64,
    pub(super) failure_percent: u64,
    pub(super) min_requests: u64,
    pub(super) slice_ms: u64,
    pub(super) open_ms: u64,
    pub(super) longest_open_ms: u64,
    pub(super) jitter_percent: u64,
    /// 0: none, which is a plain cool-down.
    pub(super) probes: u64,
    pub(super) lease_ms: u64,
    pub(super) longest_shut_ms: u64,
}

/// Milliseconds: at least 1, and at most two years, so that what a script computes of them in doubles is exact.
pub(super) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis())
        .unwrap_or(u64::MAX)
        .clamp(1, 1 << 36)
}

impl Rules {
    pub(super) fn of(policy: &BreakerPolicy) -> Rules {
        Rules {
            failures: u64::from(policy.failures.max(1)),
            failure_percent: u64::from(policy.failure_percent.clamp(1, 101)),
            min_requests: u64::from(policy.min_requests.max(1)),
            slice_ms: whole_ms(policy.window).div_ceil(SLICES),
            open_ms: whole_ms(policy.open),
            longest_open_ms: whole_ms(policy.longest_open.max(policy.open)),
            jitter_percent: u64::from(policy.jitter_percent.min(100)),
            probes: match policy.cool_down {
                true => 0,
                false => u64::from(policy.half_open_probes.clamp(1, 100)),
            },
            lease_ms: whole_ms(policy.probe_lease),
            longest_shut_ms: if policy.longest_shut.is_zero() {
                0
            } else {
                whole_ms(policy.longest_shut)
            },
        }
    }
    /// In the order in which the script takes them.
    #[cfg(feature = "redis")]
    pub(super) fn to_numbers(&self) -> [u64; 10] {
        let Rules {
            failures,
            failure_percent,
            min_requests,
            slice_ms,
            open_ms,
            longest_open_ms,
            jitter_percent,
            probes,
            lease_ms,
            longest_shut_ms,
        } = *self;
        [
            failures,
            failure_percent,
            min_requests,
            slice_ms,
            open_ms,
            longest_open_ms,
            jitter_percent,
            probes,
            lease_ms,
            longest_shut_ms,
        ]
    }
}
