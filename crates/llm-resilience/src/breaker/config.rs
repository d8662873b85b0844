//! When a breaker opens, for how long, and how it closes again.

use serde::Deserialize;
use std::time::Duration;

/// When a breaker opens, for how long, and how it closes again. Deserialises; durations are whole milliseconds
/// there, and counts and shares below 1 count as 1.
///
/// ```
/// use llm_resilience::BreakerPolicy;
/// use std::time::Duration;
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{"failures": 3, "open_ms": 10000}"#)?;
/// assert_eq!((policy.failures, policy.open), (3, Duration::from_secs(10)));
/// assert_eq!((policy.min_requests, policy.failure_percent), (20, 50));
/// assert!(serde_json::from_str::<BreakerPolicy>(r#"{"open": 10}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BreakerPolicy {
    /// So many failures in a row open it. Default 5.
    pub failures: u32,
    /// It also opens when this share of the calls in the window has failed, in percent. Default 50; more than 100
    /// switches this off.
    pub failure_percent: u32,
    /// With fewer calls than this in the window, their share says nothing. Default 20.
    pub min_requests: u32,
    /// The window for the share of failures, `window_ms` in configuration. Default 60 s.
    #[serde(rename = "window_ms", deserialize_with = "crate::millis::plain")]
    pub window: Duration,
    /// From opening until a probe may pass, `open_ms` in configuration. Default 60 s. Doubled each time that it
    /// opens again before it has stayed closed for [`longest_open`](Self::longest_open). A hint of the vendor's
    /// takes its place, where the error that opens it has one for the same scope.
    #[serde(rename = "open_ms", deserialize_with = "crate::millis::plain")]
    pub open: Duration,
    /// The doubling ends here, `longest_open_ms` in configuration. Default 10 minutes.
    #[serde(rename = "longest_open_ms", deserialize_with = "crate::millis::plain")]
    pub longest_open: Duration,
    /// From the second opening on, up to this much is added by chance, in percent, so that processes without a
    /// shared store do not come back together. Default 20.
    pub jitter_percent: u32,
    /// So many calls may pass at a time while it is half-open, and as many successes close it. Default 1.
    pub half_open_probes: u32,
    /// After this time a probe that nobody reported on (its process died) no longer takes its place,
    /// `probe_lease_ms` in configuration. Default 180 s.
    #[serde(rename = "probe_lease_ms", deserialize_with = "crate::millis::plain")]
    pub probe_lease: Duration,
    /// The longest time that an error may close something for, whatever the vendor's hint says, `longest_shut_ms` in
    /// configuration. Default a day. What the verdict table closes until a reset (a refused credential, a missing
    /// model) is closed this long: nothing that nobody looks after stays shut for ever. Zero: no error shuts
    /// anything at once.
    #[serde(rename = "longest_shut_ms", deserialize_with = "crate::millis::plain")]
    pub longest_shut: Duration,
    /// How long a used-up quota closes its credential, where the vendor names no reset; doubled each time that it
    /// is still used up afterwards. `quota_shut_ms` in configuration. Default 10 minutes.
    #[serde(rename = "quota_shut_ms", deserialize_with = "crate::millis::plain")]
    pub quota_shut: Duration,
    /// Does it close credentials, too? Default true; false around a key pool, which looks after its own.
    pub credentials: bool,
    /// Is a vendor's hint taken for the time that it names? Default true.
    pub hints: bool,
    /// A plain cool-down in place of a breaker? Default false; see [`BreakerPolicy::cool_down`].
    pub cool_down: bool,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        BreakerPolicy {
            failures: 5,
            failure_percent: 50,
            min_requests: 20,
            window: Duration::from_secs(60),
            open: Duration::from_secs(60),
            longest_open: Duration::from_secs(600),
            jitter_percent: 20,
            half_open_probes: 1,
            probe_lease: Duration::from_secs(180),
            longest_shut: Duration::from_secs(24 * 3600),
            quota_shut: Duration::from_secs(600),
            credentials: true,
            hints: true,
            cool_down: false,
        }
    }
}

impl BreakerPolicy {
    /// The defaults, opening after this many failures in a row and for this long.
    pub fn new(failures: u32, open: Duration) -> Self {
        BreakerPolicy {
            failures,
            open,
            ..BreakerPolicy::default()
        }
    }

    /// A plain cool-down of a model: after this many failures in a row it is left alone for so long, and then asked
    /// again by whoever wants to. So router configurations have it that know no more than a count and a time.
    ///
    /// It differs from a breaker in this: rate limits count as every other failure of the vendor does, and no error
    /// shuts anything by itself, so a refused credential never does. A hint only takes the place of the time. No
    /// probes, and no longer times: when it is over all calls pass, the share of failures is counted anew, and one more
    /// failure in a row begins it again.
    ///
    /// ```
    /// use llm_resilience::BreakerPolicy;
    /// use std::time::Duration;
    /// let policy = BreakerPolicy::cool_down(3, Duration::from_secs(60)).without_hints();
    /// assert_eq!((policy.failures, policy.cool_down, policy.hints), (3, true, false));
    /// ```
    pub fn cool_down(failures: u32, time: Duration) -> Self {
        BreakerPolicy {
            cool_down: true,
            ..BreakerPolicy::new(failures, time)
        }
    }

    /// One that never opens and shuts nothing: every call passes.
    pub fn off() -> Self {
        BreakerPolicy::new(u32::MAX, BreakerPolicy::default().open)
            .with_share(u32::MAX, u32::MAX, BreakerPolicy::default().window)
            .with_longest_shut(Duration::ZERO)
    }

    /// Another share of failures (in percent) than 50, of at least so many calls in so long a window.
    #[must_use]
    pub fn with_share(mut self, failure_percent: u32, min_requests: u32, window: Duration) -> Self {
        self.failure_percent = failure_percent;
        self.min_requests = min_requests;
        self.window = window;
        self
    }

    /// Another end of the doubling than 10 minutes.
    #[must_use]
    pub fn with_longest_open(mut self, longest_open: Duration) -> Self {
        self.longest_open = longest_open;
        self
    }

    /// Another share of chance than 20 percent.
    #[must_use]
    pub fn with_jitter_percent(mut self, jitter_percent: u32) -> Self {
        self.jitter_percent = jitter_percent;
        self
    }

    /// More probes at a time than 1, each of which holds its place for this long at most.
    #[must_use]
    pub fn with_probes(mut self, half_open_probes: u32, lease: Duration) -> Self {
        self.half_open_probes = half_open_probes;
        self.probe_lease = lease;
        self
    }

    /// Another longest time for what an error closes than a day.
    #[must_use]
    pub fn with_longest_shut(mut self, longest_shut: Duration) -> Self {
        self.longest_shut = longest_shut;
        self
    }

    /// Another first time for a used-up quota than 10 minutes.
    #[must_use]
    pub fn with_quota_shut(mut self, quota_shut: Duration) -> Self {
        self.quota_shut = quota_shut;
        self
    }

    /// Takes no vendor's word for how long to stay away.
    #[must_use]
    pub fn without_hints(mut self) -> Self {
        self.hints = false;
        self
    }

    /// Leaves credentials to a key pool inside.
    #[must_use]
    pub fn without_credentials(mut self) -> Self {
        self.credentials = false;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_configuration_is_the_default() {
        let policy: BreakerPolicy = serde_json::from_str("{}").unwrap();
        assert_eq!(policy, BreakerPolicy::default());
    }

    #[test]
    fn every_key_is_read_and_no_other() {
        let text = r#"{
            "failures": 2, "failure_percent": 30, "min_requests": 7, "window_ms": 1000, "open_ms": 200,
            "longest_open_ms": 900, "jitter_percent": 5, "half_open_probes": 3, "probe_lease_ms": 400,
            "longest_shut_ms": 5000, "quota_shut_ms": 600, "credentials": false,
            "hints": false, "cool_down": true
        }"#;
        let ms = Duration::from_millis;
        let expected = BreakerPolicy::cool_down(2, ms(200))
            .with_share(30, 7, ms(1000))
            .with_longest_open(ms(900))
            .with_jitter_percent(5)
            .with_probes(3, ms(400))
            .with_longest_shut(ms(5000))
            .with_quota_shut(ms(600))
            .without_credentials()
            .without_hints();
        assert_eq!(serde_json::from_str::<BreakerPolicy>(text).unwrap(), expected);
        let error = serde_json::from_str::<BreakerPolicy>(r#"{"failure": 3}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}
