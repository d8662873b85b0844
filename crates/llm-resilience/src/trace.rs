//! One span for each call: [`TraceLayer`].

mod content;
mod span;
mod stream;

use llm_core::{
    Availability, CallContext, ChatDriver, ChatLayer, ChatRequest, ChatResponse, ChatStream, DriverInfo,
    HealthStatus, ModelId, ResolvedModel, Result, async_trait,
};
use serde::Deserialize;
use span::{CallSpan, Place};
use std::sync::Arc;
use stream::Traced;
use tracing::Instrument as _;

pub(crate) use span::note_queue_wait;

/// Shows each call as a `tracing` span, with the field names of OpenTelemetry's conventions for generative AI.
///
/// ```
/// use llm_core::{ChatRequest, Stack};
/// use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
/// use llm_resilience::{RetryLayer, TraceLayer};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let stack = Stack::new(ScriptedDriver::always("alpha", Reply::text("hello")))
///     .layer(RetryLayer::default())
///     .layer(TraceLayer::default());
/// // Seen by whatever `tracing` subscriber the program has set.
/// stack.chat(&TestClock::context(), &ChatRequest::user("hi")).await?;
/// # Ok::<(), llm_core::Error>(())
/// # }).unwrap();
/// ```
///
/// - **The span** is named `chat`, at level INFO, target `llm_resilience::trace`. It begins with the call and ends with
///   the answer, a stream's with the stream: at its finish, its error, or when its reader drops it. What layers further
///   inside log stands in it. Put this layer outermost, so that it sees what the cache answers too.
/// - **Fields**: the table in this crate's README. A field of which nothing is known is absent, never zero.
/// - **Content** (what was asked and answered) is no field unless [`TracePolicy::content`] asks for it. Messages of
///   errors and credentials never are; of the address only host and port.
///
/// The names are those of the semantic conventions 1.41 (opentelemetry.io, "Semantic conventions for generative client
/// AI spans", read 2026-11), which are still in development there. What they have no name for begins with
/// `llm_router.`.
///
/// # Cancellation
/// Dropping the future or the stream ends the span, with `llm_router.outcome` = `dropped`.
///
/// # Panics
/// Never.
#[derive(Debug, Clone, Copy, Default)]
pub struct TraceLayer {
    policy: TracePolicy,
}

/// What a span shows. Deserialises; every key is optional.
///
/// ```
/// use llm_resilience::TracePolicy;
/// let policy: TracePolicy = serde_json::from_str("{}")?;
/// assert!(!policy.content);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TracePolicy {
    /// Is content shown: messages, answers, reasoning, tool calls and their results? Default no. Pictures, sounds and
    /// files are only named, never shown. Whoever reads the traces then reads what people wrote.
    pub content: bool,
}

impl TracePolicy {
    /// Is content shown?
    #[must_use]
    pub fn with_content(mut self, content: bool) -> Self {
        self.content = content;
        self
    }
}

impl TraceLayer {
    /// Spans that show this.
    pub fn new(policy: TracePolicy) -> Self {
        TraceLayer { policy }
    }
}

impl ChatLayer for TraceLayer {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        let info = inner.info().clone().with_layer("trace");
        Arc::new(TraceDriver {
            place: Place::of(&info),
            info,
            policy: self.policy,
            inner,
        })
    }
}

#[derive(Debug)]
struct TraceDriver {
    info: DriverInfo,
    place: Place,
    policy: TracePolicy,
    inner: Arc<dyn ChatDriver>,
}

#[async_trait]
impl ChatDriver for TraceDriver {
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
        let Some(mut call) = self.begin(cx, request, false) else {
            return self.inner.chat(cx, request).await;
        };
        match self.inner.chat(cx, request).instrument(call.span()).await {
            Ok(response) => {
                call.answered(&response, self.policy.content);
                Ok(response)
            }
            Err(error) => {
                call.failed(&error);
                Err(error)
            }
        }
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let Some(mut call) = self.begin(cx, request, true) else {
            return self.inner.chat_stream(cx, request).await;
        };
        match self.inner.chat_stream(cx, request).instrument(call.span()).await {
            Ok(stream) => {
                call.begun(stream.meta());
                call.tried(stream.attempts());
                let content = self.policy.content;
                Ok(stream.map_events(|events| Traced::new(events, call, content)))
            }
            Err(error) => {
                call.failed(&error);
                Err(error)
            }
        }
    }
}

impl TraceDriver {
    /// Opens the span; nothing, when nobody wants to see it.
    fn begin(&self, cx: &CallContext, request: &ChatRequest, streamed: bool) -> Option<CallSpan> {
        let call = CallSpan::open(cx, &self.info, &self.place, request, streamed)?;
        if self.policy.content {
            call.asked(request);
        }
        Some(call)
    }
}
