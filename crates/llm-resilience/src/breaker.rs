//! Staying away from what fails: [`BreakerLayer`].
//!
//! What counts against health and what an error shuts says the verdict table of `llm-core`; [`BreakerPolicy`] says
//! from when on and for how long. Both meet in pure functions over records, which take the time: in this process
//! they run under a lock, on Redis as one script.

mod call;
mod config;
mod decision;
mod keys;
mod memory;
mod outage;
#[cfg(feature = "redis")]
mod redis;
mod report;
mod rules;
mod state;
mod store;
mod view;
mod window;

use crate::policy::{Answer, Policy, PolicyChatDriver, Target};
use crate::store::StoreError;
use call::{Call, GivenBack};
use decision::Asked;
use llm_core::{
    Availability, CallContext, ChatDriver, ChatLayer, ChatStream, Clock, DriverInfo, ModelId, Result,
};
use outage::Outage;
use rules::Rules;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use view::{Change, View};

pub use config::BreakerPolicy;
pub use decision::{BreakerQuestion, BreakerReply, BreakerScope};
pub use keys::BreakerKeys;
pub use memory::MemoryBreakerStore;
#[cfg(feature = "redis")]
pub use redis::RedisBreakerStore;
pub use state::{BreakerRecord, BreakerState};
pub use store::BreakerStore;

/// Refuses calls to what fails, at once, until there is hope again.
///
/// ```
/// use llm_core::{ChatRequest, Error, ErrorKind, Phase, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{BreakerLayer, BreakerPolicy};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let down = Error::new(ErrorKind::Server, "down");
/// let driver = ScriptedDriver::always("alpha", Reply::error(down));
/// let stack = Stack::new(driver).layer(BreakerLayer::new(BreakerPolicy::default()));
/// let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
/// for _ in 0..5 {
///     assert_eq!(stack.chat(&cx, &request).await.unwrap_err().kind(), ErrorKind::Server);
/// }
/// let refused = stack.chat(&cx, &request).await.unwrap_err();
/// assert_eq!((refused.kind(), refused.phase()), (ErrorKind::Rejected, Phase::NotSent));
/// assert_eq!(refused.retry_after().unwrap().as_secs(), 60);
/// # });
/// ```
///
/// - **What it looks at**: the vendor (a driver at a base URL), the credential, the model, and the model with the
///   credential. A call passes when none of them is shut. One layer value is one set of records: clones of it and
///   all drivers that it wraps share them.
/// - **Opening**: by failures in a row, or by their share in a window. Half-open lets a few probes pass; as many
///   successes close it, one failure opens it again, for longer.
/// - **Shutting**: a vendor's hint, a used-up quota, a refused credential or a missing model shut their scope at once
///   and for a time of their own. When it is over, calls pass.
/// - **A refused credential** is asked again by the first call through a newly made stack: layering sets it up anew, here
///   and in a shared store. Quotas and health are kept.
/// - **Streams** have succeeded when they have finished, and their failure counts whenever it comes. Whoever drops a
///   call or a stream says nothing, unless a router had [limited](CallContext::attempt_limit) the attempt and its time was
///   over before any content: that is a vendor's timeout. The place of a dropped probe is free at once.
/// - **Refusals** are `Rejected`, with the scope that is shut, the time until it is worth another call as
///   `retry_after`, and phase `NotSent`: `BreakerOpen` for health and missing models, `RateLimit`, `Budget` (a
///   quota) or `NoCredential`.
/// - **Logs**: opening and failing stores at level WARN, closing at INFO, with `scope`, `reason`, `driver`, `model` and
///   `until_ms`.
///
/// # Cancellation
/// Dropping the future or the stream drops what it waits for. Nothing was started elsewhere.
///
/// # Panics
/// Never.
#[derive(Debug, Clone)]
pub struct BreakerLayer {
    breaker: Arc<Breaker>,
}

impl BreakerLayer {
    /// With records in this process.
    pub fn new(policy: BreakerPolicy) -> Self {
        BreakerLayer::with_store(policy, Arc::new(MemoryBreakerStore::default()))
    }

    /// With records in this store.
    pub fn with_store(policy: BreakerPolicy, store: Arc<dyn BreakerStore>) -> Self {
        let rules = Rules::of(&policy);
        BreakerLayer {
            breaker: Arc::new(Breaker {
                shared: Arc::new(Shared {
                    policy,
                    rules,
                    store,
                    view: View::default(),
                    given_back: GivenBack::default(),
                    outage: Outage::default(),
                }),
                name: None,
                credential: Arc::from(""),
                is_new: AtomicBool::new(true),
            }),
        }
    }

    /// The same records, under another name for the vendor than its driver and base URL: for stacks that must not
    /// share what others of the same vendor have met.
    #[must_use]
    pub fn with_name(&self, name: impl Into<Arc<str>>) -> Self {
        BreakerLayer {
            breaker: Arc::new(Breaker {
                name: Some(name.into()),
                ..self.breaker.anew()
            }),
        }
    }

    /// The same records, for calls with this credential: any name that tells it from others, never the secret
    /// itself. Without it, all calls to a vendor are taken for calls with one.
    #[must_use]
    pub fn with_credential(&self, name: impl Into<Arc<str>>) -> Self {
        BreakerLayer {
            breaker: Arc::new(Breaker {
                credential: name.into(),
                ..self.breaker.anew()
            }),
        }
    }

    /// Where it stands for this model of a driver, the worst of all scopes: what this process last saw. `model` is
    /// the name that is sent (`ResolvedModel::id`).
    pub fn state(&self, driver: &DriverInfo, model: &ModelId) -> BreakerState {
        let keys = self.breaker.keys(driver, Some(model.clone()));
        self.breaker.shared.view.state(&keys)
    }

    /// Forgets what is known of a vendor, its credential and this model, which lets calls pass again: after a
    /// credential was renewed or a catalogue refreshed.
    ///
    /// # Errors
    /// The store's. Then this process lets calls ask again, but what the store keeps may still refuse them.
    pub async fn forget(
        &self,
        cx: &CallContext,
        driver: &DriverInfo,
        model: &ModelId,
    ) -> Result<(), StoreError> {
        let keys = self.breaker.keys(driver, Some(model.clone()));
        self.breaker.shared.view.forget(&keys);
        self.breaker.shared.store.forget(&keys, cx.remaining()).await
    }
}

impl Default for BreakerLayer {
    fn default() -> Self {
        BreakerLayer::new(BreakerPolicy::default())
    }
}

impl ChatLayer for BreakerLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        BreakerDriver::wrap(&Arc::new(self.breaker.anew()), inner)
    }
}

type BreakerDriver = PolicyChatDriver<Breaker>;

/// A layer's own names, and what it shares; one for each driver that it wraps.
#[derive(Debug)]
struct Breaker {
    shared: Arc<Shared>,
    name: Option<Arc<str>>,
    credential: Arc<str>,
    /// Its credential was set up anew, and the store has not been told.
    is_new: AtomicBool,
}

#[derive(Debug)]
struct Shared {
    policy: BreakerPolicy,
    rules: Rules,
    store: Arc<dyn BreakerStore>,
    view: View,
    given_back: GivenBack,
    outage: Outage,
}

impl Policy for Breaker {
    const NAME: &'static str = "breaker";

    async fn run<T, Fut>(
        &self,
        cx: &CallContext,
        target: &Target<'_>,
        mut operation: impl FnMut(CallContext) -> Fut + Send,
    ) -> Result<T>
    where
        T: Answer,
        Fut: Future<Output = Result<T>> + Send,
    {
        let keys = self.keys(target.driver, target.serving_model());
        let call = Call::enter(&self.shared, cx, keys, &self.is_new)
            .await
            .map_err(|refusal| refusal.with_vendor(target.facts(None)))?;
        match operation(cx.clone()).await {
            Ok(answer) if target.streamed => {
                let answer = match call.content_mark() {
                    Some(mark) => answer.at_content(move || mark.store(true, Ordering::Release)),
                    None => answer,
                };
                Ok(answer.at_end(move |error| call.ended(error)))
            }
            Ok(answer) => {
                call.ended(None).await;
                Ok(answer)
            }
            Err(error) => {
                call.ended(Some(&error)).await;
                Err(error)
            }
        }
    }

    async fn watch(
        &self,
        _: &CallContext,
        _: &Target<'_>,
        _: Instant,
        stream: ChatStream,
    ) -> Result<ChatStream> {
        Ok(stream)
    }

    fn availability(&self, target: &Target<'_>) -> Availability {
        let keys = self.keys(target.driver, target.serving_model());
        let is_new = self.is_new.load(Ordering::Acquire);
        self.shared.view.availability(&keys, &BreakerScope::ALL, is_new)
    }

    fn illness(&self, driver: &DriverInfo) -> Option<String> {
        let keys = self.keys(driver, None);
        let of_no_model = [BreakerScope::Vendor, BreakerScope::Credential];
        let is_new = self.is_new.load(Ordering::Acquire);
        match self.shared.view.availability(&keys, &of_no_model, is_new) {
            Availability::Unavailable { reason, .. } => Some(format!(
                "not probed: the breaker refuses calls for now ({})",
                reason.as_str()
            )),
            _ => None,
        }
    }
}

impl Breaker {
    /// The same for one more driver.
    fn anew(&self) -> Breaker {
        Breaker {
            shared: Arc::clone(&self.shared),
            name: self.name.clone(),
            credential: Arc::clone(&self.credential),
            is_new: AtomicBool::new(true),
        }
    }

    fn keys(&self, driver: &DriverInfo, model: Option<ModelId>) -> BreakerKeys {
        let stack = match &self.name {
            Some(name) => Arc::clone(name),
            None => Arc::from(format!("{}@{}", driver.id, driver.base_url)),
        };
        BreakerKeys::new(stack, Arc::clone(&self.credential), model)
    }
}

impl Shared {
    fn question<'a>(&'a self, asked: Asked<'a>) -> BreakerQuestion<'a> {
        BreakerQuestion {
            rules: &self.rules,
            asked,
            random: fastrand::u64(0..=1000),
        }
    }

    /// What the store decides; nothing, when it fails.
    async fn decide(
        &self,
        keys: &BreakerKeys,
        asked: Asked<'_>,
        clock: &Arc<dyn Clock>,
        time_left: Option<Duration>,
    ) -> Option<BreakerReply> {
        let question = self.question(asked);
        let now = clock.now();
        let reply = match self.store.decide_at_once(keys, &question, now) {
            Some(reply) => reply,
            None if self.outage.holds(now) => return None,
            None => {
                let decided = self.store.decide(keys, &question, now, time_left).await;
                self.outage.note(clock.now(), keys, decided)?
            }
        };
        for change in self.view.note(keys, &reply, clock) {
            log(keys, change);
        }
        Some(reply)
    }
}

fn log(keys: &BreakerKeys, change: Change) {
    let Change {
        scope,
        before,
        standing,
    } = change;
    let (stack, scope_word) = (keys.stack(), scope.as_str());
    let model = keys.model();
    let left_ms = standing.left_ms;
    match standing.state {
        BreakerState::Open => {
            tracing::warn!(stack, model, scope = scope_word, left_ms, "the breaker is open")
        }
        BreakerState::HalfOpen => {
            tracing::info!(stack, model, scope = scope_word, "the breaker lets probes pass")
        }
        BreakerState::Closed if left_ms > 0 => {
            let reason = standing.why().as_str();
            tracing::warn!(
                stack,
                model,
                scope = scope_word,
                left_ms,
                reason,
                "an answer shut it"
            );
        }
        BreakerState::Closed if before != BreakerState::Closed => {
            tracing::info!(stack, model, scope = scope_word, "the breaker is closed again");
        }
        BreakerState::Closed => {}
    }
}

#[cfg(test)]
mod tests;
