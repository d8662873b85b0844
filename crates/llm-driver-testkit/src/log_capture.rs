//! Everything that is logged with `tracing` while a test runs, as text.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Everything that was logged on this thread since [`Captured::begin`]: spans and events of all levels, with all
/// their fields.
#[derive(Debug)]
pub(crate) struct Captured {
    text: Arc<Mutex<String>>,
    _guard: tracing::subscriber::DefaultGuard,
}

impl Captured {
    /// Listens on this thread until it is dropped.
    pub(crate) fn begin() -> Self {
        let text = Arc::<Mutex<String>>::default();
        let listener = Listener {
            text: text.clone(),
            next: Mutex::new(1),
        };
        Captured {
            text,
            _guard: tracing::subscriber::set_default(listener),
        }
    }

    /// What was logged so far.
    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Listener {
    text: Arc<Mutex<String>>,
    next: Mutex<u64>,
}

impl Listener {
    fn write(&self, head: &str, record: impl FnOnce(&mut Fields<'_>)) {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(head);
        record(&mut Fields(&mut text));
        text.push('\n');
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.write(span.metadata().name(), |fields| span.record(fields));
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        Id::from_u64(*next)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.write("", |fields| values.record(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.write(event.metadata().target(), |fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_events_and_later_fields_are_captured() {
        let captured = Captured::begin();
        let span = tracing::trace_span!("call", model = "m1", late = tracing::field::Empty);
        span.record("late", "later");
        let _entered = span.enter();
        tracing::trace!(answer = 42, "done");
        let text = captured.text();
        for piece in ["call model=\"m1\"", "late=\"later\"", "answer=42", "message=done"] {
            assert!(text.contains(piece), "{piece} in {text}");
        }
    }
}
