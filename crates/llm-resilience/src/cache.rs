//! Answers that were given before: [`CacheLayer`].

mod capture;
mod config;
mod flight;
mod key;
#[cfg(feature = "moka")]
mod memory;
mod record;
mod replay;
mod store;

use crate::clock;
use crate::store::KeyValueStore;
use capture::Captured;
use flight::{Boarded, Flights, Lead};
use key::{Asked, CacheKey};
use llm_core::{
    Availability, Block, CallContext, ChatDriver, ChatLayer, ChatRequest, ChatResponse, ChatStream,
    DriverInfo, Error, ErrorKind, FinishKind, HealthStatus, ModelId, ResolvedModel, Result, VendorFacts,
    async_trait, stream,
};
use std::sync::Arc;
use store::OpenStore;

pub use config::{CacheMode, CacheNamespace, CachePolicy, CachedStreams};
#[cfg(feature = "moka")]
pub use memory::MemoryStore;

/// Gives an answer again that was given before, for 300 s by default.
///
/// ```
/// # #[cfg(feature = "moka")] {
/// use llm_core::{ChatRequest, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::cache::{CacheLayer, CacheMode, CachePolicy, MemoryStore};
/// use std::sync::Arc;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let (clock, cx) = (Arc::new(TestClock::new()), TestClock::context());
/// let store = Arc::new(MemoryStore::new(64 << 20, clock));
/// let driver = ScriptedDriver::new("alpha", [Reply::text("one"), Reply::text("two")]);
/// let stack = Stack::new(driver).layer(CacheLayer::new(CachePolicy::default(), store));
///
/// let request = ChatRequest::user("hi");
/// assert!(!stack.chat(&cx, &request).await?.meta.from_cache);
/// let again = stack.chat(&cx, &request).await?;
/// assert!(again.meta.from_cache && again.text() == "one");
/// assert_eq!(again.usage.cost.map(|cost| cost.pico_usd), Some(0));
///
/// let fresh = cx.with_extension(CacheMode::Refresh);
/// assert_eq!(stack.chat(&fresh, &request).await?.text(), "two");
/// # Ok::<(), llm_core::Error>(())
/// # }).unwrap();
/// # }
/// ```
///
/// Two calls are equal when their requests are, but for the order of keys where that means nothing, and go to the
/// same vendor, base URL and model (the model that serves, whatever name the request has for it), in the same
/// [`CacheNamespace`]. Preferences of the context, time limits and ids make no difference.
///
/// An answer is kept when it is complete: its finish is a stop, and it says something. Answers that call tools and
/// requests at a temperature above 0.3 are kept only when [`CachePolicy`] asks for it. Equal calls at once are asked
/// once: one leads, the others wait for its answer, each no longer than its own deadline; where the leader fails,
/// the next one leads. Streams pass by the cache unless [`CachedStreams::Replay`] is set; then they are looked up
/// and kept, but do not wait for each other.
///
/// A hit has `meta.from_cache`, a cost of zero, in `meta.saved_cost` what making it had cost, and no attempts. The
/// counts of its tokens stay.
///
/// When the store is down the call goes on without it, and the log says so once an outage. What the store holds
/// that this code cannot have written counts as absent.
///
/// # Errors
/// `Unsupported`, before anything is sent, for a call in raw mode: a cache has to read the answer. The stack says
/// so beforehand ([`DriverInfo::needs_content`]). `Timeout` with scope `Request`, when the deadline passes while an
/// equal call is being made.
///
/// # Cancellation
/// Dropping a call that leads hands the lead to the next equal one. Dropping a stream before its finish keeps
/// nothing.
///
/// # Panics
/// When a store or an equal call has to be waited for outside of a tokio runtime with its timer.
#[derive(Debug, Clone)]
pub struct CacheLayer {
    shared: Arc<Cache>,
}

impl CacheLayer {
    /// A cache in this store. Several layers may share a store, and see each other's answers.
    pub fn new(policy: CachePolicy, store: Arc<dyn KeyValueStore>) -> Self {
        CacheLayer {
            shared: Arc::new(Cache {
                store: OpenStore::new(store, &policy),
                flights: Flights::default(),
                policy,
            }),
        }
    }
}

impl ChatLayer for CacheLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        let info = inner.info().clone().with_layer("cache");
        Arc::new(CacheDriver {
            info: if self.shared.policy.is_off() {
                info
            } else {
                info.with_needs_content()
            },
            cache: Arc::clone(&self.shared),
            inner,
        })
    }
}

/// What all drivers of one layer share.
#[derive(Debug)]
struct Cache {
    policy: CachePolicy,
    store: OpenStore,
    flights: Flights,
}

/// A chat driver with a cache around it.
#[derive(Debug)]
struct CacheDriver {
    info: DriverInfo,
    cache: Arc<Cache>,
    inner: Arc<dyn ChatDriver>,
}

/// What the cache does for a call.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// Nothing.
    Pass,
    /// A kept answer, or a new one that is kept.
    Use(CacheKey),
    /// A new answer, which is kept.
    Refresh(CacheKey),
}

#[async_trait]
impl ChatDriver for CacheDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.inner.resolve(model)
    }

    fn availability(&self, model: &ModelId) -> Availability {
        self.inner.availability(model)
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.inner.health(cx).await
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let key = match self.plan(cx, request, false)? {
            Plan::Pass => return self.inner.chat(cx, request).await,
            Plan::Refresh(key) => return self.ask(cx, request, key).await,
            Plan::Use(key) => key,
        };
        match self.board(cx, key).await? {
            Boarded::Leading(lead) => self.lead(cx, request, key, lead).await,
            Boarded::Answered(response) => Ok(replay::as_hit(ChatResponse::clone(&response))),
            Boarded::Failed(error) => Err(error),
            Boarded::Apart => self.ask(cx, request, key).await,
        }
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let key = match self.plan(cx, request, true)? {
            Plan::Pass => return self.inner.chat_stream(cx, request).await,
            Plan::Refresh(key) => key,
            Plan::Use(key) => match self.find(cx, key).await {
                Some(response) => return Ok(stream::replay(replay::as_hit(response))),
                None => key,
            },
        };
        let stream = self.inner.chat_stream(cx, request).await?;
        Ok(stream.map_events(|events| Captured::new(events, &self.cache, cx, key)))
    }
}

impl CacheDriver {
    fn plan(&self, cx: &CallContext, request: &ChatRequest, streamed: bool) -> Result<Plan> {
        let policy = &self.cache.policy;
        let mode = cx.extensions().find::<CacheMode>().copied().unwrap_or_default();
        let passes_by = streamed && policy.streams == CachedStreams::Bypass;
        if policy.is_off() || passes_by || mode == CacheMode::Bypass || !policy.looks_up(request) {
            return Ok(Plan::Pass);
        }
        // What the driver does not serve, it refuses itself.
        let Ok(model) = self.inner.resolve(request.model.as_ref()) else {
            return Ok(Plan::Pass);
        };
        if cx.raw().is_some() {
            let mut facts = VendorFacts::default();
            facts.driver = Some(self.info.id.clone());
            facts.model = Some(model.id.clone());
            let message =
                "a cache cannot read an answer in raw mode; ask for full events, or pass by the cache";
            return Err(Error::new(ErrorKind::Unsupported, message).with_vendor(facts));
        }
        let caller = cx.extensions().find::<CacheNamespace>();
        let key = CacheKey::of(&Asked {
            driver: &self.info,
            model: &model.id,
            namespaces: [&policy.namespace, caller.map_or("", CacheNamespace::as_str)],
            request,
        });
        Ok(match key {
            None => Plan::Pass,
            Some(key) if mode == CacheMode::Refresh => Plan::Refresh(key),
            Some(key) => Plan::Use(key),
        })
    }

    /// Waits for an equal call that is being made, within the time that this one has.
    async fn board(&self, cx: &CallContext, key: CacheKey) -> Result<Boarded<'_>> {
        let boarding = self.cache.flights.board(key);
        let Some(left) = cx.remaining() else {
            return Ok(boarding.await);
        };
        clock::within(left, boarding).await.ok_or_else(|| {
            Error::deadline("the call's deadline passed while an equal call was being made; allow more time")
        })
    }

    /// Makes the call for itself and for the equal ones that wait.
    async fn lead(
        &self,
        cx: &CallContext,
        request: &ChatRequest,
        key: CacheKey,
        lead: Lead<'_>,
    ) -> Result<ChatResponse> {
        if let Some(response) = self.find(cx, key).await {
            let response = Arc::new(response);
            drop(lead.land(Arc::clone(&response)));
            return Ok(replay::as_hit(Arc::unwrap_or_clone(response)));
        }
        match self.inner.chat(cx, request).await {
            Ok(response) if self.cache.policy.keeps(&response) => {
                let response = Arc::new(response);
                let ticket = lead.land(Arc::clone(&response));
                self.cache.store.keep(cx, key, &response).await;
                drop(ticket);
                Ok(Arc::unwrap_or_clone(response))
            }
            Ok(response) => {
                lead.part();
                Ok(response)
            }
            Err(error) => {
                lead.fail(&error);
                Err(error)
            }
        }
    }

    /// Makes the call for itself, and keeps the answer.
    async fn ask(&self, cx: &CallContext, request: &ChatRequest, key: CacheKey) -> Result<ChatResponse> {
        let response = self.inner.chat(cx, request).await?;
        if self.cache.policy.keeps(&response) {
            self.cache.store.keep(cx, key, &response).await;
        }
        Ok(response)
    }

    /// The kept answer, if it is one that this policy would keep: another's in the same store may keep more.
    async fn find(&self, cx: &CallContext, key: CacheKey) -> Option<ChatResponse> {
        let response = self.cache.store.load(cx, key).await?;
        self.cache.policy.keeps(&response).then_some(response)
    }
}

impl CachePolicy {
    /// Is the answer to this request worth looking for?
    fn looks_up(&self, request: &ChatRequest) -> bool {
        match (request.sampling.temperature, self.max_temperature) {
            (Some(temperature), Some(most)) => temperature <= most,
            (None, _) | (_, None) => true,
        }
    }

    /// Is this answer kept? Only one that is complete, and that is not another's to begin with.
    fn keeps(&self, response: &ChatResponse) -> bool {
        let calls = response.tool_calls().next().is_some();
        let ended_well = match response.finish.kind {
            FinishKind::Stop => true,
            FinishKind::ToolCalls => calls,
            _ => false,
        };
        let says_something = response.blocks.iter().any(|block| match block {
            Block::Text(part) => !part.text.is_empty(),
            Block::Refusal(part) => !part.text.is_empty(),
            Block::ToolCall(_) => true,
            _ => false,
        });
        ended_well
            && says_something
            && (self.tool_calls || !calls)
            && response.incomplete_tool_calls.is_empty()
            && response.raw.is_none()
            && !response.meta.from_cache
    }
}
