//! A driver that answers what it was told.

use super::reply::Start;
use super::{Exhausted, Reply, Script, Step};
use crate::log::{Entry, Log, Logged};
use crate::recorded::Progress;
use futures_util::stream::unfold;
use llm_core::{
    Availability, CallContext, Capabilities, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ChatStream,
    DriverId, DriverInfo, Error, ErrorKind, HealthStatus, ModelId, Phase, ResolvedModel, ResponseMeta,
    Result, VendorId, async_trait, stream,
};
use llm_http::within_deadline;
use std::collections::VecDeque;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Answers what it was told, in order, and records what it was asked.
///
/// Waits are on tokio's time and end with the call's deadline, as a real driver's do.
///
/// ```
/// use llm_core::{ChatDriver, ChatRequest, Error, ErrorKind};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let driver = ScriptedDriver::new("alpha", [
///     Reply::error(Error::new(ErrorKind::Overloaded, "busy")),
///     Reply::text("hello"),
/// ]);
/// let (cx, request) = (TestClock::context(), ChatRequest::user("hi"));
/// assert!(driver.chat(&cx, &request).await.is_err());
/// assert_eq!(driver.chat(&cx.with_attempt(2), &request).await.unwrap().text(), "hello");
/// assert_eq!(driver.calls()[1].attempt, 2);
/// # });
/// ```
pub struct ScriptedDriver {
    info: DriverInfo,
    models: Models,
    availability: Mutex<AvailabilityAnswer>,
    health: Option<HealthStatus>,
    script: Mutex<Script<Reply>>,
    log: Log<RecordedCall>,
}

/// One call of a scripted driver.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedCall {
    /// What was asked.
    pub request: ChatRequest,
    /// Was a stream asked for?
    pub stream: bool,
    /// Which attempt the context said it was.
    pub attempt: u32,
    /// How long the context allowed to queue.
    pub max_queue_wait: Option<Duration>,
    /// The key of the logical call.
    pub idempotency_key: Option<String>,
    /// When it came in, on the call's clock.
    pub at: Instant,
    /// How long was left of the call's time then.
    pub remaining: Option<Duration>,
    /// The whole context.
    pub context: CallContext,
    /// How far it got; for a stream, until its last event was read.
    pub progress: Progress,
}

impl Logged for RecordedCall {
    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }
}

#[derive(Debug)]
enum Models {
    /// Any name, with these capabilities.
    Any(Capabilities),
    /// These alone; the first is the default.
    Known(Vec<Arc<ResolvedModel>>),
}

type AvailabilityAnswer = Arc<dyn Fn(&ModelId) -> Availability + Send + Sync>;

impl ScriptedDriver {
    /// Answers these replies, one for each call. The name is its driver id and its vendor's.
    pub fn new(name: &'static str, replies: impl IntoIterator<Item = Reply>) -> Self {
        let info = DriverInfo::new(DriverId::from_static(name), VendorId::from_static(name), name);
        ScriptedDriver {
            info,
            models: Models::Any(Capabilities::unknown()),
            availability: Mutex::new(Arc::new(|_| Availability::Available)),
            health: None,
            script: Mutex::new(Script::new(replies)),
            log: Log::default(),
        }
    }

    /// Gives this reply to every call.
    pub fn always(name: &'static str, reply: Reply) -> Self {
        ScriptedDriver::new(name, [reply]).with_exhausted(Exhausted::RepeatLast)
    }

    /// Who it says it is.
    #[must_use]
    pub fn with_info(mut self, info: DriverInfo) -> Self {
        self.info = info;
        self
    }

    /// What every model can do; any name is taken.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.models = Models::Any(capabilities);
        self
    }

    /// The models there are; the first is the default, and any other name is `UnknownModel`.
    #[must_use]
    pub fn with_models(mut self, models: impl IntoIterator<Item = ResolvedModel>) -> Self {
        self.models = Models::Known(models.into_iter().map(Arc::new).collect());
        self
    }

    /// What it answers to `availability`.
    #[must_use]
    pub fn with_availability(self, availability: Availability) -> Self {
        self.set_availability(availability);
        self
    }

    /// How it answers to `availability`, asked anew each time.
    #[must_use]
    pub fn with_availability_from(
        self,
        answer: impl Fn(&ModelId) -> Availability + Send + Sync + 'static,
    ) -> Self {
        *self.availability_answer() = Arc::new(answer);
        self
    }

    /// What it answers to `health`. Without one it is healthy.
    #[must_use]
    pub fn with_health(mut self, health: HealthStatus) -> Self {
        self.health = Some(health);
        self
    }

    /// What happens after the last reply.
    #[must_use]
    pub fn with_exhausted(self, exhausted: Exhausted) -> Self {
        self.script().exhausted = exhausted;
        self
    }

    /// Changes what it answers to `availability` from now on.
    pub fn set_availability(&self, availability: Availability) {
        *self.availability_answer() = Arc::new(move |_| availability);
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: Reply) {
        self.script().push(reply);
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<RecordedCall> {
        self.log.lines()
    }

    /// How many calls there were so far.
    pub fn call_count(&self) -> usize {
        self.log.len()
    }

    fn script(&self) -> MutexGuard<'_, Script<Reply>> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn availability_answer(&self) -> MutexGuard<'_, AvailabilityAnswer> {
        self.availability.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn start(&self, cx: &CallContext, request: &ChatRequest, stream: bool) -> Result<Playing> {
        let entry = self.log.begin(RecordedCall {
            request: request.clone(),
            stream,
            attempt: cx.attempt(),
            max_queue_wait: cx.max_queue_wait(),
            idempotency_key: cx.idempotency_key().map(str::to_owned),
            at: cx.clock().now(),
            remaining: cx.remaining(),
            context: cx.clone(),
            progress: Progress::Running,
        });
        let meta = ResponseMeta::new(self.info.id.clone(), request.model.clone());
        let reply = self.script().next();
        let started = async {
            cx.check_deadline()?;
            let reply = reply.ok_or_else(|| {
                let message = format!(
                    "the scripted driver {} has no reply left; script one for each call",
                    self.info.id
                );
                Error::new(ErrorKind::Internal, message)
            })?;
            within_deadline(cx, Phase::Sent, async {
                // A sleep of no time waits for the next tick of the timer, a millisecond.
                if !reply.pause.is_zero() {
                    tokio::time::sleep(reply.pause).await;
                }
                match reply.start {
                    Start::Stream(steps) => Ok(steps),
                    Start::Fail(error) => Err(error),
                    Start::Hang => pending().await,
                }
            })
            .await
        };
        match started.await {
            Ok(steps) => Ok(Playing {
                cx: cx.clone(),
                meta,
                steps: steps.into(),
                entry,
            }),
            Err(error) => {
                entry.end();
                Err(with_facts(error, &meta))
            }
        }
    }
}

#[async_trait]
impl ChatDriver for ScriptedDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        match &self.models {
            Models::Any(capabilities) => {
                let id = match model {
                    Some(model) => model.clone(),
                    None => ModelId::new("scripted-model")?,
                };
                let resolved = ResolvedModel::unknown(id)
                    .with_requested(model.cloned())
                    .with_capabilities(*capabilities);
                Ok(Arc::new(resolved))
            }
            Models::Known(models) => match model {
                Some(model) => models.iter().find(|known| known.id == *model),
                None => models.first(),
            }
            .cloned()
            .ok_or_else(|| Error::new(ErrorKind::UnknownModel, "the scripted driver has no such model")),
        }
    }

    fn availability(&self, model: &ModelId) -> Availability {
        let answer = self.availability_answer().clone();
        answer(model)
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.health
            .clone()
            .unwrap_or_else(|| HealthStatus::healthy(cx.clock().wall(), Duration::ZERO))
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let playing = self.start(cx, request, false).await?;
        stream::collect(playing.into_stream()).await
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        Ok(self.start(cx, request, true).await?.into_stream())
    }
}

impl fmt::Debug for ScriptedDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedDriver")
            .field("id", &self.info.id)
            .field("calls", &self.log.len())
            .finish_non_exhaustive()
    }
}

/// A reply on its way to the caller.
struct Playing {
    cx: CallContext,
    meta: ResponseMeta,
    steps: VecDeque<Step>,
    entry: Entry<RecordedCall>,
}

impl Playing {
    fn into_stream(self) -> ChatStream {
        let meta = self.meta.clone();
        let events = unfold(Some(self), |playing| async {
            let mut playing = playing?;
            let cx = playing.cx.clone();
            match within_deadline(&cx, Phase::Sent, playing.next()).await {
                Ok(Some(event)) => {
                    if let ChatEvent::Finish { .. } = event {
                        playing.entry.end();
                    }
                    Some((Ok(event), Some(playing)))
                }
                Ok(None) => {
                    playing.entry.end();
                    None
                }
                Err(error) => {
                    playing.entry.end();
                    Some((Err(with_facts(error, &playing.meta)), None))
                }
            }
        });
        ChatStream::new(meta, events)
    }

    async fn next(&mut self) -> Result<Option<ChatEvent>> {
        loop {
            match self.steps.pop_front() {
                Some(Step::Event(ChatEvent::Start(mut meta))) => {
                    if meta.driver.is_none() {
                        meta.driver = self.meta.driver.clone();
                    }
                    if meta.requested_model.is_none() {
                        meta.requested_model = self.meta.requested_model.clone();
                    }
                    return Ok(Some(ChatEvent::Start(meta)));
                }
                Some(Step::Event(event)) => return Ok(Some(event)),
                Some(Step::Delay(delay)) => tokio::time::sleep(delay).await,
                Some(Step::Fail(error)) => return Err(error),
                Some(Step::Hang) => pending().await,
                None => return Ok(None),
            }
        }
    }
}

/// Says whose failure it was, where the script does not.
fn with_facts(mut error: Error, meta: &ResponseMeta) -> Error {
    let facts = error.vendor_mut();
    if facts.driver.is_none() {
        facts.driver = meta.driver.clone();
    }
    if facts.model.is_none() {
        facts.model = meta.requested_model.clone();
    }
    error
}

#[cfg(test)]
mod tests;
