//! Can a target be called now (costs nothing to ask), and is it well (costs a probe).

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant, SystemTime};

/// May a stack be called for a model right now? Answered from state already at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Availability {
    /// Yes.
    Available,
    /// No.
    Unavailable {
        /// Why.
        reason: UnavailableReason,
        /// Until when, where known.
        until: Option<Instant>,
    },
}

impl Availability {
    /// Not now, for this reason.
    pub fn unavailable(reason: UnavailableReason, until: impl Into<Option<Instant>>) -> Self {
        Availability::Unavailable {
            reason,
            until: until.into(),
        }
    }

    /// May it be called?
    pub fn is_available(&self) -> bool {
        matches!(self, Availability::Available)
    }

    /// The stricter of two answers: unavailable wins, then the later end (an unknown end is the latest).
    #[must_use]
    pub fn and(self, other: Availability) -> Availability {
        match (self, other) {
            (Availability::Available, other) => other,
            (this, Availability::Available) => this,
            (Availability::Unavailable { until: a, .. }, Availability::Unavailable { until: b, .. }) => {
                let self_ends_later = match (a, b) {
                    (None, _) => true,
                    (Some(_), None) => false,
                    (Some(a), Some(b)) => a >= b,
                };
                if self_ends_later { self } else { other }
            }
        }
    }
}

/// Why a stack cannot be called now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnavailableReason {
    /// A rate limit of ours or the vendor's has no room.
    RateLimit,
    /// A quota or budget is used up.
    Quota,
    /// A circuit breaker is open.
    BreakerOpen,
    /// A bulkhead and its queue are full.
    BulkheadFull,
    /// No usable credential.
    Credential,
    /// The model is closed at this vendor.
    Model,
    /// Somebody switched it off.
    Disabled,
}

impl UnavailableReason {
    /// Is it about limits (answered 429) rather than about health (answered 503)?
    pub fn is_limit(self) -> bool {
        match self {
            UnavailableReason::RateLimit | UnavailableReason::Quota => true,
            UnavailableReason::BreakerOpen
            | UnavailableReason::BulkheadFull
            | UnavailableReason::Credential
            | UnavailableReason::Model
            | UnavailableReason::Disabled => false,
        }
    }

    /// The stable word for logs and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            UnavailableReason::RateLimit => "rate_limit",
            UnavailableReason::Quota => "quota",
            UnavailableReason::BreakerOpen => "breaker_open",
            UnavailableReason::BulkheadFull => "bulkhead_full",
            UnavailableReason::Credential => "credential",
            UnavailableReason::Model => "model",
            UnavailableReason::Disabled => "disabled",
        }
    }
}

/// The outcome of a probe. A probe costs no tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HealthStatus {
    /// Well, ill, or nobody knows.
    pub state: HealthState,
    /// How long the probe took.
    pub latency: Option<Duration>,
    /// What was found, in words.
    pub message: Option<String>,
    /// When.
    pub checked_at: SystemTime,
}

impl HealthStatus {
    /// The probe succeeded.
    pub fn healthy(checked_at: SystemTime, latency: Duration) -> Self {
        HealthStatus {
            state: HealthState::Healthy,
            latency: Some(latency),
            message: None,
            checked_at,
        }
    }

    /// The probe failed.
    pub fn unhealthy(checked_at: SystemTime, message: impl Into<String>) -> Self {
        HealthStatus {
            state: HealthState::Unhealthy,
            latency: None,
            message: Some(message.into()),
            checked_at,
        }
    }

    /// Nothing can be probed.
    pub fn unknown(checked_at: SystemTime, message: impl Into<String>) -> Self {
        HealthStatus {
            state: HealthState::Unknown,
            ..HealthStatus::unhealthy(checked_at, message)
        }
    }

    /// The time the probe took.
    #[must_use]
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.latency = Some(latency);
        self
    }
}

/// Well, ill, or nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HealthState {
    /// The last probe succeeded.
    Healthy,
    /// The last probe failed.
    Unhealthy,
    /// No probe says anything.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_answer_wins_and_then_the_later_end() {
        #[expect(clippy::disallowed_methods, reason = "only a point to count from")]
        let now = Instant::now();
        let soon = Availability::unavailable(UnavailableReason::RateLimit, now + Duration::from_secs(1));
        let later = Availability::unavailable(UnavailableReason::BreakerOpen, now + Duration::from_secs(9));
        let open_end = Availability::unavailable(UnavailableReason::Disabled, None);
        assert_eq!(Availability::Available.and(soon), soon);
        assert_eq!(soon.and(Availability::Available), soon);
        assert_eq!(soon.and(later), later);
        assert_eq!(later.and(open_end), open_end);
        assert_eq!(
            Availability::Available.and(Availability::Available),
            Availability::Available
        );
    }
}
