//! Several credentials for one driver: [`KeyPoolLayer`].

mod config;
mod driver;
mod ledger;
mod turn;

use driver::KeyPoolDriver;
use ledger::{KeyName, Ledger};
use llm_core::error::verdict::Closes;
use llm_core::{CallContext, ChatDriver, ChatLayer, Clock, DriverInfo, Error, ErrorKind, ModelId, Result};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

pub use config::KeyPoolPolicy;

/// Spreads calls over several credentials of one vendor, and rests those that are at their limit.
///
/// A pool is made of drivers that differ in nothing but their credential, one for each; no driver has to know of it.
///
/// ```
/// use llm_core::{ChatRequest, Error, ErrorKind, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{KeyPoolLayer, KeyPoolPolicy, PoolKey};
/// use std::sync::Arc;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// // Each of these would have been built with a credential of its own.
/// let limit = Error::new(ErrorKind::RateLimit, "slow down").with_retry_after(std::time::Duration::from_secs(60));
/// let first = Arc::new(ScriptedDriver::always("alpha", Reply::error(limit)));
/// let second = Arc::new(ScriptedDriver::always("alpha", Reply::text("hello")));
/// let layer = KeyPoolLayer::new(KeyPoolPolicy::default());
/// let stack = Stack::from_arc(layer.over([PoolKey::new("team-a", first), PoolKey::new("team-b", second)])?);
///
/// let response = stack.chat(&TestClock::context(), &ChatRequest::user("hi")).await?;
/// assert_eq!((response.text().as_str(), response.attempts.len()), ("hello", 2));
/// # Ok::<(), llm_core::Error>(())
/// # }).unwrap();
/// ```
///
/// - **Turns** go round by weight, or each caller keeps its key ([`KeyPoolPolicy::sticky`]).
/// - **Another key at once**: what says something about a credential only (a rate limit, a used-up quota, a refusal) is
///   not given back while another key is usable. A stream is returned with its first content when there are several
///   keys, so that this holds for a failure before it, too.
/// - **Rest**: a rate limit rests its key for this model for the vendor's hint; without a hint the key is only passed
///   over while others are fresh. A used-up quota rests it for all models, until the hint or for ten minutes, doubled
///   each time.
/// - **Refused** credentials are not used until they are set up anew, by [`over`](KeyPoolLayer::over) or
///   [`readmit`](KeyPoolLayer::readmit). The log says so at WARN, with the key's name.
/// - **Availability** is that of the key that is back first. A probe of the health asks one usable key, and takes no turn.
///
/// State is kept in the layer value by the keys' names: a pool that is made anew of the same layer knows which of its
/// keys rest. Names are for logs; secrets are with the drivers, and nothing here ever sees one.
///
/// Put it innermost but for the time limits, which go around each driver; a breaker around it leaves credentials alone
/// ([`BreakerPolicy::without_credentials`](crate::BreakerPolicy::without_credentials)). As a plain [`ChatLayer`] it is
/// a pool of the one driver that it wraps.
///
/// # Errors
/// `Rejected` with phase `NotSent` when no key is usable: by [`RateLimit`](llm_core::Rejection::RateLimit),
/// [`Budget`](llm_core::Rejection::Budget) (a quota) or [`NoCredential`](llm_core::Rejection::NoCredential), with the
/// time until the first one is back as its hint. When the last usable key failed in this call, that failure; where it
/// is a limit, with the same hint.
///
/// # Cancellation
/// Dropping the future or the stream drops the call inside.
///
/// # Panics
/// Never.
#[derive(Debug, Clone)]
pub struct KeyPoolLayer {
    shared: Arc<KeyPool>,
}

/// One credential of a pool: a driver that was built with it, under a name.
#[derive(Debug, Clone)]
pub struct PoolKey {
    name: Arc<str>,
    weight: u32,
    driver: Arc<dyn ChatDriver>,
}

impl PoolKey {
    /// A key with weight 1. The name is for logs: anything that tells keys apart, never the secret.
    pub fn new(name: impl Into<Arc<str>>, driver: Arc<dyn ChatDriver>) -> Self {
        PoolKey {
            name: name.into(),
            weight: 1,
            driver,
        }
    }

    /// How many turns it gets beside the others. Zero: none at all.
    #[must_use]
    pub fn with_weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// The same key with a layer around its driver.
    #[must_use]
    pub fn layer(mut self, layer: &dyn ChatLayer) -> Self {
        self.driver = layer.layer(self.driver);
        self
    }
}

/// What all pools of one layer share.
#[derive(Debug)]
struct KeyPool {
    policy: KeyPoolPolicy,
    ledger: Mutex<Ledger>,
    /// That of the calls: availability is asked without one.
    clock: OnceLock<Arc<dyn Clock>>,
}

impl KeyPoolLayer {
    /// A layer that knows no key yet.
    pub fn new(policy: KeyPoolPolicy) -> Self {
        KeyPoolLayer {
            shared: Arc::new(KeyPool {
                policy,
                ledger: Mutex::default(),
                clock: OnceLock::new(),
            }),
        }
    }

    /// A driver that spreads its calls over these keys. Those that were refused before are tried again.
    ///
    /// # Errors
    /// `Config`: no key with a weight, a name that is there twice, or drivers that are not of one kind and place.
    pub fn over(&self, keys: impl IntoIterator<Item = PoolKey>) -> Result<Arc<dyn ChatDriver>> {
        let keys: Vec<PoolKey> = keys.into_iter().collect();
        let wrong = |message: String| Error::new(ErrorKind::Config, message);
        let Some(first) = keys.first() else {
            return Err(wrong("a key pool needs at least one key".to_owned()));
        };
        if keys.iter().all(|key| key.weight == 0) {
            return Err(wrong(
                "every key of the pool has weight 0; give one of them a turn".to_owned(),
            ));
        }
        for (place, key) in keys.iter().enumerate() {
            if keys[..place].iter().any(|other| other.name == key.name) {
                return Err(wrong(format!(
                    "two keys of the pool have the name {:?}",
                    key.name
                )));
            }
            let (one, other) = (first.driver.info(), key.driver.info());
            if (&one.id, &one.base_url) != (&other.id, &other.base_url) {
                return Err(wrong(format!(
                    "the keys {:?} and {:?} are for different drivers or places; a pool is of one",
                    first.name, key.name
                )));
            }
        }
        Ok(self.pool(&first.driver.info().clone(), keys))
    }

    /// Lets keys of these names be tried again that the vendor refused: after somebody set them right.
    pub fn readmit<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        let named = |name: &str| KeyName {
            name: name.into(),
            weight: 1,
        };
        let keys: Vec<KeyName> = names.into_iter().map(named).collect();
        self.shared.ledger().readmit(&keys);
    }

    fn pool(&self, info: &DriverInfo, keys: Vec<PoolKey>) -> Arc<dyn ChatDriver> {
        let names: Vec<KeyName> = keys
            .iter()
            .map(|key| KeyName {
                name: Arc::clone(&key.name),
                weight: key.weight,
            })
            .collect();
        self.shared.ledger().readmit(&names);
        Arc::new(KeyPoolDriver {
            info: info.clone().with_layer("key_pool"),
            pool: Arc::clone(&self.shared),
            names,
            drivers: keys.into_iter().map(|key| key.driver).collect(),
        })
    }
}

impl Default for KeyPoolLayer {
    fn default() -> Self {
        KeyPoolLayer::new(KeyPoolPolicy::default())
    }
}

impl ChatLayer for KeyPoolLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        let info = inner.info().clone();
        let name = format!("{}@{}", info.id, info.base_url);
        self.pool(&info, vec![PoolKey::new(name, inner)])
    }
}

impl KeyPool {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_clock(&self, cx: &CallContext) {
        self.clock.get_or_init(|| Arc::clone(cx.clock()));
    }

    /// What time it is; nothing before the first call.
    fn now(&self) -> Option<Instant> {
        self.clock.get().map(|clock| clock.now())
    }

    /// A key failed. Would another one help?
    fn note_failure(
        &self,
        cx: &CallContext,
        name: &Arc<str>,
        model: Option<&ModelId>,
        error: &Error,
    ) -> bool {
        if self.policy.longest_rest.is_zero() {
            return false;
        }
        let now = cx.clock().now();
        let another_helps = self.ledger().failed(now, &self.policy, name, model, error);
        if error.verdict().closes == Closes::Credential {
            let (kind, status) = (error.kind().as_str(), error.vendor().status);
            tracing::warn!(
                key = &**name,
                kind,
                status,
                "a key was refused and is not used any more"
            );
        }
        another_helps
    }
}
