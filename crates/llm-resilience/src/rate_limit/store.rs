//! Where a quota is counted when several processes share it: the trait of a store that decides in one atomic
//! step, and one such store within a process.

use super::window::{self, Asked, Left, VendorSays, Window};
use crate::store::StoreError;
use llm_core::{Clock, async_trait};
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A store that may hold a quota: each decision is one atomic step, whoever else asks at the same moment.
///
/// A store that can only read, then write (most caches) must not implement it: two processes would be granted the
/// same room. It counts by its own clock, the same for everybody who asks it.
///
/// A grant is a lease that ends by itself when it leaves the window: a settlement that is lost (a process that
/// died, a store that was down) heals then.
#[async_trait]
pub trait QuotaStore: Debug + Send + Sync + 'static {
    /// Takes room of a budget, or says how long there is none. Refused calls change nothing. Ends by itself after a
    /// time that the store is configured with, and not later than `time_left`.
    ///
    /// # Errors
    /// When the store does not answer in its time, or does not know what was admitted lately.
    async fn reserve(
        &self,
        budget: &str,
        limits: &Limits,
        amount: Amount,
        time_left: Option<Duration>,
    ) -> Result<Reserved, StoreFault>;

    /// Puts what was really used in the place of what was reserved, and takes over what the vendor said.
    ///
    /// # Errors
    /// When the store does not answer in its time.
    async fn settle(&self, budget: &str, limits: &Limits, settlement: &Settlement) -> Result<(), StoreFault>;
}

/// How much there may be in a window of time. At least one of both is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Requests in a window; `None`: any number.
    pub requests: Option<u64>,
    /// Tokens in a window; `None`: any number.
    pub tokens: Option<u64>,
    /// The length of the window in microseconds.
    pub window: u64,
}

impl Limits {
    /// Limits for each minute. Figures above [`Amount::MOST`] are that.
    pub fn per_minute(requests: Option<u64>, tokens: Option<u64>) -> Self {
        let most = |limit: u64| limit.min(Amount::MOST);
        Limits {
            requests: requests.map(most),
            tokens: tokens.map(most),
            window: 60_000_000,
        }
    }

    /// The same in each window of another length, at least a microsecond for each of its sub-buckets.
    #[must_use]
    pub fn with_window(mut self, window: Duration) -> Self {
        let micros = micros(window).clamp(window::SUB_BUCKETS, Amount::MOST);
        self.window = micros;
        self
    }

    /// One of so many equal shares, rounded down.
    #[must_use]
    pub fn share(mut self, of: u64) -> Self {
        let of = of.max(1);
        self.requests = self.requests.map(|limit| limit / of);
        self.tokens = self.tokens.map(|limit| limit / of);
        self
    }

    /// Which limit is smaller than this amount, so that it can never be admitted? The first that is.
    pub fn fits(&self, amount: Amount) -> Result<(), LimitReason> {
        let exceeds = |limit: Option<u64>, amount: u64| limit.is_some_and(|limit| amount > limit);
        if exceeds(self.requests, amount.requests) {
            Err(LimitReason::Requests)
        } else if exceeds(self.tokens, amount.tokens) {
            Err(LimitReason::Tokens)
        } else {
            Ok(())
        }
    }
}

/// How much of a quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Amount {
    /// Requests.
    pub requests: u64,
    /// Tokens, in and out together.
    pub tokens: u64,
}

impl Amount {
    /// The largest figure that is counted exactly everywhere (scripts count in floating point): 2^40.
    pub const MOST: u64 = 1 << 40;

    /// So many requests and tokens, each [`Amount::MOST`] at most.
    pub fn new(requests: u64, tokens: u64) -> Self {
        Amount {
            requests: requests.min(Amount::MOST),
            tokens: tokens.min(Amount::MOST),
        }
    }

    pub(super) fn plus(self, more: Amount) -> Amount {
        Amount {
            requests: self.requests.saturating_add(more.requests),
            tokens: self.tokens.saturating_add(more.tokens),
        }
    }

    pub(super) fn less(self, less: Amount) -> Amount {
        Amount {
            requests: self.requests.saturating_sub(less.requests),
            tokens: self.tokens.saturating_sub(less.tokens),
        }
    }
}

/// Which limit has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitReason {
    /// The number of requests.
    Requests,
    /// The number of tokens.
    Tokens,
    /// The vendor asked for a pause.
    Vendor,
}

impl LimitReason {
    /// The stable word for logs: `requests`, `tokens` or `vendor`.
    pub fn as_str(self) -> &'static str {
        match self {
            LimitReason::Requests => "requests",
            LimitReason::Tokens => "tokens",
            LimitReason::Vendor => "vendor",
        }
    }
}

/// What a store answered to [`QuotaStore::reserve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reserved {
    /// Admitted.
    Granted {
        /// The name that the settlement gives back.
        lease: u64,
        /// The store's time of the admission, in microseconds.
        at: u64,
    },
    /// Not admitted, and nothing was counted.
    Wait {
        /// How long there is no room, if nobody else takes it and nothing is given back.
        wait: Duration,
        /// What has no room.
        reason: LimitReason,
    },
}

/// What became of an admitted call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settlement {
    /// The name of the grant.
    pub lease: u64,
    /// What was reserved.
    pub reserved: Amount,
    /// What was used.
    pub used: Amount,
    /// How long the vendor asked for silence; zero: it did not.
    pub closed_for: Duration,
    /// The requests that the vendor says are left, and for how long that holds.
    pub requests_left: Option<(u64, Duration)>,
    /// The tokens that the vendor says are left, and for how long that holds.
    pub tokens_left: Option<(u64, Duration)>,
}

impl Settlement {
    /// So much was used of what was reserved; the vendor said nothing.
    pub fn new(lease: u64, reserved: Amount, used: Amount) -> Self {
        Settlement {
            lease,
            reserved,
            used,
            closed_for: Duration::ZERO,
            requests_left: None,
            tokens_left: None,
        }
    }

    /// With what the vendor said, as the window reads it.
    pub(super) fn vendor_says(&self) -> VendorSays {
        let left = |(amount, lasts): (u64, Duration)| Left {
            amount: amount.min(Amount::MOST),
            lasts: micros(lasts),
        };
        VendorSays {
            closed_for: micros(self.closed_for),
            requests: self.requests_left.map(left),
            tokens: self.tokens_left.map(left),
        }
    }

    /// Would it change anything?
    pub(super) fn is_idle(&self) -> bool {
        self.reserved == self.used && self.vendor_says() == VendorSays::default()
    }
}

/// Why a store could not decide.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFault {
    /// It cannot be reached, did not answer in its time, or answered with an error.
    Unavailable(StoreError),
    /// It answers, but may have lost what was admitted lately: it was restarted, or a replica took over.
    StateLost {
        /// How long until that no longer matters: one window after it was noticed.
        trusted_in: Duration,
    },
}

impl fmt::Display for StoreFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreFault::Unavailable(error) => write!(f, "the quota store is unavailable ({error})"),
            StoreFault::StateLost { trusted_in } => write!(
                f,
                "the quota store was restarted or replaced and is trusted again in {} s",
                trusted_in.as_millis().div_ceil(1000)
            ),
        }
    }
}

impl std::error::Error for StoreFault {}

/// A quota store within this process: what several layer values share without a server, and what a store does,
/// in its simplest form.
///
/// ```
/// use llm_driver_testkit::TestClock;
/// use llm_resilience::{MemoryQuotaStore, RateLimitLayer, RateLimitPolicy};
/// use std::sync::Arc;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let store = Arc::new(MemoryQuotaStore::new(TestClock::shared()));
/// let policy = RateLimitPolicy::default().with_requests_per_minute(60).with_budget("team-blue");
/// let chat = RateLimitLayer::with_store(policy.clone(), store.clone());
/// let batch = RateLimitLayer::with_store(policy, store); // the same 60 requests
/// # let _ = (chat, batch);
/// # });
/// ```
#[derive(Debug)]
pub struct MemoryQuotaStore {
    clock: Arc<dyn Clock>,
    origin: Instant,
    budgets: Mutex<HashMap<String, Window>>,
}

impl MemoryQuotaStore {
    /// An empty store that counts by this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let origin = clock.now();
        MemoryQuotaStore {
            clock,
            origin,
            budgets: Mutex::default(),
        }
    }

    fn now(&self) -> u64 {
        micros(self.clock.now().saturating_duration_since(self.origin))
    }

    fn budgets(&self) -> MutexGuard<'_, HashMap<String, Window>> {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl QuotaStore for MemoryQuotaStore {
    async fn reserve(
        &self,
        budget: &str,
        limits: &Limits,
        amount: Amount,
        _: Option<Duration>,
    ) -> Result<Reserved, StoreFault> {
        let mut budgets = self.budgets();
        let at = self.now();
        let window = budgets.entry(budget.to_owned()).or_default();
        Ok(match window.reserve(at, limits, amount) {
            Asked::Granted { lease } => Reserved::Granted { lease, at },
            Asked::Wait { until, reason } => Reserved::Wait {
                wait: Duration::from_micros(until.saturating_sub(at)),
                reason,
            },
        })
    }

    async fn settle(&self, budget: &str, limits: &Limits, settlement: &Settlement) -> Result<(), StoreFault> {
        let mut budgets = self.budgets();
        let now = self.now();
        if let Some(window) = budgets.get_mut(budget) {
            window.settle(settlement.lease, settlement.reserved, settlement.used);
            window.heed(now, limits, &settlement.vendor_says());
        }
        Ok(())
    }
}

/// Whole microseconds, rounded down.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
