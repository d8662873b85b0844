//! The wrapper for chats: carries a policy to plain calls and to streams.

use super::ending::Ending;
use super::first_content::FirstContent;
use super::observed::Observed;
use super::{Answer, Observer, Policy, Target};
use futures_core::Stream;
use llm_core::{
    Attempt, Availability, CallContext, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ChatStream,
    DriverInfo, Error, HealthStatus, ModelId, ResolvedModel, Result, async_trait,
};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A chat driver with a policy around it. Holds no state but the layer's.
#[derive(Debug)]
pub(crate) struct PolicyChatDriver<P> {
    info: DriverInfo,
    policy: Arc<P>,
    inner: Arc<dyn ChatDriver>,
}

impl<P: Policy> PolicyChatDriver<P> {
    /// Puts the policy around a driver.
    pub(crate) fn wrap(policy: &Arc<P>, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        Arc::new(PolicyChatDriver {
            info: inner.info().clone().with_layer(P::NAME),
            policy: Arc::clone(policy),
            inner,
        })
    }
}

#[async_trait]
impl<P: Policy> ChatDriver for PolicyChatDriver<P> {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.inner.resolve(model)
    }

    fn availability(&self, model: &ModelId) -> Availability {
        let resolve = |model: Option<&ModelId>| self.inner.resolve(model);
        let target = Target::whole(&self.info, Some(model), &resolve);
        self.policy
            .availability(&target)
            .and(self.inner.availability(model))
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        match self.policy.illness(&self.info) {
            Some(why) => HealthStatus::unhealthy(cx.clock().wall(), why),
            None => self.inner.health(cx).await,
        }
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let resolve = |model: Option<&ModelId>| self.inner.resolve(model);
        let target = Target::whole(&self.info, request.model.as_ref(), &resolve).asking(request);
        let attempt = |cx: CallContext| async move { self.inner.chat(&cx, request).await };
        self.policy.run(cx, &target, attempt).await
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let resolve = |model: Option<&ModelId>| self.inner.resolve(model);
        let target = &Target::streamed(&self.info, request.model.as_ref(), &resolve).asking(request);
        let attempt = |cx: CallContext| async move {
            let started = cx.clock().now();
            let stream = self.inner.chat_stream(&cx, request).await?;
            self.policy.watch(&cx, target, started, stream).await
        };
        self.policy.run(cx, target, attempt).await
    }
}

impl Answer for ChatResponse {
    fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    fn with_attempts(mut self, attempts: Vec<Attempt>) -> Self {
        self.attempts = attempts;
        self
    }

    fn map_late_error(self, _: impl FnOnce(Error) -> Error + Send + 'static) -> Self {
        self
    }

    fn holding(self, _: impl Send + 'static) -> Self {
        self
    }

    fn at_content(self, _: impl FnOnce() + Send + 'static) -> Self {
        self
    }

    fn at_end<F, Fut>(self, _: F) -> Self
    where
        F: FnOnce(Option<&Error>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self
    }

    fn observed(self, mut observer: impl Observer) -> Self {
        observer.begun(&self.meta);
        observer.used(&self.usage);
        observer.finished();
        self
    }
}

impl Answer for ChatStream {
    fn attempts(&self) -> &[Attempt] {
        ChatStream::attempts(self)
    }

    fn with_attempts(self, attempts: Vec<Attempt>) -> Self {
        ChatStream::with_attempts(self, attempts)
    }

    fn map_late_error(self, change: impl FnOnce(Error) -> Error + Send + 'static) -> Self {
        self.map_events(|events| LateError {
            events,
            change: Some(change),
        })
    }

    fn holding(self, guard: impl Send + 'static) -> Self {
        self.map_events(|events| Holding {
            events,
            guard: Some(guard),
        })
    }

    fn at_content(self, tell: impl FnOnce() + Send + 'static) -> Self {
        self.map_events(|events| FirstContent::new(events, tell))
    }

    fn at_end<F, Fut>(self, tell: F) -> Self
    where
        F: FnOnce(Option<&Error>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.map_events(|events| Ending::new(events, tell))
    }

    fn observed(self, mut observer: impl Observer) -> Self {
        observer.begun(self.meta());
        self.map_events(|events| Observed::new(events, observer))
    }
}

/// Passes events through, and drops a guard at their end. A finish is the end: what is inside may still have to
/// tidy up its connection, but the answer is there.
struct Holding<G> {
    // Dropped before the guard: what the guard stands for is over only then.
    events: Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>,
    guard: Option<G>,
}

// Nothing in it is pinned in place: the events are pinned in a box of their own.
impl<G> Unpin for Holding<G> {}

impl<G> Stream for Holding<G> {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.events.as_mut().poll_next(task);
        if let Poll::Ready(None | Some(Err(_) | Ok(ChatEvent::Finish { .. }))) = &polled {
            self.guard = None;
        }
        polled
    }
}

/// Passes events through, and changes the error that ends them.
struct LateError<F> {
    events: Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>,
    change: Option<F>,
}

// Nothing in it is pinned in place: the events are pinned in a box of their own.
impl<F> Unpin for LateError<F> {}

impl<F: FnOnce(Error) -> Error> Stream for LateError<F> {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.events.as_mut().poll_next(task);
        match polled {
            Poll::Ready(Some(Err(error))) => {
                let error = match self.change.take() {
                    Some(change) => change(error),
                    None => error,
                };
                Poll::Ready(Some(Err(error)))
            }
            other => other,
        }
    }
}
