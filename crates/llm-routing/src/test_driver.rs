//! A chat driver that does what a test says, and the clock of its calls.

use llm_core::error::{Error, ErrorKind, Result};
use llm_core::stream::replay;
use llm_core::{
    Attempt, Availability, Block, CallContext, Capabilities, ChatDriver, ChatEvent, ChatRequest,
    ChatResponse, ChatStream, Clock, DriverId, DriverInfo, HealthStatus, ModelId, ModelLimits, ResolvedModel,
    ResponseMeta, TextPart, VendorId, async_trait,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

pub(crate) fn model(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub(crate) struct TestClock(Mutex<Instant>);

impl TestClock {
    pub(crate) fn new() -> Arc<Self> {
        #[expect(clippy::disallowed_methods, reason = "only a point to count from")]
        Arc::new(TestClock(Mutex::new(Instant::now())))
    }

    pub(crate) fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        *self.0.lock().unwrap()
    }
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

pub(crate) fn context(clock: &Arc<TestClock>) -> CallContext {
    CallContext::new(clock.clone())
}

/// How a scripted call goes.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// This text; as a stream its events.
    Text(&'static str),
    /// The call fails.
    Fails(Error),
    /// A stream of just these; a plain call fails with the error among them, or answers nothing.
    Stream(Vec<Result<ChatEvent>>),
    /// The same of a stack that kept a log.
    LoggedStream(Vec<Attempt>, Vec<Result<ChatEvent>>),
    /// An answer whose stack kept a log.
    Logged(Vec<Attempt>),
}

/// A call as the driver saw it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) model: Option<ModelId>,
    pub(crate) streamed: bool,
    pub(crate) attempt: u32,
    pub(crate) max_queue_wait: Option<Duration>,
}

#[derive(Debug)]
pub(crate) struct TestDriver {
    info: DriverInfo,
    models: BTreeMap<ModelId, ResolvedModel>,
    default: Option<ModelId>,
    takes_unknown: bool,
    clock: Option<(Arc<TestClock>, Duration)>,
    outcomes: Mutex<VecDeque<Outcome>>,
    /// Used in order; the last one stays.
    availability: Mutex<VecDeque<Availability>>,
    health: Option<HealthStatus>,
    calls: Mutex<Vec<Call>>,
}

impl TestDriver {
    pub(crate) fn new(id: &str) -> Self {
        let id = DriverId::new(id).unwrap();
        TestDriver {
            info: DriverInfo::new(id, VendorId::from_static("test"), "a test's driver"),
            models: BTreeMap::new(),
            default: None,
            takes_unknown: false,
            clock: None,
            outcomes: Mutex::default(),
            availability: Mutex::default(),
            health: None,
            calls: Mutex::default(),
        }
    }

    /// Knows this model; the first is the default.
    pub(crate) fn serving(self, name: &str) -> Self {
        self.serving_with(name, Capabilities::unknown())
    }

    pub(crate) fn serving_with(self, name: &str, capabilities: Capabilities) -> Self {
        self.serving_model(ResolvedModel::unknown(model(name)).with_capabilities(capabilities))
    }

    pub(crate) fn serving_window(self, name: &str, window: Option<u64>) -> Self {
        let limits = ModelLimits::new(window, None, None);
        self.serving_model(ResolvedModel::unknown(model(name)).with_limits(limits))
    }

    pub(crate) fn serving_model(mut self, mut resolved: ResolvedModel) -> Self {
        resolved.known = true;
        self.default.get_or_insert_with(|| resolved.id.clone());
        self.models.insert(resolved.id.clone(), resolved);
        self
    }

    pub(crate) fn without_default(mut self) -> Self {
        // kept out by a name that `serving` cannot overwrite
        self.default = Some(model("no-default"));
        self
    }

    pub(crate) fn taking_unknown(mut self) -> Self {
        self.takes_unknown = true;
        self
    }

    pub(crate) fn a_router(mut self) -> Self {
        self.info = self.info.with_router();
        self
    }

    /// Every call takes so long.
    pub(crate) fn taking(mut self, clock: &Arc<TestClock>, time: Duration) -> Self {
        self.clock = Some((clock.clone(), time));
        self
    }

    pub(crate) fn then(self, outcome: Outcome) -> Self {
        self.outcomes.lock().unwrap().push_back(outcome);
        self
    }

    pub(crate) fn fails(self, kind: ErrorKind) -> Self {
        self.then(Outcome::Fails(Error::new(kind, "scripted")))
    }

    pub(crate) fn being(self, availability: Availability) -> Self {
        self.availability.lock().unwrap().push_back(availability);
        self
    }

    pub(crate) fn feeling(mut self, health: HealthStatus) -> Self {
        self.health = Some(health);
        self
    }

    pub(crate) fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    fn next_outcome(&self, cx: &CallContext, request: &ChatRequest, streamed: bool) -> Outcome {
        self.calls.lock().unwrap().push(Call {
            model: request.model.clone(),
            streamed,
            attempt: cx.attempt(),
            max_queue_wait: cx.max_queue_wait(),
        });
        if let Some((clock, time)) = &self.clock {
            clock.advance(*time);
        }
        self.outcomes
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or(Outcome::Text("hello"))
    }

    fn stream(&self, request: &ChatRequest, items: Vec<Result<ChatEvent>>) -> ChatStream {
        let meta = ResponseMeta::new(self.info.id.clone(), request.model.clone());
        ChatStream::new(meta, Items(items.into()))
    }

    fn response(&self, request: &ChatRequest, text: &str) -> ChatResponse {
        let mut response = ChatResponse::new(ResponseMeta::new(self.info.id.clone(), request.model.clone()));
        response.blocks.push(Block::Text(TextPart::new(text)));
        response
    }
}

#[async_trait]
impl ChatDriver for TestDriver {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, named: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let Some(named) = named else {
            let default = self.default.as_ref().and_then(|default| self.models.get(default));
            let missing = || Error::new(ErrorKind::Config, "no default model");
            return default.cloned().map(Arc::new).ok_or_else(missing);
        };
        let prefix = format!("{}/", self.info.id);
        let bare = named.as_str().strip_prefix(&prefix).map(model);
        let known = self.models.get(named).or_else(|| self.models.get(&bare?));
        let resolved = match known {
            Some(known) => known.clone(),
            None if self.takes_unknown => ResolvedModel::unknown(named.clone()),
            None => {
                return Err(Error::new(
                    ErrorKind::UnknownModel,
                    format!("unknown model {named}"),
                ));
            }
        };
        Ok(Arc::new(resolved.with_requested(Some(named.clone()))))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        let mut script = self.availability.lock().unwrap();
        match script.len() {
            0 => Availability::Available,
            1 => script[0],
            _ => script.pop_front().unwrap(),
        }
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        let unknown = || HealthStatus::unknown(cx.clock().wall(), "not scripted");
        self.health.clone().unwrap_or_else(unknown)
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        match self.next_outcome(cx, request, false) {
            Outcome::Text(text) => {
                let mut response = self.response(request, text);
                response.raw = cx.raw().map(|raw| raw.body.clone());
                Ok(response)
            }
            Outcome::Fails(error) => Err(error),
            Outcome::Stream(items) | Outcome::LoggedStream(_, items) => {
                match items.into_iter().find_map(Result::err) {
                    Some(error) => Err(error),
                    None => Ok(self.response(request, "")),
                }
            }
            Outcome::Logged(attempts) => {
                let mut response = self.response(request, "logged");
                response.attempts = attempts;
                Ok(response)
            }
        }
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        match self.next_outcome(cx, request, true) {
            Outcome::Text(text) => Ok(replay(self.response(request, text))),
            Outcome::Fails(error) => Err(error),
            Outcome::Stream(items) => Ok(self.stream(request, items)),
            Outcome::LoggedStream(attempts, items) => Ok(self.stream(request, items).with_attempts(attempts)),
            Outcome::Logged(attempts) => Ok(replay(self.response(request, "logged")).with_attempts(attempts)),
        }
    }
}

#[derive(Debug)]
struct Items(VecDeque<Result<ChatEvent>>);

impl futures_core::Stream for Items {
    type Item = Result<ChatEvent>;
    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(self.0.pop_front())
    }
}
