//! A stack from configuration, in the one recommended order: [`StackConfig`] and [`StackLayers`].

mod config;

use crate::breaker::BreakerStore;
use crate::rate_limit::QuotaStore;
use crate::store::KeyValueStore;
use crate::{
    BreakerLayer, BulkheadLayer, CacheLayer, HedgeLayer, KeyPoolLayer, PoolKey, RateLimitLayer, RetryLayer,
    TimeoutLayer, TraceLayer,
};
use llm_core::{ChatDriver, ChatLayer, Error, ErrorKind, Result, Stack};
use std::sync::Arc;

pub use config::StackConfig;

/// The layers of a configuration, with their state: what a stack is made of, and what outlives it.
///
/// ```
/// use llm_driver_testkit::{Reply, ScriptedDriver};
/// use llm_resilience::stack::{StackConfig, StackLayers, StackStores};
/// use std::sync::Arc;
///
/// let config: StackConfig = serde_json::from_str(
///     r#"{"timeout": {}, "retry": {"max_attempts": 2}, "breaker": {}, "bulkhead": {"max_concurrent": 8}}"#,
/// ).unwrap();
/// let layers = StackLayers::build(config, StackStores::default())?;
/// let stack = layers.stack(Arc::new(ScriptedDriver::always("alpha", Reply::text("hello"))));
/// assert_eq!(stack.info().to_string(), "retry > breaker > bulkhead > timeout > alpha");
///
/// // A reload: what is configured as before keeps what it knows.
/// let config: StackConfig = serde_json::from_str(r#"{"timeout": {"idle_ms": 5000}, "breaker": {}}"#).unwrap();
/// let layers = layers.rebuild(config)?;
/// let stack = layers.stack(Arc::new(ScriptedDriver::always("alpha", Reply::text("hello"))));
/// assert_eq!(stack.info().to_string(), "breaker > timeout > alpha");
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// One value may make any number of stacks. They share what its layers share: one retry budget, one bulkhead, one rate
/// limit, unless a policy's `scope` says otherwise.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StackLayers {
    /// Outermost.
    pub trace: Option<TraceLayer>,
    /// Inside of trace.
    pub cache: Option<CacheLayer>,
    /// Inside of cache.
    pub retry: Option<RetryLayer>,
    /// Inside of retry.
    pub hedge: Option<HedgeLayer>,
    /// Inside of hedge.
    pub breaker: Option<BreakerLayer>,
    /// Inside of breaker.
    pub rate_limit: Option<RateLimitLayer>,
    /// Inside of rate limit.
    pub bulkhead: Option<BulkheadLayer>,
    /// Inside of bulkhead.
    pub key_pool: Option<KeyPoolLayer>,
    /// Innermost; around each driver of a key pool.
    pub timeout: Option<TimeoutLayer>,
    config: StackConfig,
    stores: StackStores,
}

/// Where the state of a stack's layers is kept. What has no store here is kept in the process; a cache must have one.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StackStores {
    /// Cached answers.
    pub cache: Option<Arc<dyn KeyValueStore>>,
    /// Breakers' records.
    pub breaker: Option<Arc<dyn BreakerStore>>,
    /// Quotas of rate limits.
    pub quota: Option<Arc<dyn QuotaStore>>,
}

impl StackStores {
    /// Where cached answers are kept.
    #[must_use]
    pub fn with_cache(mut self, store: Arc<dyn KeyValueStore>) -> Self {
        self.cache = Some(store);
        self
    }

    /// Where breakers' records are kept.
    #[must_use]
    pub fn with_breaker(mut self, store: Arc<dyn BreakerStore>) -> Self {
        self.breaker = Some(store);
        self
    }

    /// Where quotas are kept.
    #[must_use]
    pub fn with_quota(mut self, store: Arc<dyn QuotaStore>) -> Self {
        self.quota = Some(store);
        self
    }
}

impl StackLayers {
    /// The layers of a configuration, knowing nothing yet.
    ///
    /// # Errors
    /// `Config`, for a cache without a store.
    pub fn build(config: StackConfig, stores: StackStores) -> Result<Self> {
        let nothing = StackLayers {
            stores,
            ..StackLayers::default()
        };
        nothing.rebuild(config)
    }

    /// The layers of another configuration, in the same stores. A layer whose policy did not change is the same one,
    /// with its budgets, breakers, queues and rests; any other begins anew. Stacks that were made before go on as they
    /// are.
    ///
    /// # Errors
    /// `Config`, for a cache without a store.
    pub fn rebuild(&self, config: StackConfig) -> Result<Self> {
        let (new, old) = (config.into_used(), &self.config);
        let cache = match (&new.cache, &self.stores.cache) {
            (Some(_), None) => {
                let message =
                    "cache: answers need a place; give the stack a store for its cache, or leave it out";
                return Err(Error::new(ErrorKind::Config, message));
            }
            (_, Some(store)) => kept(&new.cache, &old.cache, &self.cache, |policy| {
                CacheLayer::new(policy, Arc::clone(store))
            }),
            (None, None) => None,
        };
        Ok(StackLayers {
            trace: new.trace.map(TraceLayer::new),
            cache,
            retry: kept(&new.retry, &old.retry, &self.retry, RetryLayer::new),
            hedge: kept(&new.hedge, &old.hedge, &self.hedge, HedgeLayer::new),
            breaker: kept(&new.breaker, &old.breaker, &self.breaker, |policy| {
                match &self.stores.breaker {
                    Some(store) => BreakerLayer::with_store(policy, Arc::clone(store)),
                    None => BreakerLayer::new(policy),
                }
            }),
            rate_limit: kept(
                &new.rate_limit,
                &old.rate_limit,
                &self.rate_limit,
                |policy| match &self.stores.quota {
                    Some(store) => RateLimitLayer::with_store(policy, Arc::clone(store)),
                    None => RateLimitLayer::new(policy),
                },
            ),
            bulkhead: kept(&new.bulkhead, &old.bulkhead, &self.bulkhead, BulkheadLayer::new),
            key_pool: kept(&new.key_pool, &old.key_pool, &self.key_pool, KeyPoolLayer::new),
            timeout: new.timeout.clone().map(TimeoutLayer::attempt),
            config: new,
            stores: self.stores.clone(),
        })
    }

    /// The configuration that these layers are of.
    pub fn config(&self) -> &StackConfig {
        &self.config
    }

    /// The stack around a driver. A key pool is a pool of this one.
    pub fn stack(&self, driver: Arc<dyn ChatDriver>) -> Stack {
        let innermost: [Option<&dyn ChatLayer>; 2] = [as_layer(&self.timeout), as_layer(&self.key_pool)];
        self.around(wrap(driver, innermost))
    }

    /// The stack around a key pool of these drivers, each with its own time limits.
    ///
    /// # Errors
    /// `Config`: there is no key pool in the configuration, or [`KeyPoolLayer::over`] refuses the keys.
    pub fn stack_of_keys(&self, keys: impl IntoIterator<Item = PoolKey>) -> Result<Stack> {
        let Some(pool) = &self.key_pool else {
            let message = "key_pool: several keys need a pool; configure one, if only as {}";
            return Err(Error::new(ErrorKind::Config, message));
        };
        let limited = keys.into_iter().map(|key| match &self.timeout {
            Some(timeout) => key.layer(timeout),
            None => key,
        });
        Ok(self.around(pool.over(limited)?))
    }

    /// Everything that goes around a key pool.
    fn around(&self, driver: Arc<dyn ChatDriver>) -> Stack {
        let innermost_first: [Option<&dyn ChatLayer>; 7] = [
            as_layer(&self.bulkhead),
            as_layer(&self.rate_limit),
            as_layer(&self.breaker),
            as_layer(&self.hedge),
            as_layer(&self.retry),
            as_layer(&self.cache),
            as_layer(&self.trace),
        ];
        Stack::from_arc(wrap(driver, innermost_first))
    }
}

/// The layer of a policy: the one that is there, when its policy is the same, else a new one.
fn kept<P: PartialEq + Clone, L: Clone>(
    new: &Option<P>,
    old: &Option<P>,
    layer: &Option<L>,
    make: impl FnOnce(P) -> L,
) -> Option<L> {
    let policy = new.as_ref()?;
    match layer {
        Some(layer) if old.as_ref() == Some(policy) => Some(layer.clone()),
        _ => Some(make(policy.clone())),
    }
}

fn as_layer(layer: &Option<impl ChatLayer>) -> Option<&dyn ChatLayer> {
    layer.as_ref().map(|layer| layer as &dyn ChatLayer)
}

fn wrap<'a>(
    driver: Arc<dyn ChatDriver>,
    innermost_first: impl IntoIterator<Item = Option<&'a dyn ChatLayer>>,
) -> Arc<dyn ChatDriver> {
    let layers = innermost_first.into_iter().flatten();
    layers.fold(driver, |inner, layer| layer.layer(inner))
}
