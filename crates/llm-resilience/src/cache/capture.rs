//! A stream that is kept when it ends well.

use super::Cache;
use super::key::CacheKey;
use futures_core::Stream;
use llm_core::{CallContext, ChatEvent, Collector, Delta, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

type Events = Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>;

/// Passes events through and folds them beside. The finish is held back until the store has the answer (or has
/// taken too long): who reads no further than the finish has seen all there is, and the answer is kept all the same.
pub(super) struct Captured {
    events: Events,
    collector: Option<Collector>,
    /// How much text came, roughly: what grows too large to be kept is not held either.
    bytes: usize,
    cache: Arc<Cache>,
    cx: CallContext,
    key: CacheKey,
    state: State,
}

enum State {
    Passing,
    Keeping(Pin<Box<dyn Future<Output = ()> + Send>>, Option<ChatEvent>),
}

impl Captured {
    pub(super) fn new(events: Events, cache: &Arc<Cache>, cx: &CallContext, key: CacheKey) -> Self {
        Captured {
            events,
            collector: Some(Collector::default()),
            bytes: 0,
            cache: Arc::clone(cache),
            cx: cx.clone(),
            key,
            state: State::Passing,
        }
    }

    fn note(&mut self, event: &ChatEvent) {
        let Some(collector) = &mut self.collector else {
            return;
        };
        self.bytes = self.bytes.saturating_add(size(event));
        let is_too_large = self.bytes > self.cache.policy.max_entry_bytes;
        // What cannot be folded cannot be kept.
        if is_too_large || collector.push(event.clone()).is_err() {
            self.collector = None;
        }
    }

    /// The step that keeps the answer, when there is one to keep.
    fn keeping(&mut self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        let response = self.collector.take()?.finish().ok()?;
        if !self.cache.policy.keeps(&response) {
            return None;
        }
        let (cache, cx, key) = (Arc::clone(&self.cache), self.cx.clone(), self.key);
        Some(Box::pin(async move {
            cache.store.keep(&cx, key, &response).await;
        }))
    }
}

impl Stream for Captured {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let State::Keeping(keeping, finish) = &mut this.state {
            if finish.is_some() {
                ready!(keeping.as_mut().poll(task));
            }
            if let Some(finish) = finish.take() {
                return Poll::Ready(Some(Ok(finish)));
            }
            return this.events.as_mut().poll_next(task);
        }
        let event = ready!(this.events.as_mut().poll_next(task));
        match &event {
            Some(Ok(event)) => this.note(event),
            Some(Err(_)) | None => this.collector = None,
        }
        if let Some(Ok(finish @ ChatEvent::Finish { .. })) = &event
            && let Some(mut keeping) = this.keeping()
            && keeping.as_mut().poll(task).is_pending()
        {
            this.state = State::Keeping(keeping, Some(finish.clone()));
            return Poll::Pending;
        }
        Poll::Ready(event)
    }
}

/// How much of what is kept comes with an event, roughly.
fn size(event: &ChatEvent) -> usize {
    let ChatEvent::BlockDelta { delta, .. } = event else {
        return 0;
    };
    match delta {
        Delta::Text(text)
        | Delta::Reasoning(text)
        | Delta::Refusal(text)
        | Delta::Name(text)
        | Delta::Arguments(text) => text.len(),
        _ => 0,
    }
}
