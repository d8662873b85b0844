//! A stream whose span lasts until its end.

use super::span::CallSpan;
use futures_core::Stream;
use llm_core::{ChatEvent, Collector, Result, Usage};
use std::pin::Pin;
use std::task::{Context, Poll};
use tracing::Span;

type Events = Pin<Box<dyn Stream<Item = Result<ChatEvent>> + Send>>;

/// Passes events through, inside of the span, and writes what they say to it.
pub(super) struct Traced {
    // Dropped first: what it logs at its end stands in the span.
    events: Events,
    span: Span,
    call: CallSpan,
    usage: Usage,
    /// Present where content is shown.
    collector: Option<Collector>,
}

impl Traced {
    pub(super) fn new(events: Events, call: CallSpan, content: bool) -> Self {
        Traced {
            events,
            span: call.span(),
            call,
            usage: Usage::default(),
            collector: content.then(Collector::default),
        }
    }

    fn note(&mut self, event: &ChatEvent) {
        if event.is_content() {
            self.call.content_came();
        }
        if let Some(collector) = &mut self.collector
            && collector.push(event.clone()).is_err()
        {
            // What cannot be folded (raw mode) is not shown.
            self.collector = None;
        }
        match event {
            ChatEvent::Start(meta) => self.call.begun(meta),
            ChatEvent::Usage(usage) => self.usage.merge(usage),
            ChatEvent::Finish { reason, usage } => {
                self.usage.merge(usage);
                self.tell_usage();
                if let Some(Ok(response)) = self.collector.take().map(Collector::finish) {
                    self.call.said(&response);
                }
                self.call.finished(reason);
            }
            _ => {}
        }
    }

    fn tell_usage(&self) {
        if !self.usage.is_empty() {
            self.call.used(&self.usage);
        }
    }
}

impl Stream for Traced {
    type Item = Result<ChatEvent>;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let polled = {
            let _entered = this.span.enter();
            this.events.as_mut().poll_next(task)
        };
        match &polled {
            Poll::Ready(Some(Ok(event))) => this.note(event),
            Poll::Ready(Some(Err(error))) => {
                this.tell_usage();
                this.call.failed(error);
            }
            Poll::Ready(None) => this.call.ended(),
            Poll::Pending => {}
        }
        polled
    }
}
