//! Candidates whose every answer is written down beforehand, and a log of everything they were asked.

use futures_core::Stream;
use llm_core::error::{Error, ErrorKind, Result};
use llm_core::{
    Availability, BlockKind, CallContext, Capabilities, ChatDriver, ChatEvent, ChatRequest, ChatResponse,
    ChatStream, Clock, Delta, DriverId, DriverInfo, FinishKind, FinishReason, HealthStatus, ModelId,
    ModelLimits, Phase, ResolvedModel, ResponseMeta, Scope, UnavailableReason, Usage, VendorId, async_trait,
};
use llm_routing::Candidate;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

/// A clock that only calls move.
#[derive(Debug)]
pub(crate) struct Time(Mutex<Instant>);

impl Time {
    pub(crate) fn new() -> Arc<Self> {
        #[expect(clippy::disallowed_methods, reason = "only a point to count from")]
        Arc::new(Time(Mutex::new(Instant::now())))
    }
}

impl Clock for Time {
    fn now(&self) -> Instant {
        *self.0.lock().unwrap()
    }
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// How one candidate behaves in one call.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) model: Option<ModelId>,
    pub(crate) window: Option<u64>,
    pub(crate) capabilities: Capabilities,
    pub(crate) is_router: bool,
    pub(crate) closed: Option<Closed>,
    pub(crate) takes_ms: u64,
    pub(crate) ending: Ending,
    /// Where in a stream it ends.
    pub(crate) at: Point,
}

/// When it may not be asked, in milliseconds from the decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closed {
    pub(crate) reason: UnavailableReason,
    pub(crate) from: u64,
    pub(crate) until: Option<u64>,
}

impl Closed {
    pub(crate) fn is_at(&self, millis: u64) -> bool {
        self.from <= millis && self.until.is_none_or(|until| millis < until)
    }
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ending {
    Serves,
    Fails {
        kind: ErrorKind,
        scope: Scope,
        hint_ms: Option<u64>,
        phase: Phase,
    },
    /// The stream just stops; a plain call is cut.
    JustStops,
}

/// Where in a stream an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Point {
    /// The call itself fails, or it is a whole answer without content.
    AtOnce,
    BeforeContent,
    AfterContent,
}

impl Script {
    pub(crate) fn serving(window: Option<u64>) -> Self {
        Script {
            model: None,
            window,
            capabilities: Capabilities::unknown(),
            is_router: false,
            closed: None,
            takes_ms: 0,
            ending: Ending::Serves,
            at: Point::AfterContent,
        }
    }
}

/// A model that no actor takes.
pub(crate) const REFUSED: &str = "refused";

/// A driver that follows its script, once a call.
#[derive(Debug)]
pub(crate) struct Actor {
    index: usize,
    info: DriverInfo,
    script: Script,
    time: Arc<Time>,
    started: Instant,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// Who was asked for what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) index: usize,
    pub(crate) model: Option<ModelId>,
    pub(crate) attempt: u32,
    pub(crate) may_queue: bool,
}

/// Candidates `c0`, `c1`, … that follow these scripts.
pub(crate) fn cast(scripts: &[Script], time: &Arc<Time>, asked: &Arc<Mutex<Vec<Asked>>>) -> Vec<Candidate> {
    let candidate = |(index, script): (usize, &Script)| {
        let mut info = DriverInfo::new(
            DriverId::from_static("actor"),
            VendorId::from_static("test"),
            "actor",
        );
        info.is_router = script.is_router;
        let actor = Actor {
            index,
            info,
            script: script.clone(),
            time: time.clone(),
            started: time.now(),
            asked: asked.clone(),
        };
        Candidate::new(format!("c{index}"), Arc::new(actor)).with_model(script.model.clone())
    };
    scripts.iter().enumerate().map(candidate).collect()
}

impl Actor {
    fn enter(&self, cx: &CallContext, request: &ChatRequest) {
        self.asked.lock().unwrap().push(Asked {
            index: self.index,
            model: request.model.clone(),
            attempt: cx.attempt(),
            may_queue: cx.max_queue_wait() != Some(Duration::ZERO),
        });
        *self.time.0.lock().unwrap() += Duration::from_millis(self.script.takes_ms);
    }

    fn error(&self) -> Option<Error> {
        match self.script.ending {
            Ending::Serves => None,
            Ending::Fails {
                kind,
                scope,
                hint_ms,
                phase,
            } => Some(
                Error::new(kind, "as scripted")
                    .with_scope(scope)
                    .with_phase(phase)
                    .with_retry_after(hint_ms.map(Duration::from_millis)),
            ),
            Ending::JustStops => Some(Error::new(ErrorKind::Interrupted, "cut").with_phase(Phase::Sent)),
        }
    }
}

#[async_trait]
impl ChatDriver for Actor {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let id = model.cloned().unwrap_or(ModelId::new("default")?);
        if id.as_str() == REFUSED {
            return Err(Error::new(
                ErrorKind::UnknownModel,
                "the actor plays no such part",
            ));
        }
        let mut resolved = ResolvedModel::unknown(id)
            .with_requested(model.cloned())
            .with_capabilities(self.script.capabilities)
            .with_limits(ModelLimits::new(self.script.window, None, None));
        resolved.known = true;
        Ok(Arc::new(resolved))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        let elapsed = self.time.now() - self.started;
        let closed = self
            .script
            .closed
            .filter(|closed| closed.is_at(elapsed.as_millis() as u64));
        let until = |closed: Closed| Some(self.started + Duration::from_millis(closed.until?));
        closed.map_or(Availability::Available, |closed| {
            Availability::unavailable(closed.reason, until(closed))
        })
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        HealthStatus::unknown(cx.clock().wall(), "never asked")
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        self.enter(cx, request);
        match self.error() {
            Some(error) => Err(error),
            None => Ok(ChatResponse::new(ResponseMeta::new(
                self.info.id.clone(),
                request.model.clone(),
            ))),
        }
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        self.enter(cx, request);
        let meta = ResponseMeta::new(self.info.id.clone(), request.model.clone());
        let mut events = VecDeque::from([Ok(ChatEvent::Start(Box::new(meta.clone())))]);
        match (self.script.at, self.script.ending) {
            (Point::AtOnce, Ending::Fails { .. }) => return Err(self.error().unwrap()),
            (Point::AtOnce, _) => {}
            (Point::BeforeContent, _) => events.push_back(Ok(ChatEvent::KeepAlive)),
            (Point::AfterContent, _) => {
                events.push_back(Ok(ChatEvent::BlockStart {
                    index: 0,
                    kind: BlockKind::Text,
                }));
                let delta = Delta::Text(format!("c{}", self.index));
                events.push_back(Ok(ChatEvent::BlockDelta { index: 0, delta }));
            }
        }
        match self.script.ending {
            Ending::Fails { .. } => events.extend(self.error().map(Err)),
            Ending::JustStops => {}
            Ending::Serves => {
                if self.script.at == Point::AfterContent {
                    events.push_back(Ok(ChatEvent::BlockEnd {
                        index: 0,
                        complete: true,
                    }));
                }
                let reason = FinishReason::new(FinishKind::Stop, None);
                events.push_back(Ok(ChatEvent::Finish {
                    reason,
                    usage: Usage::default(),
                }));
            }
        }
        Ok(ChatStream::new(meta, Events(events)))
    }
}

#[derive(Debug)]
struct Events(VecDeque<Result<ChatEvent>>);

impl Stream for Events {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.pop_front())
    }
}
